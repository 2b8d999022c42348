"""Writes a model whose graph differs with the microbatch size: an Expand that a batch of one does not need."""
import sys
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save_file

folder = sys.argv[1]
table = np.linspace(-1, 1, 4, dtype=np.float32).reshape(1, 4)
nodes = [
    helper.make_node('Tanh', ['table'], ['t'], name='/a/Tanh'),
    helper.make_node('Shape', ['x'], ['shape'], name='/a/Shape'),
    helper.make_node('Expand', ['t', 'shape'], ['e'], name='/a/Expand'),
    helper.make_node('Relu', ['x'], ['r'], name='/a/Relu'),
    helper.make_node('Mul', ['r', 'e'], ['m'], name='/b/Mul'),
    helper.make_node('Add', ['m', 'e'], ['y'], name='/c/Add'),
]
info = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ['batch', 4])
graph = helper.make_graph(nodes, 'uneven', [info('x')], [info('y')], [numpy_helper.from_array(table, 'table')])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 18)], ir_version=10), folder + '/model.onnx')
x = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
e = np.tanh(table)
save_file({'x': x}, folder + '/in.safetensors')
save_file({'y': np.maximum(x, 0) * e + e}, folder + '/want.safetensors')
