"""A model of two layers and batches of which a later one does not fit, or holds infinities: make_later.py FOLDER"""
import sys
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from safetensors.numpy import save_file

folder = sys.argv[1]
FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64


def write(name, nodes, inputs, weights):
    port = lambda n, shape, dtype=FLOAT: helper.make_tensor_value_info(n, dtype, shape)
    graph = helper.make_graph(nodes, 'g', [port(*i) for i in inputs], [port('y', ['batch', 3])],
                              [numpy_helper.from_array(np.asarray(v, np.float32), k) for k, v in weights.items()])
    save(helper.make_model(graph, producer_name='pytorch', opset_imports=[helper.make_opsetid('', 17)], ir_version=8), f'{folder}/{name}.onnx')


weight, rows = {'l0.weight': np.full((3, 3), 0.5), 'l1.weight': np.full((3, 3), 0.25)}, ['batch', 3]
linear = lambda a, b, i: helper.make_node('Gemm', [a, f'l{i}.weight'], [b], f'/l{i}/Gemm', transB=1)
write('two', [linear('x', 'h', 0), helper.make_node('Tanh', ['h'], ['t'], '/act/Tanh'), linear('t', 'y', 1)], [('x', rows)], weight)
# Its derivative multiplies the gradient by the result: of an infinite one a NaN is made.
write('squash', [linear('x', 'h', 0), helper.make_node('Relu', ['h'], ['r'], '/act/Relu'), helper.make_node('Mul', ['r', 'r'], ['y'], '/Mul')], [('x', rows)], {'l0.weight': weight['l0.weight']})
# A mask that is added before a softmax.
write('mask', [linear('x', 'h', 0), helper.make_node('Add', ['h', 'mask'], ['m'], '/Add'), helper.make_node('Softmax', ['m'], ['p'], '/Softmax', axis=-1), linear('p', 'y', 1)],
      [('x', rows), ('mask', rows)], weight)
write('sub', [linear('x', 'h', 0), helper.make_node('Sub', ['z', 'z'], ['d'], '/Sub'), helper.make_node('Add', ['h', 'd'], ['y'], '/Add')], [('x', rows), ('z', rows)], {'l0.weight': weight['l0.weight']})
# The forward replaces the NaN of z - z, but the weight's gradient is a product of it with zeros.
write('replaced', [helper.make_node('Sub', ['z', 'z'], ['d'], '/Sub'), linear('d', 'h', 0), helper.make_node('IsNaN', ['d'], ['n'], '/IsNaN'),
                   helper.make_node('Where', ['n', 'x', 'h'], ['w'], '/Where'), helper.make_node('IsNaN', ['w'], ['o'], '/IsNaN_1'), helper.make_node('Where', ['o', 'x', 'w'], ['y'], '/Where_1')],
      [('x', rows), ('z', rows)], {'l0.weight': weight['l0.weight']})
write('ids', [helper.make_node('Gather', ['l0.weight', 'i'], ['e'], '/emb/Gather'), linear('e', 'y', 1)], [('i', ['batch'], INT)], weight)

x = np.linspace(-1, 1, 12).reshape(4, 3).astype(np.float32)
good = {'x': x, 'labels': x}
for name, change in {'good': {}, 'five': {'x': x[:2], 'labels': x[:2]}, 'nolabels': {'labels': None}, 'nox': {'x': None}, 'wide': {'x': np.ones((4, 5), np.float32)},
                     'double': {'x': x.astype(np.float64)}, 'odd': {'labels': x[:, :2]}, 'ragged': {'labels': x[:3]}, 'text': {'labels': x.astype(np.float64)}}.items():
    save_file({k: np.ascontiguousarray(v) for k, v in {**good, **change}.items() if v is not None}, f'{folder}/{name}.safetensors')
infinite = x.copy()
infinite[1, 2] = np.inf
masked = np.zeros_like(x)
masked[:, 0] = -np.inf
save_file({'x': x, 'labels': infinite}, folder + '/inf-labels.safetensors')
save_file({'x': infinite, 'labels': x}, folder + '/inf-x.safetensors')
save_file({'x': x, 'mask': masked, 'labels': x}, folder + '/masked.safetensors')
save_file({'x': x, 'mask': np.full_like(x, -np.inf), 'labels': x}, folder + '/all-masked.safetensors')
save_file({'x': x, 'z': infinite, 'labels': x}, folder + '/sub.safetensors')
for name, ids in {'negative': [0, -1, -3, 2], 'wrapped': [0, 2, 0, 2], 'below': [0, -4, 1, 2], 'above': [0, 3, 1, 2]}.items():
    save_file({'i': np.array(ids), 'labels': x}, f'{folder}/{name}.safetensors')
