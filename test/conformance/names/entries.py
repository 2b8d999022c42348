"""What the models of the names table are made of: see make_names.py."""
import torch
import torch.nn as nn

ENTRIES = {}  # name -> (make, shape, kind): make(i, o) gives a module that maps x of shape(i, o) to a float tensor


def entry(shape=lambda i, o: (4, i), kind='float'):
    """Adds make(i, o) to the table; i and o are the sizes of its matrices."""
    def add(make):
        name = make.__name__.strip('_')
        assert name not in ENTRIES, name
        ENTRIES[name] = (make, shape, kind)
        return make
    return add


class Fn(nn.Module):
    """A module of given parameters, buffers and children, and a function of it."""
    def __init__(self, forward, **members):
        super().__init__()
        for name, member in members.items():
            if isinstance(member, tuple) and member[0] == 'buffer':
                self.register_buffer(name, member[1], persistent=member[2])
            else:
                setattr(self, name, member)
        self._forward = forward

    def forward(self, *x):
        return self._forward(self, *x)


def P(*shape):
    return nn.Parameter(torch.randn(*shape) * 0.5)


def buffer(*shape, persistent=True):
    return 'buffer', torch.randn(*shape), persistent


def attribute(module, value):
    """Gives the module a tensor that it does not know of."""
    module.t = type('Holder', (), {'v': value})()
    return module


sequence = lambda i, o: (4, 3, i)
image = lambda i, o: (4, i, 5, 5)
volume = lambda i, o: (2, i, 4, 4, 4)
ids = lambda i, o: (4, 3)
wide = lambda i, o: (4, 3, 2 * i)
