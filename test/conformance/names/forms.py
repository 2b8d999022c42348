"""The forms in which people use parameters without a module of torch.nn, or beside one."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.utils as U
from torch.nn.utils import parametrizations, parametrize, prune

from entries import Fn, P, attribute, buffer, entry, ids, image, sequence, wide


@entry()
def f_linear(i, o): return Fn(lambda s, x: F.linear(x, s.w, s.c), w=P(o, i), c=P(o))
@entry(sequence)
def f_linear3(i, o): return Fn(lambda s, x: F.linear(x, s.w), w=P(o, i))
@entry()
def f_linear_t(i, o): return Fn(lambda s, x: F.linear(x, s.w.t()), w=P(i, o))
@entry()
def addmm(i, o): return Fn(lambda s, x: torch.addmm(s.c, x, s.w), w=P(i, o), c=P(o))
@entry()
def addmm_t(i, o): return Fn(lambda s, x: torch.addmm(s.c, x, s.w.t()), w=P(o, i), c=P(o))
@entry()
def addmm_alpha(i, o): return Fn(lambda s, x: torch.addmm(s.c, x, s.w, beta=0.5, alpha=2.), w=P(i, o), c=P(o))
@entry(lambda i, o: (o, i))
def addmm_left(i, o): return Fn(lambda s, x: torch.addmm(s.c, s.w, x), w=P(i, o), c=P(i))
@entry()
def matmul(i, o): return Fn(lambda s, x: x @ s.w, w=P(i, o))
@entry()
def matmul_t(i, o): return Fn(lambda s, x: x @ s.w.t(), w=P(o, i))
@entry()
def matmul_upper_t(i, o): return Fn(lambda s, x: x @ s.w.T + s.c, w=P(o, i), c=P(o))
@entry(sequence)
def matmul_transpose3(i, o): return Fn(lambda s, x: x @ s.w.transpose(0, 1), w=P(o, i))
@entry()
def matmul_both(i, o): return Fn(lambda s, x: (x @ s.w) @ s.w.t(), w=P(i, o))
@entry()
def matmul_both_square(i, o): return Fn(lambda s, x: x @ s.w + (x @ s.w.t()) * .5, w=P(i, i))
@entry()
def list_both(i, o): return Fn(lambda s, x: x @ s.ps[0] + (x @ s.ps[0].t()) * .5, ps=nn.ParameterList([P(i, i)]))
@entry()
def dict_both(i, o): return Fn(lambda s, x: x @ s.ps['w'] + (x @ s.ps['w'].t()) * .5, ps=nn.ParameterDict({'w': P(i, i)}))
@entry()
def child_weight_t(i, o): return Fn(lambda s, x: s.m(x) + x @ s.m.weight, m=nn.Linear(i, i))
@entry()
def child_weight_only(i, o): return Fn(lambda s, x: x @ s.m.weight.t(), m=nn.Linear(i, o))
@entry()
def paramlist(i, o): return Fn(lambda s, x: torch.tanh(x @ s.ps[0]) @ s.ps[1] + s.ps[2], ps=nn.ParameterList([P(i, o), P(o, i), P(i)]))
@entry()
def paramlist_t(i, o): return Fn(lambda s, x: torch.tanh(x @ s.ps[0].t()) @ s.ps[1].t() + s.ps[2], ps=nn.ParameterList([P(o, i), P(i, o), P(i)]))
@entry()
def paramdict(i, o): return Fn(lambda s, x: torch.tanh(x @ s.pd['a'].T) * s.pd['g'], pd=nn.ParameterDict({'a': P(o, i), 'g': P(o)}))
@entry(sequence)
def einsum(i, o): return Fn(lambda s, x: torch.einsum('bti,io->bto', x, s.w), w=P(i, o))
@entry(sequence)
def einsum_t(i, o): return Fn(lambda s, x: torch.einsum('bti,oi->bto', x, s.w), w=P(o, i))
@entry()
def einsum2(i, o): return Fn(lambda s, x: torch.einsum('bi,ij,jo->bo', x, s.a, s.b), a=P(i, i), b=P(i, o))
@entry()
def mv(i, o): return Fn(lambda s, x: x @ s.v + s.c, v=P(i), c=P(1))
@entry(lambda i, o: (2, 3, i))
def baddbmm(i, o): return Fn(lambda s, x: torch.baddbmm(s.c, x, s.w.expand(x.shape[0], i, o)), w=P(1, i, o), c=P(1, 3, o))
@entry(sequence)
def batched_experts(i, o): return Fn(lambda s, x: torch.einsum('bei,eio->beo', x, s.w), w=P(3, i, o))
@entry(sequence)
def grouped_T(i, o): return Fn(lambda s, x: (x.transpose(0, 1) @ s.w.transpose(1, 2)).transpose(0, 1), w=P(3, o, i))

# ---- tied and shared
@entry(ids, 'int')
def tied_head(i, o):
    m = Fn(lambda s, x: s.head(torch.tanh(s.l(s.e(x)))), e=nn.Embedding(12, i), l=nn.Linear(i, i), head=nn.Linear(i, 12, bias=False))
    m.head.weight = m.e.weight
    return m
@entry(ids, 'int')
def tied_head_square(i, o):
    m = Fn(lambda s, x: s.head(torch.tanh(s.l(s.e(x)))), e=nn.Embedding(i, i), l=nn.Linear(i, i), head=nn.Linear(i, i, bias=False))
    m.head.weight = m.e.weight
    return m
@entry()
def shared_module(i, o): return Fn(lambda s, x: s.l(torch.tanh(s.l(x))), l=nn.Linear(i, i))
@entry()
def tied_transposed(i, o): return Fn(lambda s, x: F.linear(torch.tanh(s.enc(x)), s.enc.weight.t()), enc=nn.Linear(i, o))
@entry()
def two_names(i, o):
    m = Fn(lambda s, x: s.b(torch.tanh(s.a(x))), a=nn.Linear(i, i), b=nn.Linear(i, i))
    m.b.weight = m.a.weight
    return m
@entry()
def two_biases(i, o):
    m = Fn(lambda s, x: s.b(torch.tanh(s.a(x))), a=nn.Linear(i, i), b=nn.Linear(i, i))
    m.b.bias = m.a.bias
    return m
@entry()
def equal_not_tied(i, o):
    m = Fn(lambda s, x: s.b(torch.tanh(s.a(x))), a=nn.Linear(i, i), b=nn.Linear(i, i))
    with torch.no_grad(): m.b.weight.copy_(m.a.weight); m.b.bias.copy_(m.a.bias)
    return m
@entry()
def zeros_everywhere(i, o):
    m = nn.Sequential(nn.Linear(i, o), nn.LayerNorm(o), nn.Linear(o, o), nn.LayerNorm(o), nn.Linear(o, i))
    with torch.no_grad():
        for l in m:
            l.bias.zero_()
    return m
@entry()
def zero_weight(i, o):
    m = Fn(lambda s, x: s.a(x) + s.b(x), a=nn.Linear(i, i), b=nn.Linear(i, i))
    with torch.no_grad(): m.a.weight.zero_(); m.b.weight.zero_()
    return m
@entry()
def identity_weight(i, o):
    return Fn(lambda s, x: torch.tanh(x @ s.w) @ torch.eye(i) + x @ s.v.t(), w=nn.Parameter(torch.eye(i)), v=nn.Parameter(torch.eye(i)))

# ---- parametrizations
@entry()
def weight_norm_old(i, o): return nn.Sequential(U.weight_norm(nn.Linear(i, o)), nn.Tanh(), nn.Linear(o, i))
@entry(sequence)
def weight_norm_old3(i, o): return nn.Sequential(U.weight_norm(nn.Linear(i, o)), nn.Tanh(), nn.Linear(o, i))
@entry()
def weight_norm_new(i, o): return nn.Sequential(parametrizations.weight_norm(nn.Linear(i, o)), nn.Tanh(), nn.Linear(o, i))
@entry(image)
def weight_norm_conv(i, o): return nn.Sequential(parametrizations.weight_norm(nn.Conv2d(i, o, 3)), nn.Tanh(), nn.Conv2d(o, i, 1))
@entry()
def spectral_old(i, o): return nn.Sequential(U.spectral_norm(nn.Linear(i, o)), nn.Tanh(), nn.Linear(o, i))
@entry()
def spectral_new(i, o): return nn.Sequential(parametrizations.spectral_norm(nn.Linear(i, o)), nn.Tanh(), nn.Linear(o, i))
class Sym(nn.Module):
    def forward(self, w): return w.triu() + w.triu(1).transpose(-1, -2)
@entry()
def symmetric(i, o):
    l = nn.Linear(i, i); parametrize.register_parametrization(l, 'weight', Sym()); return l
class Scale(nn.Module):
    def forward(self, w): return w * 0.5
@entry()
def scaled(i, o):
    l = nn.Linear(i, o); parametrize.register_parametrization(l, 'weight', Scale()); return nn.Sequential(l, nn.Linear(o, i))
class Exp(nn.Module):
    def forward(self, w): return w.exp()
@entry()
def exp_param(i, o):
    l = nn.Linear(i, o); parametrize.register_parametrization(l, 'weight', Exp()); return l

# ---- expressions of parameters
@entry()
def half_w(i, o): return Fn(lambda s, x: x @ (s.w * 0.5) + s.c, w=P(i, o), c=P(o))
@entry()
def half_wt(i, o): return Fn(lambda s, x: x @ (s.w * 0.5).t() + s.bias, w=P(o, i), bias=P(o))
@entry()
def half_child(i, o): return nn.Sequential(Fn(lambda s, x: F.linear(x, 0.5 * s.weight, s.bias), weight=P(o, i), bias=P(o)), nn.Linear(o, i))
@entry(sequence)
def half_child3(i, o): return nn.Sequential(Fn(lambda s, x: F.linear(x, 0.5 * s.weight, s.bias), weight=P(o, i), bias=P(o)), nn.Linear(o, i))
@entry()
def sum_of_weights(i, o): return Fn(lambda s, x: x @ (s.a + s.b), a=P(i, o), b=P(i, o))
@entry()
def lora(i, o): return Fn(lambda s, x: F.linear(x, s.w + s.B @ s.A, s.c), w=P(o, i), A=P(2, i), B=P(o, 2), c=P(o))
@entry()
def lora_apart(i, o): return Fn(lambda s, x: F.linear(x, s.w, s.c) + (x @ s.A.t()) @ s.B.t(), w=P(o, i), A=P(2, i), B=P(o, 2), c=P(o))
@entry()
def cat_weights(i, o): return Fn(lambda s, x: F.linear(x, torch.cat([s.a, s.b], 0)), a=P(o, i), b=P(o, i))
@entry()
def chunk_weight(i, o): return Fn(lambda s, x: torch.tanh(F.linear(x, s.w.chunk(2)[0])) + F.linear(x, s.w.chunk(2)[1]), w=P(2 * o, i))
@entry()
def view_weight(i, o): return Fn(lambda s, x: x @ s.w.view(i, o), w=P(i * o))
@entry()
def reshape_square(i, o): return Fn(lambda s, x: x @ s.w.reshape(i, i), w=P(i * i))
@entry()
def softmax_weight(i, o): return Fn(lambda s, x: x @ s.w.softmax(0), w=P(i, o))
@entry()
def masked_weight(i, o): return Fn(lambda s, x: F.linear(x, s.w * s.m), w=P(o, i), m=('buffer', (torch.rand(o, i) > .5).float(), True))
@entry()
def inverse_weight(i, o): return Fn(lambda s, x: x @ s.w @ s.w, w=P(i, i))
@entry()
def gram(i, o): return Fn(lambda s, x: x @ (s.w.t() @ s.w), w=P(o, i))
@entry()
def standardised(i, o): return Fn(lambda s, x: F.linear(x, (s.w - s.w.mean(1, keepdim=True)) / s.w.std(1, keepdim=True)), w=P(o, i))
@entry()
def normalised(i, o): return Fn(lambda s, x: F.linear(F.normalize(x, dim=-1), F.normalize(s.w, dim=-1)), w=P(o, i))

# ---- tables, buffers and plain tensors beside parameters of their shape
def table(n):
    p = torch.arange(n).unsqueeze(1); d = torch.exp(torch.arange(0, n, 2) * (-math.log(10000.) / n))
    return torch.cat([torch.sin(p * d), torch.cos(p * d)], 1)[:, :n]
@entry()
def computed_table(i, o): return Fn(lambda s, x: s.out(x + s.proj(table(i).to(x.dtype))[0]), proj=nn.Linear(i, i), out=nn.Linear(i, o))
@entry()
def computed_table_mm(i, o): return Fn(lambda s, x: x @ (table(i) @ s.w), w=P(i, i))
@entry()
def computed_table_mm_t(i, o): return Fn(lambda s, x: x @ (table(i) @ s.w.t()) @ table(i).t(), w=P(i, i))
@entry()
def buffer_square(i, o): return Fn(lambda s, x: F.linear(F.linear(x, s.t), s.w), w=P(i, i), t=buffer(i, i))
@entry()
def buffer_t(i, o): return Fn(lambda s, x: x @ s.t.t() @ s.w.t(), w=P(i, i), t=buffer(i, i))
@entry()
def temporary_square(i, o): return Fn(lambda s, x: F.linear(F.linear(x, s.t), s.w), w=P(i, i), t=buffer(i, i, persistent=False))
@entry()
def attribute_square(i, o): return attribute(Fn(lambda s, x: F.linear(F.linear(x, s.t.v), s.w), w=P(i, i)), torch.randn(i, i))
@entry()
def attribute_bias(i, o): return attribute(Fn(lambda s, x: F.linear(x, s.w, s.c) + s.t.v, w=P(o, i), c=P(o)), torch.randn(o))
@entry()
def attribute_addmm(i, o): return attribute(Fn(lambda s, x: torch.addmm(s.c, x @ s.t.v, s.w), w=P(i, i), c=P(i)), torch.randn(i, i))
@entry()
def attribute_t(i, o): return attribute(Fn(lambda s, x: x @ s.t.v.t() @ s.w.t(), w=P(i, i)), torch.randn(i, i))
@entry()
def buffer_of_parameter(i, o):
    m = Fn(lambda s, x: F.linear(x, s.w) + F.linear(x, s.ema), w=P(i, i)); m.register_buffer('ema', m.w.detach().clone()); return m
@entry()
def buffer_transposed(i, o):
    m = Fn(lambda s, x: F.linear(x, s.w) + x @ s.wt, w=P(i, i)); m.register_buffer('wt', m.w.detach().t().clone()); return m

# ---- vectors and scalars
@entry()
def scalars(i, o): return Fn(lambda s, x: s.l(x) * s.scale + s.shift, l=nn.Linear(i, o), scale=nn.Parameter(torch.tensor(2.)), shift=nn.Parameter(torch.tensor(0.5)))
@entry()
def scalar_is_number(i, o): return Fn(lambda s, x: (s.l(x) * 2) * s.scale + 0.5 * s.hal, l=nn.Linear(i, o), scale=nn.Parameter(torch.tensor(2.)), hal=nn.Parameter(torch.tensor(0.5)))
@entry()
def exp_scale(i, o): return Fn(lambda s, x: s.l(x) * s.scale.exp(), l=nn.Linear(i, o), scale=nn.Parameter(torch.tensor(.3)))
@entry(image)
def layer_scale(i, o): return Fn(lambda s, x: x * s.g[:, None, None] + s.c.view(1, -1, 1, 1), g=P(i), c=P(i))
@entry(image)
def layer_scale4(i, o): return Fn(lambda s, x: x * s.g + s.c, g=P(1, i, 1, 1), c=P(i, 1, 1))
@entry(sequence)
def cls_token(i, o): return Fn(lambda s, x: s.l(torch.cat([s.cls.expand(x.shape[0], -1, -1), x], 1) + s.pos), cls=P(1, 1, i), pos=P(1, 4, i), l=nn.Linear(i, o))
@entry(sequence)
def pos_slice(i, o): return Fn(lambda s, x: s.l(x + s.pos[:, :3]), pos=P(1, 8, i), l=nn.Linear(i, o))
@entry(sequence)
def pos_embedding_arange(i, o): return Fn(lambda s, x: s.l(x + s.pos(torch.arange(3))), pos=nn.Embedding(3, i), l=nn.Linear(i, o))
@entry(sequence)
def row_of_parameter(i, o): return Fn(lambda s, x: s.l(x) * s.g[0] + s.g[1], g=P(2, o), l=nn.Linear(i, o))
@entry()
def sub_div(i, o): return Fn(lambda s, x: (s.a - x) / s.b.abs().add(1) - x / (s.c + 3), a=P(i), b=P(i), c=P(i))
@entry()
def rsub_zero(i, o): return Fn(lambda s, x: (x - s.a) * s.b + s.a, a=nn.Parameter(torch.zeros(i)), b=nn.Parameter(torch.ones(i)))
@entry()
def where_param(i, o): return Fn(lambda s, x: torch.where(x > 0, x * s.a, s.b), a=P(i), b=P(i))
@entry()
def power(i, o): return Fn(lambda s, x: x.abs().add(.1) ** s.a, a=P(i))
@entry()
def maximum(i, o): return Fn(lambda s, x: torch.maximum(x, s.a) + torch.minimum(s.b, x), a=P(i), b=P(i))
@entry()
def lerp(i, o): return Fn(lambda s, x: torch.lerp(s.a, x, s.b), a=P(i), b=P(i))
@entry()
def addcmul(i, o): return Fn(lambda s, x: torch.addcmul(s.a, x, s.b, value=2.), a=P(i), b=P(i))
@entry()
def add_alpha(i, o): return Fn(lambda s, x: torch.add(x, s.a, alpha=0.5) + torch.sub(s.b, x, alpha=3), a=P(i), b=P(i))
@entry()
def outer(i, o): return Fn(lambda s, x: x @ torch.outer(s.a, s.b), a=P(i), b=P(o))
@entry()
def unused(i, o): return Fn(lambda s, x: s.l(x), l=nn.Linear(i, o), spare=nn.Linear(i, o), alone=P(3))
@entry()
def frozen_inner(i, o):
    m = Fn(lambda s, x: s.b(torch.tanh(s.a(x))), a=nn.Linear(i, i), b=nn.Linear(i, i)); m.a.weight.requires_grad_(False); return m
@entry(sequence)
def gate_moe(i, o): return Fn(lambda s, x: (torch.stack([e(x) for e in s.experts], -1) * F.softmax(x @ s.gate.t(), -1).unsqueeze(-2)).sum(-1), experts=nn.ModuleList([nn.Linear(i, o) for _ in range(3)]), gate=P(3, i))
@entry(sequence)
def gpt2_conv1d(i, o): return Fn(lambda s, x: torch.addmm(s.bias, x.reshape(-1, i), s.weight).reshape(-1, 3, o), weight=P(i, o), bias=P(o))
@entry(sequence)
def named_fc(i, o): return Fn(lambda s, x: s.fc(x), fc=Fn(lambda s, x: x @ s.kernel.t() + s.offset, kernel=P(o, i), offset=P(o)))
@entry(sequence)
def named_fc_bias(i, o): return Fn(lambda s, x: s.fc(x), fc=Fn(lambda s, x: x @ s.kernel.t() + s.bias, kernel=P(o, i), bias=P(o)))
@entry(sequence)
def two_in_one(i, o): return Fn(lambda s, x: s.f(x), f=Fn(lambda s, x: torch.tanh(x @ s.a.t() + s.b1) @ s.b.t() + s.b2, a=P(o, i), b=P(i, o), b1=P(o), b2=P(i)))


# ---- products
@entry()
def linear_vector(i, o): return Fn(lambda s, x: F.linear(x, s.w), w=P(i))
@entry()
def addmv(i, o): return Fn(lambda s, x: torch.addmv(s.c, x, s.w), w=P(i), c=P(4))
@entry()
def addmv_left(i, o): return Fn(lambda s, x: torch.addmv(s.c, s.w, x[0]), w=P(o, i), c=P(o))
@entry(lambda i, o: (2, i, o))
def addbmm(i, o): return Fn(lambda s, x: torch.addbmm(s.c, x, s.w), w=P(2, o, i), c=P(i, i))
@entry(lambda i, o: (2, i, o))
def baddbmm_both(i, o): return Fn(lambda s, x: torch.baddbmm(s.c, x, s.w) + torch.bmm(x, s.w), w=P(2, o, i), c=P(2, i, i))
@entry(lambda i, o: (i, o))
def addr(i, o): return Fn(lambda s, x: torch.addr(x, s.a, s.b), a=P(i), b=P(o))
@entry(lambda i, o: (2, 3, i))
def bmm(i, o): return Fn(lambda s, x: torch.bmm(x, s.w), w=P(2, i, o))
@entry(lambda i, o: (2, i, i))
def bmm_left(i, o): return Fn(lambda s, x: torch.bmm(s.w, x) + torch.bmm(s.w.transpose(1, 2), x), w=P(2, i, i))
@entry()
def mm(i, o): return Fn(lambda s, x: torch.mm(torch.mm(x, s.a), s.b.t()), a=P(i, o), b=P(i, o))
@entry(lambda i, o: (i, i))
def left(i, o): return Fn(lambda s, x: s.w @ x + s.w.t() @ x, w=P(i, i))
@entry(lambda i, o: (i, i))
def both_sides(i, o): return Fn(lambda s, x: s.w @ x @ s.w.t(), w=P(i, i))
@entry()
def f_bilinear(i, o): return Fn(lambda s, x: F.bilinear(x, x.flip(1), s.w, s.c), w=P(o, i, i), c=P(o))
@entry(lambda i, o: (4, i, 9))
def f_conv1d(i, o): return Fn(lambda s, x: F.conv1d(x, s.kernel, s.shift), kernel=P(o, i, 3), shift=P(o))
@entry(image)
def f_conv2d(i, o): return Fn(lambda s, x: F.conv2d(x, s.kernel.transpose(0, 1)) + F.conv2d(x, s.kernel), kernel=P(i, i, 1, 1))
@entry(image)
def f_conv_transpose(i, o): return Fn(lambda s, x: F.conv_transpose2d(F.conv2d(x, s.kernel), s.kernel), kernel=P(o, i, 2, 2))
@entry(ids, 'int')
def f_embedding(i, o): return Fn(lambda s, x: F.linear(F.embedding(x, s.table), s.table), table=P(12, i))
@entry(ids, 'int')
def indexed_table(i, o): return Fn(lambda s, x: s.table[x] @ s.table.t(), table=P(i, i))
@entry(lambda i, o: (4, 2 * i))
def f_norms(i, o): return Fn(lambda s, x: F.group_norm(F.layer_norm(x, [2 * i], s.a, s.b), 2, s.c, s.d), a=P(2 * i), b=P(2 * i), c=P(2 * i), d=P(2 * i))
@entry(image)
def f_prelu(i, o): return Fn(lambda s, x: F.prelu(x, s.slope), slope=P(i))
@entry(wide)
def learned_queries(i, o): return Fn(lambda s, x: F.scaled_dot_product_attention(s.q.expand(x.shape[0], -1, -1), x @ s.k, x @ s.v), q=P(1, 5, 2 * i), k=P(2 * i, 2 * i), v=P(2 * i, 2 * i))
@entry(sequence)
def tensordot(i, o): return Fn(lambda s, x: torch.tensordot(x, s.a, dims=([2], [1])) + torch.tensordot(x, s.b, dims=1), a=P(o, i), b=P(i, o))
@entry()
def multi_dot(i, o): return Fn(lambda s, x: torch.linalg.multi_dot([x, s.a, s.b]), a=P(i, o), b=P(o, i))
@entry()
def inner(i, o): return Fn(lambda s, x: torch.inner(x, s.w), w=P(o, i))
@entry(sequence)
def einsum_both(i, o): return Fn(lambda s, x: torch.einsum('bti,io->bto', x, s.w) + torch.einsum('bti,oi->bto', x, s.w), w=P(i, i))
@entry(sequence)
def einsum_heads(i, o): return Fn(lambda s, x: torch.einsum('bti,hio->bhto', x, s.w), w=P(2, i, o))
@entry(sequence)
def einsum_gate(i, o): return Fn(lambda s, x: torch.einsum('bti,i,oi->bto', x, s.g, s.w), w=P(o, i), g=P(i))
@entry()
def thrice(i, o): return Fn(lambda s, x: s.l(x) + x @ s.l.weight + F.linear(x, s.l.weight * .5), l=nn.Linear(i, i))
@entry()
def linear_and_table(i, o): return Fn(lambda s, x: F.linear(x, s.w) + s.w[:4].sum(0), w=P(i, i))

# ---- parameters moved, cut and joined
@entry()
def indexed(i, o): return Fn(lambda s, x: x @ s.w[0] + x @ s.w[1].t(), w=P(2, i, i))
@entry()
def indexed_column(i, o): return Fn(lambda s, x: x * s.w[:, 0] + s.w[:, 1], w=P(i, 3))
@entry()
def indexed_list(i, o): return Fn(lambda s, x: x @ s.w[[2, 0]].t(), w=P(3, i))
@entry()
def sliced(i, o): return Fn(lambda s, x: x @ s.w[1:1 + i, :o] + s.w[0, :o], w=P(i + 1, o + 2))
@entry()
def narrowed(i, o): return Fn(lambda s, x: F.linear(x, s.w.narrow(0, 1, o)), w=P(o + 2, i))
@entry()
def unbound(i, o): return Fn(lambda s, x: sum(x @ w for w in s.w.unbind(0)), w=P(3, i, o))
@entry()
def split(i, o): return Fn(lambda s, x: torch.cat([F.linear(x, w) for w in s.w.split([o, i], 0)], -1), w=P(o + i, i))
@entry()
def chunk_square(i, o): return Fn(lambda s, x: x @ s.w.chunk(2, 1)[0] + x @ s.w.chunk(2, 1)[1].t(), w=P(i, 2 * i))
@entry()
def expanded(i, o): return Fn(lambda s, x: x * s.a.expand(4, i) + s.b.expand(4, i), a=P(1, i), b=P(4, 1))
@entry()
def repeated(i, o): return Fn(lambda s, x: x @ s.w.repeat(1, 2), w=P(i, o))
@entry()
def flipped(i, o): return Fn(lambda s, x: x @ s.w.flip(0) + x @ s.v.roll(1, 1), w=P(i, o), v=P(i, o))
@entry()
def selected(i, o): return Fn(lambda s, x: F.linear(x, s.w.index_select(0, torch.arange(o - 1, -1, -1))), w=P(o, i))
@entry(lambda i, o: (i, 3, i))
def permuted(i, o): return Fn(lambda s, x: x @ s.w.permute(2, 0, 1), w=P(i, i, i))
@entry(lambda i, o: (2, 3, i))
def transposed_mT(i, o): return Fn(lambda s, x: x @ s.w.mT + x @ s.v.swapaxes(-1, -2), w=P(2, i, i), v=P(i, i))
@entry()
def diagonal(i, o): return Fn(lambda s, x: x @ torch.diag(s.d) + x * torch.diagonal(s.w), d=P(i), w=P(i, i))
@entry()
def block_diagonal(i, o): return Fn(lambda s, x: torch.cat([x, x], -1) @ torch.block_diag(s.a, s.b), a=P(i, i), b=P(i, i))
@entry()
def triangular(i, o): return Fn(lambda s, x: x @ s.w.tril() + x @ s.v.triu(1), w=P(i, i), v=P(i, i))
@entry()
def cumulated(i, o): return Fn(lambda s, x: x * s.d.cumsum(0), d=P(i))
@entry()
def unflattened(i, o): return Fn(lambda s, x: x @ s.w.unflatten(0, (i, o)) + x @ s.v.flatten(1), w=P(i * o), v=P(i, o, 1))
@entry()
def stacked(i, o): return Fn(lambda s, x: (x @ torch.stack([s.a, s.b, s.a.t()])).sum(0), a=P(i, i), b=P(i, i))
@entry()
def swap_in_place(i, o): return Fn(lambda s, x: x @ s.w.T.contiguous().T + x @ s.w.clone(), w=P(i, o))
@entry()
def kron(i, o): return Fn(lambda s, x: x.repeat(1, 2) @ torch.kron(s.a, s.b), a=P(2, 2), b=P(i, o))
@entry()
def halves(i, o): return Fn(lambda s, x: F.linear(x, s.w.half().float()), w=P(o, i))
@entry()
def quantised(i, o): return Fn(lambda s, x: F.linear(x, s.w + (s.w.round() - s.w).detach()), w=P(o, i))
@entry()
def detached(i, o): return Fn(lambda s, x: F.linear(x, s.w) + F.linear(x, s.v.sigmoid()), w=P(o, i), v=P(o, i))
@entry()
def detach_twice(i, o): return Fn(lambda s, x: s.m(s.l(x).detach()) + torch.relu(s.l(x).detach()) @ s.v + s.l(x), l=nn.Linear(i, i), m=nn.Linear(i, i), v=P(i, i))
@entry()
def detach_itself(i, o):
    def forward(s, x):
        h = s.l(x)
        return s.m(h * h.detach() - h.detach().view(-1, 2 * i).view_as(h))
    return Fn(forward, l=nn.Linear(i, i), m=nn.Linear(i, i))
@entry()
def detach_parameter(i, o): return Fn(lambda s, x: F.linear(x, s.w.detach()) * s.g + F.linear(x, s.w).tanh() + x @ s.v.detach().t() @ s.v, w=P(i, i), v=P(i, i), g=P(i))
@entry()
def straight_through(i, o):
    def forward(s, x):
        h = s.l(x)
        return s.m(h + (h.round() - h).detach())
    return Fn(forward, l=nn.Linear(i, i), m=nn.Linear(i, o))
@entry()
def stopped_target(i, o):
    def forward(s, x):
        a, b = s.l(x), s.m(x)
        return F.cosine_similarity(a, b.detach(), dim=-1) + F.mse_loss(b, a.detach()) + (F.softmax(a, -1).detach() * b).sum(-1)
    return Fn(forward, l=nn.Linear(i, i), m=nn.Linear(i, i))
@entry()
def codebook(i, o):
    def forward(s, x):
        z = s.l(x)
        q = s.book[torch.cdist(z, s.book).argmin(-1)]
        return s.m(z + (q - z).detach()) + ((q - z.detach()) ** 2).mean() + 0.25 * ((q.detach() - z) ** 2).mean()
    return Fn(forward, l=nn.Linear(i, i), m=nn.Linear(i, o), book=P(9, i))
@entry()
def equal_scalars(i, o): return Fn(lambda s, x: (x * s.a + s.b) * s.c + s.w, a=nn.Parameter(torch.ones(())), b=nn.Parameter(torch.ones(1)), c=nn.Parameter(torch.ones(1)), w=nn.Parameter(torch.ones(i)))

# ---- containers
@entry()
def lists_nested(i, o):
    inner = [nn.ParameterList([P(i, i), P(i)]) for _ in range(2)]
    return Fn(lambda s, x: (x @ s.ls[0][0] + s.ls[0][1]) @ s.ls[1][0].t() + s.ls[1][1], ls=nn.ModuleList(inner))
@entry()
def dict_of_lists(i, o): return Fn(lambda s, x: x @ s.d['a'][0] + F.linear(x, s.d['b'][0]), d=nn.ModuleDict({'a': nn.ParameterList([P(i, i)]), 'b': nn.ParameterList([P(i, i)])}))
@entry()
def dict_of_layers(i, o): return Fn(lambda s, x: s.d['x_1'](s.d['y'](x)), d=nn.ModuleDict({'x_1': nn.Linear(i, i), 'y': nn.Linear(i, i, bias=False)}))
@entry()
def lists_many(i, o): return Fn(lambda s, x: sum((x @ w for w in s.ws), x @ s.ws[3].t()), ws=nn.ParameterList([P(i, i) for _ in range(11)]))
@entry()
def uncalled_children(i, o): return Fn(lambda s, x: torch.tanh(F.linear(x, s.a.weight, s.a.bias)) @ s.b.weight, a=nn.Linear(i, i), b=nn.Linear(i, i))

# ---- more that is tied
@entry()
def module_twice(i, o):
    layer = nn.Linear(i, i)
    return nn.Sequential(layer, nn.Tanh(), layer)
@entry()
def two_names_in_one(i, o):
    w = P(i, i)
    return Fn(lambda s, x: x @ s.a + x @ s.b.t(), a=w, b=w)
@entry()
def decoder_transposed(i, o):
    m = Fn(lambda s, x: torch.tanh(s.a(x)) @ s.b.kernel, a=nn.Linear(i, i), b=Fn(None, kernel=P(i, i)))
    m.b.kernel = m.a.weight
    return m
@entry(ids, 'int')
def tied_thrice(i, o):
    m = Fn(lambda s, x: s.h(s.a(x) + s.b(x) @ s.a.weight.t()), a=nn.Embedding(i, i), b=nn.Embedding(i, i), h=nn.Linear(i, i, bias=False))
    m.h.weight = m.b.weight = m.a.weight
    return m
@entry()
def layer_shared_in_list(i, o):
    m = Fn(lambda s, x: s.ls[2](s.ls[1](s.ls[0](x))), ls=nn.ModuleList([nn.Linear(i, i) for _ in range(3)]))
    m.ls[2].weight = m.ls[0].weight
    return m

# ---- more parametrizations
@entry()
def orthogonal(i, o): return nn.Sequential(parametrizations.orthogonal(nn.Linear(i, i), orthogonal_map='cayley'), nn.Linear(i, o))
class Low(nn.Module):
    def forward(self, a, b): return a @ b
    def right_inverse(self, w): return w[:, :2].clone(), w[:2].clone()
@entry()
def low_rank(i, o):
    l = nn.Linear(i, o)
    parametrize.register_parametrization(l, 'weight', Low(), unsafe=True)
    return l
class Turned(nn.Module):
    def forward(self, w): return w.t()
    def right_inverse(self, w): return w.t()
@entry()
def turned(i, o):
    l = nn.Linear(i, i)
    parametrize.register_parametrization(l, 'weight', Turned())
    return l
@entry()
def parametrization_removed(i, o):
    l = parametrizations.weight_norm(nn.Linear(i, o))
    parametrize.remove_parametrizations(l, 'weight')
    return nn.Sequential(l, nn.Linear(o, i))
@entry()
def pruned(i, o): return nn.Sequential(prune.random_unstructured(nn.Linear(i, o), 'weight', amount=.4), nn.Tanh(), nn.Linear(o, i))
@entry()
def weight_norm_tied(i, o):
    m = nn.Sequential(parametrizations.weight_norm(nn.Linear(i, i)), nn.Tanh(), nn.Linear(i, i))
    m[2].weight = m[0].parametrizations.weight.original1
    return m

# ---- more tables and buffers
@entry()
def table_added(i, o): return Fn(lambda s, x: F.linear(x + table(i)[:4] if i >= 4 else x, s.w) @ table(i), w=P(i, i))
@entry()
def buffer_added(i, o): return Fn(lambda s, x: F.linear(x, s.w) * s.weight + s.bias, w=P(i, i), weight=buffer(i), bias=buffer(i))
@entry()
def identity_added(i, o): return Fn(lambda s, x: x @ (s.w + torch.eye(i)), w=P(i, i))
@entry()
def ones_like(i, o): return Fn(lambda s, x: x @ s.w + x @ torch.ones(i, i), w=nn.Parameter(torch.ones(i, i)))
@entry()
def zero_init(i, o): return Fn(lambda s, x: x @ s.w + s.b + x @ s.v.t(), w=nn.Parameter(torch.zeros(i, i)), v=nn.Parameter(torch.zeros(i, i)), b=nn.Parameter(torch.zeros(i)))
@entry()
def symmetric_values(i, o):
    w = torch.randn(i, i)
    return Fn(lambda s, x: x @ s.w + x @ s.w.t(), w=nn.Parameter(w + w.t()))
