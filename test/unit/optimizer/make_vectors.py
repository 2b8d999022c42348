"""Writes vectors.safetensors: what torch.optim does to one parameter.

Run it with a Python that has torch and safetensors when a case is added to
CASES; OptimizerTest.cpp holds the same table. Every case starts from `start`,
gets `grad@K` times SCALE at step K, and records `CASE/param@K` and its state.
"""
import pathlib

import torch
from safetensors.torch import save_file

ELEMENTS, STEPS, SCALE = 37, 5, 0.75
RATES = [0.05, 0.04, 0.03, 0.02, 0.01]
SGD, ADAM, ADAMW = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW
CASES = {
    "sgd": (SGD, {}),
    "sgd-decay": (SGD, {"weight_decay": 0.1}),
    "sgd-momentum": (SGD, {"momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    "sgd-nesterov": (SGD, {"momentum": 0.8, "nesterov": True}),
    "sgd-nesterov-decay": (SGD, {"momentum": 0.8, "nesterov": True, "weight_decay": 0.1}),
    "adam": (ADAM, {}),
    "adam-decay": (ADAM, {"betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.1}),
    "adam-small-beta": (ADAM, {"betas": (0.3, 0.0)}),
    "adamw": (ADAMW, {}),
    "adamw-decay": (ADAMW, {"betas": (0.9, 0.95), "eps": 1e-3, "weight_decay": 0.2}),
}


def main():
    torch.manual_seed(5)
    out = {"start": torch.randn(ELEMENTS)}
    for step in range(1, STEPS + 1):
        # Magnitudes over many decades, so that eps and the roots matter.
        out[f"grad@{step}"] = torch.randn(ELEMENTS) * 10.0 ** torch.randint(-6, 2, (ELEMENTS,))
    for name, (kind, options) in CASES.items():
        parameter = torch.nn.Parameter(out["start"].clone())
        optimizer = kind([parameter], lr=1.0, foreach=False, **options)
        for step, rate in enumerate(RATES, 1):
            optimizer.param_groups[0]["lr"] = rate
            parameter.grad = out[f"grad@{step}"] * SCALE
            optimizer.step()
            out[f"{name}/param@{step}"] = parameter.detach().clone()
        for key, value in optimizer.state[parameter].items():
            if key != "step" and value is not None:
                out[f"{name}/{key}"] = value.clone()
    save_file(out, pathlib.Path(__file__).with_name("vectors.safetensors"))


main()
