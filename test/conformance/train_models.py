#!/usr/bin/env python3
"""Trains model folders through `pipec train` in every cut, schedule and option, and compares.

usage: train_models.py --pipec BIN DIR... [--only NAME...] [--full]
A folder holds model*.onnx, train.json, train_inputs.safetensors, train_ref*.safetensors and meta.json (see the README of the reference models).
Each file that still holds its parameters trains five steps, whole and in 4 microbatches. Losses, first gradients, final parameters and buffers must equal
the references within train.json's tolerances (times 3: sums run in another order), and for one file and one number of microbatches be the
same bits for every cut, schedule, --recompute and --shared-weights, with clipping on as well.
Without --full a part of the combinations. PIPEC_TEST_FULL=1 in the environment is --full. Prints 'N passed, N failed' last; exits 77 where a DIR is missing. Needs numpy and safetensors.
"""
import argparse, concurrent.futures, glob, hashlib, json, os, subprocess, sys, tempfile
import numpy as np
from safetensors.numpy import load_file

from common import is_trainable, optimizer_arguments

SLACK = 3
SCHEDULES = ['gpipe', '1f1b', 'zb-h1', 'looped-bfs', 'interleaved-1f1b', 'interleaved-zb', 'zb-v', 'dualpipe-v']


def admitted(schedule, stages, microbatches):
    """Ranks to ask for, or None: the table of the cases' README."""
    if schedule in ('gpipe', '1f1b', 'zb-h1'):
        return stages
    if stages % 2 or schedule == 'dualpipe-v' and microbatches < stages:
        return None
    ranks = stages // 2
    if schedule.startswith('interleaved') and microbatches % ranks:
        return None
    return ranks


def combinations(microbatches, full):
    """Name and arguments of each way to train; all must give the bits of the first."""
    yield '1 stage', ['--stages', '1', '--schedule', 'gpipe']
    yield '1 stage recompute', ['--stages', '1', '--schedule', 'gpipe', '--recompute', 'full']
    for stages in (1, 2, 3, 4):
        for n, schedule in enumerate(SCHEDULES):
            ranks = admitted(schedule, stages, microbatches)
            if ranks is None:
                continue
            for shared in ('replicate', 'transmit'):
                for recompute in ('none', 'full'):
                    # One of the four a schedule, another one at each.
                    if not full and (stages in (1, 2) or 2 * (shared == 'transmit') + (recompute == 'full') != (n + stages) % 4):
                        continue
                    yield (f'{stages} stages {schedule} {shared} recompute={recompute}',
                           ['--stages', str(stages), '--schedule', schedule, '--ranks', str(ranks), '--shared-weights', shared, '--recompute', recompute])


