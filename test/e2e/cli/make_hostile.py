"""Writes model files that are wrong in one way each, named after it, and inputs for them."""
import os, sys
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save_file

folder = sys.argv[1]


def tensor(name, data=None, location=None, offset=0, length=None, dims=(4, 4)):
    if data is not None:
        return numpy_helper.from_array(data, name)
    made = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in (('location', location), ('offset', offset), ('length', 64 if length is None else length)):
        made.external_data.add(key=key, value=str(value))
    return made


def save(name, nodes, weight, outputs=('y',), opset=18):
    info = lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, ['batch', 4])
    graph = helper.make_graph(nodes, name, [info('x')], [info(o) for o in outputs], [weight])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)], ir_version=10), f'{folder}/{name}.onnx')


node = helper.make_node
square = np.eye(4, dtype=np.float32)
matmul = [node('MatMul', ['x', 'w'], ['y'], name='/layer/MatMul')]
save('good', matmul, tensor('w', square))
data = open(f'{folder}/good.onnx', 'rb').read()
open(f'{folder}/truncated.onnx', 'wb').write(data[:len(data) * 2 // 3])
open(f'{folder}/garbage.onnx', 'wb').write(bytes(range(256)) * 8)
open(f'{folder}/empty.onnx', 'wb').write(b'')
save('cyclic', [node('Add', ['x', 'b'], ['a'], name='first'), node('Relu', ['a'], ['b'], name='second'), node('MatMul', ['b', 'w'], ['y'], name='third')], tensor('w', square))
save('undefined', [node('MatMul', ['x', 'nothing'], ['y'], name='/layer/MatMul')], tensor('w', square))
save('wrong_type', matmul, tensor('w', np.eye(4, dtype=np.int32)))
save('wrong_shape', matmul, tensor('w', np.ones((5, 4), np.float32)))
save('unsupported', [node('MatMul', ['x', 'w'], ['m'], name='/layer/MatMul'), node('Det', ['m'], ['d'], name='first_det'), node('Det', ['m'], ['e'], name='second_det'),
                     node('NonMaxSuppression', ['m', 'm'], ['y'], name='nms')], tensor('w', square))
save('old_opset', matmul, tensor('w', square), opset=9)
open(f'{folder}/weights.bin', 'wb').write(square.tobytes())
os.makedirs(folder + '/inner', exist_ok=True)
save('escape', matmul, tensor('w', location='../weights.bin'))
save('absolute', matmul, tensor('w', location=os.path.abspath(folder) + '/weights.bin'))
save('past_the_end', matmul, tensor('w', location='weights.bin', offset=1 << 40))
save('too_short', matmul, tensor('w', location='weights.bin', length=8))
save('overflow', matmul, tensor('w', location='weights.bin', dims=(1 << 62, 1 << 62)))
save('no_file', matmul, tensor('w', location='gone.bin'))
branch = helper.make_graph([node('Identity', ['x'], ['z'])], 'then', [], [helper.make_tensor_value_info('z', TensorProto.FLOAT, None)])
save('control_flow', [node('MatMul', ['x', 'w'], ['m'], name='/layer/MatMul'), node('If', ['m'], ['y'], name='choice', then_branch=branch, else_branch=branch)], tensor('w', square))
save_file({'x': np.ones((2, 4), np.float32)}, folder + '/in.safetensors')
