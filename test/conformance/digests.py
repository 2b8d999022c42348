#!/usr/bin/env python3
"""Digests of every number that pipec makes of a set of models: what a change that moves no number is held against.

usage: digests.py --pipec BIN --out FILE.json [--only TEXT...] [DIR...]      records; DIR: folders of models or cases (default: test/models)
       digests.py --compare BEFORE.json AFTER.json                          exits 1 where a digest differs or is missing
Kernels of libraries go by the processor, so both files have to come from one machine: build the commit before the change in a worktree of its own.
Of each ONNX file: outputs; losses, norms, gradients and weights of training, over cuts, schedules, shared weights, recomputation, uneven microbatches,
accumulation, and a resumed run in another cut. A run that pipec refuses is recorded by its message. Needs numpy and safetensors.
"""
import argparse
import concurrent.futures
import glob
import hashlib
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from safetensors.numpy import load_file, save_file

from common import is_trainable
from run_cases import arguments_of
from train_cases import train_arguments
from train_models import Training

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CUTS = {'1': ['--stages', '1'], '3': ['--stages', '3']}
WAYS = {
    'whole': ['--stages', '1', '--microbatches', '1'],
    'gpipe': ['--stages', '3', '--microbatches', '4', '--schedule', 'gpipe', '--shared-weights', 'transmit'],
    '1f1b': ['--stages', '3', '--microbatches', '4', '--schedule', '1f1b', '--recompute', 'full'],
    'zb-v': ['--stages', '4', '--ranks', '2', '--microbatches', '4', '--schedule', 'zb-v', '--shared-weights', 'replicate'],
    'interleaved': ['--stages', '4', '--ranks', '2', '--microbatches', '2', '--schedule', 'interleaved-zb', '--clip-norm', '0.5'],
    'uneven': ['--stages', '2', '--microbatches', '3', '--schedule', 'zb-h1'],
    'accumulated': ['--stages', '2', '--microbatches', '2', '--accumulate', '2', '--schedule', '1f1b'],
}


def digest(paths, losses=''):
    total = hashlib.sha256(losses.encode())
    for path in paths:
        total.update(open(path, 'rb').read())
    return total.hexdigest()


