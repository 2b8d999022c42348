"""make_heads.py FOLDER writes heads.onnx: the trunk a, b, c, d (c is called twice) with output y, a second head e with an output of its own, a branch that
goes nowhere, and a parameter and a buffer that no node reads; data.safetensors to train y or z with mse; other.safetensors with other values of all weights,
part.safetensors with those of what y reads."""
import sys
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from safetensors.numpy import save_file

folder = sys.argv[1]
random = np.random.default_rng(0)
shapes = {f'{m}.{leaf}': shape for m in 'abcd' for leaf, shape in (('weight', (4, 4)), ('bias', (4,)))}
trunk = list(shapes)
shapes.update({'e.weight': (3, 4), 'e.bias': (3,), 'dead.weight': (4, 4), 'loose.weight': (2, 5), 'loose.running_mean': (7,)})
weights = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
nodes, value = [], 'x'
for i, module in enumerate('abccd'):
    nodes.append(helper.make_node('Gemm', [value, module + '.weight', module + '.bias'], [f'g{i}'], f'/{module}/Gemm' + '_1' * (i == 3), transB=1))
    nodes.append(helper.make_node('Tanh', [f'g{i}'], ['y' if module == 'd' else f't{i}'], f'/Tanh_{i}'))
    value = nodes[-1].output[0]
    if i == 1:
        nodes.append(helper.make_node('Gemm', [value, 'e.weight', 'e.bias'], ['z'], '/e/Gemm', transB=1))
        nodes.append(helper.make_node('MatMul', [value, 'dead.weight'], ['nowhere'], '/dead/MatMul'))
port = lambda name, size: helper.make_tensor_value_info(name, TensorProto.FLOAT, ['batch', size])
graph = helper.make_graph(nodes, 'g', [port('x', 4)], [port('y', 4), port('z', 3)], [numpy_helper.from_array(v, k) for k, v in weights.items()])
save(helper.make_model(graph, producer_name='pytorch', opset_imports=[helper.make_opsetid('', 17)], ir_version=8), folder + '/heads.onnx')
save_file({'x': random.normal(size=(8, 4)).astype(np.float32), 'labels': random.normal(size=(8, 4)).astype(np.float32),
           'of_z': random.normal(size=(8, 3)).astype(np.float32)}, folder + '/data.safetensors')
save_file(weights, folder + '/file.safetensors')
save_file({k: v + 1 for k, v in weights.items()}, folder + '/other.safetensors')
save_file({k: v + 1 for k, v in weights.items() if k in trunk}, folder + '/part.safetensors')
