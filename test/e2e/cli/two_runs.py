"""two_runs.py FOLDER MODEL DATA: a second run in the checkpoint folder or log of a live one is refused, and names it; after that one is killed, it is not."""
import os
import signal
import subprocess
import sys
import time

folder, model, data = sys.argv[1:]
base = ['pipec', 'train', model, '--loss', 'cross_entropy', '--inputs', data, '--batch', '8', '--keep-checkpoints', '1', '--checkpoint-every', '1']
first = subprocess.Popen([*base, '-q', '--steps', '1000000', '--checkpoint', f'{folder}/c', '--log', f'{folder}/log'])
while not os.path.exists(f'{folder}/log') or os.path.getsize(f'{folder}/log') == 0:
    time.sleep(0.01)


def second(*options):
    done = subprocess.run([*base, '-q', '--steps', '2', *options], stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stderr


try:
    for mode in ('--resume', '--overwrite'):
        for options, what in ((['--checkpoint', f'{folder}/c'], '--checkpoint'), (['--checkpoint', f'{folder}/d', '--log', f'{folder}/log'], '--log')):
            code, text = second(*options, mode)
            assert code == 1 and what in text and f'is in use by process {first.pid} (pipec train' in text, (code, text)
    assert not os.path.exists(f'{folder}/d')
    assert first.poll() is None
finally:
    first.send_signal(signal.SIGKILL)
    first.wait()
steps = os.listdir(f'{folder}/c')
code, text = second('--checkpoint', f'{folder}/c', '--log', f'{folder}/log', '--overwrite')
assert code == 0, (steps, text)
print('refused while it ran')
