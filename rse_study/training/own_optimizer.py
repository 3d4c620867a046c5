"""An optimizer that a study names by class: found, tried, and made again by workers."""

import sys
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

import torch
from torch import nn
from torch.optim import Optimizer

from rse_study.errors import InputError, first_line
from rse_study.registry import construct, import_class
from rse_study.training import checkpoint
from rse_study.training.trial import AdamW

NUM_STEPS = 8  # of a trial run before its checkpoint, and after it


def source_of_optimizer(spec: AdamW, folder: Path) -> str:
    """Return the source of a file beside the study, which no worker finds; else nothing.

    Raises InputError unless the class can be imported, steps, and goes on from a checkpoint to the same bits.
    """
    if spec.class_ is None:
        return ""
    what, name = _what(spec), spec.class_.partition(":")[0]
    cls = import_class(spec.class_, what=what, folder=folder, bases=["torch.optim.Optimizer"])
    _require_resumable(spec, cls)
    file = Path(str(getattr(sys.modules[name], "__file__", None)))
    if file.parent.resolve() in (folder.resolve(), Path.cwd()):
        return file.read_text(encoding="utf-8")
    if not PathFinder.find_spec(name.partition(".")[0], sys.path):
        rule, remedy = "is in a package that no worker finds", "Put it into one file, or install the package"
        raise InputError(what, rule=rule, remedy=remedy)
    return ""


def make_optimizer(spec: AdamW, source: str, network: nn.Module) -> Optimizer:
    """Return the optimizer of all parameters; its class is made of its source, if given."""
    if spec.class_ is None:
        # Weight decay acts on every parameter, biases and LayerNorms included. Decision 0015.
        return torch.optim.AdamW(
            network.parameters(),
            lr=spec.lr,
            betas=(spec.beta1, spec.beta2),
            eps=spec.epsilon,
            weight_decay=spec.weight_decay,
            fused=True,
        )
    name, _, cls = spec.class_.partition(":")
    try:
        return _made(spec, getattr(_module_of(name, source) if source else import_module(name), cls), network)
    except ImportError as error:
        rule = f"cannot be imported by a worker ({first_line(error)})"
        raise InputError(
            _what(spec), rule=rule, remedy="Put all of it into one file, or install it"
        ) from None


def _module_of(name: str, source: str) -> ModuleType:
    module = ModuleType(name)
    sys.modules.setdefault(name, module)  # where a dataclass looks for its module
    exec(compile(source, f"{name}.py", "exec"), vars(module))
    return module


def _what(spec: AdamW) -> str:
    return f"optimizer.class = {spec.class_!r}"


def _made(spec: AdamW, cls: type, network: nn.Module) -> Optimizer:
    settings = {**spec.settings, "params": list(network.parameters()), "lr": spec.lr}
    made: Optimizer = construct(cls, settings=settings, named=str(spec.class_), what="optimizer.settings")
    return made


def _require_resumable(spec: AdamW, cls: type) -> None:
    """Take steps with a matrix and a vector, and again from a checkpoint between them."""
    whole, resumed = (_network() for _ in range(2))
    optimizer, again = (_made(spec, cls, network) for network in (whole, resumed))
    try:
        _step(spec, whole, optimizer, range(NUM_STEPS))
        resumed.load_state_dict(whole.state_dict())
        moments = {name: one.clone() for name, one in checkpoint.moments(whole, optimizer).items()}
        checkpoint.put_moments(resumed, again, moments)
        for network, one in ((whole, optimizer), (resumed, again)):
            _step(spec, network, one, range(NUM_STEPS, 2 * NUM_STEPS))
    except Exception as error:
        rule = f"a step of it fails ({type(error).__name__}: {first_line(error)})"
        remedy = "It must step by `step()` alone, on matrices and vectors with dense gradients"
        raise InputError(_what(spec), rule=rule, remedy=remedy) from error
    if not all(map(torch.equal, whole.parameters(), resumed.parameters())):
        rule = "an interrupted run would go on differently: its steps depend on what no checkpoint holds"
        remedy = "Keep all it remembers as tensors or numbers in `state[parameter]`, and draw nothing"
        raise InputError(_what(spec), rule=rule, remedy=remedy)


def _network() -> nn.Module:
    network = nn.utils.skip_init(nn.Linear, 3, 4)
    for parameter in network.parameters():
        nn.init.constant_(parameter, 0.5)
    return network


def _step(spec: AdamW, network: nn.Module, optimizer: Optimizer, steps: range) -> None:
    for step in steps:
        for parameter in network.parameters():
            parameter.grad = torch.linspace(-1, step, parameter.numel()).view_as(parameter)
        set_rate(spec, optimizer, torch.tensor(spec.lr / (1 + step), dtype=torch.float64))
        optimizer.step()


def set_rate(spec: AdamW, optimizer: Optimizer, lr: torch.Tensor, *, is_recorded: bool = False) -> None:
    """Set the learning rate of a step; other classes than AdamW read a number."""
    settings = {"lr": lr, "capturable": is_recorded} if spec.class_ is None else {"lr": lr.item()}
    for group in optimizer.param_groups:
        group |= settings