class Training:
    """What one file is trained with, and the results of a run."""

    def __init__(self, pipec, file, microbatches):
        self.folder = os.path.dirname(file)
        self.train = json.load(open(os.path.join(self.folder, 'train.json')))
        self.meta = json.load(open(os.path.join(self.folder, 'meta.json')))
        self.microbatches = microbatches
        loss = self.train['loss']
        self.command = [pipec, 'train', file, '--inputs', os.path.join(self.folder, 'train_inputs.safetensors'), '--steps', str(self.train['steps']),
                        '--batch', str(self.train['batch']), '--loss', f"{loss['kind']}:{loss['output']}", '--labels', loss['target'],
                        '--reduction', loss.get('reduction', 'mean'), '--microbatches', str(microbatches), '-q'] + optimizer_arguments(self.train['optimizer'])
        for name, entry in self.meta['parameters'].items():
            if entry.get('kind') == 'parameter' and not entry.get('trainable', True):
                self.command += ['--freeze', name]

    def run(self, extra):
        """(why, digest, losses, gradients, parameters)"""
        with tempfile.TemporaryDirectory() as scratch:
            log, grads, params = (os.path.join(scratch, n) for n in ('log.jsonl', 'g.safetensors', 'p.safetensors'))
            done = subprocess.run(self.command + extra + ['--log', log, '--dump-grads', grads, '--save-params', params], capture_output=True, text=True, timeout=600)
            if done.returncode:
                return f'exit {done.returncode}: {(done.stderr.strip().splitlines() or ["?"])[-1][:300]}', None, None, None, None
            steps = [json.loads(line) for line in open(log)]
            losses = [s['loss'] for s in steps]
            digest = hashlib.sha256(repr([(s['loss'], s['grad_norm']) for s in steps]).encode() + open(grads, 'rb').read() + open(params, 'rb').read()).hexdigest()
            return '', digest, losses, load_file(grads), load_file(params)

    def reference(self):
        chunks = self.train.get('chunks', {})
        if self.microbatches > 1 and not chunks.get('same_as_whole_batch', True):
            return chunks if chunks.get('number') == self.microbatches else None
        return self.train

    def compare(self, losses, gradients, parameters):
        reference = self.reference()
        if reference is None:
            return ''
        want = np.array(reference['losses'])
        if not np.allclose(losses, want, rtol=max(reference['tolerance'].get('loss_rtol', 1e-5), 1e-5), atol=1e-6):
            return f'losses {losses} expected {list(want)}'
        tolerances = reference['tolerance']['parameters']
        for key, value in load_file(os.path.join(self.folder, reference['reference'])).items():
            kind, name = key.split('/', 1)
            have = gradients if kind == 'grad' else parameters
            if name.endswith('num_batches_tracked'):
                continue  # no operator of the file reads it, so the file does not hold it
            names = [name] + [n for group in self.meta.get('tied', []) if name in group for n in group]
            found = next((have[n] for n in names if n in have), None)
            if found is None:
                if kind == 'grad' and not self.meta['parameters'].get(name, {}).get('trainable', True):
                    continue
                return f'{key} is missing'
            limit = tolerances.get(name, {}).get(kind + '_atol', 1e-5 if kind == 'buffer' else 1e-6)
            distance = np.abs(found.astype(np.float64) - value.astype(np.float64)).max()
            if found.shape != value.shape or not distance <= SLACK * limit + (1e-6 * np.abs(value).max() if kind == 'buffer' else 0):
                return f'{key} differs by {distance:.3g}, allowed {SLACK * limit:.3g}'
        return ''


def check(pipec, file, microbatches, full):
    training = Training(pipec, file, microbatches)
    label = f'{os.path.basename(training.folder)} {os.path.basename(file)} microbatches={microbatches}'
    lines = []
    for options in ([], ['--clip-norm', '0.5']):
        first = None
        for name, extra in combinations(microbatches, full):
            if options and not full and 'recompute=full' in name:
                continue
            why, digest, *numbers = training.run(extra + options)
            if not why and first is None:
                first = digest
                why = '' if options else training.compare(*numbers)
            elif not why and digest != first:
                why = 'other bits than 1 stage'
            lines.append((not why, f"{'ok  ' if not why else 'FAIL'} {label} {name} {' '.join(options)} {why}"))
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('folders', nargs='+')
    parser.add_argument('--pipec', required=True)
    parser.add_argument('--only', nargs='*')
    parser.add_argument('--full', action='store_true', default=bool(os.environ.get('PIPEC_TEST_FULL')))
    parser.add_argument('--verbose', action='store_true')
    a = parser.parse_args()
    files = []
    for root in a.folders:
        if not os.path.isdir(root):
            print(f'skipped: {root} is not there')
            sys.exit(77)
        files += [f for f in sorted(glob.glob(os.path.join(root, '*', 'model*.onnx'))) if os.path.exists(os.path.join(os.path.dirname(f), 'train.json'))]
    files = [f for f in files if is_trainable(f) and (not a.only or os.path.basename(os.path.dirname(f)) in a.only)]
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(check, a.pipec, f, m, a.full) for f in files for m in (1, 4)]
        for job in jobs:
            for ok, line in job.result():
                passed += ok
                failed += not ok
                if not ok or a.verbose:
                    print(line, flush=True)
    print(f'{passed} passed, {failed} failed')
    sys.exit(0 if passed and not failed else 1)


if __name__ == '__main__':
    main()
