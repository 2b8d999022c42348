"""sweep_memory.py FOLDER MODEL [more arguments of pipec train]: --recompute auto trains at every limit from what --recompute none needs down to what
full needs, with the loss of both, lets no more stages recompute than the limit asks for, and refuses below with the number of full."""
import json
import re
import subprocess
import sys

import numpy as np
from safetensors.numpy import save_file

folder, model, *more = sys.argv[1:]
random = np.random.default_rng(3)
save_file({'input_ids': random.integers(0, 256, (8, 32)), 'labels': random.integers(0, 256, (8, 32))}, folder + '/data.safetensors')


def train(stages, recompute, limit):
    """The loss, the stages that recompute for the limit, and what went wrong."""
    log = folder + '/log.jsonl'
    done = subprocess.run(['pipec', 'train', model, '--inputs', folder + '/data.safetensors', '--loss', 'cross_entropy', '--steps', '1', '--microbatches', '4',
                           '--stages', str(stages), '--recompute', recompute, '--memory', str(limit), '--log', log, '--overwrite', *more],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    error = [line for line in done.stdout.splitlines() if 'error: ' in line]
    assert bool(error) == (done.returncode != 0), done.stdout
    loss = None if error else json.loads(open(log).readline())['loss']
    return loss, done.stdout.count('computes its forward again'), error[0] if error else ''


def need(error):
    return int(re.search(r'needs (\d+) bytes', error).group(1))


for stages in (1, 2, 3):
    most, least = (need(train(stages, recompute, 1)[2]) for recompute in ('none', 'full'))
    assert least < most, (stages, least, most)
    loss = train(stages, 'none', most)[0]
    assert loss == train(stages, 'full', least)[0]
    limits = sorted({most, most - 1, least, *(least + (most - least) * k // 3 for k in (1, 2))}, reverse=True)
    counts = []
    for limit in limits:
        got, recomputing, error = train(stages, 'auto', limit)
        assert not error and got == loss, (stages, limit, got, loss, error)
        counts.append(recomputing)
    assert counts == sorted(counts) and counts[0] == 0 and counts[1] == 1 and counts[-1] == stages, (stages, limits, counts)
    got, recomputing, error = train(stages, 'auto', least - 1)
    assert need(error) == least and 'still does not fit' in error and '--recompute' not in error and 'smaller microbatches' in error, (stages, error)
    assert '--recompute' not in train(stages, 'full', least - 1)[2]
    print(stages, 'stages:', counts)
