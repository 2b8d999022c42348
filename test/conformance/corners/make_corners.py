#!/usr/bin/env python3
"""Makes the table of gradients at corners: small models of many operators, exported every way, and PyTorch's gradients.

usage: make_corners.py [--out DIR] [--forms FORM...] [--only NAME...]
Needs torch, onnx, onnxscript and safetensors; the test (../corners.py) needs none of them but safetensors. One parameter holds the
special points of all; the loss is the sum of all results, each element with a factor of its own. So one step gives every
gradient. A factor of 0 beside a NaN says that nothing depends on the element. Each model also has `wants`, PyTorch's gradients in f32.
"""
import argparse, contextlib, io, json, logging, math, os, warnings
import numpy as np
import onnx
import torch, torch.nn as nn, torch.nn.functional as F
from safetensors.torch import save_file

warnings.filterwarnings('ignore')
logging.disable(logging.CRITICAL)
inf, nan = math.inf, math.nan
TINY = 1e-41  # denormal
POINTS = [0.0, -0.0, TINY, -TINY, inf, -inf, nan, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 6.0, 20.0, 80.0, -80.0]
T = torch.tensor
CASES = {}
FORM_NAMES = ('dynamo', 'plain', 'legacy', 'nodes')
FORMS = {}  # the only exporter's form that a case is in


def case(name, fn, *operands):
    """`fn` of parameters with these values."""
    CASES[name] = (fn, [T(v) for v in operands])


UNARY = dict(
    leaky_relu=lambda x: F.leaky_relu(x, 0.1), elu=F.elu, elu_alpha=lambda x: F.elu(x, 2.0), selu=F.selu, celu=lambda x: F.celu(x, 1.5),
    relu=F.relu, relu6=F.relu6, hardtanh=F.hardtanh, hardtanh_bounds=lambda x: F.hardtanh(x, 0.5, 2.0), hardsigmoid=F.hardsigmoid,
    hardswish=F.hardswish, threshold=lambda x: F.threshold(x, 0.5, -2.0), threshold_zero=lambda x: F.threshold(x, 0.0, 0.0),
    softshrink=F.softshrink, hardshrink=F.hardshrink, rrelu=lambda x: F.rrelu(x, training=False), prelu=lambda x: F.prelu(x, T([0.25])),
    clamp=lambda x: x.clamp(-1.0, 1.0), clamp_ints=lambda x: x.clamp(-1, 1), clamp_min=lambda x: x.clamp(min=1.0), clamp_max=lambda x: x.clamp(max=1.0),
    clamp_min_int=lambda x: x.clamp(min=0), clamp_max_int=lambda x: x.clamp(max=0), clamp_equal=lambda x: x.clamp(1.0, 1.0),
    clamp_crossed=lambda x: x.clamp(1.0, 0.5), clamp_tensors=lambda x: torch.clamp(x, T([0.0] * len(POINTS)), T([1.0] * len(POINTS))),
    clip_one=lambda x: torch.clip(x, 0.5, None), maximum=lambda x: torch.maximum(x, T(0.0)), minimum=lambda x: torch.minimum(x, T(1.0)),
    abs=torch.abs, sign=torch.sign, sqrt=torch.sqrt, rsqrt=torch.rsqrt, reciprocal=torch.reciprocal, square=torch.square,
    exp=torch.exp, expm1=torch.expm1, log=torch.log, log1p=torch.log1p, log2=torch.log2, log10=torch.log10, exp2=torch.exp2,
    sigmoid=torch.sigmoid, tanh=torch.tanh, silu=F.silu, gelu=F.gelu, gelu_tanh=lambda x: F.gelu(x, approximate='tanh'), mish=F.mish,
    softplus=F.softplus, softplus_beta=lambda x: F.softplus(x, 2.0, 5.0), logsigmoid=F.logsigmoid, softsign=F.softsign, tanhshrink=F.tanhshrink,
    sin=torch.sin, cos=torch.cos, tan=torch.tan, asin=torch.asin, acos=torch.acos, atan=torch.atan, sinh=torch.sinh, cosh=torch.cosh,
    asinh=torch.asinh, acosh=torch.acosh, atanh=torch.atanh, erf=torch.erf, round=torch.round, floor=torch.floor, ceil=torch.ceil,
    trunc=torch.trunc, frac=torch.frac, nan_to_num=torch.nan_to_num, neg=torch.neg, fmod=lambda x: torch.fmod(x, 2.0),
    remainder=lambda x: torch.remainder(x, 2.0), pow_0=lambda x: x**0.0, pow_1=lambda x: x**1.0, pow_2=lambda x: x**2.0, pow_3=lambda x: x**3.0,
    pow_half=lambda x: x**0.5, pow_minus=lambda x: x**-1.0, pow_15=lambda x: x**1.5, number_to_pow=lambda x: 2.0**x,
    huber=lambda x: F.huber_loss(x, torch.zeros_like(x), reduction='none'), smooth_l1=lambda x: F.smooth_l1_loss(x, torch.zeros_like(x), reduction='none'),
    l1=lambda x: F.l1_loss(x, torch.ones_like(x), reduction='none'), hinge=lambda x: F.hinge_embedding_loss(x, -torch.ones_like(x), reduction='none'),
    logit_eps=lambda x: torch.logit(x, 1e-6),
    # What a where does not take is no factor of anything.
    where_sqrt=lambda x: torch.where(x > 0, torch.sqrt(torch.where(x > 0, x, 1.0)), x * 0.5), where_nan=lambda x: torch.where(x.isnan(), 0.5, x),
    masked_fill=lambda x: x.masked_fill(x.isnan() | x.isinf(), 0.0) * 2.0)
