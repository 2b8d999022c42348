#!/usr/bin/env python3
"""How the compiler's time and memory grow with the graph: `pipec inspect` on chains of layers, each four nodes and two initializers.

usage: growth.py --pipec BIN [--nodes 6000,25000,100000]
Prints a line per file form and size: nodes, stages, seconds, MiB, and how much longer it took than the size before, per node. 1.0 is linear.
Needs onnx and numpy (.venv).
"""
import argparse, multiprocessing, os, subprocess, tempfile, time
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save


def metadata(node, scope, call):
    for key, value in (('pkg.torch.onnx.name_scopes', f"['', '{scope}', 'call']"), ('pkg.torch.onnx.fx_node', call)):
        entry = node.metadata_props.add()
        entry.key, entry.value = key, value
    return node


def make(path, layers, signature):
    """A chain of Gemm, Relu, Tanh, Sigmoid; with the metadata of torch.export, or with the names of the older exporter."""
    rng = np.random.default_rng(0)
    nodes, initializers, lines, last = [], [], ['', '# inputs'], 'x'
    for i in range(layers):
        for leaf, shape in (('weight', (4, 4)), ('bias', (4,))):
            initializers.append(numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), f'l.{i}.{leaf}'))
            lines.append(f"p_l_{i}_{leaf}: PARAMETER target='l.{i}.{leaf}'")
        for op, name in (('Gemm', 'linear'), ('Relu', 'relu'), ('Tanh', 'tanh'), ('Sigmoid', 'sigmoid')):
            inputs = [last, f'l.{i}.weight', f'l.{i}.bias'] if op == 'Gemm' else [last]
            node = helper.make_node(op, inputs, [f'{name}_{i}'], name='' if signature else f'/l.{i}/{op}', **({'transB': 1} if op == 'Gemm' else {}))
            arguments = ', '.join(f'%p_{x}'.replace('.', '_') if x.startswith('l.') else f'%{x}' for x in inputs)
            if signature:
                metadata(node, f'l.{i}', f'%{name}_{i} : [num_users=1] = call_function[target=torch.ops.aten.{name}.default](args = ({arguments}), kwargs = {{}})')
            nodes.append(node)
            last = f'{name}_{i}'
    port = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ['batch', 4])
    graph = helper.make_graph(nodes, 'chain', [port('x')], [port(last)], initializers)
    if signature:
        entry = graph.metadata_props.add()
        entry.key, entry.value = 'pkg.torch.export.ExportedProgram.graph_signature', '\n'.join(lines + ['x: USER_INPUT', '', '# outputs', ''])
    model = helper.make_model(graph, producer_name='pytorch', opset_imports=[helper.make_opsetid('', 18)])
    model.ir_version = 10
    save(model, path)


def measure(command):
    """Seconds and MiB of one run."""
    started = time.time()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f'{" ".join(command)} failed')
    return time.time() - started, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--pipec', required=True)
    parser.add_argument('--nodes', default='6000,25000,100000')
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for form in ('torch.export', 'TorchScript'):
            before = {}
            for nodes in map(int, arguments.nodes.split(',')):
                path = f'{folder}/model.onnx'
                # In a process of its own: a child's peak counts what its parent had when it was forked.
                maker = multiprocessing.Process(target=make, args=(path, nodes // 4, form == 'torch.export'))
                maker.start()
                maker.join()
                for stages in ('1', '8'):
                    seconds, mebibytes = measure([arguments.pipec, 'inspect', path, '--stages', stages, '-q'])
                    growth = f'  {seconds / nodes / before[stages]:.2f} a node' if stages in before else ''
                    before[stages] = seconds / nodes
                    print(f'{form}: {nodes} nodes, {stages} stages: {seconds:.2f} s, {mebibytes:.0f} MiB{growth}', flush=True)


if __name__ == '__main__':
    main()
