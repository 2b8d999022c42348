"""check_same_names.py FOLDER MODEL...: outputs and gradients of each model in 1 and in 4 stages."""
import subprocess
import sys

import numpy as np
from safetensors.numpy import load_file, save_file

folder, names = sys.argv[1], sys.argv[2:]
split = ['--split', 'l0:END', '--split', 'l1:END', '--split', 'l2:END']


def pipec(*arguments):
    run = subprocess.run(['pipec', *arguments, '-q'], capture_output=True, text=True)
    assert run.returncode == 0, (arguments, run.stderr)


def results(name, cut, tag):
    at = f'{folder}/{name}'
    files = {}
    for kind, loss in (('run', []), ('train', ['--loss', 'mse'])):
        pipec('compile', f'{at}.onnx', '-o', f'{at}-{tag}-{kind}.pipe', '--bind', 'batch=4', '--microbatches', '2', *cut, *loss)
        files[kind] = f'{at}-{tag}-{kind}.safetensors'
    pipec('run', f'{at}-{tag}-run.pipe', '--inputs', f'{at}.safetensors', '--outputs', files['run'])
    batch = f'{at}-batch.safetensors'
    save_file({**load_file(f'{at}.safetensors'), 'labels': np.ones((4, 4), np.float32)}, batch)
    pipec('train', f'{at}-{tag}-train.pipe', '--inputs', batch, '--steps', '1', '--optimizer', 'sgd', '--lr', '0.1', '--dump-grads', files['train'])
    return {(kind, key): value.tobytes() for kind, file in files.items() for key, value in load_file(file).items()}


for name in names:
    one, four = results(name, [], 'one'), results(name, split, 'four')
    assert one.keys() == four.keys() and len(one) > 3, (name, one.keys(), four.keys())
    assert one == four, (name, [key for key in one if one[key] != four[key]])