for name, fn in UNARY.items():
    case(name, fn, POINTS)

PAIRS = ([0.0, 0.0, -0.0, 1.0, 1.0, 2.0, -3.0, inf, inf, -inf, 1.0, nan, 2.0], [0.0, -0.0, 0.0, 1.0, 2.0, 1.0, -3.0, inf, 1.0, inf, inf, 1.0, nan])
FINITE = ([0.0, 1.0, -1.0, 2.0, 0.0, -2.0, 1e-3], [1.0, 1.0, -1.0, 4.0, -3.0, 0.5, 1e-3])
case('maximum_pair', torch.maximum, *PAIRS)
case('minimum_pair', torch.minimum, *PAIRS)
case('max_other', lambda a, b: torch.max(a, b), *PAIRS)
case('mul_pair', torch.mul, *PAIRS)
case('add_pair', torch.add, *PAIRS)
case('sub_pair', torch.sub, *PAIRS)
case('div_pair', torch.div, *FINITE)
case('atan2_pair', torch.atan2, [1.0, -1.0, 2.0, 0.0], [1.0, 2.0, -1.0, 3.0])
case('pow_pair', torch.pow, [0.0, 0.0, 0.0, 1.0, 2.0, 0.5, inf], [0.0, 1.0, 2.0, 0.0, 0.0, 0.5, 1.0])
case('fmod_pair', torch.fmod, [5.0, -5.0, 4.0, 0.0], [3.0, 3.0, 2.0, 1.0])
case('remainder_pair', torch.remainder, [5.0, -5.0, 4.0, 0.0], [3.0, 3.0, 2.0, 1.0])
case('prelu_pair', lambda x, w: F.prelu(x[None], w), [0.0, -0.0, 1.0, -1.0, nan, TINY], [0.25, 0.25, 0.5, 0.5, 0.25, 0.25])
case('where_pair', lambda a, b: torch.where(a > b, a, b), *FINITE)
case('clamp_by_parameter', lambda a, b: torch.clamp(a, min=b), *FINITE)

