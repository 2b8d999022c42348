#!/usr/bin/env python3
"""What pipec makes of PyTorch's parameters, of every module and form in which people use them, against PyTorch.

usage: names_table.py --pipec BIN [--tier quick|full|random] [--folder DIR] [--only TEXT...] [--list]
Trains one step at a rate of 0, without and with --names. A file is right where loss, gradients, and the names, shapes and bytes of
--save-params are PyTorch's; else it has to be refused, or every tensor that is not right to be in a warning by name, or in a legacy file
that has no name for it by the file's own. Anything else is silent, and fails. quick: the files in names/quick.zip. full, random: files that
names/make_names.py exports by the Python of PIPEC_TEST_TORCH_PYTHON, where PIPEC_TEST_FULL is set, else exits 77. --folder: files made before.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
from safetensors.numpy import load_file

HERE = os.path.dirname(os.path.abspath(__file__)) + '/names'
RANDOM_MODELS = 1000
NUMBERED = 'has numbers for the names'  # of a guess
NO_GRADIENT, NOT_SAVED = 'no gradient', 'not saved'

# What no reader of the file can tell, by name of the entry and way of the export.
KNOWN = {
    ('buffer_added', 'legacy'): 'buffers called weight and bias, in files that do not tell buffers from parameters',
    ('buffer_added', 'preserve'): 'buffers called weight and bias, in files that do not tell buffers from parameters',
    **{(name, way): 'files of dynamo=False have no trace of .detach()'
       for name in ('codebook', 'detach_itself', 'detach_twice', 'quantised', 'stopped_target', 'straight_through') for way in ('legacy', 'preserve')},
    ('scalar_is_number', 'legacy'): 'a parameter of one number equal to a number of the model: dynamo=False keeps the number alone',
}


def is_said(name, lines):
    """A word of English is no name: a name stands in a list."""
    return any(re.search(r'''(?:[(,'":]\s?|and |of |from |as |with )''' + re.escape(name) + r'''(?=[,)'":;]| and | is the same data| is zero| \(buffer\)|$)''', line) for line in lines)


class Case:
    def __init__(self, folder):
        self.folder = folder
        self.name = os.path.basename(folder)
        self.ref = json.load(open(folder + '/ref.json'))
        self.is_legacy = self.name.endswith(('legacy', 'preserve'))

    def load(self, part):
        return load_file(f'{self.folder}/{part}.safetensors')

    def is_known(self):
        return (self.name.split('-')[0], self.name.split('-')[-1]) in KNOWN

    def check(self, pipec, with_names):
        """What holds: 'right', 'warned', 'refused', 'silent', or 'crash', and of what."""
        with tempfile.TemporaryDirectory() as out:
            command = [pipec, 'train', f'{self.folder}/model.onnx', '--inputs', f'{self.folder}/batch.safetensors', '--loss', 'mse', '--optimizer', 'sgd', '--lr', '0', '--steps', '1', '--stages', '1',
                       '--microbatches', '1', '--dump-grads', f'{out}/grads.safetensors', '--save-params', f'{out}/saved.safetensors', '--log', f'{out}/log', '-q']
            run = subprocess.run(command + (['--names', f'{self.folder}/state.safetensors'] if with_names else []), capture_output=True, text=True)
            if run.returncode in (1, 2):
                return 'refused', [run.stderr.strip().splitlines()[-1][:200]]
            if run.returncode:
                return 'crash', [run.stderr[-300:]]
            loss = json.loads(open(f'{out}/log').readline())['loss']
            wrong = list(self.differences(load_file(f'{out}/grads.safetensors'), load_file(f'{out}/saved.safetensors')))
        lines = [line for line in run.stderr.splitlines() if 'warning' in line]
        silent = [f'{name}: {what}' for name, what in wrong if not self.is_warned(name, what, lines, with_names)]
        if abs(loss - self.ref['loss']) > 1e-4 * abs(self.ref['loss']) + 1e-6:
            silent.insert(0, f'loss {loss}, PyTorch has {self.ref["loss"]}')
        if silent:
            return 'silent', silent
        return ('warned', [f'{name}: {what}' for name, what in wrong]) if wrong else ('right', [])

    def is_warned(self, name, what, lines, with_names):
        if is_said(name, lines):
            return True
        if not self.is_legacy:
            return any('the model calls .detach()' in line or 'behind which a .detach()' in line for line in lines)
        # What nothing reads, and what a tied parameter is called elsewhere, leaves no trace.
        if what in (NO_GRADIENT, NOT_SAVED) and (name in self.untraced() or any('onnx::' in line or (NUMBERED in line and not with_names) for line in lines)):
            return True
        # A matrix without a name may be half of a parameter that has one: the warning says so, without --names.
        if not with_names and any(NUMBERED in line and 'lacks a part of its gradient' in line for line in lines):
            return True
        # What was folded has no name in the file: the file's own tensor has to be listed as lost.
        return any('folded' in line and 'onnx::' in line for line in lines)

    def untraced(self):
        grads, state = self.load('grads'), self.load('state')
        same = lambda a, b: a.shape == b.shape and np.array_equal(a, b) and len(np.unique(a)) > 2
        return {name for name in state if name in self.ref['params'] and (name not in grads or any(same(state[name], state[other]) for other in grads if other != name))}

    def differences(self, grads, saved):
        """(name, what) of each tensor that is not PyTorch's."""
        want, state = self.load('grads'), self.load('state')
        largest = max((np.abs(value).max() for value in want.values()), default=0)
        for name, value in want.items():
            if name not in grads:
                yield name, NO_GRADIENT
            elif grads[name].shape != value.shape:
                yield name, f'gradient {grads[name].shape}, PyTorch has {value.shape}'
            elif not np.allclose(grads[name], value, rtol=2e-3, atol=1e-4 * np.abs(value).max() + 1e-5 * largest):
                yield name, f'gradient differs by {np.abs(grads[name] - value).max():.3g} of {np.abs(value).max():.3g}'
        for name in grads:
            # Which parameters are frozen no file says.
            if name not in want and self.ref['params'].get(name, True) and np.any(grads[name]):
                yield name, 'has a gradient, which PyTorch does not give it'
        for name, value in (self.load('after') if os.path.exists(f'{self.folder}/after.safetensors') else state).items():
            # PyTorch itself moves the statistics while it traces a module in training mode.
            if name.endswith('num_batches_tracked') or ('running_' in name and self.name.endswith('preserve')):
                continue
            if name not in saved:
                yield name, NOT_SAVED
            elif saved[name].shape != value.shape or not (np.array_equal(saved[name], value) or ('running_' in name and np.allclose(saved[name], value, rtol=1e-4, atol=1e-5))):
                yield name, f'saved {saved[name].shape} of other bytes' if saved[name].shape == value.shape else f'saved {saved[name].shape}, PyTorch has {value.shape}'
        for name in saved:
            if name not in state:
                yield name, 'saved under a name that PyTorch does not have'


