"""Every file of make_hostile.py is refused with exit status 1, by one error that names file and node, and nothing is written."""
import glob, os, re, subprocess, sys

pipec, folder = sys.argv[1:]
# What the message must mention beside the file's name.
MENTIONS = {
    'cyclic': ['first', 'b'], 'undefined': ['/layer/MatMul', 'nothing'], 'wrong_type': ['/layer/MatMul', 'i32'], 'wrong_shape': ['/layer/MatMul', '5'],
    'unsupported': ['Det', '2', 'first_det', 'NonMaxSuppression', 'nms'], 'old_opset': ['opset 9', '13'], 'escape': ['weights.bin', 'w'],
    'absolute': ['weights.bin'], 'past_the_end': ['weights.bin', 'w'], 'too_short': ['w', '8', '64'], 'overflow': ['w'], 'no_file': ['gone.bin'],
    'control_flow': ['If', 'choice'], 'truncated': [], 'garbage': [], 'empty': [],
}
bad = 0
for name, mentions in MENTIONS.items():
    for command in (['run', '--inputs', folder + '/in.safetensors', '--outputs', folder + '/out.safetensors'], ['compile', '-o', folder + '/out.pipe', '--bind', 'batch=2']):
        done = subprocess.run([pipec, command[0], f'{folder}/{name}.onnx', '-q'] + command[1:], capture_output=True, text=True, timeout=20)
        errors = done.stderr.count('error:')
        missing = [m for m in mentions + [name + '.onnx'] if m not in done.stderr]
        if done.returncode != 1 or errors != 1 or missing or glob.glob(folder + '/out*'):
            bad += 1
            print(f'{name} {command[0]}: exit {done.returncode}, {errors} errors, lacks {missing}: {done.stderr.strip()[:400]}')
sys.exit(1 if bad else 0)