# Roots and powers of sums, of rows that are zero, tiny, constant, or have zeros.
ROWS = [[0.0, 0.0, 0.0], [1.0, 0.0, 2.0], [1e-25, 0.0, 1e-25], [TINY, 0.0, 0.0], [-1.0, 1.0, 1.0]]
CONSTANT = [[2.0, 2.0, 2.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0], [-1.0, -1.0, 1.0]]
for p in (0.5, 1, 2, 3, 4, inf, -inf):
    text = str(p).replace('.', '_').replace('-', 'minus_')
    case('norm_' + text, lambda x, p=p: torch.norm(x, p=p, dim=1), ROWS)
    case('vector_norm_' + text, lambda x, p=p: torch.linalg.vector_norm(x, p, dim=-1, keepdim=True), ROWS)
case('norm_all', lambda x: torch.norm(x), [[0.0, 0.0], [0.0, 0.0]])
case('frobenius', lambda x: torch.linalg.matrix_norm(x), [[0.0, 0.0], [0.0, 0.0]])
case('linalg_norm', lambda x: torch.linalg.norm(x, dim=0), [[0.0, 1.0], [0.0, 2.0]])
for p in (1, 2, 3):
    case(f'normalize_{p}', lambda x, p=p: F.normalize(x, p=float(p), dim=1, eps=1e-3), ROWS)
case('cosine', lambda a, b: F.cosine_similarity(a, b), [[1.0, 2, 3], [0.5, 0, 1]], [[1.0, 2, 3], [1.0, -1, 0]])
case('distance_2', lambda a, b: F.pairwise_distance(a, b, eps=0.0), ROWS, ROWS)
case('distance_3', lambda a, b: torch.linalg.vector_norm(a - b, 3, dim=1), ROWS, ROWS)
case('cdist_mm', lambda a, b: torch.cdist(a, b, compute_mode='use_mm_for_euclid_dist'), [[0.0, 0], [1, 2]], [[0.0, 0], [1, 1]])
case('std', lambda x: x.std(1), CONSTANT)
case('std_population', lambda x: x.std(1, unbiased=False), CONSTANT)
case('std_all', lambda x: x.std(), [[2.0, 2.0], [2.0, 2.0]])
case('std_mean', lambda x: torch.std_mean(x, 1)[0], CONSTANT)
case('var', lambda x: x.var(1), CONSTANT)
case('std_of_images', lambda x: x.std((1, 2)), [[[2.0, 2.0], [2.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]]])
case('root_mean_square', lambda x: x.pow(2).mean(1).sqrt(), [[1.0, 2.0], [3.0, -4.0]])
case('lp_pool_2', lambda x: F.lp_pool1d(x[None], 2.0, 2), [[0.0, 0, 0, 1, 2, 1]])
case('lp_pool_3', lambda x: F.lp_pool1d(x[None], 3.0, 2), [[0.0, 0, 0, 1, 2, 1]])

# What is replaced, or has a factor of 0, is no factor: PyTorch has NaN in some of these, so the right value is given by another form.
case('divide_where', lambda a, b: torch.where(b != 0, a / torch.where(b != 0, b, 1.0), 0.0), [1.0, 2.0, 0.0], [0.0, 4.0, 0.0])
case('masked_norm', lambda x: torch.norm(x, dim=1) * T([1.0, 0.0, 0.0]), [[1.0, 2.0], [0.0, 0.0], [inf, 1.0]])
case('masked_log', lambda x: torch.log(x.clamp(min=1e-3)), [0.0, 1.0, -1.0])

