#!/usr/bin/env python3
"""Adds to the ONNX fuzzer's seed corpus: seeds.py FOLDER

The project's small models, those of the names table, which have PyTorch's metadata, and the models of the onnx package's own node tests, with small operands as initializers (they shape results there).
A file over 32 KiB only slows the fuzzer down and is left out.
"""
import os, shutil, sys, warnings, zipfile

warnings.filterwarnings('ignore')
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(root, 'test', 'conformance'))
import numpy as np
from onnx_nodes import collect, fold_inputs, plain

LARGEST = 32 << 10
folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
for path, _, names in os.walk(os.path.join(root, 'test', 'models')):
    for name in names:
        if name.endswith('.onnx') and os.path.getsize(os.path.join(path, name)) <= LARGEST:
            shutil.copy(os.path.join(path, name), os.path.join(folder, os.path.basename(path) + '.' + name))
names = zipfile.ZipFile(os.path.join(root, 'test', 'conformance', 'names', 'quick.zip'))
for entry in names.infolist():
    if entry.filename.endswith('.onnx') and entry.file_size <= LARGEST:
        with open(os.path.join(folder, entry.filename.replace('/', '.')), 'wb') as file:
            file.write(names.read(entry))
for case in collect():
    inputs = case.data_sets[0][0]
    if not all(plain(value) for value in inputs):
        continue
    arrays = {i.name: np.array(v, order='C') for i, v in zip(case.model.graph.input, inputs)}
    if any(a.dtype.kind in 'OUSc' for a in arrays.values()):
        continue
    model = fold_inputs(case.model, arrays).SerializeToString()
    if len(model) <= LARGEST:
        with open(os.path.join(folder, case.name), 'wb') as file:
            file.write(model)
