"""Checks the JSON of `pipec inspect` on mlp3 cut behind layer0 and layer1: the keys that docs/cli.md promises."""
import json, sys

report = json.load(open(sys.argv[1]))
stages = report['stages']
assert [s['modules'] for s in stages] == [['layer0'], ['layer1'], ['layer2', 'output_proj']], stages
assert sorted(stages[0]['parameters']) == ['layer0.lin.bias', 'layer0.lin.weight']
assert stages[1]['parameter_bytes'] == 4 * (32 * 16 + 32)
for index, stage in enumerate(stages):
    assert stage['index'] == stage['rank'] == index and stage['backward'] is False and stage['flops'] > 0
    assert set(stage) >= {'inputs', 'outputs'}
assert [(t['from'], t['to'], t['shape'], t['dtype'], t['bytes'], t['gradient']) for t in report['transfers']] == [
    (0, 1, [8, 16], 'f32', 512, False), (1, 2, [8, 32], 'f32', 1024, False)]
assert stages[0]['outputs'] == stages[1]['inputs'] == [report['transfers'][0]['value']]
weights = report['weights']
assert [w['name'] for w in weights] == [name for s in stages for name in s['parameters']], weights
assert {'name': 'layer1.lin.weight', 'kind': 'parameter', 'dtype': 'f32', 'shape': [32, 16], 'bytes': 2048, 'tied': [], 'stages': [1]} in weights
assert report['shared_weights'] == [] and report['microbatches'] == 1
assert len(report['predicted']['memory_bytes']) == 3 and 0 <= report['predicted']['bubble'] < 1
assert report['predicted']['step_seconds'] >= report['lower_bound_seconds'] > 0
