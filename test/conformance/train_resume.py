#!/usr/bin/env python3
"""Trains model folders and cases in two parts, each cut in its own way, with a checkpoint in between.

usage: train_resume.py --pipec BIN --models DIR --cases DIR [--only NAME...] [--full]
Models: some steps in 4 stages, a checkpoint, the rest in 2 stages of another schedule. The exported checkpoint (parameters and buffers), the
optimizer state in it and the losses must be the bits of a run in one go without any cut. For the optimizers adamw, and sgd with momentum and
clipping. One ONNX file a model, all of them with --full (or PIPEC_TEST_FULL=1).
Cases with `phases`: `param@K`, `adamw.m@K`, `adamw.v@K`, `param`, and the losses must equal the references within the case's tolerance.
Prints 'N passed, N failed' last; exits 77 where a DIR is missing. Needs numpy and safetensors.
"""
import argparse, glob, json, os, subprocess, sys, tempfile
import numpy as np
from safetensors.numpy import load_file

from common import is_trainable, optimizer_arguments

OPTIMIZERS = {'adamw': ['--optimizer', 'adamw', '--lr', '0.003', '--weight-decay', '0.05'],
              'sgd momentum clip': ['--optimizer', 'sgd', '--lr', '0.05', '--momentum', '0.9', '--clip-norm', '0.5']}
# (stages, schedule) before and after the checkpoint, one a call in turn.
CUTS = [((4, '1f1b'), (2, 'zb-h1')), ((4, 'zb-v'), (2, 'gpipe')), ((4, 'interleaved-1f1b'), (2, 'zb-v')), ((4, 'gpipe'), (3, '1f1b')), ((2, 'zb-h1'), (4, 'looped-bfs'))]