def run(command):
    """The message of a refusal, else nothing."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    return f'exit {done.returncode}: ' + (done.stderr.strip().splitlines() or ['?'])[-1] if done.returncode else ''


def infer(pipec, file, inputs, extra):
    with tempfile.TemporaryDirectory() as scratch:
        refused = run([pipec, 'run', file, '--inputs', inputs, '--outputs', scratch + '/o', '-q'] + extra)
        return refused or digest([scratch + '/o'])


def train(command):
    with tempfile.TemporaryDirectory() as scratch:
        log, written = scratch + '/l', [scratch + '/g', scratch + '/p']
        refused = run(command + ['--log', log, '--dump-grads', written[0], '--save-params', written[1]])
        if refused:
            return refused.replace(scratch, '')
        return digest(written, repr([(step['loss'], step['grad_norm']) for step in map(json.loads, open(log))]))


def resumed(command, steps):
    """Some steps in one cut, the others in another."""
    with tempfile.TemporaryDirectory() as scratch:
        first = command + ['--stages', '3', '--microbatches', '2', '--checkpoint', scratch + '/c', '--checkpoint-every', '1', '--steps', str(steps // 2)]
        second = command + ['--stages', '2', '--microbatches', '2', '--checkpoint', scratch + '/c', '--resume', '--steps', str(steps), '--save-params', scratch + '/p']
        return run(first).replace(scratch, '') or run(second).replace(scratch, '') or digest([scratch + '/p'])


def train_towards_outputs(pipec, file, extra):
    """Of a model without a training reference: its first output of floats plus one is what it shall make."""
    folder = os.path.dirname(file)
    with tempfile.TemporaryDirectory() as scratch:
        outputs = load_file(folder + '/outputs.safetensors')
        output = next(name for name, value in outputs.items() if value.dtype == np.float32)
        save_file({**load_file(folder + '/inputs.safetensors'), 'labels': outputs[output] + 1}, scratch + '/batch')
        return train([pipec, 'train', file, '--inputs', scratch + '/batch', '--loss', 'mse:' + output, '--optimizer', 'adamw', '--lr', '0.01', '--steps', '3', '--allow-folded', '-q'] + extra)


def of_model(pipec, file):
    folder = os.path.dirname(file)
    for cut, extra in CUTS.items():
        if os.path.exists(folder + '/inputs.safetensors') and '.train.' not in file:
            for microbatches in '1', '3':
                yield f'run {cut} stages {microbatches}', lambda e=extra + ['--microbatches', microbatches]: infer(pipec, file, folder + '/inputs.safetensors', e)
    if '.train.' not in file and not os.path.exists(folder + '/train.json'):
        for way, extra in WAYS.items():
            yield f'train {way}', lambda e=extra: train_towards_outputs(pipec, file, e)
    elif os.path.exists(folder + '/train.json') and is_trainable(file):
        command = Training(pipec, file, 1).command
        command = command[:command.index('--microbatches')] + command[command.index('--microbatches') + 2:]
        for way, extra in WAYS.items():
            yield f'train {way}', lambda e=extra: train(command + e)
        at = command.index('--steps')
        yield 'resumed', lambda: resumed(command[:at] + command[at + 2:], int(command[at + 1]))


def of_case(pipec, folder):
    case, file = json.load(open(folder + '/case.json')), folder + '/model.onnx'
    inputs = sorted(glob.glob(folder + '/inputs*.safetensors'))
    for cut in (False, True):
        if inputs and 'microbatches' in case:
            yield f'run cut={cut}', lambda c=cut: infer(pipec, file, inputs[0], arguments_of(case, c))
            if case.get('train'):
                yield f'train cut={cut}', lambda c=cut: train([pipec, 'train', file, '-q'] + train_arguments(folder, case) + arguments_of(case, c))


def jobs_of(pipec, roots):
    for root in roots:
        for folder in sorted(glob.glob(root + '/*')):
            name = f'{os.path.basename(os.path.normpath(root))}/{os.path.basename(folder)}'
            if os.path.exists(folder + '/case.json') and os.path.exists(folder + '/model.onnx'):
                yield from ((f'{name} {what}', job) for what, job in of_case(pipec, folder))
            elif os.path.exists(folder + '/meta.json'):
                for file in sorted(glob.glob(folder + '/model*.onnx')):
                    yield from ((f'{name} {os.path.basename(file)} {what}', job) for what, job in of_model(pipec, file))


def compare(before, after):
    before, after = json.load(open(before)), json.load(open(after))
    bad = [key for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key)]
    for key in bad:
        print(f'FAIL {key}: {before.get(key)} became {after.get(key)}')
    print(f'{len(before.keys() | after.keys()) - len(bad)} equal, {len(bad)} differ')
    return bool(bad) or not before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folders', nargs='*', default=[ROOT + '/test/models'])
    parser.add_argument('--pipec')
    parser.add_argument('--out')
    parser.add_argument('--only', nargs='*')
    parser.add_argument('--compare', nargs=2)
    arguments = parser.parse_args()
    if arguments.compare:
        sys.exit(compare(*arguments.compare))
    if not arguments.pipec or not arguments.out:
        parser.error('--pipec BIN and --out FILE, or --compare BEFORE AFTER')
    jobs = [(key, job) for key, job in jobs_of(arguments.pipec, arguments.folders) if not arguments.only or any(text in key for text in arguments.only)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = dict(zip((key for key, _ in jobs), pool.map(lambda job: job[1](), jobs)))
    json.dump(results, open(arguments.out, 'w'), indent=1, sort_keys=True)
    refused = sum(value.startswith('exit') for value in results.values())
    print(f'{len(results)} runs, {refused} of them refused')


main()
