#!/usr/bin/env python3
"""Trains regression cases through `pipec train` in every schedule that their table admits.

usage: train_cases.py --pipec BIN --cases DIR [--only NAME...]
A case is a folder as run_cases.py takes it, whose case.json has `train`. Losses, gradient norms, gradients, parameters and buffers must be the expected
ones, and the same bits for every schedule and for no cut; errors must be the expected ones; stages named by `no_gradient_to_stages` do no backward work.
Cases in several phases are train_resume.py's. Prints 'N passed, N failed' last; exits 77 where DIR is missing. Needs numpy and safetensors.
"""
import argparse, hashlib, json, os, re, subprocess, sys, tempfile
import numpy as np
from safetensors.numpy import load_file

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from run_cases import arguments_of, call
from train_models import SCHEDULES, admitted, optimizer_arguments

SLACK = 3  # f32 sums in another order than the reference


def loss_arguments(case):
    train = case['train']
    kind = train['loss']
    result = ['--loss', kind if kind.startswith('output') or not train.get('output') else f"{kind}:{train['output']}"]
    if not kind.startswith('output'):
        result += ['--labels', train['labels'], '--reduction', train.get('reduction', 'mean')]
    if 'ignore_index' in train:
        result += ['--ignore-index', str(train['ignore_index'])]
    return result + [x for name in case.get('frozen') or [] for x in ('--freeze', name)]


def train_arguments(folder, case):
    train = case['train']
    files = case.get('input_files') or ['inputs.safetensors']
    result = [x for k in train.get('order') or [0] for x in ('--inputs', f'{folder}/{files[k]}')]
    result += ['--steps', str(train['steps'])] + loss_arguments(case) + optimizer_arguments(train['optimizer'])
    for key, option in (('clip_norm', '--clip-norm'), ('rounds', '--accumulate'), ('rows', '--batch')):
        result += [option, str(train[key])] if train.get(key) else []
    return result


def run(pipec, folder, case, extra):
    """(exit status, stderr, what was written or None)"""
    with tempfile.TemporaryDirectory() as scratch:
        paths = [f'{scratch}/{n}' for n in ('log.jsonl', 'g.safetensors', 'p.safetensors')]
        code, _, text = call([pipec, 'train', folder + '/model.onnx', '-q', '--log', paths[0], '--dump-grads', paths[1], '--save-params', paths[2]] +
                             train_arguments(folder, case) + extra)
        if code:
            return code, text, None
        steps = [json.loads(line) for line in open(paths[0])]
        digest = hashlib.sha256(repr([(s['loss'], s['grad_norm']) for s in steps]).encode() + open(paths[1], 'rb').read() + open(paths[2], 'rb').read()).hexdigest()
        return 0, text, (digest, steps, load_file(paths[1]), load_file(paths[2]))


def near(name, got, want, tolerance):
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    if got.shape != want.shape or not np.array_equal(np.isnan(got), np.isnan(want)):
        return f'{name}: {got.shape} or its NaN differ'
    ok = ~np.isnan(want)
    limit = SLACK * (tolerance.get('absolute', 1e-6) + tolerance.get('relative', 1e-4) * (np.abs(want[ok]).max() if ok.any() else 0))
    return f'{name} differs by {np.abs(got - want)[ok].max():.3g}' if ok.any() and np.abs(got - want)[ok].max() > limit else ''


def compare(folder, case, result):
    _, steps, gradients, parameters = result
    tolerance = case.get('tolerance', {})
    for key, field in (('losses', 'loss'), ('gradient_norms', 'grad_norm')):
        if case.get(key):
            why = near(key, [s[field] for s in steps], case[key], tolerance)
            if why:
                return why
    for name in case.get('no_gradient') or []:
        if name in gradients:
            return f'{name} has a gradient'
    for name in case.get('frozen') or []:
        if name in gradients:
            return f'frozen {name} has a gradient'
    if not os.path.exists(folder + '/expected.safetensors'):
        return ''
    for key, want in load_file(folder + '/expected.safetensors').items():
        kind, name = key.split('/', 1)
        have = {'grad': gradients, 'param': parameters, 'buffer': parameters}.get(kind)
        if have is None:
            continue
        names = [name] + [n for group in case.get('tied') or [] if name in group for n in group]
        found = next((have[n] for n in names if n in have), None)
        if found is None:
            if name in (case.get('onnx_absent') or []):
                continue
            return f'{key} is missing'
        why = near(key, found, want, tolerance)
        if why:
            return why
    return ''


