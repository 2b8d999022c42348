"""Gradients of make_exported.py's models against numpy: check_exported.py FOLDER"""
import sys
import numpy as np
from safetensors.numpy import load_file

load = lambda name: load_file(f'{sys.argv[1]}/{name}.safetensors')
grads, table = load('padding-g')['e.weight'], load('padding-p')['e.weight']
ids = load('ids')['x'].astype(int) % 5
up = 2 * 1.5 * table[ids] / (ids.size * 2)
want = np.zeros_like(table)
np.add.at(want, ids, up * 0.5 + up * (ids != 4)[..., None])
np.testing.assert_allclose(grads, want, rtol=1e-5)
grads = load('script-g')
assert set(grads) == {'low', 'gem.p', 'pe'} and np.any(grads['gem.p'] != 0) and np.any(grads['pe'] != 0), grads

# Only bn.weight and bn.bias are trained, each as its own; the statistics move with the batch.
x, saved = load('data')['x'].astype(float), load('fresh-p')
normed = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
out = (normed - normed.mean(0)) / np.sqrt(normed.var(0) + 1e-5)
np.testing.assert_allclose(saved['bn.weight'], 1 - 0.5 * (2 * out * out / out.size).sum(0), rtol=1e-4)
np.testing.assert_allclose(saved['bn.bias'], np.zeros(3), atol=1e-5)
np.testing.assert_allclose(saved['bn.running_mean'], 0.1 * normed.mean(0), rtol=1e-4, atol=1e-6)
np.testing.assert_allclose(saved['bn.running_var'], 0.9 + 0.1 * normed.var(0, ddof=1), rtol=1e-4)
