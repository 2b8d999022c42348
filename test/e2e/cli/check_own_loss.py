"""check_own_loss.py FOLDER MODEL.. [--freeze NAME]: the loss and the gradients of each model are the whole batch's, however it is cut, with the same bits for every cut.

check_own_loss.py FOLDER --value MODEL FILE: output 'loss' in FILE is that of the whole batch.
"""
import json
import subprocess
import sys

import numpy as np
from safetensors.numpy import load_file

folder, models, freeze = sys.argv[1], sys.argv[2:], []
if models[0] == '--value':
    whole = f'{folder}/whole.safetensors'
    subprocess.run(['pipec', 'run', f'{folder}/{models[1]}.onnx', '--inputs', f'{folder}/{models[1]}.safetensors', '--outputs', whole, '--overwrite', '--merge', 'loss=mean', '-q'], check=True)
    got, want = (load_file(file)['loss'] for file in (models[2], whole))
    assert np.allclose(got, want, rtol=1e-5), (got, want)
    sys.exit()
if '--freeze' in models:
    freeze, models = models[-2:], models[:-2]


def step(model, microbatches, accumulate, stages, schedule):
    run = subprocess.run(['pipec', 'train', f'{folder}/{model}.onnx', '--inputs', f'{folder}/{model}.safetensors', '--loss', 'output:loss', '--optimizer', 'sgd', '--lr', '0', '--steps', '1',
                          '--microbatches', str(microbatches), '--accumulate', str(accumulate), '--stages', str(stages), '--schedule', schedule, '--dump-grads', f'{folder}/g.safetensors',
                          '--log', f'{folder}/log.jsonl', '--overwrite', '-q'] + freeze, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert 'whole batch' not in run.stderr, run.stderr
    return json.loads(open(f'{folder}/log.jsonl').readlines()[-1])['loss'], load_file(f'{folder}/g.safetensors')


for model in models:
    loss, gradients = step(model, 1, 1, 1, 'gpipe')
    for microbatches, accumulate in ((2, 1), (3, 1), (4, 1), (5, 1), (1, 5)):
        bits = set()
        for stages, schedule in ((1, 'gpipe'), (3, '1f1b'), (3, 'zb-h1')):
            got, g = step(model, microbatches, accumulate, stages, schedule)
            assert abs(got - loss) < 1e-5 * abs(loss), (model, microbatches, got, loss)
            for name, want in gradients.items():
                assert np.allclose(g[name], want, rtol=1e-4, atol=1e-6 * np.abs(want).max()), (model, microbatches, name)
            bits.add((got, b''.join(g[name].tobytes() for name in sorted(g))))
        assert len(bits) == 1, (model, microbatches, accumulate)
    print('whole batch:', model)
