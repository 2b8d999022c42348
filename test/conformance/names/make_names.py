#!/usr/bin/env python3
"""Exports the models of the names table, each in several sizes by each way of both exporters, with PyTorch's loss, gradients and state_dict.

usage: make_names.py OUT [--only NAME...] [--random FROM TO] [--part K/N]    one folder a file below OUT; --part makes each Nth
       make_names.py --quick                                               makes quick.zip, what the quick tier reads, again
Needs torch and onnxscript. Where a module of torch.nn has parameters and no entry, it fails.
"""
import argparse
import contextlib
import hashlib
import inspect
import io
import json
import os
import sys
import tempfile
import warnings
import zipfile

import torch
from safetensors.torch import save_file

import forms  # noqa: F401: adds entries
import modules  # noqa: F401: adds entries
from entries import ENTRIES
from random_models import ROWS, Random

SIZES = {'square': (6, 6), 'uneven': (5, 7), 'large': (96, 96)}
PRESERVE = torch.onnx.TrainingMode.PRESERVE
WAYS = {'dynamo': dict(dynamo=True), 'noopt': dict(dynamo=True, optimize=False), 'legacy': dict(dynamo=False),
        'preserve': dict(dynamo=False, do_constant_folding=False, training=PRESERVE)}
# Not entries: torch.nn.SyncBatchNorm trains on GPUs only; lazy modules become the others at their first call; the rest are bases.
NO_ENTRIES = {'SyncBatchNorm', 'RNNBase', 'RNNCellBase', 'Container', 'ParameterList', 'ParameterDict', 'Unflatten', 'UninitializedParameter'}
# The quick tier: what is most easily mistaken.
QUICK = '''
addmm-square-dynamo addmm-square-legacy attribute_square-square-dynamo attribute_square-square-noopt attribute_square-square-legacy bilinear_square-square-dynamo
bilinear-uneven-noopt buffer_transposed-square-legacy child_weight_t-square-dynamo child_weight_only-square-legacy computed_table-square-dynamo computed_table_mm_t-square-legacy
convtranspose_groups-uneven-legacy decoder_transposed-square-noopt dict_both-square-dynamo einsum_both-square-legacy embedding_padded-uneven-dynamo embedding_padded-uneven-legacy
equal_not_tied-square-dynamo f_embedding-uneven-legacy gru-uneven-legacy half_wt-square-legacy half_w-square-dynamo layer_scale-uneven-dynamo linear_vector-uneven-dynamo list_both-square-dynamo
list_both-square-legacy lora-square-legacy lstm_projected-uneven-dynamo matmul_both_square-square-legacy mha-square-legacy mha_kdim-uneven-legacy module_twice-square-legacy
ones_like-square-dynamo prelu-uneven-legacy quantised-square-dynamo straight_through-square-dynamo stopped_target-uneven-noopt detach_itself-square-dynamo symmetric_values-square-dynamo temporary_square-square-dynamo tensordot-square-dynamo thrice-square-legacy tied_head_square-square-legacy
tied_thrice-square-dynamo turned-square-dynamo two_names-square-legacy weight_norm_new-square-legacy weight_norm_old-square-dynamo weight_norm_tied-square-dynamo zero_init-square-dynamo zeros_everywhere-square-dynamo
'''.split()


def is_batch_norm(module):
    return isinstance(module, torch.nn.modules.batchnorm._BatchNorm)


def check_complete():
    """Every module of torch.nn with parameters is in an entry."""
    used = set()
    for make, _, _ in ENTRIES.values():
        used |= {type(module).__name__ for module in make(6, 6).modules()}
    makes = ('Parameter(', 'register_parameter(', 'Linear(', 'TransformerEncoder(', '_get_clones(')
    for name, kind in vars(torch.nn).items():
        if not inspect.isclass(kind) or not issubclass(kind, torch.nn.Module) or name.startswith('Lazy') or name in NO_ENTRIES | used:
            continue
        texts = [inspect.getsource(base) for base in kind.__mro__ if base not in (torch.nn.Module, object) and base.__module__.startswith('torch.nn')]
        if any(call in text for call in makes for text in texts):
            raise SystemExit(f'torch.nn.{name} has parameters and no entry')


