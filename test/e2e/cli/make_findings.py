"""Small models on which users found faults: make_findings.py FOLDER"""
import sys
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from safetensors.numpy import save_file

folder = sys.argv[1]
rows = np.random.default_rng(0)


def write(name, nodes, inputs, outputs, weights, producer='pytorch'):
    port = lambda n, shape: helper.make_tensor_value_info(n, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, 'g', [port(*i) for i in inputs], [port(*o) for o in outputs],
                              [numpy_helper.from_array(np.asarray(v, np.float32), k) for k, v in weights.items()])
    save(helper.make_model(graph, producer_name=producer, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), f'{folder}/{name}.onnx')


# BatchNorm that moves its statistics by 0.3, not by the default 0.1; and a scalar parameter of the root.
write('norm', [helper.make_node('BatchNormalization', ['x', 'bn.weight', 'bn.bias', 'bn.running_mean', 'bn.running_var'], ['h'], '/bn/BatchNormalization', momentum=0.7),
               helper.make_node('Mul', ['h', 'logit_scale'], ['y'], '/Mul')],
      [('x', ['batch', 3])], [('y', ['batch', 3])],
      {'bn.weight': np.ones(3), 'bn.bias': np.zeros(3), 'bn.running_mean': np.zeros(3), 'bn.running_var': np.ones(3), 'logit_scale': 2.0})
# A momentum of None, and one value per channel with batches of one row.
write('still', [helper.make_node('BatchNormalization', [a, f'{n}.weight', f'{n}.bias', f'{n}.running_mean', f'{n}.running_var'], [b], f'/{n}/BatchNormalization', momentum=m)
                for a, b, n, m in (('x', 'h', 'first', 1.0), ('h', 'y', 'second', 0.9))],
      [('x', ['batch', 3])], [('y', ['batch', 3])],
      {f'{n}.{k}': np.full(3, v) for n in ('first', 'second') for k, v in (('weight', 1), ('bias', 0), ('running_mean', 0), ('running_var', 1))})
# Scores in PyTorch's order, [N, C, T]; with as many classes as positions nobody can tell.
for name, classes in (('classes', 3), ('square', 5)):
    write(name, [helper.make_node('Mul', ['x', 'w'], ['y'], '/Mul')], [('x', ['batch', classes, 5])], [('y', ['batch', classes, 5])], {'w': np.ones((classes, 1))})
    save_file({'x': rows.normal(size=(4, classes, 5)).astype(np.float32), 'labels': np.zeros((4, 5), np.int64)}, f'{folder}/{name}.safetensors')
# A second output, of layers that the loss does not need.
width = [helper.make_node('Gemm', [a, f'l{i}.weight', f'l{i}.bias'], [b], f'/l{i}/Gemm', transB=1)
         for i, (a, b) in enumerate([('x', 'a'), ('a', 'b'), ('b', 'y'), ('y', 'c'), ('c', 'd'), ('d', 'z')])]
write('heads', width, [('x', ['batch', 3])], [('y', ['batch', 3]), ('z', ['batch', 3])],
      {f'l{i}.{n}': rows.normal(size=s) / 2 for i in range(6) for n, s in (('weight', (3, 3)), ('bias', (3,)))})
write('names', [helper.make_node('Relu', ['x'], ['y'], 'relu')], [('x', ['batch', 3])], [('y', ['batch', 3])], {})
data = open(f'{folder}/names.onnx', 'rb').read()
open(f'{folder}/names.onnx', 'wb').write(data.replace(b'relu', b're\xffu'))
write('resize', [helper.make_node('Resize', ['x', '', 'scales'], ['y'], 'r', mode='nearest', coordinate_transformation_mode='asymmetric', nearest_mode='floor')],
      [('x', [1, 1, 1, 20])], [('y', [1, 1, 1, 14])], {'scales': [1, 1, 1, 0.7]})
save_file({'x': rows.normal(size=(4, 3)).astype(np.float32) + 1, 'labels': rows.normal(size=(4, 3)).astype(np.float32)}, f'{folder}/data.safetensors')
x = np.arange(20, dtype=np.float32).reshape(1, 1, 1, 20)
save_file({'x': x}, f'{folder}/row.safetensors')
# PyTorch: floor(i * (1 / 0.7)) in f32.
at = np.floor(np.arange(14, dtype=np.float32) * np.float32(1 / 0.7)).astype(int)
save_file({'y': np.ascontiguousarray(x[..., at])}, f'{folder}/resized.safetensors')
# Zeros of one size and two shapes: the gradients of both gathers start from them.
write('lookup', [helper.make_node('Cast', ['x'], ['ids'], '/Cast', to=TensorProto.INT64), helper.make_node('Gather', ['e.weight', 'ids'], ['h'], '/e/Gather'),
                 helper.make_node('Cast', ['zero'], ['first'], '/Cast_1', to=TensorProto.INT64), helper.make_node('Gather', ['h', 'first'], ['y'], '/Gather', axis=1)],
      [('x', ['batch', 5])], [('y', ['batch', 16])], {'e.weight': rows.normal(size=(30, 16)), 'zero': 0.0})
save_file({'x': rows.integers(0, 30, (6, 5)).astype(np.float32), 'labels': np.zeros((6, 16), np.float32)}, f'{folder}/lookup.safetensors')
