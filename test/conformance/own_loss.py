#!/usr/bin/env python3
"""Losses that models compute themselves (`--loss output:loss`), in one, even and uneven microbatches and in several stages, against PyTorch.

usage: own_loss.py --pipec BIN [--tier quick|full] [--folder DIR] [--only TEXT...] [--list]
A step over the whole batch has PyTorch's loss and gradients, and the same bits in 1, 2 and 3 stages and between cuts of one kind; or, where the batch is cut, there is a warning
that names the operation and line. Whatever differs without one fails, as a warning does where ref.json says that the loss must be right.
quick: the files in own_loss/quick.zip. full: those, every form of own_loss/forms.py and the heads of own_loss/heads.py, exported by the Python of
PIPEC_TEST_TORCH_PYTHON, where PIPEC_TEST_FULL is set, else exits 77. --folder: files made before, by own_loss/make_own_loss.py.
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

from common import export_in_parts, exported_cases

HERE = os.path.dirname(os.path.abspath(__file__)) + '/own_loss'
# Microbatches, parts and, of each, the cuts whose bits are equal.
SPLITS = {'quick': [(1, 1), (4, 1), (7, 1)], 'full': [(1, 1), (2, 1), (4, 1), (7, 1), (1, 7)]}
CUTS = [(1, 'gpipe'), (2, '1f1b'), (3, 'zb-h1')]
# What no reader of the file can tell, by form and exporter: numbers that the older exporter folded from a parameter lie among all others.
KNOWN = {('ce_learned_scale', 'legacy'), ('uncertain', 'legacy')}
WARNING = 'results differ from those of the whole batch'
# Names an operation and where it is written, or an output and why.
NAMED = re.compile(r"warning: (\S+ \S.* \(\S|output '|\S+ /)")


class Case:
    def __init__(self, folder):
        self.folder = folder
        self.name = os.path.basename(folder)
        self.ref = json.load(open(folder + '/ref.json'))

    def step(self, pipec, microbatches, parts, stages, schedule):
        """(loss, gradients, warnings), or the error as text."""
        with tempfile.TemporaryDirectory() as out:
            command = [pipec, 'train', f'{self.folder}/model.onnx', '--inputs', f'{self.folder}/batch.safetensors', '--names', f'{self.folder}/state.safetensors', '--loss', 'output:loss',
                       '--optimizer', 'sgd', '--lr', '0', '--steps', '1', '--stages', str(stages), '--schedule', schedule, '--microbatches', str(microbatches), '--accumulate', str(parts),
                       '--dump-grads', f'{out}/grads.safetensors', '--log', f'{out}/log', '-q']
            for name in self.ref['frozen']:
                command += ['--freeze', name]
            run = subprocess.run(command, capture_output=True, text=True)
            if run.returncode:
                return (run.stderr.strip().splitlines() or [f'exit status {run.returncode}'])[-1][:300]
            loss = json.loads(open(f'{out}/log').readline())['loss']
            return float('nan') if loss is None else loss, load_file(f'{out}/grads.safetensors'), [line for line in run.stderr.splitlines() if 'warning' in line]

    def differences(self, loss, grads, warnings):
        want = load_file(f'{self.folder}/grads.safetensors')
        if not abs(loss - self.ref['loss']) <= 2e-5 * abs(self.ref['loss']) + 1e-6:
            yield f'loss {loss}, PyTorch has {self.ref["loss"]}'
        largest = max((np.abs(value).max() for value in want.values()), default=0)
        for name, value in want.items():
            if name in self.ref['frozen']:
                continue
            if name not in grads:
                # What an exporter folded is said to be not trained.
                if np.any(value) and not any(name in line and 'not trained' in line for line in warnings):
                    yield f'{name}: no gradient'
            elif any(name in line and 'computed at export' in line for line in warnings):
                continue
            elif not np.allclose(grads[name], value, rtol=1e-3, atol=2e-4 * np.abs(value).max() + 2e-6 * largest):
                yield f'{name}: gradient differs by {np.abs(grads[name] - value).max():.3g} of {np.abs(value).max():.3g}'

    def check(self, pipec, splits):
        """What holds: 'right', 'warned', 'refused' or 'FAIL', and why."""
        warned = ''
        for microbatches, parts in splits:
            bits = {}
            for stages, schedule in CUTS:
                result = self.step(pipec, microbatches, parts, stages, schedule)
                if isinstance(result, str):
                    if stages > 1 and 'stages' in result:
                        continue  # too small for as many
                    is_fault = 'exit status' in result or (self.ref['must'] == 'right' and 'the exporter folded' not in result)
                    return ('FAIL' if is_fault else 'refused'), result
                loss, grads, warnings = result
                said = [line for line in warnings if WARNING in line]
                bits[stages] = (np.float64(loss).tobytes(), {name: value.tobytes() for name, value in grads.items()})
                if bits[stages] != bits[1]:
                    return 'FAIL', f'other bits in {stages} stages and {microbatches} microbatches than in one stage'
                other = [line for line in warnings if 'the exporter left' in line]
                wrong = [] if other else list(self.differences(loss, grads, warnings))
                warned = warned or ''.join(other)
                where = f' ({microbatches} microbatches, {parts} parts)'
                if wrong and not said:
                    return 'FAIL', 'silent: ' + '; '.join(wrong) + where
                if said and microbatches * parts == 1:
                    return 'FAIL', 'a warning of a batch that is not cut: ' + said[0]
                if said and self.ref['must'] == 'right':
                    return 'FAIL', said[0] + where
                if said and not NAMED.search(said[0]):
                    return 'FAIL', 'names no operation: ' + said[0]
                warned = warned or (said[0] if said else '')
        if self.ref['must'] == 'warned' and not warned:
            return 'FAIL', 'no warning'
        return ('warned', warned) if warned else ('right', '')


def export(folder):
    export_in_parts([[HERE + '/make_own_loss.py', folder, '--tier', tier] for tier in ('forms', 'heads')], 'torch', 'onnxscript', 'safetensors', 'transformers')


def check_all(pipec, folder, only, listed, splits):
    cases = exported_cases(Case, folder, only)
    exported = [case for case in cases if 'why' not in case.ref]
    for case in cases:
        if 'why' in case.ref:
            print('not exported', case.name, case.ref['why'])
    count = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, (what, of) in zip(exported, pool.map(lambda case: case.check(pipec, splits), exported)):
            if what == 'FAIL' and tuple(case.name.rsplit('-', 1)) in KNOWN:
                what = 'known'
            count[what] += 1
            if listed or what == 'FAIL':
                print(what, case.name, of, flush=True)
    print(f'{len(cases) - len(exported)} of {len(cases)} files cannot be exported;', ', '.join(f'{n} {what}' for what, n in sorted(count.items())))
    return count['FAIL'] or not exported


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--pipec', required=True)
    parser.add_argument('--tier', choices=['quick', 'full'], default='quick')
    parser.add_argument('--folder')
    parser.add_argument('--only', nargs='*')
    parser.add_argument('--list', action='store_true')
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not arguments.folder and arguments.tier == 'quick':
            zipfile.ZipFile(HERE + '/quick.zip').extractall(folder)
        elif not arguments.folder:
            export(folder)
        sys.exit(1 if check_all(arguments.pipec, arguments.folder or folder, arguments.only, arguments.list, SPLITS[arguments.tier]) else 0)


main()
