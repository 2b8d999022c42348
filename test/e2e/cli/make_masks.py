"""Language models with masks, and the same tokens as a file and with masks of ones: make_masks.py FOLDER"""
import sys
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from safetensors.numpy import save_file

folder = sys.argv[1]
random = np.random.default_rng(0)
LENGTH, WIDTH, VOCABULARY, WINDOWS = 5, 4, 11, 24
I64, BOOL, FLOAT, HALF = TensorProto.INT64, TensorProto.BOOL, TensorProto.FLOAT, TensorProto.FLOAT16
weights = {'emb.weight': (VOCABULARY, WIDTH), 'pos.weight': (LENGTH, WIDTH), 'head.weight': (WIDTH, VOCABULARY)}
weights = {name: random.normal(size=shape).astype(np.float32) for name, shape in weights.items()}


def write(name, extra, ports, read, rows='batch'):
    """`extra`: nodes from 'e' to 'h'."""
    node = lambda op, inputs, output, **attributes: helper.make_node(op, inputs, [output], '/' + output, **attributes)
    nodes = [node('Gather', ['emb.weight', 'ids'], 'e'), *(node(*n[:3], **(n[3] if len(n) > 3 else {})) for n in extra), node('MatMul', ['h', 'head.weight'], 'y')]
    port = lambda n, shape, dtype: helper.make_tensor_value_info(n, dtype, shape)
    constants = {'one': np.array([1]), 'two': np.array([2])}
    kept = {k: v for k, v in {**weights, **constants}.items() if k in read + ['emb.weight', 'head.weight']}
    graph = helper.make_graph(nodes, 'g', [port('ids', [rows, LENGTH], I64), *(port(*p) for p in ports)], [port('y', [rows, LENGTH, VOCABULARY], FLOAT)],
                              [numpy_helper.from_array(v, k) for k, v in kept.items()])
    save(helper.make_model(graph, producer_name='pytorch', opset_imports=[helper.make_opsetid('', 17)], ir_version=8), f'{folder}/{name}.onnx')


# h = e * mask / sum(mask): what a mask of fewer rows, or of other numbers, would change.
masked = [('Cast', ['mask'], 'm', {'to': FLOAT}), ('ReduceSum', ['m', 'one'], 's', {'keepdims': 1}), ('Div', ['m', 's'], 'd'),
          ('Unsqueeze', ['d', 'two'], 'u'), ('Mul', ['e', 'u'], 'h')]
write('mask', masked, [('mask', ['batch', LENGTH], I64)], ['one', 'two'])
write('named', masked, [('mask', ['mask_rows', LENGTH], I64)], ['one', 'two'])
write('fixed', masked, [('mask', [1, LENGTH], I64)], ['one', 'two'], rows=1)
# Of every rank and type: i64 [batch, T], bool [batch, T, 1], f32 [batch, 1, 1], f16 [batch, 1], and a scalar.
many = [*masked[:-1], ('Mul', ['e', 'u'], 'v'), ('Cast', ['keep'], 'k', {'to': FLOAT}), ('Mul', ['v', 'k'], 'w'), ('Mul', ['w', 'scale'], 'x'), ('Cast', ['half'], 'f', {'to': FLOAT}),
        ('Unsqueeze', ['f', 'two'], 'g'), ('Mul', ['x', 'g'], 'z'), ('Mul', ['z', 'factor'], 'h')]
write('many', many, [('mask', ['batch', LENGTH], I64), ('keep', ['batch', LENGTH, 1], BOOL), ('scale', ['batch', 1, 1], FLOAT), ('half', ['batch', 1], HALF), ('factor', [], FLOAT)],
      ['one', 'two'])
# Without a batch dimension: positions [1, T] and a mask [T, T].
write('whole', [('Gather', ['pos.weight', 'pos'], 'p'), ('Add', ['e', 'p'], 'q'), ('MatMul', ['causal', 'q'], 'h')],
      [('pos', [1, LENGTH], I64), ('causal', [LENGTH, LENGTH], FLOAT)], ['pos.weight'])

tokens = random.integers(0, VOCABULARY, WINDOWS * LENGTH + 1)
tokens.astype(np.uint16).tofile(f'{folder}/raw.bin')
header = np.zeros(256, np.int32)
header[:3] = 20240520, 1, len(tokens)
open(f'{folder}/llmc.bin', 'wb').write(header.tobytes() + tokens.astype(np.uint16).tobytes())
ids, labels = tokens[:-1].reshape(WINDOWS, LENGTH), tokens[1:].reshape(WINDOWS, LENGTH)
ones = lambda shape, dtype: np.ones((WINDOWS, *shape), dtype)
save_file({'ids': ids, 'labels': labels, 'mask': ones((LENGTH,), np.int64), 'keep': ones((LENGTH, 1), bool), 'scale': ones((1, 1), np.float32), 'half': ones((1,), np.float16),
           'factor': np.array(1, np.float32)}, f'{folder}/rows.safetensors')
save_file({'ids': ids, 'labels': labels, 'pos': np.ones((1, LENGTH), np.int64), 'causal': np.ones((LENGTH, LENGTH), np.float32)}, f'{folder}/whole.safetensors')
