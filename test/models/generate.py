#!/usr/bin/env python3
"""Makes the small models that the tests use, with inputs and expected outputs.

usage: generate.py [--out DIR] [--only NAME...]
Needs torch, onnx, onnxscript and safetensors; the tests themselves need none of
them but safetensors. Each folder has model.onnx (dynamo exporter), where it can be made
model.legacy.onnx (TorchScript-based exporter), inputs.safetensors, outputs.safetensors and meta.json.
Weights are random with fixed seeds. Other torch versions give other graphs.
"""
import argparse, json, os, re, warnings
import onnx
import torch, torch.nn as nn, torch.nn.functional as F
from safetensors.torch import save_file

warnings.filterwarnings('ignore')
MODELS = {}


FRESH = ('fresh-norms', 'char-gpt')  # keep their initial norms and biases


def model(name, batch, splits, legacy=True):
    def register(make):
        MODELS[name] = (make, batch, splits, legacy)
        return make
    return register


class Block(nn.Module):
    """A pre-norm transformer block with causal attention."""
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.ln_1, self.ln_2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.fc, self.out = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.heads, d // self.heads).transpose(1, 2) for y in self.qkv(self.ln_1(x)).split(d, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, d))
        return x + self.out(F.gelu(self.fc(self.ln_2(x)), approximate='tanh'))


class Gpt(nn.Module):
    """A small GPT; the embedding is also the output projection."""
    def __init__(self, vocabulary=256, context=256, d=64, heads=4, layers=4):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, d), nn.Embedding(context, d)
        self.h = nn.ModuleList(Block(d, heads) for _ in range(layers))
        self.ln_f, self.lm_head = nn.LayerNorm(d), nn.Linear(d, vocabulary, bias=False)
        self.lm_head.weight = self.wte.weight

    def positions(self, length):
        return self.wpe(torch.arange(length))

    def forward(self, input_ids):
        x = self.wte(input_ids) + self.positions(input_ids.shape[1])
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


@model('tiny-gpt', 8, [['h.0:END', 'h.2:END'], ['wpe:END', 'h.1:BEGIN', 'h.3:END']])
def tiny_gpt():
    return Gpt(), {'input_ids': torch.randint(0, 256, (8, 32))}, ['logits']


class CharGpt(Gpt):
    def positions(self, length):
        return self.wpe.weight  # all of it: the exporter would fold a lookup of fixed positions into a constant, which does not train


@model('char-gpt', 8, [['h.0:END', 'h.1:END']], legacy=False)
def char_gpt():
    """The model of tools/quickstart: a character is its ASCII code. With GPT-2's initial weights, all characters are about equally likely."""
    module = CharGpt(vocabulary=128, context=64, d=96, heads=4, layers=3)
    for name, parameter in module.named_parameters():
        if parameter.dim() == 2:
            nn.init.normal_(parameter, 0, 0.02)
        elif name.endswith('bias'):
            nn.init.zeros_(parameter)
    return module, {'input_ids': torch.randint(32, 127, (8, 64))}, ['logits']


class Mlp(nn.Module):
    """The PiPPy tutorial's network, small."""
    class Layer(nn.Module):
        def __init__(self, a, b):
            super().__init__()
            self.lin = nn.Linear(a, b)

        def forward(self, x):
            return torch.relu(self.lin(x))

    def __init__(self):
        super().__init__()
        self.layer0, self.layer1, self.layer2 = self.Layer(16, 16), self.Layer(16, 32), self.Layer(32, 8)
        self.output_proj = nn.Linear(8, 10)

    def forward(self, x):
        return self.output_proj(self.layer2(self.layer1(self.layer0(x))))


@model('mlp3', 10, [['layer0:END', 'layer1:END']])
def mlp3():
    return Mlp(), {'x': torch.randn(10, 16)}, ['logits']


class ConvNet(nn.Module):
    """Convolutions with BatchNorm, a residual, pools, a transposed convolution."""
    def __init__(self):
        super().__init__()
        self.stem, self.bn = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.body = nn.Conv2d(8, 8, 3, padding=1, groups=2)
        self.norm = nn.GroupNorm(4, 8)
        self.down, self.up = nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.head = nn.Linear(8, 5)
        self.bn.running_mean.normal_(0, 0.2)
        self.bn.running_var.uniform_(0.5, 1.5)

    def forward(self, image):
        x = F.relu(self.bn(self.stem(image)))
        y = F.silu(self.norm(self.body(x)))
        z = self.up(F.avg_pool2d(F.relu(self.down(y)), 1)) + x
        z = F.max_pool2d(z, 3, stride=2, padding=1)
        return self.head(F.adaptive_avg_pool2d(z, 1).flatten(1))


