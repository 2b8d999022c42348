"""Files as PyTorch's exporters write them, without the names or the parameters of a model: make_names_files.py FOLDER [--check SAVED]"""
import sys
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from safetensors.numpy import load_file, save_file

folder = sys.argv[1]
rng = np.random.default_rng(0)
normal = lambda *shape: rng.normal(size=shape).astype(np.float32)
up, down, half, bias = normal(3, 3), normal(3, 3), normal(3, 3), normal(3)
state = {'up.weight': up, 'up.bias': bias, 'down.kernel': down, 'half': half, 'a': normal(3), 'b': normal(3), 'c': normal(3)}
if '--check' in sys.argv:
    saved = load_file(sys.argv[3])
    assert set(saved) == set(state) - {'half'}, sorted(saved)
    for name, value in saved.items():
        assert np.array_equal(value, state[name]), name
    sys.exit()


def write(name, nodes, weights, inputs, shape, signature=None, element=TensorProto.FLOAT):
    graph = helper.make_graph([helper.make_node(op, ins.split(), [out], node, **a) for op, ins, out, node, a in nodes], 'g',
                              [helper.make_tensor_value_info('x', element, ['batch', *inputs])], [helper.make_tensor_value_info('y', TensorProto.FLOAT, ['batch', *shape])],
                              [numpy_helper.from_array(np.asarray(v, np.float32), k) for k, v in weights.items()])
    if signature:
        graph.metadata_props.add(key='pkg.torch.export.ExportedProgram.graph_signature', value=signature)
    save(helper.make_model(graph, producer_name='pytorch', opset_imports=[helper.make_opsetid('', 18)], ir_version=10), f'{folder}/{name}.onnx')


# onnx::MatMul_6 is the module's weight, 7 another's matrix, 8 half of one.
write('numbers', [('MatMul', 'x onnx::MatMul_6', 'u', '/up/MatMul', {}), ('Add', 'up.bias u', 'v', '/up/Add', {}), ('MatMul', 'v onnx::MatMul_7', 'd', '/MatMul', {}), ('MatMul', 'd onnx::MatMul_8', 'h', '/MatMul_1', {}),
                  ('Mul', 'h a', 'i', '/Mul', {}), ('Add', 'i b', 'j', '/Add', {}), ('Mul', 'j c', 'y', '/Mul_1', {})],
      {'onnx::MatMul_6': up.T, 'onnx::MatMul_7': down.T, 'onnx::MatMul_8': half.T / 2, **{k: state[k] for k in ('up.bias', 'a', 'b', 'c')}}, [3], [3])
save_file(state, f'{folder}/state.safetensors')
save_file({**state, 'up.bias': bias + 1}, f'{folder}/later.safetensors')
write('twins', [('MatMul', 'x onnx::MatMul_6', 'u', '/a/MatMul', {}), ('Tanh', 'u', 't', '/Tanh', {}), ('MatMul', 't onnx::MatMul_7', 'y', '/b/MatMul', {})], {'onnx::MatMul_6': up.T, 'onnx::MatMul_7': up.T}, [3], [3])
save_file({'a.weight': up, 'b.weight': up.copy()}, f'{folder}/twins.safetensors')

# Two blocks, each two convolutions of folded norms, and a head.
nodes, weights, value = [], {}, 'x'
names = ['conv1'] + [f'layer{k}.conv{n}' for k in (1, 2) for n in (1, 2)]
for n, name in enumerate(names):
    weights.update({f'onnx::Conv_{60 + 3 * n}': normal(3, 3, 3, 3), f'onnx::Conv_{61 + 3 * n}': normal(3)})
    nodes.append(('Conv', f'{value} onnx::Conv_{60 + 3 * n} onnx::Conv_{61 + 3 * n}', f'c{n}', '/' + name.replace('.', '/') + '/Conv', dict(pads=[1, 1, 1, 1])))
    nodes.append(('Relu', f'c{n}', f'r{n}', f'/Relu_{n}', {}))
    value = f'r{n}'
    if n in (2, 4):
        nodes.append(('Add', f'r{n} r{n - 2}', f's{n}', f'/layer{n // 2}/Add', {}))
        value = f's{n}'
nodes += [('GlobalAveragePool', value, 'p', '/pool/GlobalAveragePool', {}), ('Flatten', 'p', 'f', '/Flatten', dict(axis=1)), ('Gemm', 'f fc.weight fc.bias', 'y', '/fc/Gemm', dict(transB=1))]
write('resnet', nodes, {**weights, 'fc.weight': normal(3, 3), 'fc.bias': normal(3)}, [3, 6, 6], [3])
# Eleven parameters, one of them in a constant.
chain = [(('Mul', 'Add')[n % 2], f'{"x" if not n else f"h{n}"} p{n}', f'h{n + 1}' if n < 10 else 'y', f'n{n}', {}) for n in range(11)]
write('most', chain, {f'p{n}': normal(3) for n in range(11)}, [3], [3], ''.join(f"p_p{n}: PARAMETER target='p{n}'\n" for n in range(11)) + "p_gone: PARAMETER target='gone'\nx: USER_INPUT\n")
table = normal(5, 3)
table[3] = 0
write('table', [('Gather', 'e.weight x', 'g', '/e/Gather', {}), ('Mul', 'g a', 'y', '/Mul', {})], {'e.weight': table, 'a': normal(3)}, [2], [2, 3], element=TensorProto.INT64)
save_file({'x': normal(4, 3), 'labels': normal(4, 3)}, f'{folder}/rows.safetensors')
save_file({'x': normal(2, 3, 6, 6), 'labels': normal(2, 3)}, f'{folder}/images.safetensors')
save_file({'x': np.array([[0, 3], [1, 2]]), 'labels': normal(2, 2, 3)}, f'{folder}/ids.safetensors')
