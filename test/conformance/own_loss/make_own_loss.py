"""make_own_loss.py FOLDER [--only NAME..] [--tier forms|heads] | --quick: models whose loss is an output, batches, and PyTorch's loss and gradients.

A folder a model and exporter: model.onnx, batch.safetensors, state.safetensors, grads.safetensors and ref.json. What an exporter cannot write has ref.json alone, with `why`.
--quick writes quick.zip, which the quick tier reads, from forms alone.
"""
import argparse
import contextlib
import inspect
import io
import json
import logging
import os
import re
import tempfile
import warnings
import zipfile

import onnx
import torch
from safetensors.torch import save_file

import forms

HERE = os.path.dirname(os.path.abspath(__file__))
QUICK = ('ce', 'ce_weight_frozen', 'ce_smooth', 'ce_and_decay', 'ce_shifted', 'masked_clamped', 'three_terms', 'kl_batchmean', 'perplexity', 'contrastive')
EXPORTERS = ('legacy', 'dynamo')  # and 'plain': dynamo without optimisations, which keeps parameters that the others fold


def export(model, args, names, path, exporter):
    shapes = dict(dynamo=True, dynamic_shapes=tuple({0: torch.export.Dim('batch')} for _ in names)) if exporter != 'legacy' else dict(dynamo=False, dynamic_axes={n: {0: 'batch'} for n in names})
    if exporter == 'plain':
        shapes['optimize'] = False
    if exporter != 'legacy':  # of parameters as they are written, some by *rest
        own = sum(p.kind == p.POSITIONAL_OR_KEYWORD for p in inspect.signature(model.forward).parameters.values())
        shapes['dynamic_shapes'] = (*shapes['dynamic_shapes'][:own], shapes['dynamic_shapes'][own:])
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        torch.onnx.export(model, args, path, input_names=list(names), output_names=['loss'], external_data=False, **shapes)


def gradients(model, args):
    """The loss and the gradients, in f64."""
    twin = model.double()
    loss = twin(*[a.double() if a.is_floating_point() else a for a in args])
    twin.zero_grad()
    loss.backward()
    grads = {n: p.grad.float().contiguous() for n, p in twin.named_parameters() if p.grad is not None}
    twin.float()
    return loss.item(), grads


def make(folder, name, model, data, must='right', frozen=(), exporters=EXPORTERS):
    model.eval()
    names = list(data)
    args = tuple(data.values())
    loss, grads = gradients(model, args)
    state = {n: t.detach().clone().contiguous() for n, t in model.state_dict().items()}
    for exporter in exporters:
        out = f'{folder}/{name}-{exporter}'
        os.makedirs(out, exist_ok=True)
        # Other files tell buffers from parameters.
        ref = dict(loss=loss, must=must, frozen=[n for n in frozen if exporter == 'legacy' or n in dict(model.named_parameters())])
        try:
            export(model, args, names, f'{out}/model.onnx', exporter)
            save_file({n: t.contiguous() for n, t in data.items()}, f'{out}/batch.safetensors')
            save_file(state, f'{out}/state.safetensors')
            save_file(grads, f'{out}/grads.safetensors')
        except Exception as error:  # whatever an exporter says no with
            ref['why'] = f'{type(error).__name__}: {str(error).strip().splitlines()[0][:200] if str(error).strip() else ""}'
        with open(f'{out}/ref.json', 'w') as file:
            json.dump(ref, file)


def make_form(folder, name, seed=0):
    entry = forms.FORMS[name]
    torch.manual_seed(seed)
    data = forms.batch(seed)
    make(folder, name, forms.Net(entry['loss'], entry['names']), {n: data[n] for n in entry['names']}, entry['must'], entry['frozen'])


def without_paths(path):
    """A stored file names sources, not where they were."""
    model = onnx.load(path)
    for node in model.graph.node:
        for entry in node.metadata_props:
            entry.value = re.sub(r'File "[^"]*/', 'File "', entry.value)
    onnx.save(model, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', nargs='?')
    parser.add_argument('--only', nargs='*')
    parser.add_argument('--tier', default='forms')
    parser.add_argument('--quick', action='store_true')
    options = parser.parse_args()
    warnings.filterwarnings('ignore')
    logging.disable(logging.WARNING)
    if options.quick:
        with tempfile.TemporaryDirectory() as folder:
            for name in QUICK:
                make_form(folder, name)
            with zipfile.ZipFile(f'{HERE}/quick.zip', 'w', zipfile.ZIP_DEFLATED) as archive:
                for path, _, files in sorted(os.walk(folder)):
                    for file in sorted(files):
                        if file == 'model.onnx':
                            without_paths(f'{path}/{file}')
                        archive.write(f'{path}/{file}', os.path.relpath(f'{path}/{file}', folder))
        return
    if options.tier == 'heads':
        import heads
        for name in heads.HEADS:
            if not options.only or name in options.only:
                make(options.folder, name, *heads.build(name), heads.MUST.get(name, 'right'), exporters=(*EXPORTERS, 'plain'))
        return
    for name in forms.FORMS:
        if not options.only or name in options.only:
            make_form(options.folder, name)


main()
