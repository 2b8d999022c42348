"""A model whose constant takes a byte an element in the file and more in memory: make_big.py FILE"""
import sys
import numpy as np
from onnx import TensorProto, helper, save

COUNT = 20000000
constant = helper.make_tensor('c', TensorProto.INT32, [COUNT], np.ones(COUNT, np.int32))
port = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ['batch'])
nodes = [helper.make_node('Cast', ['c'], ['d'], '/Cast', to=TensorProto.FLOAT), helper.make_node('ReduceSum', ['d'], ['e'], '/Sum', keepdims=0),
         helper.make_node('Add', ['x', 'e'], ['y'], '/Add')]
save(helper.make_model(helper.make_graph(nodes, 'g', [port('x')], [port('y')], [constant]), opset_imports=[helper.make_opsetid('', 17)], ir_version=8), sys.argv[1])
