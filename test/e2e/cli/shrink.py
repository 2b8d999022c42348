"""shrink.py FOLDER MODEL: a file that is made shorter while a run reads it ends the run with one message, and nothing stays in the temporary folder."""
import os
import subprocess
import sys
import time

import numpy as np

folder, model = sys.argv[1:]
tokens, log, scratch = f'{folder}/tokens.bin', f'{folder}/log', f'{folder}/tmp'
np.zeros(1 << 22, np.uint16).tofile(tokens)
os.mkdir(scratch)
run = subprocess.Popen(['pipec', 'train', model, '--loss', 'cross_entropy', '--data', tokens, '--tokens', 'input_ids', '--token-bytes', '2', '--bind', 'batch=4',
                        '--batch', '4', '--steps', '100000', '--log', log, '-q'], stderr=subprocess.PIPE, text=True, env=dict(os.environ, TMPDIR=scratch))
while not os.path.exists(log) or os.path.getsize(log) == 0:
    time.sleep(0.01)
os.truncate(tokens, 0)
error = run.communicate(timeout=60)[1]
assert run.returncode == 1 and error.count('\n') == 1 and f"pipec: error: '{tokens}' became shorter while it was read" in error, (run.returncode, error)
assert os.listdir(scratch) == [], os.listdir(scratch)
print('one message')
