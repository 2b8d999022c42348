#!/usr/bin/env python3
"""Compiles models whose weights are external data: 10 GB with --weights-in-place, and a table of 1 GB that is stored twice.

usage: large_weights.py --pipec BIN [--gigabytes N]
The data file is sparse: it takes no disk. Prints the compiler's peak memory and time; fails above 300 MiB or 5 s.
The last stage of the first then runs alone, reading its own weights only, and must give the right output. Needs onnx, numpy and safetensors.
"""
import argparse, os, resource, subprocess, sys, tempfile, time
import numpy as np
import onnx
from onnx import TensorProto, helper
from safetensors.numpy import load_file, save_file

WIDTH = 16384
LIMIT_BYTES, LIMIT_SECONDS = 300 << 20, 5.0
TABLE_ROWS, TABLE_WIDTH = 65536, 4096


def external(name, offset, shape, location='weights.bin'):
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
    for key, value in (('location', location), ('offset', offset), ('length', 4 * int(np.prod(shape)))):
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


def make_table(folder):
    """A table and its transpose, all zero but a diagonal, as two tensors of one file."""
    block = 4 * TABLE_ROWS * TABLE_WIDTH
    with open(folder + '/table.bin', 'wb') as file:
        file.truncate(2 * block)
        for i in range(0, TABLE_WIDTH, 97):
            for at in (i * TABLE_WIDTH + i, TABLE_ROWS * TABLE_WIDTH + i * TABLE_ROWS + i):
                file.seek(4 * at)
                file.write(np.float32(i + 1).tobytes())
    weights = [external('emb.weight', 0, [TABLE_ROWS, TABLE_WIDTH], 'table.bin'), external('onnx::MatMul_9', block, [TABLE_WIDTH, TABLE_ROWS], 'table.bin')]
    nodes = [helper.make_node('Gather', ['emb.weight', 'ids'], ['e'], name='/emb/Gather'),
             helper.make_node('MatMul', ['e', 'onnx::MatMul_9'], ['y'], name='/head/MatMul')]
    graph = helper.make_graph(nodes, 'table', [helper.make_tensor_value_info('ids', TensorProto.INT64, ['batch'])],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, ['batch', TABLE_ROWS])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=10, producer_name='pytorch'), folder + '/table.onnx')


def compile_table(pipec, folder):
    """Whether the copy is found without holding both in memory. Peaks of children only grow: this one runs in a process of its own."""
    make_table(folder)
    command = [pipec, 'compile', folder + '/table.onnx', '-o', folder + '/table.pipe', '--bind', 'batch=2', '--weights-in-place']
    script = 'import resource, subprocess, sys; done = subprocess.run(sys.argv[1:]); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(done.returncode)'
    start = time.monotonic()
    done = subprocess.run([sys.executable, '-c', script, *command], capture_output=True, text=True)
    seconds, peak = time.monotonic() - start, int(done.stdout.split()[-1]) * 1024
    said = 'comparing emb.weight and head.weight' in done.stderr and 'tied' in done.stderr
    print(f'2.1 GB of a table stored twice compared and compiled in {seconds:.2f} s, peak memory {peak / (1 << 20):.0f} MiB')
    assert done.returncode == 0 and said, done.stderr
    return peak <= LIMIT_BYTES


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
        failed = (peak > LIMIT_BYTES) + (seconds > LIMIT_SECONDS) + (not compile_table(arguments.pipec, folder))
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
        print(f'{4 - failed} passed, {failed} failed')
        sys.exit(1 if failed else 0)


main()
