"""A model with external data, and links to it: make_replace.py FOLDER"""
import json
import os
import sys
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from safetensors.numpy import load_file, save_file

folder = sys.argv[1]
random = np.random.default_rng(0)
rows = ['batch', 32]
port = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, rows)
weights = {'fc.weight': random.normal(size=(32, 32)), 'fc.bias': random.normal(size=32)}
graph = helper.make_graph([helper.make_node('Gemm', ['x', 'fc.weight', 'fc.bias'], ['y'], '/fc/Gemm', transB=1)], 'g', [port('x')], [port('y')],
                          [numpy_helper.from_array(v.astype(np.float32), k) for k, v in weights.items()])
model = helper.make_model(graph, producer_name='pytorch', opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
save(model, f'{folder}/m.onnx', save_as_external_data=True, location='m.data', size_threshold=0)
save_file({'x': random.normal(size=(4, 32)).astype(np.float32), 'labels': random.normal(size=(4, 32)).astype(np.float32)}, f'{folder}/d.safetensors')
save_file({'y': np.zeros((4, 32), np.float32)}, f'{folder}/e.safetensors')
save_file({k: v.astype(np.float32) for k, v in weights.items()}, f'{folder}/w-1.safetensors')
json.dump({'metadata': {}, 'weight_map': {k: 'w-1.safetensors' for k in weights}}, open(f'{folder}/w.safetensors.index.json', 'w'))
os.symlink('m.data', f'{folder}/soft')
os.link(f'{folder}/m.data', f'{folder}/hard')
open(f'{folder}/s.csv', 'w').write('0F0,0B0\n')
