"""make_weights.py PARAMETERS FOLDER: the same weights in two files and an index, with a tied name left out; and files that do not fit."""
import json, sys
import numpy as np
from safetensors.numpy import load_file, save_file

weights, folder = load_file(sys.argv[1]), sys.argv[2] + '/'
tied = [name for name in weights if name != 'wte.weight' and np.array_equal(weights[name], weights['wte.weight'])]
assert tied, 'the model has no tied weight'
half = {name: value for name, value in weights.items() if name not in ('wte.weight', 'h.0.fc.bias')}
rest = {'h.0.fc.bias': weights['h.0.fc.bias'], 'extra': np.zeros(2, np.float32)}
save_file(half, folder + 'one.safetensors')
save_file(rest, folder + 'two.safetensors')
json.dump({'metadata': {}, 'weight_map': {**{n: 'one.safetensors' for n in half}, **{n: 'two.safetensors' for n in rest}}}, open(folder + 'index.json', 'w'))
save_file({name: value + np.float32(0.01) for name, value in weights.items()}, folder + 'shifted.safetensors')
save_file({('transformer.' if name == 'h.0.fc.bias' else '') + name: value for name, value in weights.items()}, folder + 'lacks.safetensors')
save_file({**weights, 'h.0.fc.bias': np.zeros(3, np.float32)}, folder + 'shape.safetensors')
