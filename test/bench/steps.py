#!/usr/bin/env python3
"""Time and memory of training steps on the configurations of a kit of peer benchmarks: one or more builds of pipec, and torch.distributed.pipelining, in turns.

usage: steps.py --pipec NAME=BIN [NAME=BIN ...] --kit DIR --torch-python PYTHON [--peer] [--configs mlp3,gpt2-s] [--schedules 1f1b,gpipe]
The kit is the folder with bench_models.py and peer_torch_pipeline.py; models are exported by its own code, with its weights and its batch. All run SGD with a
learning rate of 0.01 on 2 ranks of one thread each. Every round runs each of them once; figures are medians over rounds of each run's median step, the least
step, and the largest resident memory. Only figures of one run of this script may be compared: machines differ, and a busy one measures the others' work.
The first loss of all is compared, so that what is timed computes the same.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

EXPORT = """
import argparse, os, sys
sys.path.insert(0, sys.argv.pop(1))
import torch
from safetensors.torch import save_file
from bench_models import add_config_args, build_model, config_from_args, make_batch
parser = argparse.ArgumentParser()
add_config_args(parser)
parser.add_argument('--outdir')
a = parser.parse_args()
c = config_from_args(a)
model = build_model(c, seed=a.seed, dtype=a.dtype).eval()
x, y = make_batch(c, a.seed, 0, a.dtype)
torch.onnx.export(model, (x,), os.path.join(a.outdir, 'model.onnx'), input_names=['x'], output_names=['out'], dynamo=True, optimize=False,
                  external_data=False, dynamic_shapes=({0: torch.export.Dim('batch')},), verbose=False)
save_file({'x': x.contiguous(), 'labels': y.contiguous()}, os.path.join(a.outdir, 'batch.safetensors'))
print('config', c.microbatches, c.loss)
"""
PEER = {"1f1b": "1F1B", "gpipe": "GPipe", "interleaved-1f1b": "Interleaved1F1B", "zb-v": "ZBVZeroBubble", "interleaved-zb": "InterleavedZeroBubble"}
LOSS = {"ce": "cross_entropy", "mse": "mse"}


def call(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def export(options, config, folder):
    last = call([options.torch_python, "-c", EXPORT, options.kit, "--config", config, "--outdir", folder]).strip().splitlines()[-1].split()
    return int(last[1]), LOSS[last[2]]


def measure_pipec(binary, folder, schedule, microbatches, loss, steps):
    """(median and least seconds of the steps after the first two, first loss, MiB)"""
    stages = 4 if schedule in ("interleaved-1f1b", "interleaved-zb", "zb-v", "looped-bfs", "dualpipe-v") else 2
    log = folder / "log.jsonl"
    command = [binary, "train", folder / "model.onnx", "--stages", stages, "--ranks", 2, "--microbatches", microbatches, "--schedule", schedule,
               "--inputs", folder / "batch.safetensors", "--loss", loss, "--optimizer", "sgd", "--lr", "0.01", "--steps", steps + 2, "--log", log, "-q"]
    log.unlink(missing_ok=True)
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(map(str, command))}\n{process.stderr.read()[-2000:]}")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    times = [line["seconds"] for line in lines[2:]]
    return statistics.median(times), min(times), lines[0]["loss"], usage.ru_maxrss / 1024


def measure_peer(options, folder, config, schedule, steps):
    out = folder / "peer.jsonl"
    out.unlink(missing_ok=True)
    call([options.torch_python, options.kit / "peer_torch_pipeline.py", "--config", config, "--schedule", PEER[schedule], "--steps", steps, "--out", out])
    record = [json.loads(line) for line in out.read_text().splitlines()][-1]
    step = record["step"]
    return step["median_ms"] / 1000, step["min_ms"] / 1000, record["loss"][0], sum(record["rss_peak_mb"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pipec", nargs="+", required=True, metavar="NAME=BIN")
    parser.add_argument("--kit", required=True, type=pathlib.Path)
    parser.add_argument("--torch-python", required=True)
    parser.add_argument("--peer", action="store_true", help="measure torch.distributed.pipelining as well")
    parser.add_argument("--configs", default="mlp3,mlp8,gpt2-s,llama-s")
    parser.add_argument("--schedules", default="1f1b")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=8)
    options = parser.parse_args()
    builds = [entry.split("=", 1) for entry in options.pipec]
    for config in options.configs.split(","):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            microbatches, loss = export(options, config, folder)
            for schedule in options.schedules.split(","):
                runs = {}
                for _ in range(options.rounds):
                    for build, binary in builds:
                        runs.setdefault(build, []).append(measure_pipec(binary, folder, schedule, microbatches, loss, options.steps))
                    if options.peer and schedule in PEER:
                        runs.setdefault("torch", []).append(measure_peer(options, folder, config, schedule, options.steps))
                first = None
                for build, results in runs.items():
                    median = statistics.median(median for median, _, _, _ in results)
                    least = min(least for _, least, _, _ in results)
                    memory = max(mib for _, _, _, mib in results)
                    first = first or median
                    print(f"{config:9} {schedule:16} {build:12} median {median * 1e3:9.2f} ms  least {least * 1e3:9.2f} ms  {memory:8.0f} MiB  "
                          f"{median / first:5.2f} of the first  loss {results[0][2]:.6f}", flush=True)


if __name__ == "__main__":
    main()