def all_models(only):
    """(name, make, x) of the table."""
    for name, (make, shape, kind) in ENTRIES.items():
        for size, (i, o) in SIZES.items():
            if (only and name not in only) or (size == 'large' and kind == 'float' and len(shape(1, 1)) > 3):
                continue
            seed = int(hashlib.md5((name + size).encode()).hexdigest()[:6], 16)
            torch.manual_seed(seed)
            module = make(i, o)
            x = torch.randint(0, min(i, 12), shape(i, o)) if kind == 'int' else torch.randn(*shape(i, o))
            yield f'{name}-{size}', module, x, list(WAYS)


def random_models(first, last):
    """Each by one way of each exporter."""
    for seed in range(first, last):
        module = Random(seed)
        ways = ['noopt'] if module.has_equal else [('dynamo', 'noopt')[seed % 3 == 0], ('legacy', 'preserve')[seed % 4 == 0]]
        yield f'random{seed}', module, torch.randn(ROWS, module.width), ways


def reference(module, x):
    """Labels, loss, gradients by name, state_dict before and after, in training mode where that is another function."""
    norms = any(map(is_batch_norm, module.modules()))
    module.train(norms)
    before = {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}
    y = module(x)
    labels = torch.randn_like(y)
    module.load_state_dict(before)
    module.zero_grad()
    loss = ((module(x) - labels) ** 2).mean()
    loss.backward()
    grads = {name: p.grad.clone() for name, p in module.named_parameters(remove_duplicate=False) if p.grad is not None}
    after = {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}
    module.load_state_dict(before)
    return labels, loss.item(), grads, before, after


def export(module, x, folder, way):
    options = dict(WAYS[way])
    module.train(way == 'preserve')
    options.update(external_data=False) if options['dynamo'] else None
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        torch.onnx.export(module, (x,), f'{folder}/model.onnx', input_names=['x'], output_names=['y'], **options)


def write(folder, module, x, way):
    os.makedirs(folder, exist_ok=True)
    plain = lambda tensors: {name: tensor.clone().contiguous() for name, tensor in tensors.items()}
    try:
        labels, loss, grads, before, after = reference(module, x)
        export(module, x, folder, way)
        save_file(plain({'x': x, 'labels': labels}), f'{folder}/batch.safetensors')
        save_file(plain(grads), f'{folder}/grads.safetensors')
        save_file(plain(before), f'{folder}/state.safetensors')
        save_file(plain(after), f'{folder}/after.safetensors')
        said = {'loss': loss, 'params': {name: p.requires_grad for name, p in module.named_parameters(remove_duplicate=False)}}
    except Exception as error:
        said = {'error': repr(error)[:300]}
    json.dump(said, open(f'{folder}/ref.json', 'w'))
    return said


def make_quick():
    place = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'quick.zip')
    names = {q.split('-')[0] for q in QUICK}
    with zipfile.ZipFile(place, 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name, module, x, ways in all_models(names):
            for way in ways:
                if f'{name}-{way}' not in QUICK:
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    said = write(folder, module, x, way)
                    if 'error' in said:
                        raise SystemExit(f'{name}-{way}: {said["error"]}')
                    for part in sorted(os.listdir(folder)):
                        entry = zipfile.ZipInfo(f'{name}-{way}/{part}', (2026, 1, 1, 0, 0, 0))
                        file.writestr(entry, open(f'{folder}/{part}', 'rb').read(), zipfile.ZIP_DEFLATED, 9)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('out', nargs='?')
    parser.add_argument('--only', nargs='*')
    parser.add_argument('--random', nargs=2, type=int)
    parser.add_argument('--part', default='0/1')
    parser.add_argument('--quick', action='store_true')
    arguments = parser.parse_args()
    warnings.simplefilter('ignore')
    torch.set_num_threads(1)
    if arguments.quick:
        return make_quick()
    if not arguments.random:
        check_complete()
    part, parts = map(int, arguments.part.split('/'))
    models = random_models(*arguments.random) if arguments.random else all_models(arguments.only)
    for k, (name, module, x, ways) in enumerate(models):
        for way in ways if k % parts == part else ():
            folder = f'{arguments.out}/{name}-{way}'
            if not os.path.exists(folder + '/ref.json'):
                write(folder, module, x, way)


main()