# Ties and zeros of reductions.
TIES = [[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [2.0, -1.0, 2.0], [inf, inf, 1.0], [-inf, -inf, 0.0]]
case('amax', lambda x: x.amax(1), TIES)
case('amin', lambda x: x.amin(1), TIES)
case('max_dim', lambda x: x.max(1)[0], [[1.0, 2.0, 0.0], [0.0, 5.0, 2.0]])  # without ties: the legacy exporter does not tell it from amax
case('max_dim_ties', lambda x: x.max(1)[0], TIES)
case('min_dim_ties', lambda x: x.min(1).values, TIES)
FORMS['max_dim_ties'] = FORMS['min_dim_ties'] = ('dynamo', 'plain')
case('max_all', lambda x: x.max(), [[1.0, 3.0], [3.0, 0.0]])
case('sort_first', lambda x: x.sort(1)[0][:, :2], TIES[:3])
case('topk', lambda x: x.topk(2, 1)[0], TIES[:3])
case('max_pool', lambda x: F.max_pool1d(x[None], 2, 1), [[1.0, 1, 0, 0, 2, 2]])
case('max_pool_2d', lambda x: F.max_pool2d(x[None, None], 2, 1, 1), [[1.0, 1, 0], [1, 0, 0], [0, 0, 0]])
case('adaptive_max_pool', lambda x: F.adaptive_max_pool1d(x[None], 3), [[1.0, 1, 0, 0, 2, 2]])
case('prod', lambda x: x.prod(1), [[0.0, 2, 3], [0.0, 0, 3], [1, 2, 3]])
case('cumprod', lambda x: x.cumprod(1), [[0.0, 2, 3], [2.0, 0, 3], [1, 2, 3]])
case('logsumexp', lambda x: torch.logsumexp(x, 1), [[0.0, 0, 0], [-inf, 0, 1], [80, -80, 80]])
case('softmax', lambda x: torch.softmax(x, 1), [[0.0, 0, 0], [-inf, 0, 1], [80, -80, 80]])
case('log_softmax', lambda x: torch.log_softmax(x, 1)[:, 1:], [[0.0, 0, 0], [-inf, 0, 1], [80, -80, 80]])
case('layer_norm', lambda x: F.layer_norm(x, (3,)), CONSTANT)
case('group_norm', lambda x: F.group_norm(x[:, :, None], 1), CONSTANT)

# Rows that see nothing, in the forms that models have.
SEEN = T([[True, True, False], [False, False, False], [True, False, False]])


def attend(q, k, v, mask):
    return F.scaled_dot_product_attention(q[None, None], k[None, None], v[None, None], attn_mask=mask)


QKV = [[[0.5, -1.0], [1.0, 2.0], [-0.5, 0.25]], [[1.0, 0.5], [-1.0, 1.0], [0.0, 2.0]], [[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]]]
# The dynamo exporter writes the bool mask with the least float, not -inf: rows that see nothing see everything in the file. No exporter
# replaces the NaN of a float mask's.
FORMS['attention_bool'] = 'legacy'
case('attention_bool', lambda q, k, v: attend(q, k, v, SEEN), *QKV)
case('attention_float', lambda q, k, v: attend(q, k, v, torch.where(SEEN | T([[False], [True], [False]]), 0.0, -inf)), *QKV)
case('attention_causal', lambda q, k, v: F.scaled_dot_product_attention(q[None, None], k[None, None], v[None, None], is_causal=True), *QKV)


# Operators that no exporter writes, as nodes: (operator, attributes, PyTorch's function, operands).
NODES = [
    ('ReduceL1', dict(keepdims=0), lambda x: torch.norm(x, p=1), ROWS[:1]), ('ReduceL2', dict(keepdims=0), lambda x: torch.norm(x), ROWS[:1]),
    ('ReduceSumSquare', {}, lambda x: (x * x).sum().reshape(1, 1), ROWS), ('ReduceL2', {}, lambda x: torch.norm(x).reshape(1, 1), ROWS[:4]),
    *(('LpNormalization', dict(p=p, axis=1), lambda x, p=p: x / torch.where((n := torch.norm(x, p=p, dim=1, keepdim=True)) == 0, 1.0, n), ROWS) for p in (1, 2)),
    *(('GlobalLpPool', dict(p=p), lambda x, p=p: torch.norm(x, p=p, dim=2, keepdim=True), [ROWS]) for p in (1, 2, 3)),
    *(('LpPool', dict(p=p, kernel_shape=[3]), lambda x, p=p: torch.norm(x, p=p, dim=2, keepdim=True), [ROWS]) for p in (1, 2, 3)),
    ('GlobalMaxPool', {}, lambda x: x.amax(2, keepdim=True), [TIES]), ('MaxPool', dict(kernel_shape=[2]), lambda x: F.max_pool1d(x, 2, 1), [TIES]),
    ('MeanVarianceNormalization', dict(axes=[2]), lambda x: (x - x.mean(2, keepdim=True)) / (x.std(2, keepdim=True, unbiased=False) + 1e-9), [[[1.0, 2, 4], [-1, 0.5, 3]]]),
    ('ThresholdedRelu', dict(alpha=1.0), lambda x: F.threshold(x, 1.0, 0.0), POINTS[:6] + POINTS[7:]), ('Shrink', dict(lambd=0.5, bias=0.5), F.softshrink, POINTS),
    ('Shrink', dict(lambd=1.0), lambda x: F.hardshrink(x, 1.0), POINTS[:6] + POINTS[7:]), ('Softsign', {}, F.softsign, POINTS), ('Softplus', {}, F.softplus, POINTS),
    ('HardSigmoid', dict(alpha=0.5, beta=0.5), lambda x: (x * 0.5 + 0.5).clamp(0.0, 1.0), POINTS), ('Elu', dict(alpha=0.5), lambda x: F.elu(x, 0.5), POINTS),
    ('Celu', dict(alpha=2.0), lambda x: F.celu(x, 2.0), POINTS), ('Selu', {}, F.selu, POINTS), ('LeakyRelu', dict(alpha=0.25), lambda x: F.leaky_relu(x, 0.25), POINTS),
    ('Gelu', {}, F.gelu, POINTS), ('Sign', {}, torch.sign, POINTS), ('Abs', {}, torch.abs, POINTS), ('Sqrt', {}, torch.sqrt, POINTS), ('Atanh', {}, torch.atanh, POINTS),
    ('Max', {}, torch.maximum, *PAIRS), ('Min', {}, torch.minimum, *PAIRS), ('PRelu', {}, lambda x, w: torch.where(x > 0, x, w * x), [0.0, -0.0, 1.0, -1.0, inf], [0.25] * 5),
    ('Mod', dict(fmod=1), torch.fmod, [5.0, -5.0, 4.0, 0.0], [3.0, 3.0, 2.0, 1.0]), ('Div', {}, torch.div, *FINITE), ('Pow', {}, torch.pow, [0.0, 0.0, 2.0], [1.0, 2.0, 0.0])]


def export_nodes(path):
    """The same model of NODES, made by hand; their cases are added as `node_K`."""
    helper, constant = onnx.helper, lambda name, value: onnx.numpy_helper.from_array(np.asarray(value), name)
    nodes, sums, at = [helper.make_node('Mul', ['points', 'x'], ['p'])], [], 0
    weights = []
    for k, (op, attributes, fn, *operands) in enumerate(NODES):
        case(f'node_{k}_{op}', fn, *operands)
        inputs = []
        for i, value in enumerate(CASES[f'node_{k}_{op}'][1]):
            name = f'{k}_{i}'
            weights += [constant(f'from_{name}', [at]), constant(f'to_{name}', [at + value.numel()]), constant(f'shape_{name}', np.array(value.shape, np.int64))]
            nodes += [helper.make_node('Slice', ['p', f'from_{name}', f'to_{name}'], [f'flat_{name}']),
                      helper.make_node('Reshape', [f'flat_{name}', f'shape_{name}'], [f'in_{name}'])]
            inputs.append(f'in_{name}')
            at += value.numel()
        result = fn(*CASES[f'node_{k}_{op}'][1])
        weights.append(constant(f'factors_{k}', (0.5 + torch.arange(result.numel(), dtype=torch.float32).reshape(result.shape) / 8).numpy()))
        nodes += [helper.make_node(op, inputs, [f'out_{k}'], **attributes), helper.make_node('Mul', [f'out_{k}', f'factors_{k}'], [f'scaled_{k}']),
                  helper.make_node('ReduceSum', [f'scaled_{k}'], [f'sum_{k}'], keepdims=0)]
        sums.append(f'sum_{k}')
    names = [name for name in CASES if name.startswith('node_')]
    nodes.append(helper.make_node('Sum', sums, ['loss']))
    weights.append(constant('points', All(names).points.detach().numpy()))
    port = lambda name, shape: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
    model = helper.make_model(helper.make_graph(nodes, 'g', [port('x', [1])], [port('loss', [])], weights), opset_imports=[helper.make_opsetid('', 20)], ir_version=9)
    onnx.save(model, path)
    return names


class All(nn.Module):
    """All operands are pieces of one parameter, as an exporter may store equal parameters once."""
    def __init__(self, names):
        super().__init__()
        self.names = names
        self.points = nn.Parameter(torch.cat([value.flatten() for name in names for value in CASES[name][1]]))

    def forward(self, x):
        total, at = 0.0, 0
        points = self.points * x  # times 1, so that no exporter computes the result of parameters alone
        for name in self.names:
            fn, values = CASES[name]
            operands = []
            for value in values:
                operands.append(points[at:at + value.numel()].reshape(value.shape))
                at += value.numel()
            result = fn(*operands)
            factors = 0.5 + torch.arange(result.numel(), dtype=torch.float32).reshape(result.shape) / 8
            total = total + (result * factors).sum()
        return total


def export(names, path, form):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        common = dict(input_names=['x'], output_names=['loss'], opset_version=20)
        if form == 'legacy':
            torch.onnx.export(All(names), (torch.ones(1),), path, dynamo=False, **common)
        else:
            torch.onnx.export(All(names), (torch.ones(1),), path, dynamo=True, optimize=form == 'dynamo', verbose=False, external_data=False, **common)


def can_export(name, form):
    try:
        export([name], os.devnull if form == 'legacy' else '/tmp/corner.onnx', form)
        return True
    except Exception:
        return False


def gradients(names):
    """PyTorch's, of each operator by itself, as one tensor; where each begins is in the file's metadata."""
    parts, places, at = [], [], 0
    for name in names:
        module = All([name])
        module(torch.ones(1)).backward()
        grad = module.points.grad
        parts.append(torch.zeros_like(module.points) if grad is None else grad)
        places.append([name, at, parts[-1].numel(), CASES[name][0] in UNARY.values()])
        at += parts[-1].numel()
    return {'points': torch.cat(parts)}, {'places': json.dumps(places)}


# Where the operator that a node comes from decides its gradient.
TELLING = ('Clip', 'Max', 'Min', 'ReduceMax', 'ReduceMin')


def strip(path):
    """Metadata makes most of a file."""
    model = onnx.load(path)
    for node in model.graph.node:
        kept = [(p.key, p.value) for p in node.metadata_props if p.key == 'pkg.torch.onnx.fx_node' and node.op_type in TELLING]
        del node.metadata_props[:]
        for key, value in kept:
            node.metadata_props.add(key=key, value=value)
        node.doc_string = ''
    del model.graph.value_info[:]
    onnx.save(model, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', default=os.path.dirname(os.path.abspath(__file__)))
    parser.add_argument('--forms', nargs='*', choices=FORM_NAMES)
    parser.add_argument('--only', nargs='*')
    arguments = parser.parse_args()
    os.makedirs(arguments.out, exist_ok=True)
    for form in FORM_NAMES:
        if arguments.forms and form not in arguments.forms:
            continue
        if form == 'nodes':
            names = export_nodes(f'{arguments.out}/nodes.onnx')
            wants, places = gradients(names)
            save_file(wants, f'{arguments.out}/nodes.safetensors', places)
            continue
        names = [name for name in CASES if form in FORMS.get(name, form) and (not arguments.only or name in arguments.only) and can_export(name, form)]
        path = f'{arguments.out}/{form}.onnx'
        export(names, path, form)
        strip(path)
        wants, places = gradients(names)
        save_file(wants, f'{arguments.out}/{form}.safetensors', places)
        print(form, len(names), 'operators; not exported:', *(name for name in CASES if name not in names and not arguments.only))


if __name__ == '__main__':
    main()
