"""Models as PyTorch's exporters write them, with what those leave out: make_exported.py FOLDER"""
import sys
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from safetensors.numpy import save_file

folder = sys.argv[1]
rows = np.random.default_rng(0)


def write(name, nodes, weights, shape, signature=None):
    port = lambda n, dims: helper.make_tensor_value_info(n, TensorProto.FLOAT, ['batch', *dims])
    graph = helper.make_graph(nodes, 'g', [port('x', [3])], [port('y', shape)], [numpy_helper.from_array(np.asarray(v, np.float32), k) for k, v in weights.items()])
    if signature:
        graph.metadata_props.add(key='pkg.torch.export.ExportedProgram.graph_signature', value=signature)
    save(helper.make_model(graph, producer_name='pytorch', opset_imports=[helper.make_opsetid('', 18)], ir_version=10), f'{folder}/{name}.onnx')


def called(op, inputs, output, target, arguments, module='', **attributes):
    node = helper.make_node(op, inputs, [output], output, **attributes)
    node.metadata_props.add(key='pkg.torch.onnx.name_scopes', value=str(['', module, output] if module else ['', output]))
    node.metadata_props.add(key='pkg.torch.onnx.fx_node',
                            value=f'%{output} : [num_users=1] = call_function[target=torch.ops.aten.{target}](args = ({arguments}), kwargs = {{}})')
    return node


# A parameter as exponent and one as bound, beside a buffer, in a file that does not tell them apart.
write('script', [helper.make_node('Clip', ['x', 'low'], ['c'], '/Clip'), helper.make_node('Pow', ['c', 'gem.p'], ['h'], '/gem/Pow'),
                 helper.make_node('Add', ['h', 'pe'], ['y'], '/Add')], {'low': 0.5, 'gem.p': np.full(3, 1.5), 'pe': np.ones(3)}, [3])
# A weight that constant folding transposed: a number is left of its name.
write('numbers', [helper.make_node('MatMul', ['x', 'onnx::MatMul_7'], ['y'], '/fc/MatMul')], {'onnx::MatMul_7': rows.normal(size=(3, 3))}, [3])
# A table that is read with padding_idx=4 and without; 4 and -1 are one row.
write('padding', [helper.make_node('Cast', ['x'], ['ids'], 'cast', to=TensorProto.INT64),
                  called('Gather', ['e.weight', 'ids'], 'a', 'embedding.default', '%p_e_weight, %ids, 4', 'e'),
                  called('Gather', ['e.weight', 'ids'], 'b', 'embedding.default', '%p_e_weight, %ids'),
                  helper.make_node('Mul', ['b', 'half'], ['c'], 'c'), helper.make_node('Add', ['a', 'c'], ['y'], 'd')],
      {'e.weight': rows.normal(size=(5, 2)), 'half': 0.5}, [3, 2], "p_e_weight: PARAMETER target='e.weight'\nx: USER_INPUT\n")
# exp(t), computed once at export, and t itself.
write('computed', [called('Mul', ['x', 'exp'], 'm', 'mul.Tensor', '%x, %exp'), called('Add', ['m', 't'], 'y', 'add.Tensor', '%m, %p_t')],
      {'t': np.ones(3), 'exp': np.exp(np.ones(3))}, [3], "p_t: PARAMETER target='t'\np_gone: PARAMETER target='gone'\nx: USER_INPUT\n")
# Equal tensors are one: a fresh BatchNorm's bias is its running_mean, and ones stand for the scale that a LayerNorm without parameters does not have.
write('fresh', [called('LayerNormalization', ['x', 'bn.weight'], 'n', 'layer_norm.default', '%x, [3], None, None, 1e-05, False', axis=-1),
                called('BatchNormalization', ['n', 'bn.weight', 'bn.bias', 'bn.bias', 'bn.weight'], 'y', '_native_batch_norm_legit_no_training.default',
                       '%n, %p_bn_weight, %p_bn_bias, %b_bn_running_mean, %b_bn_running_var, 0.1, 1e-05', 'bn')],
      {'bn.weight': np.ones(3), 'bn.bias': np.zeros(3)}, [3],
      "p_bn_weight: PARAMETER target='bn.weight'\np_bn_bias: PARAMETER target='bn.bias'\nb_bn_running_mean: BUFFER target='bn.running_mean' persistent=True\n"
      "b_bn_running_var: BUFFER target='bn.running_var' persistent=True\nx: USER_INPUT\n")
save_file({'x': rows.uniform(1, 2, (4, 3)).astype(np.float32), 'labels': np.zeros((4, 3), np.float32)}, f'{folder}/data.safetensors')
save_file({'x': np.array([[0, 4, -1], [1, 4, 4]], np.float32), 'labels': np.zeros((2, 3, 2), np.float32)}, f'{folder}/ids.safetensors')
