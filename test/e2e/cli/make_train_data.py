"""Writes data to train the test models with: make_train_data.py FOLDER makes mlp.safetensors, gpt.safetensors and tokens.bin there."""
import sys
import numpy as np
from safetensors.numpy import save_file

folder = sys.argv[1]
random = np.random.default_rng(1)
save_file({'x': random.standard_normal((24, 16)).astype(np.float32), 'labels': random.integers(0, 10, 24)}, folder + '/mlp.safetensors')
save_file({'input_ids': random.integers(0, 256, (8, 32)), 'labels': random.integers(0, 256, (8, 32))}, folder + '/gpt.safetensors')
random.integers(0, 256, 1500).astype(np.uint16).tofile(folder + '/tokens.bin')
