#!/usr/bin/env python3
"""Gradients at corners, ties, zeros, infinities, NaN and denormals against PyTorch's, of every operator in every exporter's form,
and of those that no exporter writes.

usage: corners.py --pipec BIN [--models DIR] [--only NAME...]
The table is in corners/, made by corners/make_corners.py. A gradient is right where it is PyTorch's to 2e-5, infinities and zeros
exactly. Where PyTorch has NaN, any value is: pipec has 0 where a root is a norm's by its form, or where the
gradient that comes in is 0 (docs/architecture.md).
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

HERE = os.path.dirname(os.path.abspath(__file__))


# Where a file says something else than the operator that it comes from, at NaN or where the exporter's form rounds.
KNOWN = {
    'hardswish': [6], 'trunc': [6], 'frac': [6], 'hardshrink': [6],  # NaN: the result is NaN
    'expm1': [18],  # e^-80: PyTorch's own is 0
    'pow_half': [1],  # -0: infinite, of the other sign
    'softplus_beta': [13],  # legacy: without the threshold
}


def wrong(got, want, isExact):
    """Positions at which `got` is not PyTorch's gradient. Of what sums and cancels, rounding is relative to the largest."""
    with np.errstate(invalid='ignore'):
        largest = np.max(np.abs(want[np.isfinite(want)]), initial=0)
        near = np.abs(got - want) <= 2e-5 * np.abs(want) + (1e-40 if isExact else 1e-6 * largest)
    return np.flatnonzero(~(near | (np.isinf(want) & (got == want)) | np.isnan(want)))


def check(pipec, models, form, only):
    with tempfile.TemporaryDirectory() as folder:
        save_file({'x': np.ones(1, np.float32)}, f'{folder}/x.safetensors')
        command = [pipec, 'train', f'{models}/{form}.onnx', '--inputs', f'{folder}/x.safetensors', '--loss', 'output:loss', '--optimizer', 'sgd', '--lr', '0',
                   '--steps', '1', '--stages', '2', '--dump-grads', f'{folder}/grads.safetensors', '--quiet']
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            print(f'FAIL {form}: {run.stderr.strip().splitlines()[-1]}')
            return 0, 1
        grads = load_file(f'{folder}/grads.safetensors')['points']
    with safe_open(f'{models}/{form}.safetensors', 'np') as file:
        wants, places = file.get_tensor('points'), json.loads(file.metadata()['places'])
    passed = failed = 0
    for name, at, count, isExact in places:
        if only and name not in only:
            continue
        got, want = grads[at:at + count], wants[at:at + count]
        bad = [k for k in wrong(got, want, isExact) if k not in KNOWN.get(name, [])]
        for k in bad:
            print(f'FAIL {form} {name}[{k}]: {got[k]}, PyTorch has {want[k]}')
        passed, failed = passed + (not bad), failed + bool(bad)
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--pipec', required=True)
    parser.add_argument('--models', default=f'{HERE}/corners')
    parser.add_argument('--only', nargs='*')
    arguments = parser.parse_args()
    totals = np.zeros(2, int)
    for form in ('dynamo', 'plain', 'legacy', 'nodes'):
        totals += check(arguments.pipec, arguments.models, form, arguments.only)
    print(f'{totals[0]} passed, {totals[1]} failed')
    sys.exit(0 if totals[0] and not totals[1] else 1)


if __name__ == '__main__':
    main()
