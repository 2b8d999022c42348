"""stale.py FOLDER MODEL DATA: what a killed run leaves in the temporary folder goes with the next run; that of a live one stays, and so does a user's."""
import os
import signal
import subprocess
import sys
import time

folder, model, data = sys.argv[1:]
scratch = f'{folder}/tmp'
os.makedirs(f'{scratch}/pipec-myname')
open(f'{scratch}/pipec-myname/notes', 'w').close()
environment = dict(os.environ, TMPDIR=scratch)
base = ['pipec', 'train', model, '--loss', 'cross_entropy', '--inputs', data, '--batch', '8', '-q', '--steps']


def start(log):
    run = subprocess.Popen([*base, '1000000', '--log', log], env=environment)
    while not os.path.exists(log) or os.path.getsize(log) == 0:
        time.sleep(0.01)
    return run


killed = start(f'{folder}/a')
left = set(os.listdir(scratch)) - {'pipec-myname'}
killed.send_signal(signal.SIGKILL)
killed.wait()
assert len(left) == 1 and left <= set(os.listdir(scratch))
live = start(f'{folder}/b')
try:
    now = set(os.listdir(scratch))
    assert not left & now and len(now) == 2 and 'pipec-myname' in now, (left, now)
    subprocess.run([*base, '1'], env=environment, check=True)
    assert set(os.listdir(scratch)) == now
finally:
    live.terminate()
    live.wait()
assert os.listdir(scratch) == ['pipec-myname'] and os.listdir(f'{scratch}/pipec-myname') == ['notes']
print('what is stale goes')
