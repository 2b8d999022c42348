#!/usr/bin/env python3
"""Makes GPT-2 small (124 M parameters, external data) by the generator of the shared models and runs it in every cut.

usage: full_size.py --pipec BIN --generator make_models.py
Exits 77 where the generator, or torch and transformers in the system's python3, are missing. Takes some minutes and 1 GB of disk.
"""
import argparse, os, subprocess, sys, tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--pipec', required=True)
    parser.add_argument('--generator', required=True)
    arguments = parser.parse_args()
    if not os.environ.get('PIPEC_TEST_FULL'):
        print('skipped: part of tools/check --full')
        sys.exit(77)
    generator = os.environ.get('PIPEC_TEST_TORCH_PYTHON', 'python3')
    if not os.path.exists(arguments.generator) or subprocess.run([generator, '-c', 'import torch, transformers, onnxscript'], capture_output=True).returncode:
        print('skipped: needs', arguments.generator, 'and a python3 with torch, transformers and onnxscript')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([generator, arguments.generator, '--out', folder, '--scale', 'gpt2-small', '--formats', 'onnx'], check=True)
        model = folder + '/gpt2-small'
        outputs = []
        for stages in ('1', '2', '3', '4'):
            for microbatches in ('1', '2'):
                out = f'{folder}/out-{stages}-{microbatches}.safetensors'
                subprocess.run([arguments.pipec, 'run', model + '/model.onnx', '--stages', stages, '--microbatches', microbatches, '-q',
                                '--inputs', model + '/inputs.safetensors', '--outputs', out, '--expect', model + '/outputs.safetensors',
                                '--absolute-tolerance', '1e-4', '--relative-tolerance', '1e-3'], check=True)
                outputs.append((microbatches, open(out, 'rb').read()))
        failed = sum(data != next(d for m, d in outputs if m == microbatches) for microbatches, data in outputs)
    print(f'{len(outputs) - failed} passed, {failed} failed')
    sys.exit(1 if failed else 0)


main()
