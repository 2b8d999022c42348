"""Trains on tokens and on the same rows with masks of ones, and compares losses: check_masks.py PIPEC FOLDER; see make_masks.py."""
import json, subprocess, sys
from safetensors.numpy import load_file, save_file

pipec, folder = sys.argv[1:]


def losses(model, *arguments):
    subprocess.run([pipec, 'train', model, *arguments, '--optimizer', 'sgd', '--lr', '0.5', '--steps', '4', '-q', '--log', folder + '/log', '--overwrite'], check=True)
    return [json.loads(line)['loss'] for line in open(folder + '/log')]


def rows_of(model):
    """The data set, without what the model does not read; wholes are no rows of it."""
    names = {'many': ['mask', 'keep', 'scale', 'half', 'factor'], 'whole': ['pos', 'causal']}.get(model, ['mask'])
    source = load_file(f"{folder}/{'whole' if model == 'whole' else 'rows'}.safetensors")
    save_file({name: source[name] for name in ['ids', 'labels'] + names}, folder + '/in')
    return ['--inputs', folder + '/in']


cuts = {'mask': [(4, 1, 1), (7, 3, 1), (8, 2, 2)], 'many': [(4, 1, 1), (10, 2, 2)], 'named': [(4, 2, 1)], 'fixed': [(4, 4, 1), (4, 2, 2)], 'whole': [(5, 2, 1), (4, 1, 2)]}
for model, sizes in cuts.items():
    onnx = f'{folder}/{model}.onnx'
    whole = ['--whole', 'pos', '--whole', 'causal'] if model == 'whole' else []
    for batch, pieces, parts in sizes:
        how = ['--batch', str(batch), '--accumulate', str(parts)]
        cut = ['--loss', 'cross_entropy', '--microbatches', str(pieces), *whole]
        for shuffle in ([], ['--shuffle', '--seed', '3'])[:2 if pieces > 1 else 1]:
            want = losses(onnx, *cut, *how, *shuffle, *rows_of(model))
            for data, stages in (('raw', '1'), ('llmc', '2')):
                got = losses(onnx, *cut, *how, *shuffle, '--data', f'{folder}/{data}.bin', '--tokens', 'ids', '--stages', stages)
                assert got == want, (model, batch, pieces, parts, shuffle, data, stages, got, want)
        if model in ('fixed',):
            continue
        package = folder + '/package'
        bind = [f'batch={batch // parts}'] + ([f'mask_rows={batch // parts}'] if model == 'named' else [])
        subprocess.run([pipec, 'compile', onnx, '-o', package, '--overwrite', '-q', '--stages', '2', '--bind', ','.join(bind), *cut], check=True, stdout=subprocess.DEVNULL)
        want = losses(onnx, *cut, *how, *rows_of(model))
        tokens = ['--data', folder + '/raw.bin', '--tokens', 'ids']
        assert losses(package, *how, *tokens) == want, (model, batch, pieces, parts)
        more = [str(2 * batch), '--accumulate', str(2 * parts)]
        assert losses(package, '--batch', *more, *tokens) == losses(onnx, *cut, '--batch', *more, *rows_of(model)), (model, more)
