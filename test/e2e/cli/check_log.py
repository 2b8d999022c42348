"""check_log.py A B STEPS: both logs of pipec train have the steps 1 to STEPS, with the same numbers but for times."""
import json, sys

logs = [[{k: v for k, v in json.loads(line).items() if k not in ('seconds', 'tokens_per_s', 'samples_per_s')} for line in open(name)] for name in sys.argv[1:3]]
assert [line['step'] for line in logs[0]] == list(range(1, int(sys.argv[3]) + 1)), logs[0]
assert logs[0] == logs[1], logs
