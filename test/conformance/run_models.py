#!/usr/bin/env python3
"""Runs model folders through `pipec run` in every cut and compares.

usage: run_models.py --pipec BIN DIR... [--only NAME...] [--full]
A folder holds model*.onnx, inputs.safetensors, outputs.safetensors and meta.json. Each file is cut into 1, 2, 3 and 4
stages and at the split points that meta.json lists, and run in 1, 3 (uneven) and 4 microbatches. Outputs must equal the stored ones within
meta.json's tolerance, and for one file and one number of microbatches be the same bits for every cut.
Without --full, only the cuts at split points and 1 and 3 stages. PIPEC_TEST_FULL=1 in the environment is --full. Prints 'N passed, N failed' last; exits 77 where a DIR is missing. Needs numpy and safetensors.
"""
import argparse, concurrent.futures, glob, json, os, subprocess, sys, tempfile
import numpy as np
from safetensors.numpy import load_file


def cuts(meta, full):
    """Names and arguments of the cuts to try."""
    for stages in (1, 2, 3, 4) if full else (1, 3):
        yield f'stages={stages}', ['--stages', str(stages)]
    sets = meta.get('split_sets') or [s['points'] for s in meta.get('splits', [])]
    for points in sets if full else sets[:2]:
        yield 'splits=' + ','.join(points), [x for p in points for x in ('--split', p)]


def run(pipec, model, folder, microbatches, meta, cut, out):
    command = [pipec, 'run', model, '--inputs', os.path.join(folder, 'inputs.safetensors'), '--outputs', out, '-q',
               '--microbatches', str(microbatches)] + cut
    for name in meta.get('whole', []):
        command += ['--whole', name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return '' if done.returncode == 0 else f'exit {done.returncode}: {(done.stderr.strip().splitlines() or ["?"])[-1][:300]}'


def differs(got, want, meta):
    for name, reference in want.items():
        if name not in got:
            return f'output {name} is missing'
        value = got[name]
        if value.shape != reference.shape or value.dtype != reference.dtype:
            return f'{name} is {value.dtype}{value.shape}, expected {reference.dtype}{reference.shape}'
        if reference.dtype.kind != 'f':
            if not np.array_equal(value, reference):
                return f'{name} differs'
            continue
        tolerance = meta.get('tolerance', {}).get(name, {'atol': 1e-5, 'rtol': 1e-4})
        distance = np.abs(value.astype(np.float64) - reference.astype(np.float64))
        if not (distance <= tolerance['atol'] + tolerance['rtol'] * np.abs(reference)).all():
            return f'{name} differs by {distance.max():.3g}'
    return ''


def check_file(pipec, folder, file, microbatches, full):
    """All cuts of one file: lines of results and how many failed."""
    meta = json.load(open(os.path.join(folder, 'meta.json')))
    want = load_file(os.path.join(folder, 'outputs.safetensors'))
    label = f'{os.path.basename(folder)} {os.path.basename(file)} microbatches={microbatches}'
    lines, first = [], None
    for name, cut in cuts(meta, full):
        with tempfile.TemporaryDirectory() as scratch:
            out = os.path.join(scratch, 'out.safetensors')
            why = run(pipec, file, folder, microbatches, meta, cut, out)
            if not why:
                got = load_file(out)
                why = differs(got, want, meta)
                first = got if first is None else first
                if not why and any(first[k].tobytes() != got[k].tobytes() for k in got):
                    why = 'not the same bits as in one stage'
        lines.append((not why, f'{"FAIL" if why else "ok  "} {label} {name} {why}'))
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--pipec', required=True)
    parser.add_argument('dirs', nargs='+')
    parser.add_argument('--only', nargs='*')
    parser.add_argument('--full', action='store_true')
    arguments = parser.parse_args()
    arguments.full |= bool(os.environ.get('PIPEC_TEST_FULL'))
    missing = [d for d in arguments.dirs if not os.path.isdir(d)]
    if missing:
        print('skipped: not here:', *missing)
        sys.exit(77)
    jobs = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for directory in arguments.dirs:
            for folder in sorted(glob.glob(os.path.join(directory, '*/'))):
                folder = folder.rstrip('/')
                if not os.path.exists(os.path.join(folder, 'outputs.safetensors')) or not os.path.exists(os.path.join(folder, 'meta.json')):
                    continue
                if arguments.only and os.path.basename(folder) not in arguments.only:
                    continue
                for file in sorted(glob.glob(os.path.join(folder, 'model*.onnx'))):
                    if '.train.' in file:
                        continue
                    for microbatches in (1, 3, 4) if arguments.full else (1, 4):
                        jobs.append(pool.submit(check_file, arguments.pipec, folder, file, microbatches, arguments.full))
        passed = failed = 0
        for job in jobs:
            for ok, line in job.result():
                passed, failed = passed + ok, failed + (not ok)
                if not ok or arguments.full:
                    print(line, flush=True)
    print(f'{passed} passed, {failed} failed')
    sys.exit(0 if passed and not failed else 1)


main()
