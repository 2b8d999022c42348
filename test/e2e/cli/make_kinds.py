"""make_kinds.py FOLDER: files that people take for ONNX ones, half-precision models, and a model with constant outputs."""
import io
import pickle
import sys
import zipfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from safetensors.numpy import save_file

folder = sys.argv[1]


def archive(name, *members):
    with zipfile.ZipFile(f'{folder}/{name}', 'w') as file:
        for member in members:
            file.writestr(member, b'x' * 64)


def put(name, content):
    open(f'{folder}/{name}', 'wb').write(content)


archive('weights.onnx', 'model/data.pkl', 'model/byteorder', 'model/data/0')
archive('script.onnx', 'm/data.pkl', 'm/code/__torch__.py', 'm/constants.pkl')
archive('program.onnx', 'm/archive_format', 'm/models/model.json')
archive('other.onnx', 'readme.txt')
put('pickle.onnx', pickle.dumps({'w': 1}, protocol=2))
put('gguf.onnx', b'GGUF\3\0\0\0' + b'\0' * 64)
put('keras.onnx', b'\x89HDF\r\n\x1a\n' + b'\0' * 64)
put('tf.onnx', b'\x08\x01\x12\x40\n\x04\x08\x01' + b'\x12\x1bsaved_model_schema_version' + b'Placeholder')
put('page.onnx', b'<!DOCTYPE html><html></html>')
put('lfs.onnx', b'version https://git-lfs.github.com/spec/v1\noid sha256:00\n')
put('tflite.onnx', b'\x1c\0\0\0TFL3' + b'\0' * 64)
put('empty.onnx', b'')
save_file({'w': np.zeros(4, np.float32)}, f'{folder}/safe.onnx')


def model(name, nodes, weights, outputs, element=TensorProto.FLOAT):
    port = lambda n, shape: helper.make_tensor_value_info(n, element, shape)
    graph = helper.make_graph(nodes, 'g', [port('x', ['batch', 4])], [port(n, s) for n, s in outputs], [numpy_helper.from_array(v, k) for k, v in weights.items()])
    save(helper.make_model(graph, producer_name='pytorch', opset_imports=[helper.make_opsetid('', 17)], ir_version=8), f'{folder}/{name}')


half = {'fc.weight': np.ones((4, 4), np.float16), 'fc.bias': np.zeros(4, np.float16)}
gemm = helper.make_node('Gemm', ['x', 'fc.weight', 'fc.bias'], ['y'], '/fc/Gemm', transB=1)
model('half.onnx', [gemm], half, [('y', ['batch', 4])], TensorProto.FLOAT16)
full = {k: v.astype(np.float32) for k, v in half.items()}
model('constants.onnx', [gemm, helper.make_node('Identity', ['fc.bias'], ['b'], '/Identity'), helper.make_node('Exp', ['fc.bias'], ['e'], '/Exp')], full,
      [('y', ['batch', 4]), ('b', [4]), ('e', [4])])
model('none.onnx', [], {}, [('x', ['batch', 4])])
save_file({'x': np.ones((8, 4), np.float16), 'labels': np.zeros((8, 4), np.float16)}, f'{folder}/half.safetensors')
save_file({'x': np.ones((8, 4), np.float32)}, f'{folder}/x.safetensors')