def call(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise RuntimeError(f'exit {done.returncode}: {(done.stderr.strip().splitlines() or ["?"])[-1][:300]}')


def losses_of(log):
    return [json.loads(line)['loss'] for line in open(log)]


def state_of(folder):
    """Optimizer state of the latest checkpoint in `folder`, by name."""
    latest = max(glob.glob(folder + '/step-*'), key=lambda p: int(p.rsplit('-', 1)[1]))
    return {name: value for file in glob.glob(latest + '/optimizer-*.safetensors') for name, value in load_file(file).items()}


def model_command(pipec, file):
    folder = os.path.dirname(file)
    train, meta = (json.load(open(os.path.join(folder, n))) for n in ('train.json', 'meta.json'))
    loss = train['loss']
    command = [pipec, 'train', file, '--inputs', os.path.join(folder, 'train_inputs.safetensors'), '--batch', str(train['batch']), '--loss', f"{loss['kind']}:{loss['output']}",
               '--labels', loss['target'], '--reduction', loss.get('reduction', 'mean'), '--microbatches', '4', '-q', '--seed', '9']
    for name, entry in meta['parameters'].items():
        if entry.get('kind') == 'parameter' and not entry.get('trainable', True):
            command += ['--freeze', name]
    return command


def check_model(command, before, after, pipec):
    """'' or why the two parts differ from the whole. The checkpoint is that of a run to the same number of steps that was stopped."""
    with tempfile.TemporaryDirectory() as scratch:
        whole, parts, log = (os.path.join(scratch, n) for n in ('whole', 'parts', 'log.jsonl'))
        call(command + ['--steps', '4', '--checkpoint', whole, '--log', whole + '.jsonl'])
        cut = lambda c: ['--stages', str(c[0]), '--schedule', c[1], '--checkpoint', parts, '--log', log]
        call(command + ['--steps', '2'] + cut(before))
        call(command + ['--steps', '4', '--resume'] + cut(after))
        for folder in (whole, parts):
            call([pipec, 'checkpoint', 'export', folder, '-o', folder + '.safetensors'])
        if open(whole + '.safetensors', 'rb').read() != open(parts + '.safetensors', 'rb').read():
            return 'other parameters or buffers'
        if losses_of(whole + '.jsonl') != losses_of(log):
            return 'other losses'
        a, b = state_of(whole), state_of(parts)
        if not a or a.keys() != b.keys() or any(a[k].tobytes() != b[k].tobytes() for k in a):
            return 'other optimizer state'
        return ''


def close(case, got, want):
    tolerance = case['tolerance']
    limit = tolerance['absolute'] + tolerance['relative'] * np.abs(want).max()
    return got.shape == want.shape and np.abs(got.astype(np.float64) - want).max() <= limit


def check_phases(pipec, folder, case, file, schedules):
    train = case['train']
    expected = load_file(os.path.join(folder, 'expected.safetensors'))
    with tempfile.TemporaryDirectory() as scratch:
        run, log, step = os.path.join(scratch, 'run'), os.path.join(scratch, 'log.jsonl'), 0
        for phase, schedule in zip(case['phases'], schedules):
            step += phase['steps']
            command = [pipec, 'train', file, '--inputs', os.path.join(folder, 'inputs.safetensors'), '--batch', str(train['rows']), '--loss', f"{train['loss']}:{train['output']}",
                       '--labels', train['labels'], '--reduction', train['reduction'], '--microbatches', str(case['microbatches']), '-q', '--steps', str(step),
                       '--schedule', schedule, '--checkpoint', run, '--log', log] + optimizer_arguments(train['optimizer'])
            call(command + [x for s in phase['splits'] for x in ('--split', s)] + (['--resume'] if phase.get('first') == 'load' else []))
            call([pipec, 'checkpoint', 'export', run, '-o', run + f'@{step}.safetensors'])
            parameters, state = load_file(run + f'@{step}.safetensors'), state_of(run)
            last = phase is case['phases'][-1]
            kinds = {f'param@{step}': ('', parameters), f'adamw.m@{step}': ('optimizer.exp_avg.', state), f'adamw.v@{step}': ('optimizer.exp_avg_sq.', state)}
            if last:
                kinds['param'] = ('', parameters)
            for key, want in expected.items():
                kind, name = key.split('/', 1)
                if kind in kinds and not close(case, kinds[kind][1][kinds[kind][0] + name], want):
                    return f'{key} differs'
            if not any(key.split('/')[0] in kinds for key in expected):
                return f'nothing to compare after step {step}'
        if not np.allclose(losses_of(log), case['losses'], rtol=case['tolerance']['relative'], atol=0):
            return f'losses {losses_of(log)}'
    return ''


def jobs(a):
    turn = 0
    for folder in sorted(glob.glob(os.path.join(a.models, '*', ''))):
        files = [f for f in sorted(glob.glob(folder + 'model*.onnx'), key=lambda f: (len(f), f)) if os.path.exists(folder + 'train.json') and is_trainable(f)]
        for file in files if a.full else files[:1]:
            for name, arguments in OPTIMIZERS.items():
                cuts = CUTS if a.full else [CUTS[turn % len(CUTS)]]
                turn += 1
                for before, after in cuts:
                    label = f'{os.path.basename(os.path.dirname(file))} {os.path.basename(file)} {name} {before} then {after}'
                    yield label, lambda: check_model(model_command(a.pipec, file) + arguments, before, after, a.pipec)
    for path in sorted(glob.glob(os.path.join(a.cases, '*', 'case.json'))):
        case, folder = json.load(open(path)), os.path.dirname(path)
        if case.get('phases') and 'onnx' in case['formats']:
            for schedules in (('1f1b', 'zb-h1'), ('zb-v', 'gpipe'), ('dualpipe-v', 'zb-v')):
                yield f"case {case['name']} {schedules}", lambda: check_phases(a.pipec, folder, case, folder + '/model.onnx', schedules)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--pipec', required=True)
    parser.add_argument('--models', required=True)
    parser.add_argument('--cases', required=True)
    parser.add_argument('--only', nargs='*', help='parts of labels')
    parser.add_argument('--full', action='store_true', default=bool(os.environ.get('PIPEC_TEST_FULL')))
    parser.add_argument('--verbose', action='store_true')
    a = parser.parse_args()
    for folder in (a.models, a.cases):
        if not os.path.isdir(folder):
            print(f'skipped: {folder} is not there')
            sys.exit(77)
    passed = failed = 0
    for label, check in jobs(a):
        if a.only and not any(part in label for part in a.only):
            continue
        try:
            why = check()
        except (RuntimeError, KeyError, subprocess.TimeoutExpired) as error:
            why = str(error)
        passed += not why
        failed += bool(why)
        if why or a.verbose:
            print('ok  ' if not why else 'FAIL', label, why, flush=True)
    print(f'{passed} passed, {failed} failed')
    sys.exit(0 if passed and not failed else 1)


if __name__ == '__main__':
    main()