@model('convnet', 6, [['body:BEGIN', 'down:BEGIN'], ['norm:END', 'up:END']])
def convnet():
    return ConvNet(), {'image': torch.randn(6, 3, 16, 16)}, ['scores']


class Fresh(nn.Module):
    """Norms and biases as initialised: exporters store equal ones once."""
    def __init__(self):
        super().__init__()
        self.a, self.norm_a = nn.Linear(8, 8), nn.LayerNorm(8)
        self.b, self.norm_b = nn.Linear(8, 8), nn.LayerNorm(8)
        for linear in (self.a, self.b):
            nn.init.zeros_(linear.bias)

    def forward(self, x):
        return self.norm_b(self.b(self.norm_a(self.a(x))))


@model('fresh-norms', 4, [['norm_a:END']], legacy=False)
def fresh_norms():
    return Fresh(), {'x': torch.randn(4, 8)}, ['y']


class Skips(nn.Module):
    """A value read two stages on, an integer mask read everywhere, two outputs."""
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.a, self.b, self.c = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, ids, scale):
        mask = (ids > 3).unsqueeze(-1)
        s = self.embed(ids)
        x = torch.where(mask, self.a(s), s * 0.5)
        y = torch.tanh(self.b(x)) * scale
        z = self.c(y) + s
        return torch.where(mask, z, x), z.argmax(-1)


@model('skips', 8, [['a:END', 'b:END', 'c:BEGIN'], ['embed:END', 'c:END']])
def skips():
    return Skips(), {'ids': torch.randint(0, 20, (8, 5)), 'scale': torch.tensor(0.75)}, ['y', 'best']


def strip_paths(path):
    """Source files are named relative to where they are installed, not as on the machine that exported."""
    graph = onnx.load(path)
    for node in graph.graph.node:
        node.doc_string = ''
        for entry in node.metadata_props:
            entry.value = re.sub(r'File "[^"]*?(site-packages/[^"]*|generate\.py)"', r'File "\1"', entry.value)
    onnx.save(graph, path)


def export(name, out):
    make, batch, splits, legacy = MODELS[name]
    torch.manual_seed(sum(map(ord, name)))
    module, inputs, output_names = make()
    module.eval()
    for parameter in module.parameters():
        if name not in FRESH and parameter.dim() == 1:
            nn.init.normal_(parameter, parameter.mean().item(), 0.1)
    folder = os.path.join(out, name)
    os.makedirs(folder, exist_ok=True)
    with torch.no_grad():
        outputs = module(*inputs.values())
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    with torch.no_grad():
        exact = module.double()(*[v.double() if v.is_floating_point() else v for v in inputs.values()])
    module.float()
    exact = exact if isinstance(exact, tuple) else (exact,)
    noise = {n: float((a.double() - b.double()).abs().max()) for n, a, b in zip(output_names, outputs, exact)}
    example = tuple(v[:4] if v.dim() else v for v in inputs.values())  # another batch than the one that is run
    dynamic = {k: {0: 'batch'} for k, v in inputs.items() if v.dim()}
    axes = tuple({0: torch.export.Dim('batch')} if v.dim() else None for v in inputs.values())
    torch.onnx.export(module, example, os.path.join(folder, 'model.onnx'), input_names=list(inputs), output_names=output_names,
                      dynamo=True, dynamic_shapes=axes, external_data=False, verbose=False)
    if legacy:
        torch.onnx.export(module, example, os.path.join(folder, 'model.legacy.onnx'), input_names=list(inputs), output_names=output_names,
                          dynamo=False, dynamic_axes={**dynamic, **{n: {0: 'batch'} for n in output_names}}, opset_version=17)
    for file in ('model.onnx', 'model.legacy.onnx'):
        if os.path.exists(os.path.join(folder, file)):
            strip_paths(os.path.join(folder, file))
    save_file({k: v.contiguous() for k, v in inputs.items()}, os.path.join(folder, 'inputs.safetensors'))
    save_file({k: v.contiguous() for k, v in zip(output_names, outputs)}, os.path.join(folder, 'outputs.safetensors'))
    meta = {
        'name': name,
        'whole': [k for k, v in inputs.items() if not v.dim()],
        'parameters': {k: list(v.shape) for k, v in module.named_parameters(remove_duplicate=False)},
        'buffers': {k: list(v.shape) for k, v in module.named_buffers()},
        'tolerance': {n: {'atol': max(20 * noise[n], 1e-6), 'rtol': 1e-4} for n in output_names},
        'split_sets': splits,
    }
    with open(os.path.join(folder, 'meta.json'), 'w') as file:
        json.dump(meta, file, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--out', default=os.path.dirname(os.path.abspath(__file__)))
    parser.add_argument('--only', nargs='*')
    arguments = parser.parse_args()
    for name in MODELS:
        if not arguments.only or name in arguments.only:
            export(name, arguments.out)
            print('made', name, flush=True)


main()
