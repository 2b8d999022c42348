"""The statistics move by the node's momentum; the root's scalar is trained: check_findings.py FOLDER"""
import sys
import numpy as np
from safetensors.numpy import load_file

folder = sys.argv[1]
x = load_file(folder + '/data.safetensors')['x']
params, grads = load_file(folder + '/p.safetensors'), load_file(folder + '/g.safetensors')
np.testing.assert_allclose(params['bn.running_mean'], 0.3 * x.mean(0), rtol=1e-5)
np.testing.assert_allclose(params['bn.running_var'], 0.7 + 0.3 * x.var(0, ddof=1), rtol=1e-5)
assert grads['logit_scale'].shape == () and grads['logit_scale'] != 0, grads
