"""make_deep.py FILE PARTS: a model whose operations lie in a module PARTS deep."""
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

path, parts = sys.argv[1], int(sys.argv[2])
port = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 4])
weight = 'a.' * parts + 'weight'
scopes = '/a' * parts
nodes = [helper.make_node('MatMul', ['x', weight], ['y'], f'{scopes}/MatMul'), helper.make_node('Relu', ['y'], ['z'], f'{scopes}/Relu')]
graph = helper.make_graph(nodes, 'g', [port('x')], [port('z')], [numpy_helper.from_array(np.eye(4, dtype=np.float32), weight)])
save(helper.make_model(graph, producer_name='pytorch', opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)
