"""check_saved.py START SAVED MODULES: both hold the same names; weights of MODULES, such as abcd, have moved, all others have the bits of START."""
import sys
from safetensors.numpy import load_file

start, saved = map(load_file, sys.argv[1:3])
assert sorted(start) == sorted(saved), (sorted(start), sorted(saved))
for name, value in start.items():
    assert (value.tobytes() == saved[name].tobytes()) == (name.split('.')[0] not in list(sys.argv[3])), name
