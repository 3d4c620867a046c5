"""The optimizer of a trial: AdamW, or a class that a study names, tried first."""

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from rse_study.errors import InputError, first_line
from rse_study.models.loading import seeded_init
from rse_study.registry import class_of, construct, source_of_class
from rse_study.training import trial
from rse_study.training.checkpoint import moments, put_moments

TRIED_STEPS = 8  # before a checkpoint, and after it


def make_optimizer(spec: trial.AdamW, source: str, network: nn.Module) -> Optimizer:
    """Return the optimizer of all parameters; `source` is that of its class's module."""
    if spec.class_ is None:
        # Weight decay acts on every parameter, biases and LayerNorms included. Decision 0015.
        return AdamW(
            network.parameters(),
            lr=spec.lr,
            betas=(spec.beta1, spec.beta2),
            eps=spec.epsilon,
            weight_decay=spec.weight_decay,
            fused=True,
        )
    what = f"optimizer.class = {spec.class_!r}"
    cls = class_of(source, spec.class_, what=what)
    settings = {**spec.settings, "params": list(network.parameters()), "lr": spec.lr}
    made: Optimizer = construct(cls, settings=settings, named=spec.class_, what="optimizer.settings")
    return made


def set_rate(spec: trial.AdamW, optimizer: Optimizer, lr: Tensor, *, is_recorded: bool = False) -> None:
    """Set the learning rate of a step; other classes than AdamW read a number."""
    settings = {"lr": lr, "capturable": is_recorded} if spec.class_ is None else {"lr": lr.item()}
    for group in optimizer.param_groups:
        group |= settings


def source_of_optimizer(spec: trial.AdamW, folder: Path) -> str:
    """Return the source of a file beside the study, for its workers; else nothing.

    Raises InputError unless the class can be imported, steps, and goes on from a checkpoint to the same bits.
    """
    if spec.class_ is None:
        return ""
    what, bases = f"optimizer.class = {spec.class_!r}", ["torch.optim.Optimizer"]
    source = source_of_class(spec.class_, what=what, folder=folder, bases=bases)
    with seeded_init(0):
        _require_resumable(spec, source, what)
    return source


def _require_resumable(spec: trial.AdamW, source: str, what: str) -> None:
    whole, resumed = nn.Linear(3, 4), nn.Linear(3, 4)
    optimizer, again = (make_optimizer(spec, source, network) for network in (whole, resumed))
    try:
        _step(spec, whole, optimizer, range(TRIED_STEPS))
        resumed.load_state_dict(whole.state_dict())
        put_moments(resumed, again, {name: one.clone() for name, one in moments(whole, optimizer).items()})
        for network, one in ((whole, optimizer), (resumed, again)):
            _step(spec, network, one, range(TRIED_STEPS, 2 * TRIED_STEPS))
    except Exception as error:
        rule = f"a step of it fails ({type(error).__name__}: {first_line(error)})"
        remedy = "It must step by `step()` alone, on matrices and vectors with dense gradients"
        raise InputError(what, rule=rule, remedy=remedy) from error
    if not all(map(torch.equal, whole.parameters(), resumed.parameters())):
        rule = "an interrupted run would go on differently: its steps depend on what no checkpoint holds"
        remedy = "Keep all it remembers as tensors or numbers in `state[parameter]`, and draw nothing"
        raise InputError(what, rule=rule, remedy=remedy)


def _step(spec: trial.AdamW, network: nn.Module, optimizer: Optimizer, steps: range) -> None:
    for step in steps:
        for parameter in network.parameters():
            parameter.grad = torch.linspace(-1, step, parameter.numel()).view_as(parameter)
        set_rate(spec, optimizer, torch.tensor(spec.lr / (1 + step), dtype=torch.float64))
        optimizer.step()
