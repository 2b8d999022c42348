"""make_own_loss.py FOLDER: models that return a loss of their own, in the forms of both exporters, and batches for them."""
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from safetensors.numpy import save_file

folder = sys.argv[1]
random = np.random.default_rng(0)
F, I = TensorProto.FLOAT, TensorProto.INT64
ports = {'x': (F, ['batch', 3, 5]), 'y': (F, ['batch', 3, 4]), 'mask': (F, ['batch', 3]), 'labels': (I, ['batch', 3])}
weights = {'a.weight': random.normal(size=(5, 8)), 'a.bias': random.normal(size=8), 'head.weight': random.normal(size=(8, 4)),
           'head.bias': random.normal(size=4)}
numbers = {'half': np.float32(.5), 'one': np.float32(1), 'tenth': np.float32(.1), 'zero': np.int64(0), 'first': np.int64(0), 'rows': np.array([-1], np.int64),
           'classes': np.array([-1, 4], np.int64), 'last': np.array([2], np.int64), 'first_row': np.array([0], np.int64), 'two': np.array([2], np.int64), 'column': np.array([1], np.int64),
           'ignored': np.int64(-100), 'class_weights': np.array([1, 2, .5, 3], np.float32)}
net = [('MatMul', 'x a.weight', 'p'), ('Add', 'p a.bias', 'q'), ('Tanh', 'q', 't'), ('MatMul', 't head.weight', 'u'), ('Add', 'u head.bias', 'z')]
flat = [('Reshape', 'z classes', 'zf'), ('Reshape', 'labels rows', 'lf')]
error = [('Sub', 'z y', 'd'), ('Mul', 'd d', 'e')]
token = error + [('ReduceMean', 'e last', 'r', dict(keepdims=0)), ('Mul', 'r mask', 'rm'), ('ReduceSum', 'rm', 'n', dict(keepdims=0)), ('ReduceSum', 'mask', 'c', dict(keepdims=0))]
picked = flat + [('LogSoftmax', 'zf', 'lp', dict(axis=1)), ('Equal', 'lf ignored', 'no'), ('Not', 'no', 'ok'), ('Where', 'no zero lf', 'safe'), ('Unsqueeze', 'safe column', 's1'),
                 ('GatherElements', 'lp s1', 'g1', dict(axis=1)), ('Squeeze', 'g1 column', 'g'), ('Neg', 'g', 'nll'), ('Cast', 'ok', 'okf', dict(to=F)), ('Mul', 'nll okf', 'kept'),
                 ('ReduceSum', 'kept', 'n', dict(keepdims=0)), ('Cast', 'ok', 'oki', dict(to=I)), ('ReduceSum', 'oki', 'ci', dict(keepdims=0)), ('Cast', 'ci', 'c', dict(to=F)), ('Div', 'n c', 'loss')]
entropy = lambda names, out: ('SoftmaxCrossEntropyLoss', names, out, dict(ignore_index=-100, reduction='mean'))
models = {
    'ignored': ('labels', flat + [entropy('zf lf', 'loss')]),
    'weighted': ('labels', flat + [entropy('zf lf class_weights', 'loss')]),
    'plain': ('labels', flat + [('LogSoftmax', 'zf', 'lp', dict(axis=1)), ('Where', 'never zero lf', 'safe'), ('NegativeLogLikelihoodLoss', 'lp safe', 'loss', dict(reduction='mean', ignore_index=-100))]),
    'picked': ('labels', picked),
    'square': ('y', error + [('ReduceMean', 'e', 'loss', dict(keepdims=0))]),
    'masked': ('y mask', token + [('Div', 'n c', 'loss')]),
    'guarded': ('y mask', token + [('Max', 'c one', 'cc'), ('Div', 'n cc', 'loss')]),
    'shares': ('y mask', token[:-3] + [('ReduceSum', 'mask', 'c', dict(keepdims=0)), ('Div', 'mask c', 'w'), ('Mul', 'r w', 'rw'), ('ReduceSum', 'rw', 'loss', dict(keepdims=0))]),
    'counted': ('y', error + [('ReduceSum', 'e', 'n', dict(keepdims=0)), ('Shape', 'y', 'sh'), ('Gather', 'sh first', 'b'), ('Cast', 'b', 'bf', dict(to=F)), ('Div', 'n bf', 'loss')]),
    'terms': ('labels y', flat + [entropy('zf lf', 'ce')] + error + [('ReduceMean', 'e', 'm', dict(keepdims=0)), ('Mul', 'ce half', 'l1'), ('Mul', 'm tenth', 'l2'), ('Add', 'l1 l2', 'l3'),
                                 ('Mul', 'a.weight a.weight', 'ww'), ('ReduceSum', 'ww', 'reg', dict(keepdims=0)), ('Mul', 'reg tenth', 'l4'), ('Add', 'l3 l4', 'loss')]),
    'root': ('y', error + [('ReduceMean', 'e', 'm', dict(keepdims=0)), ('Sqrt', 'm', 'loss')]),
    'norm': ('y', error + [('ReduceMean', 'e', 'm', dict(keepdims=0)), ('ReduceMax', 'e', 'k', dict(keepdims=0)), ('Div', 'm k', 'loss')]),
}
models['total'] = ('y', error + [('ReduceSum', 'e', 'loss', dict(keepdims=0))])
models['first'] = ('y', error + [('Slice', 'e first_row two', 'two_rows'), ('ReduceSum', 'two_rows', 'loss', dict(keepdims=0))])
models['parameter'] = models['weighted']
models['plain'] = ('labels', [n for n in models['plain'][1] if n[0] != 'Where'])
models['plain'][1][-1] = ('NegativeLogLikelihoodLoss', 'lp lf', 'loss', dict(reduction='mean', ignore_index=-100))
for name, (inputs, body) in models.items():
    nodes = [helper.make_node(n[0], n[1].split(), [n[2]], f'node_{n[2]}', **(n[3] if len(n) > 3 else {})) for n in net + body]
    for node in nodes:
        node.metadata_props.add(key='pkg.torch.onnx.stack_trace', value='File "model.py", line 7, in forward\n    x')
    read = {i for n in nodes for i in n.input}
    tensors = [numpy_helper.from_array(np.asarray(v, np.float32), k) for k, v in weights.items()]
    tensors += [numpy_helper.from_array(np.asarray(v), k) for k, v in numbers.items() if k in read and k != 'class_weights']
    if name == 'parameter':
        tensors.append(numpy_helper.from_array(numbers['class_weights'], 'class_weights'))
    elif 'class_weights' in read:  # a constant of the file, as dynamo=True has it
        nodes.insert(0, helper.make_node('Constant', [], ['class_weights'], 'node_class_weights', value=numpy_helper.from_array(numbers['class_weights'])))
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info(i, *ports[i]) for i in ['x'] + inputs.split()],
                              [helper.make_tensor_value_info('loss', F, [])], tensors)
    save(helper.make_model(graph, producer_name='pytorch', opset_imports=[helper.make_opsetid('', 18)], ir_version=10), f'{folder}/{name}.onnx')
batch = {'x': random.normal(size=(5, 3, 5)).astype(np.float32), 'y': random.normal(size=(5, 3, 4)).astype(np.float32),
         'mask': np.array([[1, 1, 1], [1, 0, 0], [0, 0, 0], [1, 0, .5], [0, 1, 0]], np.float32), 'labels': random.integers(0, 4, (5, 3))}
batch['labels'][0] = -100
batch['labels'][3, 1:] = -100
for name, (inputs, _) in models.items():
    save_file({i: batch[i] for i in ['x'] + inputs.split()}, f'{folder}/{name}.safetensors')