def export(folder, tier):
    python = os.environ.get('PIPEC_TEST_TORCH_PYTHON', 'python3')
    if not os.environ.get('PIPEC_TEST_FULL'):
        print('skipped: part of tools/check --full')
        sys.exit(77)
    if subprocess.run([python, '-c', 'import torch, onnxscript, safetensors'], capture_output=True).returncode:
        print('skipped: needs a python3 with torch, onnxscript and safetensors, by PIPEC_TEST_TORCH_PYTHON')
        sys.exit(77)
    parts = os.cpu_count()
    more = ['--random', '0', str(RANDOM_MODELS)] if tier == 'random' else []
    running = [subprocess.Popen([python, HERE + '/make_names.py', folder, *more, '--part', f'{k}/{parts}'], stdout=subprocess.DEVNULL) for k in range(parts)]
    if any([process.wait() for process in running]):
        sys.exit('make_names.py failed')


def check_all(pipec, folder, only, listed):
    cases = [Case(entry.path) for entry in sorted(os.scandir(folder), key=lambda entry: entry.name) if os.path.exists(entry.path + '/ref.json')]
    cases = [case for case in cases if not only or any(text in case.name for text in only)]
    exported = [case for case in cases if 'error' not in case.ref]
    runs = [(case, with_names) for case in exported for with_names in (False, True)]
    count, failed = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (case, with_names), (what, of) in zip(runs, pool.map(lambda run: run[0].check(pipec, run[1]), runs)):
            if what == 'silent' and case.is_known():
                what = 'known'
            count[what] += 1
            failed += what in ('silent', 'crash')
            if listed or what in ('silent', 'crash'):
                print('FAIL' if what in ('silent', 'crash') else what, case.name + ('+names' if with_names else ''), '; '.join(of), flush=True)
    print(f'{len(cases) - len(exported)} of {len(cases)} files cannot be exported;', ', '.join(f'{n} {what}' for what, n in sorted(count.items())))
    return failed or not exported


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--pipec', required=True)
    parser.add_argument('--tier', choices=['quick', 'full', 'random'], default='quick')
    parser.add_argument('--folder')
    parser.add_argument('--only', nargs='*')
    parser.add_argument('--list', action='store_true')
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not arguments.folder and arguments.tier == 'quick':
            zipfile.ZipFile(HERE + '/quick.zip').extractall(folder)
        elif not arguments.folder:
            export(folder, arguments.tier)
        sys.exit(1 if check_all(arguments.pipec, arguments.folder or folder, arguments.only, arguments.list) else 0)


main()
