"""Ends `pipec train` at different moments, by a signal it can and one it cannot handle: every checkpoint there is can be resumed, to the
numbers of a run that was left alone."""
import os, re, signal, subprocess, sys, time

pipec, model, folder = sys.argv[1:]
environment = dict(os.environ, TMPDIR=folder + '/tmp')
steps = 12
command = [pipec, 'train', model + '/model.onnx', '--inputs', folder + '/gpt.safetensors', '--batch', '4', '--microbatches', '2', '--loss', 'cross_entropy',
           '--steps', str(steps), '--overwrite', '-q']
checkpoints = ['--checkpoint-every', '1', '--keep-checkpoints', '2', '--checkpoint']
subprocess.run(command + checkpoints + [folder + '/whole', '--save-params', folder + '/whole.safetensors'], check=True, env=environment)

stages, runs, before = 1, folder + '/run', []
for number, wait in [(n, w) for w in (0.1, 0.15, 0.2, 0.25) for n in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)]:
    stages = stages % 4 + 1
    child = subprocess.Popen(command + checkpoints + [runs, '--resume', '--stages', str(stages)], env=environment, stderr=subprocess.PIPE, text=True)
    time.sleep(wait)
    child.send_signal(number)
    said = child.communicate(timeout=30)[1]
    status = child.returncode
    assert 'error' not in said, said
    assert status in (0, 128 + number, -number), status
    names = sorted(os.listdir(runs)) if os.path.isdir(runs) else []
    if number != signal.SIGKILL:
        assert not os.listdir(folder + '/tmp'), os.listdir(folder + '/tmp')
        assert not [n for n in names if n.endswith('.tmp') and n not in before], names  # older ones may be of a run that was killed
    else:
        for left in os.listdir(folder + '/tmp'):
            subprocess.run(['rm', '-r', folder + '/tmp/' + left], check=True)
    for name in names:
        if re.fullmatch(r'step-\d+', name):
            subprocess.run([pipec, 'checkpoint', 'inspect', runs + '/' + name], check=True, stdout=subprocess.DEVNULL)
    before = names
# While the package is written and read.
for step in range(40):
    child = subprocess.Popen(command + ['--stages', '4'], env=environment, stderr=subprocess.PIPE, text=True)
    time.sleep(0.01 + step * 0.001)
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=30)[1]
    assert child.returncode in (130, 0, -signal.SIGINT) and 'error' not in said and not os.listdir(folder + '/tmp'), (child.returncode, said)
subprocess.run(command + checkpoints + [runs, '--resume', '--save-params', folder + '/end.safetensors'], check=True, env=environment)
assert open(folder + '/end.safetensors', 'rb').read() == open(folder + '/whole.safetensors', 'rb').read()
assert sorted(os.listdir(runs)) == ['step-11', 'step-12'], os.listdir(runs)
