"""Ends `pipec train` at different moments, by a signal it can and one it cannot handle: every checkpoint there is can be resumed, to the
numbers of a run that was left alone."""
import os, re, signal, subprocess, sys, time

pipec, model, folder = sys.argv[1:]
environment = dict(os.environ, TMPDIR=folder + '/tmp')
steps = 12
command = [pipec, 'train', model + '/model.onnx', '--inputs', folder + '/gpt.safetensors', '--batch', '4', '--microbatches', '2', '--loss', 'cross_entropy',
           '--steps', str(steps), '--checkpoint-every', '1', '--keep-checkpoints', '2', '--overwrite', '-q']
subprocess.run(command + ['--checkpoint', folder + '/whole', '--save-params', folder + '/whole.safetensors'], check=True, env=environment)

stages, runs = 1, folder + '/run'
for number, wait in [(n, w) for w in (0.1, 0.15, 0.2, 0.25) for n in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)]:
    stages = stages % 4 + 1
    child = subprocess.Popen(command + ['--checkpoint', runs, '--resume', '--stages', str(stages)], env=environment)
    time.sleep(wait)
    child.send_signal(number)
    status = child.wait(30)
    assert status in (0, 128 + number, -number), status
    names = sorted(os.listdir(runs)) if os.path.isdir(runs) else []
    if number != signal.SIGKILL:
        assert not os.listdir(folder + '/tmp'), os.listdir(folder + '/tmp')
        assert not [n for n in names if n.endswith('.tmp')] or status == 0 or previous == signal.SIGKILL, names
    else:
        for left in os.listdir(folder + '/tmp'):
            subprocess.run(['rm', '-r', folder + '/tmp/' + left], check=True)
    for name in names:
        if re.fullmatch(r'step-\d+', name):
            subprocess.run([pipec, 'checkpoint', 'inspect', runs + '/' + name], check=True, stdout=subprocess.DEVNULL)
    previous = number
subprocess.run(command + ['--checkpoint', runs, '--resume', '--save-params', folder + '/end.safetensors'], check=True, env=environment)
assert open(folder + '/end.safetensors', 'rb').read() == open(folder + '/whole.safetensors', 'rb').read()
assert sorted(os.listdir(runs)) == ['step-11', 'step-12'], os.listdir(runs)
