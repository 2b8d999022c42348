"""Attention as torch.onnx.export(dynamo=True, optimize=False) writes nn.MultiheadAttention, its inputs and expected outputs: make_sequences.py FOLDER"""
import sys
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from safetensors.numpy import save_file

folder = sys.argv[1]
rows = np.random.default_rng(0)
BATCH, LENGTH, WIDTH = 4, 3, 2
weights = {'attn.in_proj_weight': rows.normal(size=(3 * WIDTH, WIDTH)), 'attn.in_proj_bias': rows.normal(size=3 * WIDTH),
           'attn.out_proj.weight': rows.normal(size=(WIDTH, WIDTH)), 'attn.out_proj.bias': rows.normal(size=WIDTH), 'scale': np.float32(WIDTH**-0.5)}
weights = {name: np.asarray(value, np.float32) for name, value in weights.items()}
integers = {'last': -1, 'zero': 0, 'one': 1, 'two': 2, 'width': WIDTH}


def node(op, inputs, output, module='attn', **attributes):
    made = helper.make_node(op, inputs, [output], 'node_' + output, **attributes)
    made.metadata_props.add(key='pkg.torch.onnx.name_scopes', value=repr(['', *(['attn', module] if '.' in module else [module]), output]))
    return made


def write(name, third='two'):
    nodes = [node('Transpose', ['attn.in_proj_weight'], 'w', perm=[1, 0]), node('MatMul', ['x', 'w'], 'm'), node('Add', ['m', 'attn.in_proj_bias'], 'qkv'),
             node('SplitToSequence', ['qkv', 'width'], 'parts', axis=-1),
             node('SequenceAt', ['parts', 'zero'], 'q'), node('SequenceAt', ['parts', 'one'], 'k'), node('SequenceAt', ['parts', third], 'v'),
             node('Transpose', ['k'], 'kt', perm=[0, 2, 1]), node('MatMul', ['q', 'kt'], 'scores'), node('Mul', ['scores', 'scale'], 'scaled'),
             node('Softmax', ['scaled'], 'p', axis=-1), node('MatMul', ['p', 'v'], 'context'),
             node('Transpose', ['attn.out_proj.weight'], 'ow', 'attn.out_proj', perm=[1, 0]), node('MatMul', ['context', 'ow'], 'om', 'attn.out_proj'),
             node('Add', ['om', 'attn.out_proj.bias'], 'y', 'attn.out_proj')]
    port = lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, ['batch', LENGTH, WIDTH])
    tensors = [numpy_helper.from_array(v, k) for k, v in weights.items()] + [numpy_helper.from_array(np.int64(v), k) for k, v in integers.items()]
    graph = helper.make_graph(nodes, 'g', [port('x')], [port('y')], tensors)
    graph.metadata_props.add(key='pkg.torch.export.ExportedProgram.graph_signature',
                             value=''.join(f"p_{k.replace('.', '_')}: PARAMETER target='{k}'\n" for k in weights if k != 'scale') + 'x: USER_INPUT\n')
    save(helper.make_model(graph, producer_name='pytorch', opset_imports=[helper.make_opsetid('', 18)], ir_version=10), f'{folder}/{name}.onnx')


write('attention')
write('negative', third='last')
integers['four'] = 4
write('beyond', third='four')
x = rows.normal(size=(BATCH, LENGTH, WIDTH)).astype(np.float32)
qkv = x @ weights['attn.in_proj_weight'].T + weights['attn.in_proj_bias']
q, k, v = np.split(qkv, 3, -1)
p = np.exp(q @ k.transpose(0, 2, 1) * weights['scale'])
y = (p / p.sum(-1, keepdims=True)) @ v @ weights['attn.out_proj.weight'].T + weights['attn.out_proj.bias']
save_file({'x': x}, folder + '/in.safetensors')
save_file({'y': y.astype(np.float32)}, folder + '/want.safetensors')
save_file({'x': x, 'labels': np.zeros_like(y, np.float32)}, folder + '/train.safetensors')
