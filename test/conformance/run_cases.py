#!/usr/bin/env python3
"""Runs the inference part of regression cases through `pipec`.

usage: run_cases.py --pipec BIN --cases DIR [--only NAME...]
A case is a folder with case.json, model.onnx, inputs*.safetensors and, unless an error is expected, expected.safetensors.
Checks outputs for the case's cut and for no cut (same bits), the errors that are expected, the parameters of each
stage, and what a cut by cost must achieve. Prints 'N passed, N failed' last; exits 77 where DIR is missing. Needs numpy and safetensors.
"""
import argparse, json, os, re, subprocess, sys, tempfile
import numpy as np
from safetensors.numpy import load_file


def arguments_of(case, cut, training=False):
    result = ['--microbatches', str(case['microbatches'])]
    if cut and case.get('splits'):
        result += [x for s in case['splits'] for x in ('--split', s)]
    elif cut and case.get('stages', 1) > 1:
        result += ['--stages', str(case['stages'])]
    for name, info in case.get('inputs', {}).items():
        result += ['--whole', name] if info.get('whole') else []
    for name, info in ({} if training else case.get('outputs', {})).items():
        result += ['--merge', f'{name}={info["merge"]}'] if info.get('merge', 'concat') != 'concat' else []
    if (case.get('options') or {}).get('check_numerics'):
        result += ['--check-numerics']
    return result


def call(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def compare(got, want, tolerance):
    for key in (k for k in want if k.startswith('out/')):
        name, reference = key[4:], want[key]
        if name not in got:
            return f'output {name} is missing'
        a, b = got[name].astype(np.float64), reference.astype(np.float64)
        if a.shape != b.shape or not np.array_equal(np.isnan(a), np.isnan(b)):
            return f'{name}: shape or NaN differ'
        ok = ~np.isnan(b)
        limit = tolerance.get('absolute', 1e-6) + tolerance.get('relative', 1e-4) * (np.abs(b[ok]).max() if ok.any() else 0)
        if ok.any() and np.abs(a - b)[ok].max() > limit:
            return f'{name} differs by {np.abs(a - b)[ok].max():.3g}'
    return ''


def expected_error(case, code, text, wrote):
    if code != 1:
        return f'exit {code}, expected 1'
    if wrote:
        return 'wrote an output in spite of the error'
    missing = [r for r in case['expect'].get('error_mentions', []) if not re.search(r, text, re.I)]
    return f'the message lacks {missing}: {text.strip()[-300:]}' if missing else ''


def check_stages(pipec, folder, case):
    """Parameters of each stage, and the balance of an automatic cut."""
    code, out, err = call([pipec, 'inspect', folder + '/model.onnx', '--json', '-q'] + arguments_of(case, True)[:2] +
                          [x for x in arguments_of(case, True)[2:] if x != '--check-numerics'])
    if code:
        return f'inspect: {err.strip()[-200:]}'
    stages = json.loads(out)['stages']
    if case.get('stages') and len(stages) != case['stages']:
        return f'{len(stages)} stages, expected {case["stages"]}'
    renamed = case.get('onnx_names') or {}
    primary = lambda n: next((g[0] for g in case.get('tied') or [] if n in g), n)
    for stage, want in zip(stages, case.get('stage_parameters') or []):
        have = sorted({primary(n) for n in stage['parameters']})
        want = sorted({primary(n) for n in want if n not in (case.get('onnx_absent') or [])})
        if have != want:
            return f'stage {stage["index"]} holds {have}, expected {want}'
    rule = case['expect'].get('partition')
    if rule:
        for stage in stages:
            units = {m.group(1) for n in stage['parameters'] for m in [re.search(rule['units'], n)] if m}
            whole = [u for u in units if not any(u in {m.group(1) for n in s['parameters'] for m in [re.search(rule['units'], n)] if m}
                                                 for s in stages if s is not stage)]
            if len(whole) > rule['most_units_in_a_stage']:
                return f'stage {stage["index"]} holds {len(whole)} units'
    return ''


def check_case(pipec, folder, case):
    kind = case['expect']['kind']
    bits = []
    for suffix in ('', '.2'):
        inputs = f'{folder}/inputs{suffix}.safetensors'
        if not os.path.exists(inputs):
            continue
        for cut in (True, False):
            with tempfile.TemporaryDirectory() as scratch:
                out = scratch + '/out.safetensors'
                code, _, text = call([pipec, 'run', folder + '/model.onnx', '--inputs', inputs, '--outputs', out, '-q'] + arguments_of(case, cut))
                if kind == 'error':
                    if cut:
                        return expected_error(case, code, text, os.path.exists(out) or len(os.listdir(scratch)) > 0)
                    continue
                if code:
                    return f'exit {code}: {text.strip()[-300:]}'
                got = load_file(out)
            expected = f'{folder}/expected{suffix}.safetensors'
            if os.path.exists(expected):
                why = compare(got, load_file(expected), case.get('tolerance', {}))
                if why:
                    return why
            bits.append((suffix, {k: v.tobytes() for k, v in got.items()}))
    for suffix in ('', '.2'):
        same = [b for s, b in bits if s == suffix]
        if any(b != same[0] for b in same):
            return 'the cut changes the bits'
    return check_stages(pipec, folder, case)


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
        if not os.path.exists(folder + '/case.json') or not os.path.exists(folder + '/model.onnx'):
            continue
        if arguments.only and name not in arguments.only:
            continue
        try:
            why = check_case(arguments.pipec, folder, json.load(open(folder + '/case.json')))
        except Exception as error:
            why = repr(error)[:300]
        passed, failed = passed + (not why), failed + bool(why)
        print(f'{"FAIL" if why else "ok  "} {name} {why}', flush=True)
    print(f'{passed} passed, {failed} failed')
    sys.exit(0 if passed and not failed else 1)


if __name__ == '__main__':
    main()
