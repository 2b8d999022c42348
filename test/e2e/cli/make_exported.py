"""Models as PyTorch's exporters write them, with what those leave out: make_exported.py FOLDER"""
import sys
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from safetensors.numpy import save_file

folder = sys.argv[1]
rows = np.random.default_rng(0)


def write(name, nodes, weights, signature=None):
    port = lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, ['batch', 3])
    graph = helper.make_graph(nodes, 'g', [port('x')], [port('y')], [numpy_helper.from_array(np.asarray(v, np.float32), k) for k, v in weights.items()])
    if signature:
        graph.metadata_props.add(key='pkg.torch.export.ExportedProgram.graph_signature', value=signature)
    save(helper.make_model(graph, producer_name='pytorch', opset_imports=[helper.make_opsetid('', 18)], ir_version=10), f'{folder}/{name}.onnx')


def called(op, inputs, outputs, target, arguments):
    node = helper.make_node(op, inputs, outputs, 'node_' + outputs[0])
    node.metadata_props.add(key='pkg.torch.onnx.name_scopes', value="['', 'call']")
    node.metadata_props.add(key='pkg.torch.onnx.fx_node',
                            value=f'%{outputs[0]} : [num_users=1] = call_function[target=torch.ops.{target}](args = ({arguments}), kwargs = {{}})')
    return node


write('script', [helper.make_node('Pow', ['x', 'p'], ['h'], '/Pow'), helper.make_node('Add', ['h', 'table'], ['y'], '/Add')],
      {'p': [1.5, 2, 2.5], 'table': np.ones(3)})
write('dynamo', [called('Cast', ['x'], ['ids'], 'aten._to_copy.default', '%x'), called('Gather', ['e.weight', 'ids'], ['embedding'], 'aten.embedding.default', '%p_e_weight, %ids, 2'),
                 called('ReduceMean', ['embedding', 'axes'], ['mean'], 'aten.mean.dim', '%embedding, [2]'), called('Mul', ['mean', 'exp'], ['m'], 'aten.mul.Tensor', '%mean, %exp'),
                 called('Add', ['m', 't'], ['y'], 'aten.add.Tensor', '%m, %p_t')],
      {'e.weight': rows.normal(size=(8, 4)), 'exp': np.exp([1, 2, 3]), 't': [1, 2, 3]}, "p_e_weight: PARAMETER target='e.weight'\np_t: PARAMETER target='t'\n")
import onnx
model = onnx.load(f'{folder}/dynamo.onnx')
model.graph.initializer.append(numpy_helper.from_array(np.array([2]), 'axes'))
next(n for n in model.graph.node if n.op_type == 'Cast').attribute.append(helper.make_attribute('to', TensorProto.INT64))
next(n for n in model.graph.node if n.op_type == 'ReduceMean').attribute.append(helper.make_attribute('keepdims', 0))
save(model, f'{folder}/dynamo.onnx')
save_file({'x': rows.integers(1, 8, (4, 3)).astype(np.float32), 'labels': np.zeros((4, 3), np.float32)}, f'{folder}/data.safetensors')
