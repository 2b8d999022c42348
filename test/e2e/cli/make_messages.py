"""Small models and files that lead to messages: make_messages.py FOLDER"""
import sys
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from safetensors.numpy import save_file

folder = sys.argv[1]
FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64


def write(name, nodes, inputs, outputs, weights):
    port = lambda n, shape, dtype=FLOAT: helper.make_tensor_value_info(n, dtype, shape)
    graph = helper.make_graph(nodes, 'g', [port(*i) for i in inputs], [port(*o) for o in outputs],
                              [numpy_helper.from_array(np.asarray(v, np.float32), k) for k, v in weights.items()])
    save(helper.make_model(graph, producer_name='pytorch', opset_imports=[helper.make_opsetid('', 17)], ir_version=8), f'{folder}/{name}.onnx')


def linear(a, b, i=0):
    return helper.make_node('Gemm', [a, f'l{i}.weight', f'l{i}.bias'], [b], f'/l{i}/Gemm', transB=1)


def weights(n=1):
    return {f'l{i}.{name}': np.full(shape, 0.5) for i in range(n) for name, shape in (('weight', (3, 3)), ('bias', (3,)))}


rows, square = ['batch', 3], [3, 3]
write('two', [linear('x', 'h'), linear('h', 'y', 1)], [('x', rows)], [('y', rows)], weights(2))
# Inputs of different first dimensions, of which one is fixed or none is.
write('fixed', [linear('x', 'h'), helper.make_node('MatMul', ['h', 'z'], ['y'], '/MatMul')], [('x', rows), ('z', square)], [('y', rows)], weights())
write('both', [linear('x', 'h'), helper.make_node('MatMul', ['h', 'z'], ['y'], '/MatMul'), helper.make_node('Neg', ['z'], ['n'], '/Neg')],
      [('x', rows), ('z', ['k', 3])], [('y', rows), ('n', ['k', 3])], weights())
# A sequence of six, which the exporter wrote into a shape.
baked = helper.make_node('Constant', [], ['shape'], '/Constant', value_ints=[1, 18])
write('baked', [baked, helper.make_node('Reshape', ['x', 'shape'], ['y'], '/Reshape')], [('x', ['batch', 'seq', 3])], [('y', ['batch', 18])], {})
write('twice', [linear('x', 'y')], [('x', rows)], [('y', rows), ('y', rows)], weights())
write('norank', [linear('x', 'y')], [('x', None)], [('y', rows)], weights())
write('unnamed', [linear('x', 'y')], [('x', [None, 3])], [('y', [None, 3])], weights())
write('reserved-output', [linear('x', '__metadata__')], [('x', rows)], [('__metadata__', rows)], weights())
write('reserved-input', [linear('__metadata__', 'y')], [('__metadata__', rows)], [('y', rows)], weights())
write('reserved-weight', [helper.make_node('Mul', ['x', '__metadata__'], ['y'], '/Mul')], [('x', rows)], [('y', rows)], {'__metadata__': np.ones(3)})
write('tokens', [helper.make_node('Gather', ['emb.weight', 'ids'], ['y'], '/emb/Gather')],
      [('ids', ['batch', 'seq'], INT), ('mask', ['batch', 'seq'], INT), ('f', rows)], [('y', ['batch', 'seq', 7])], {'emb.weight': np.ones((9, 7))})
# Names that would command a terminal, forge a line, or are no words of UTF-8's text.
write('names', [helper.make_node('Relu', ['x'], ['h'], '/a\x1b[31m\nforged/Relu'), helper.make_node('Sigmoid', ['h'], ['y\x9b\r'], '/sig')],
      [('x', rows)], [('y\x9b\r', rows)], {})
# An index that is out of range only where it is known: at run time.
write('index', [helper.make_node('Cast', ['x'], ['i'], '/Cast', to=INT), helper.make_node('Gather', ['emb.weight', 'i'], ['y'], '/emb/Gather')],
      [('x', rows)], [('y', ['batch', 3, 2])], {'emb.weight': np.ones((2, 2))})
# Shapes that do not fit, of an op that its importer does not check itself.
write('shapes', [helper.make_node('Add', ['x', 'b'], ['y'], '/m/Add')], [('x', rows)], [('y', rows)], {'b': np.ones((4,))})
# A type that the op does not take.
write('types', [helper.make_node('Gather', ['x', 'i'], ['y'], '/m/Gather')], [('x', rows)], [('y', rows)], {'i': np.zeros(2)})
x = np.ones((4, 3), np.float32)
save_file({'x': x, 'labels': x}, f'{folder}/data.safetensors')
save_file({'x': x.astype(np.float64)}, f'{folder}/wrong.safetensors')
save_file({'x': np.ones((4, 5), np.float32)}, f'{folder}/wide.safetensors')
save_file({'x': x * 9}, f'{folder}/nine.safetensors')
save_file({'x': x, 'z': np.eye(3, dtype=np.float32), 'labels': x}, f'{folder}/both.safetensors')
(np.arange(400) % 7).astype(np.uint16).tofile(f'{folder}/tokens.bin')
for name, text in {'empty': '', 'blank': '\n \n', 'missing': '0F0,0F1,0B0\n1F0,1F1,1B0,1B1\n', 'second': '0F0,0F1,0B0,0B1\n1F0,,1F1,1B0,1B1,1B1\n',
                   'early': '0F0,0F1,0B0,0B1\n1B0,1F0,1F1,1B1\n', 'unknown': '0F0,0F1,0B0,0B1\n1F0,1X0,1F1,1B0,1B1\n',
                   'other': '0F0,0B0\n', 'good': '0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n'}.items():
    open(f'{folder}/{name}.csv', 'w').write(text)
