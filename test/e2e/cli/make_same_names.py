"""make_same_names.py FOLDER: models whose names repeat: every node of one name, an input named like a node, results of one node that later stages read."""
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from safetensors.numpy import save_file

folder = sys.argv[1]
random = np.random.default_rng(0)
F = TensorProto.FLOAT
port = lambda name: helper.make_tensor_value_info(name, F, ['batch', 4])
weights = [numpy_helper.from_array(random.normal(size=(4, 4)).astype(np.float32), f'l{i}.weight') for i in range(4)]


def write(name, inputs, nodes, node_name):
    """`nodes`: (module, op, inputs, outputs)."""
    made = []
    for module, op, reads, makes in nodes:
        node = helper.make_node(op, reads.split(), makes.split(), node_name(module, op), **(dict(axis=1) if op in ('Split', 'Concat') else {}))
        if op == 'Split':
            node.attribute.append(helper.make_attribute('num_outputs', 2))
        node.metadata_props.add(key='pkg.torch.onnx.name_scopes', value=f"['', '{module}', 'call']")
        made.append(node)
    graph = helper.make_graph(made, 'g', [port(i) for i in inputs], [port('y')], weights)
    save(helper.make_model(graph, producer_name='pytorch', opset_imports=[helper.make_opsetid('', 18)], ir_version=9), f'{folder}/{name}.onnx')
    save_file({i: random.normal(size=(4, 4)).astype(np.float32) for i in inputs}, f'{folder}/{name}.safetensors')


# a and b leave stage 0 and are read in the last; so is the input, whose name is a node's.
chain = [('l0', 'MatMul', 'x l0.weight', 'a'), ('l0', 'Tanh', 'a', 'b'), ('l1', 'MatMul', 'b l1.weight', 'c'), ('l1', 'Tanh', 'c', 'd'),
         ('l2', 'MatMul', 'd l2.weight', 'e'), ('l2', 'Add', 'e a', 'f'), ('l3', 'MatMul', 'f l3.weight', 'g'), ('l3', 'Mul', 'g b', 'h'), ('l3', 'Add', 'h x', 'y')]
write('equal', ['x'], chain, lambda module, op: 'node')
write('input', ['x'], chain, lambda module, op: 'x')
write('modules', ['x'], chain, lambda module, op: op)
split = [('l0', 'MatMul', 'x l0.weight', 'a'), ('l0', 'Split', 'a', 'p q'), ('l1', 'Concat', 'p p', 'pp'), ('l1', 'MatMul', 'pp l1.weight', 'c'),
         ('l2', 'Concat', 'q q', 'qq'), ('l2', 'Mul', 'c qq', 'd'), ('l3', 'Concat', 'q p', 'qp'), ('l3', 'Add', 'd qp', 'e'), ('l3', 'MatMul', 'e l3.weight', 'y')]
write('results', ['x'], split, lambda module, op: 'node')
write('gradient', ['x', 'node'], chain[:-1] + [('l3', 'Add', 'h node', 'y')], lambda module, op: 'node gradient')
