"""Random models of square matrices, tables, tied and transposed uses: make(seed), the same for the same seed."""
import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

from entries import Fn

ROWS, WIDTHS = 4, (4, 5, 6, 8, 40)  # tensors of more than 1024 elements are not merged by the exporter


def positions(n):
    at = torch.arange(n).unsqueeze(1) * torch.exp(torch.arange(n) * (-math.log(100.) / n))
    return torch.where(torch.arange(n) % 2 == 0, at.sin(), at.cos())


def child(weight, bias):
    """A module that multiplies by its weight as it is, transposed, or by half of it."""
    uses = {'weight': lambda s, x: x @ s.weight, 'kernel': lambda s, x: x @ s.kernel.t(), 'w': lambda s, x: F.linear(x, s.w * .5)}
    name = random.choice(list(uses))
    use = uses[name]
    if bias is None:
        return Fn(use, **{name: weight})
    return Fn(lambda s, x: use(s, x) + s.bias, **{name: weight, 'bias': bias})


class Random(nn.Module):
    """A chain of steps. Each reads the value before it, and parameters that may be those of steps before."""
    def __init__(self, seed):
        super().__init__()
        random.seed(seed)
        torch.manual_seed(seed)
        self.width = n = random.choice(WIDTHS)
        self.steps, self.matrices = [], []
        # Tensors with the bytes of a parameter, moved or not: the exporters merge them, and then equal nodes.
        self.has_equal = False
        self.list = nn.ParameterList()
        self.held = type('Holder', (), {})()  # tensors that PyTorch does not know of
        for k in range(random.randint(2, 6)):
            self.steps.append(getattr(self, random.choice(('layer', 'product', 'product', 'table', 'addmm', 'vector', 'expression', 'again', 'constant', 'own')))(k, n))

    def matrix(self, k, n):
        """A parameter: new, with the values of another, plain, or one that is used already."""
        kind = random.random()
        if self.matrices and kind < .35:
            return random.choice(self.matrices)
        name, values = f'm{k}', torch.randn(n, n) / math.sqrt(n)
        if kind < .4:
            values, self.has_equal = random.choice((torch.zeros, torch.ones))(n, n) * .1, True
        if random.random() < .3:
            self.list.append(nn.Parameter(values))
            index = len(self.list) - 1
            self.matrices.append(lambda: self.list[index])
        else:
            setattr(self, name, nn.Parameter(values))
            self.matrices.append(lambda: getattr(self, name))
        return self.matrices[-1]

    def layer(self, k, n):
        layer = nn.Linear(n, n, bias=random.random() < .7)
        if self.matrices and random.random() < .25:
            layer.weight = random.choice(self.matrices)()
        self.add_module(f'l{k}', layer)
        if random.random() < .3:
            self.matrices.append(lambda: layer.weight)
        return layer

    def own(self, k, n):
        """A module of another kind that has a matrix."""
        weight = random.choice(self.matrices)() if self.matrices and random.random() < .3 else nn.Parameter(torch.randn(n, n) / math.sqrt(n))
        made = child(weight, nn.Parameter(torch.randn(n)) if random.random() < .4 else None)
        self.add_module(f'c{k}', made)
        return made

    def product(self, k, n):
        w = self.matrix(k, n)
        return random.choice((lambda x: x @ w(), lambda x: x @ w().t(), lambda x: F.linear(x, w()), lambda x: torch.einsum('bi,ij->bj', x, w()),
                              lambda x: torch.einsum('bi,ji->bj', x, w()), lambda x: (w() @ x.t()).t(), lambda x: x + x @ w().T, lambda x: x @ w() + (x @ w().t()) * .5))

    def addmm(self, k, n):
        w, c = self.matrix(k, n), nn.Parameter(torch.zeros(n) if random.random() < .3 else torch.randn(n))
        setattr(self, f'b{k}', c)
        return random.choice((lambda x: torch.addmm(c, x, w()), lambda x: torch.addmm(c, x, w().t()), lambda x: torch.addmm(c, x, w(), beta=.5), lambda x: F.linear(x, w(), c)))

    def table(self, k, n):
        w = self.matrix(k, n)
        return random.choice((lambda x: x + positions(n)[:ROWS] if n >= ROWS else x, lambda x: x @ (positions(n) @ w()), lambda x: x @ positions(n) @ w().t(),
                              lambda x: F.linear(x, positions(n)) + x @ w(), lambda x: x + (w() @ positions(n))[0]))

    def vector(self, k, n):
        v = nn.Parameter(random.choice((torch.randn, torch.randn, torch.ones, torch.zeros))(n))
        if random.random() < .3:
            self.add_module(f'n{k}', nn.LayerNorm(n))
            return lambda x: getattr(self, f'n{k}')(x) * v
        setattr(self, f'v{k}', v)
        return random.choice((lambda x: x * v + x, lambda x: x + v, lambda x: v - x, lambda x: torch.tanh(x) * v.exp(), lambda x: x * (1 + v)))

    def expression(self, k, n):
        a, b = self.matrix(k, n), self.matrix(f'{k}b', n)
        return random.choice((lambda x: x @ (a() * .5), lambda x: x @ (a() + b()), lambda x: x @ (a() @ b()), lambda x: x @ (a() * .5).t() + x @ b(),
                              lambda x: x @ (a() + b().t()), lambda x: x @ a().softmax(0), lambda x: x @ F.normalize(b(), dim=-1).t(), lambda x: x @ a().tril()))

    def again(self, k, n):
        w = self.matrix(k, n)
        return lambda x: torch.tanh(x @ w()) @ w().t()

    def constant(self, k, n):
        kind, values = random.choice(('buffer', 'temporary', 'held', 'copy')), torch.randn(n, n) / math.sqrt(n)
        if kind == 'copy':  # of a parameter, moved: an average, say
            w = self.matrix(k, n)
            values, self.has_equal = w().detach().t().clone(), True
        if kind in ('held', 'copy'):
            setattr(self.held, f't{k}', values)
            get = lambda: getattr(self.held, f't{k}')
        else:
            self.register_buffer(f't{k}', values, persistent=kind == 'buffer')
            get = lambda: getattr(self, f't{k}')
        return random.choice((lambda x: x @ get(), lambda x: F.linear(x, get()), lambda x: x + get()[0], lambda x: x @ get().t()))

    def forward(self, x):
        for step in self.steps:
            x = torch.tanh(step(x))
        return x
