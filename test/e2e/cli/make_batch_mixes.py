"""Models that mix the rows of their batch, and one that does not: make_batch_mixes.py FOLDER"""
import sys
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from safetensors.numpy import save_file

folder = sys.argv[1]
rows = np.random.default_rng(0)


def write(name, nodes, outputs, weights):
    port = lambda n, shape: helper.make_tensor_value_info(n, TensorProto.FLOAT, shape)
    for node, module, line in nodes:
        node.metadata_props.add(key='pkg.torch.onnx.name_scopes', value=repr(['', module, node.name]))
        node.metadata_props.add(key='pkg.torch.onnx.stack_trace', value=f'File "model.py", line {line}, in forward\n    x')
    graph = helper.make_graph([n for n, _, _ in nodes], 'g', [port('x', ['batch', 3])], [port(*o) for o in outputs],
                              [numpy_helper.from_array(np.asarray(v, v.dtype if hasattr(v, 'dtype') and v.dtype == np.int64 else np.float32), k) for k, v in weights.items()])
    save(helper.make_model(graph, producer_name='pytorch', opset_imports=[helper.make_opsetid('', 18)], ir_version=10), f'{folder}/{name}.onnx')


linear = (helper.make_node('Gemm', ['x', 'lin.weight', 'lin.bias'], ['h'], 'node_linear', transB=1), 'lin', 3)
weights = {'lin.weight': rows.normal(size=(3, 3)), 'lin.bias': rows.normal(size=3)}
first = np.array([0], np.int64)
centre = [(helper.make_node('ReduceMean', ['h', 'first'], ['m'], 'node_mean', keepdims=1), 'centre', 7),
          (helper.make_node('Sub', ['h', 'm'], ['c'], 'node_sub'), 'centre', 7)]
write('mixed', [linear, *centre, (helper.make_node('Softmax', ['h'], ['s'], 'node_softmax', axis=0), 'weigh', 9), (helper.make_node('Add', ['c', 's'], ['y'], 'node_add'), '', 11)],
      [('y', ['batch', 3])], {**weights, 'first': first})
write('apart', [linear, (helper.make_node('Softmax', ['h'], ['y'], 'node_softmax', axis=1), 'weigh', 9)], [('y', ['batch', 3])], weights)
write('mean', [linear, (helper.make_node('ReduceMean', ['h', 'first'], ['y'], 'node_mean', keepdims=0), 'centre', 7)], [('y', [3])], {**weights, 'first': first})
write('flip', [linear, (helper.make_node('Slice', ['h', 'last', 'before', 'first', 'back'], ['f'], 'node_flip'), 'flip', 4), (helper.make_node('Relu', ['f'], ['y'], 'node_relu'), 'act', 5)],
      [('y', ['batch', 3])], {**weights, 'last': np.array([-1]), 'before': np.array([-(2**63 - 1)]), 'first': first, 'back': np.array([-1])})
write('norm', [linear, (helper.make_node('BatchNormalization', ['h', 'bn.weight', 'bn.bias', 'bn.running_mean', 'bn.running_var'], ['y'], 'node_bn'), 'bn', 5)],
      [('y', ['batch', 3])], {**weights, 'bn.weight': np.ones(3), 'bn.bias': np.zeros(3), 'bn.running_mean': np.zeros(3), 'bn.running_var': np.ones(3)})
# One value a row, chosen as CLIP chooses tokens, then all pairs of rows.
picked = [('Shape', ['x'], ['s'], {}), ('Gather', ['s', 'zero'], ['n'], {}), ('Range', ['zero', 'n', 'one'], ['r'], {}), ('Unsqueeze', ['r', 'last'], ['c'], {}),
          ('ArgMax', ['h'], ['a'], {'axis': 1, 'keepdims': 1}), ('Concat', ['c', 'a'], ['i'], {'axis': 1}), ('GatherND', ['h', 'i'], ['p'], {}),
          ('Unsqueeze', ['p', 'last'], ['u'], {}), ('Transpose', ['u'], ['t'], {'perm': [1, 0]}), ('Mul', ['u', 't'], ['y'], {})]
write('pairs', [linear, *((helper.make_node(op, i, o, o[0], **more), 'pick', 4) for op, i, o, more in picked)], [('y', ['batch', 'batch'])],
      {**weights, 'zero': np.array(0), 'one': np.array(1), 'last': np.array([-1])})
write('shape', [(helper.make_node('Relu', ['x'], ['y'], 'node_relu'), 'act', 5)], [('y', ['batch', 5])], {})
save_file({'x': rows.normal(size=(6, 3)).astype(np.float32), 'labels': np.zeros((6, 3), np.float32)}, f'{folder}/more.safetensors')
save_file({'x': rows.normal(size=(4, 3)).astype(np.float32), 'labels': np.zeros((4, 3), np.float32)}, f'{folder}/data.safetensors')
