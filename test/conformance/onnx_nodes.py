#!/usr/bin/env python3
"""Runs the node tests of the onnx package through `pipec run`.

usage: onnx_nodes.py --pipec BIN [--only SUBSTRING] [--list]
Lists of tensors at a test's boundary are taken apart: pipec knows them within a graph. The tests of small models over lists are run, too.
Every node test whose operators pipec claims (those that it does not refuse as unsupported) must give the expected outputs.
KNOWN lists the tests that are refused although their operator is claimed, with the reason: one that starts to pass is a failure too, so the list stays true.
Prints 'N passed, N failed, N skipped' last. Needs onnx, numpy and safetensors.
"""
import argparse, concurrent.futures, os, subprocess, sys, tempfile, warnings
import numpy as np
import onnx
from onnx import helper, numpy_helper, TensorProto
from safetensors.numpy import save_file, load_file

warnings.filterwarnings('ignore')
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from onnx_nodes_known import KNOWN, SKIPPED_TYPES


# What is said of files that are not for pipec at all: operators it does not claim, older opsets, other kinds of values.
REFUSED = ('does not support', 'opset of the default domain', 'no dense tensor', 'pipec reads 13 to 28')


def collect():
    from onnx.backend.test.case.node import collect_testcases
    from onnx.backend.test.loader import load_model_tests
    from onnx.backend.test.case.model import collect_testcases as collect_models
    try:
        nodes = collect_testcases()
    except TypeError:
        nodes = collect_testcases(None)
    return list(nodes) + [c for c in collect_models() if c.model and any('Sequence' in n.op_type for n in c.model.graph.node)]


def without_lists(model, inputs, outputs):
    """The same with each list of tensors among inputs and outputs as single tensors; None where there is no list.
    Operators over lists are what they were at opset 11, which pipec does not read: the file says 13."""
    listed = {p.name: p for p in list(model.graph.input) + list(model.graph.output) if p.type.HasField('sequence_type')}
    if not listed and not any('Sequence' in n.op_type and n.op_type != 'ReverseSequence' for n in model.graph.node):
        return None
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for opset in copy.opset_import:
        opset.version = max(opset.version, 13)
    graph, before, after = copy.graph, [], []
    values = {}
    for ports, given in ((graph.input, inputs), (graph.output, outputs)):
        old = list(ports)
        del ports[:]
        for port, value in zip(old, given):
            if port.name not in listed:
                ports.append(port)
                values[port.name] = value
                continue
            element = port.type.sequence_type.elem_type.tensor_type.elem_type
            names = [f'{port.name}.{k}' for k in range(len(value))]
            for name, part in zip(names, value):
                ports.append(helper.make_tensor_value_info(name, element, np.shape(part)))
                values[name] = np.asarray(part)
            if ports is graph.input:
                before.append(helper.make_node('SequenceConstruct', names, [port.name]) if names else helper.make_node('SequenceEmpty', [], [port.name], dtype=element))
            for k, name in enumerate(names if ports is graph.output else []):
                graph.initializer.append(numpy_helper.from_array(np.array(k - len(names), np.int64), name + '.at'))
                after.append(helper.make_node('SequenceAt', [port.name, name + '.at'], [name]))
    nodes = before + list(graph.node) + after
    del graph.node[:]
    graph.node.extend(nodes)
    return copy, [values[p.name] for p in graph.input], [values[p.name] for p in graph.output]


def plain(value):
    return isinstance(value, np.ndarray) or np.isscalar(value)


def run_case(pipec, case):
    """'' when it passes; 'skip: why' where it is not for pipec; else what is wrong."""
    model = case.model
    inputs, outputs = case.data_sets[0]
    model, inputs, outputs = without_lists(model, inputs, outputs) or (model, inputs, outputs)
    graph = model.graph
    names = [i.name for i in graph.input]
    if not all(plain(v) for v in list(inputs) + list(outputs)):
        return 'skip: optionals'
    arrays = {n: np.array(v, order='C') for n, v in zip(names, inputs)}
    want = {o.name: np.asarray(v) for o, v in zip(graph.output, outputs)}
    if any(str(a.dtype) in SKIPPED_TYPES or a.dtype.kind in 'OUSc' for a in list(arrays.values()) + list(want.values())):
        return 'skip: element type'
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, 'model.onnx')
        # Operands that shape the result are constants in exported models: hand small ones in as initializers where the run needs it.
        for constants in (False, True):
            onnx.save(fold_inputs(model, arrays) if constants else model, path)
            feeds = {n: a for n, a in arrays.items() if not (constants and foldable(a))}
            save_file(feeds or {'unused': np.zeros(1, np.float32)}, scratch + '/in.safetensors')
            command = [pipec, 'run', path, '--inputs', scratch + '/in.safetensors', '--outputs', scratch + '/out.safetensors', '-q', '--overwrite']
            for name in feeds:
                command += ['--whole', name]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            if done.returncode == 0 or 'constant' not in done.stderr:
                break
        if done.returncode:
            text = done.stderr.strip()
            if done.returncode != 1:
                return f'exit {done.returncode}: {text[-200:]}'
            return ('skip: ' if any(s in text for s in REFUSED) else '') + text[-300:].replace('\n', ' ')
        got = load_file(scratch + '/out.safetensors')
    for name, reference in want.items():
        if name not in got:
            return f'output {name} is missing'
        value = got[name]
        if value.shape != reference.shape or value.dtype != reference.dtype:
            return f'{name} is {value.dtype}{value.shape}, expected {reference.dtype}{reference.shape}'
        if not np.allclose(value.astype(np.float64), reference.astype(np.float64), rtol=max(case.rtol or 1e-3, 1e-3), atol=max(case.atol or 1e-5, 1e-5), equal_nan=True):
            return f'{name} differs by {np.nanmax(np.abs(value.astype(np.float64) - reference.astype(np.float64))):.3g}'
    return ''


def foldable(array):
    return array.dtype.kind in 'iub' and array.size <= 64 or array.size <= 8 and array.ndim <= 1


def fold_inputs(model, arrays):
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    kept = [i for i in copy.graph.input if not (i.name in arrays and foldable(arrays[i.name]))]
    for value in list(copy.graph.input):
        if value not in kept:
            copy.graph.initializer.append(numpy_helper.from_array(arrays[value.name], value.name))
    del copy.graph.input[:]
    copy.graph.input.extend(kept)
    return copy


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--pipec', required=True)
    parser.add_argument('--only')
    parser.add_argument('--list', action='store_true', help='print every result')
    arguments = parser.parse_args()
    cases = [c for c in collect() if '_expanded' not in c.name and (not arguments.only or arguments.only in c.name)]
    passed = failed = skipped = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, why in zip(cases, pool.map(lambda c: run_case(arguments.pipec, c), cases)):
            known = KNOWN.get(case.name)
            if why.startswith('skip:'):
                skipped += 1
                if arguments.list:
                    print(case.name, why)
            elif bool(why) == bool(known):
                passed, skipped = passed + (not why), skipped + bool(why)
            else:
                failed += 1
                print(f'FAIL {case.name}: {why or "passes now: take it off the list"}', flush=True)
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    sys.exit(0 if passed and not failed else 1)


if __name__ == '__main__':
    main()
