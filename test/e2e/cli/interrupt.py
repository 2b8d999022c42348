"""Interrupts `pipec compile` and `pipec run` at different moments: what is left is the finished result or nothing."""
import os, signal, subprocess, sys, time

pipec, model, folder = sys.argv[1:]
environment = dict(os.environ, TMPDIR=folder + '/tmp')
commands = [['compile', model + '/model.onnx', '-o', folder + '/out.pipe', '--stages', '3', '--bind', 'batch=8', '--overwrite', '-q'],
            ['run', model + '/model.onnx', '--inputs', model + '/inputs.safetensors', '--outputs', folder + '/out.safetensors', '--overwrite', '-q']]
for number in (signal.SIGINT, signal.SIGTERM):
    for command in commands:
        for wait in (0.01, 0.02, 0.03, 0.045, 0.06, 0.08, 0.1, 0.13):
            child = subprocess.Popen([pipec] + command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            time.sleep(wait)
            child.send_signal(number)
            said = child.communicate(timeout=20)[1]
            status = child.returncode
            assert 'error' not in said, said  # of what the interrupt took away
            assert status in (0, 128 + number, -number), status
            left = [n for n in os.listdir(folder) if 'tmp' in n and n != 'tmp' or '.old' in n] + os.listdir(folder + '/tmp')
            assert not left, (command[0], wait, left)
            if os.path.exists(folder + '/out.pipe'):
                subprocess.run([pipec, 'inspect', folder + '/out.pipe'], check=True, stdout=subprocess.DEVNULL)
