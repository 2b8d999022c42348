"""What the suites over models and cases share."""
import argparse
import json
import os
import subprocess
import sys


def is_trainable(file):
    """Whether the exporter kept every parameter, and BatchNorm, if any, as a node."""
    meta, name = json.load(open(os.path.join(os.path.dirname(file), 'meta.json'))), os.path.basename(file)
    return '.train.' not in name and all(p['onnx'].get(name) for p in meta['parameters'].values() if p.get('trainable') and name in p.get('onnx', {}))


def optimizer_arguments(o):
    arguments = ['--optimizer', o['kind'], '--lr', str(o['lr']), '--weight-decay', str(o.get('weight_decay', 0))]
    if o['kind'] == 'sgd':
        return arguments + ['--momentum', str(o.get('momentum', 0)), '--dampening', str(o.get('dampening', 0))] + ['--nesterov'] * bool(o.get('nesterov'))
    return arguments + ['--betas', ','.join(map(str, o['betas'])), '--eps', str(o['eps'])]


def export_in_parts(commands, *modules):
    """Runs scripts that export models, side by side, with the Python of PIPEC_TEST_TORCH_PYTHON; exits 77 outside of the full tier and where that lacks one of `modules`."""
    python = os.environ.get('PIPEC_TEST_TORCH_PYTHON', 'python3')
    if not os.environ.get('PIPEC_TEST_FULL'):
        print('skipped: part of tools/check --full')
        sys.exit(77)
    if subprocess.run([python, '-c', 'import ' + ', '.join(modules)], capture_output=True).returncode:
        print(f'skipped: needs a python3 with {", ".join(modules)}, by PIPEC_TEST_TORCH_PYTHON')
        sys.exit(77)
    running = [subprocess.Popen([python, *command], stdout=subprocess.DEVNULL) for command in commands]
    if any([process.wait() for process in running]):
        sys.exit(f'{commands[0][0]} failed')


def exported_cases(make_case, folder, only):
    """A case for each folder in `folder` that an export made, in the order of their names, of those that have a text of `only`."""
    cases = [make_case(entry.path) for entry in sorted(os.scandir(folder), key=lambda entry: entry.name) if os.path.exists(entry.path + '/ref.json')]
    return [case for case in cases if not only or any(text in case.name for text in only)]


def check_all_cases(description, check_case, is_ours=lambda case: True):
    """The main program of a suite over a folder of cases that have an ONNX file; `check_case(pipec, folder, case)` says why one fails."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
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
        if not is_ours(case):
            continue
        try:
            why = check_case(arguments.pipec, folder, case)
        except Exception as error:
            why = repr(error)[:300]
        passed, failed = passed + (not why), failed + bool(why)
        print(f'{"FAIL" if why else "ok  "} {name} {why}', flush=True)
    print(f'{passed} passed, {failed} failed')
    sys.exit(0 if passed and not failed else 1)
