#!/usr/bin/env python3
"""Compiles a model whose weights are 10 GB of external data with --weights-in-place, and runs one of its stages.

usage: large_weights.py --pipec BIN [--gigabytes N]
The data file is sparse: it takes no disk. Prints the compiler's peak memory and time; fails above 300 MiB or 5 s.
The last stage then runs alone, reading its own weights only, and must give the right output. Needs onnx, numpy and safetensors.
"""
import argparse, os, resource, subprocess, sys, tempfile, time
import numpy as np
import onnx
from onnx import TensorProto, helper
from safetensors.numpy import load_file, save_file

WIDTH = 16384
LIMIT_BYTES, LIMIT_SECONDS = 300 << 20, 5.0


def external(name, offset, shape):
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
    for key, value in (('location', 'weights.bin'), ('offset', offset), ('length', 4 * int(np.prod(shape)))):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def make_model(folder, layers):
    """Layers of WIDTH x WIDTH, all zero but the diagonal of the last, and biases."""
    nodes, weights, value = [], [], 'x'
    block = 4 * WIDTH * WIDTH
    with open(folder + '/weights.bin', 'wb') as file:
        file.truncate(layers * block + 4 * WIDTH)
        for i in range(0, WIDTH, 997):
            file.seek((layers - 1) * block + 4 * (i * WIDTH + i))
            file.write(np.float32(i + 1).tobytes())
        file.seek(layers * block)
        file.write(np.arange(WIDTH, dtype=np.float32).tobytes())
    for k in range(layers):
        weights.append(external(f'layer{k}.weight', k * block, [WIDTH, WIDTH]))
        nodes.append(helper.make_node('MatMul', [value, f'layer{k}.weight'], [f'm{k}'], name=f'/layer{k}/MatMul'))
        value = f'm{k}'
    weights.append(external('head.bias', layers * block, [WIDTH]))
    nodes.append(helper.make_node('Add', [value, 'head.bias'], ['y'], name='/head/Add'))
    info = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ['batch', WIDTH])
    graph = helper.make_graph(nodes, 'large', [info('x')], [info('y')], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 18)], ir_version=10), folder + '/model.onnx')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--pipec', required=True)
    parser.add_argument('--gigabytes', type=float, default=10.7)
    arguments = parser.parse_args()
    layers = max(2, round(arguments.gigabytes * 1e9 / (4 * WIDTH * WIDTH)))
    with tempfile.TemporaryDirectory() as folder:
        make_model(folder, layers)
        start = time.monotonic()
        done = subprocess.run([arguments.pipec, 'compile', folder + '/model.onnx', '-o', folder + '/large.pipe', '--split', f'layer{layers - 2}:END',
                               '--bind', 'batch=2', '--weights-in-place', '-q'], capture_output=True, text=True)
        seconds, peak = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        print(f'{layers * WIDTH * WIDTH * 4 / 1e9:.1f} GB of weights compiled in {seconds:.2f} s, peak memory {peak / (1 << 20):.0f} MiB')
        assert done.returncode == 0, done.stderr
        failed = (peak > LIMIT_BYTES) + (seconds > LIMIT_SECONDS)
        x = np.linspace(-1, 1, 2 * WIDTH, dtype=np.float32).reshape(2, WIDTH)
        listed = subprocess.run([arguments.pipec, 'inspect', folder + '/large.pipe', '--json'], capture_output=True, text=True, check=True).stdout
        import json
        received = json.loads(listed)['stages'][1]['inputs'][0]
        save_file({received: x}, folder + '/in.safetensors')
        done = subprocess.run([arguments.pipec, 'run', folder + '/large.pipe', '--stage', '1', '--inputs', folder + '/in.safetensors',
                               '--outputs', folder + '/out.safetensors', '-q'], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        want = np.zeros_like(x)
        for i in range(0, WIDTH, 997):
            want[:, i] = x[:, i] * np.float32(i + 1)
        want += np.arange(WIDTH, dtype=np.float32)
        right = np.allclose(load_file(folder + '/out.safetensors')['y'], want, rtol=1e-6)
        print('stage 1 alone:', 'the right output' if right else 'a WRONG output')
        failed += not right
        print(f'{3 - failed} passed, {failed} failed')
        sys.exit(1 if failed else 0)


main()