def check_backward_work(pipec, folder, case):
    stages = case['expect'].get('no_gradient_to_stages')
    if not stages:
        return ''
    with tempfile.TemporaryDirectory() as scratch:
        package = scratch + '/m.pipe'
        rows = next(iter(load_file(folder + '/inputs.safetensors').values())).shape[0]
        code, _, text = call([pipec, 'compile', folder + '/model.onnx', '-o', package, '-q', '--bind', f'batch={rows}'] + arguments_of(case, True, training=True) + loss_arguments(case))
        if code:
            return f'compile: {text.strip()[-300:]}'
        report = json.loads(call([pipec, 'inspect', package, '--json'])[1])
    for stage in stages:
        if report['stages'][stage]['backward'] or any(t['gradient'] and t['to'] == stage for t in report['transfers']):
            return f'stage {stage} does backward work'
    return ''


def check_invariant(case, results):
    expect = case['expect']
    losses = [s['loss'] for s in results[0][1]]
    if expect.get('losses_differ_between_steps') and len(set(losses)) != len(losses):
        return f'two steps have one loss: {losses}'
    if any(abs(loss - expect['losses_differ_from']) < 1e-6 for loss in losses if 'losses_differ_from' in expect):
        return f'losses are those without dropout: {losses}'
    return ''


def combinations(case):
    """Name and cut-and-schedule arguments; none cut first."""
    base = arguments_of(case, False, training=True)
    yield 'not cut', base + ['--schedule', 'gpipe'], 1
    cuts = case['expect'].get('splits')
    cuts = [[x for s in points for x in ('--split', s)] for points in cuts if points] if cuts else [None]
    for cut in cuts:
        arguments = arguments_of(case, True, training=True) if cut is None else base + cut
        stages = (case.get('stages') or len(case.get('splits') or []) + 1) if cut is None else len(cut) // 2 + 1
        asked = case.get('schedules')
        for schedule in SCHEDULES if asked in (None, 'all') else asked:
            ranks = admitted(schedule, stages, case['microbatches'])
            if ranks:
                yield f'{stages} stages {schedule}', arguments + ['--schedule', schedule, '--ranks', str(ranks)], stages


def check_case(pipec, folder, case):
    expect, results = case['expect'], []
    for name, arguments, _ in combinations(case):
        if expect['kind'] == 'error' and name == 'not cut':
            continue
        code, text, result = run(pipec, folder, case, arguments)
        if expect['kind'] == 'error':
            missing = [r for r in expect.get('error_mentions', []) if not re.search(r, text, re.I)]
            if code != 1 or missing:
                return f'{name}: exit {code}, the message lacks {missing}: {text.strip()[-200:]}'
            continue
        if code:
            return f'{name}: exit {code}: {text.strip()[-300:]}'
        results.append(result)
        if result[0] != results[0][0]:
            return f'{name}: other bits than without a cut'
    if expect['kind'] == 'error':
        return ''
    why = check_invariant(case, results) if expect['kind'] == 'invariant' else compare(folder, case, results[0])
    return why or check_backward_work(pipec, folder, case)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--pipec', required=True)
    parser.add_argument('--cases', required=True)
    parser.add_argument('--only', nargs='*')
    arguments = parser.parse_args()
    if not os.path.isdir(arguments.cases):
        print('skipped: not here:', arguments.cases)
        sys.exit(77)
    passed = failed = 0
    for name in sorted(os.listdir(arguments.cases)):
        folder = os.path.join(arguments.cases, name)
        if not os.path.exists(folder + '/case.json') or not os.path.exists(folder + '/model.onnx') or (arguments.only and name not in arguments.only):
            continue
        case = json.load(open(folder + '/case.json'))
        if not case.get('train') or case.get('phases'):
            continue
        try:
            why = check_case(arguments.pipec, folder, case)
        except Exception as error:
            why = repr(error)[:300]
        passed, failed = passed + (not why), failed + bool(why)
        print(f'{"FAIL" if why else "ok  "} {name} {why}', flush=True)
    print(f'{passed} passed, {failed} failed')
    sys.exit(0 if passed and not failed else 1)


if __name__ == '__main__':
    main()
