"""check_checkpoint.py JSON PARAMETERS: `pipec checkpoint inspect --json` lists the tensors of a --save-params file, and state for each."""
import json, sys
from safetensors.numpy import load_file

info, parameters = json.load(open(sys.argv[1])), load_file(sys.argv[2])
assert (info['step'], info['data_position'], info['seed'], info['steps']) == (2, 2, 5, [1, 2]), info
weights = {w['name']: w for w in info['weights']}
assert weights.keys() == parameters.keys(), weights.keys() ^ parameters.keys()
for name, value in parameters.items():
    assert weights[name]['shape'] == list(value.shape) and weights[name]['bytes'] == value.nbytes and weights[name]['dtype'] == 'f32'
assert len({w['file'] for w in info['weights']}) == 3, 'a file a stage'
firsts = set(weights) - {name for group in info['tied'] for name in group[1:]}
assert info['tied'] and {s['name'] for s in info['optimizer_state']} == {f'optimizer.{k}.{n}' for k in ('step', 'exp_avg', 'exp_avg_sq') for n in firsts}
