"""Warm-up and schedules as transformers has them; optimizers by class, which go on to the same bits or are refused."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import get_scheduler

from rse_study.errors import InputError
from rse_study.training.loop import train
from rse_study.training.own_optimizer import make_optimizer, source_of_optimizer
from rse_study.training.trial import AdamW, Trial
from tests.cases import cases
from tests.training.world import World, leave_at, light_trial

LION = """
import torch

class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr, betas=(0.9, 0.99)):
        super().__init__(params, {"lr": lr, "betas": betas})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            first, second = group["betas"]
            for p in (p for p in group["params"] if p.grad is not None):
                state = self.state[p]
                if not state:
                    state |= {"step": 0, "drift": 1.0, "exp_avg": torch.zeros_like(p)}
                state["step"] += 1
                state["drift"] *= 0.9999
                rate = group["lr"] * state["drift"] * (1 if state["step"] % 3 else 0.5)
                p.add_((state["exp_avg"] * first + p.grad * (1 - first)).sign(), alpha=-rate)
                state["exp_avg"].mul_(second).add_(p.grad, alpha=1 - second)
"""


@cases("schedule", ["linear", "cosine", "constant"])
@cases("warmup", [0.0, 0.06, 0.1, 0.5, 0.99])
def test_rates_are_those_of_transformers(schedule: str, warmup: float) -> None:
    for num_steps in (1, 7, 50, 1000):
        spec = AdamW(lr=3e-4, schedule=schedule, warmup=warmup)
        network = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(network.parameters(), lr=3e-4)
        rising = -int(-warmup * num_steps // 1)
        kind = {"constant": "constant_with_warmup"}.get(schedule, schedule)
        theirs = get_scheduler(kind, optimizer, num_warmup_steps=rising, num_training_steps=num_steps)
        for step in range(num_steps):
            assert spec.rate(step, num_steps) == pytest.approx(theirs.get_last_lr()[0], abs=1e-12)
            optimizer.step()
            theirs.step()


def test_defaults_are_what_they_were() -> None:
    assert AdamW().identity().keys().isdisjoint({"warmup", "class_", "settings", "schedule"})
    by_class = AdamW.model_validate({"class": "torch.optim:SGD", "settings": {"momentum": 0.9}})
    trial = Trial(optimizer=by_class)
    assert Trial.model_validate(trial.model_dump(mode="json")) == trial
    assert Trial.model_validate_json(trial.model_dump_json()) == trial
    assert len({Trial(), trial, Trial(optimizer={"class": "torch.optim:SGD"})}) == 3


GO_ON = {
    "warm-up": ({"warmup": 0.3, "schedule": "cosine"}, ""),
    "momentum": ({"class": "torch.optim:SGD", "settings": {"momentum": 0.9}, "warmup": 0.3}, ""),
    "a factored optimizer": ({"class": "torch.optim:Adafactor", "schedule": "constant"}, ""),
    "beside the study": ({"class": "a_module_that_no_worker_finds:Lion", "lr": 1e-4}, LION),
}


@pytest.mark.parametrize("name", GO_ON)
def test_a_run_goes_on_from_a_checkpoint_to_the_same_bits(world: World, name: str) -> None:
    optimizer, source = GO_ON[name]
    trial = light_trial(optimizer={"lr": 1e-3, **optimizer})
    materials = replace(world.materials(), optimizer=source)
    whole, again = (world.root / f"{name} {kind}" for kind in ("whole", "interrupted"))
    points = list(train(trial, 3, materials, whole))
    leave_at(5, train(trial, 3, materials, again, checkpoint_seconds=0.0))
    assert (again / "checkpoint").is_dir()
    assert list(train(trial, 3, materials, again))[-1] == points[-1]
    weights = [load_file(folder / "model" / "model.safetensors") for folder in (whole, again)]
    assert all(torch.equal(one, weights[1][key]) for key, one in weights[0].items())
    rates = {point.t: point.metrics["lr"] for point in points[1:-1]}
    assert rates == {t: trial.optimizer.rate(t - 1, 12) for t in rates}


ODD = """
import torch

class InGroups(torch.optim.SGD):
    def step(self, closure=None):
        for group in self.param_groups:
            group["k"] = group.get("k", 0) + 1
            for p in group["params"]:
                p.data.add_(p.grad, alpha=-group["lr"] / group["k"])

class Noisy(torch.optim.SGD):
    def step(self, closure=None):
        for p in self.param_groups[0]["params"]:
            p.data.add_(torch.randn_like(p), alpha=1e-3)

class WithLists(torch.optim.SGD):
    def step(self, closure=None):
        for p in self.param_groups[0]["params"]:
            self.state[p].setdefault("rates", []).append("fast")

class NoOptimizer:
    pass
"""
REFUSED = {
    "torch.optim:LBFGS": "a step of it fails .*closure.*It must step by `step",
    "torch.optim:SparseAdam": "a step of it fails .*does not support dense gradients",
    "torch.optim:Muon": "Muon only supports 2D parameters",
    "torch.optim:Optimizer": "unexpected keyword argument 'lr'",
    "torch.optim:Adamw": "torch.optim has no Adamw. Did you mean 'Adam'",
    "nowhere:Lion": "cannot be imported .*No module named 'nowhere'",
    "odd:NoOptimizer": "is no subclass of torch.optim.Optimizer",
    "odd:InGroups": "would go on differently.* Keep all it remembers as tensors or numbers in `state",
    "odd:Noisy": "would go on differently.* draw nothing",
    "odd:WithLists": "a step of it fails",
    "package.lion:Lion": "in a package that no worker finds.*Put it into one file",
}


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "odd.py").write_text(ODD)
    (tmp_path / "lion_here.py").write_text(LION)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "lion.py").write_text(LION)
    for name in ("odd", "lion_here", "package", "package.lion"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


@pytest.mark.parametrize("name", REFUSED)
def test_a_class_that_cannot_train_or_resume_is_refused(beside: Path, name: str) -> None:
    with pytest.raises(InputError, match=REFUSED[name]) as caught:
        source_of_optimizer(AdamW.model_validate({"class": name}), beside)
    assert "optimizer." in caught.value.what


def test_the_source_travels_only_from_beside_the_study(beside: Path) -> None:
    assert source_of_optimizer(AdamW(), beside) == ""
    assert source_of_optimizer(AdamW.model_validate({"class": "torch.optim:Adamax"}), beside) == ""
    assert source_of_optimizer(AdamW.model_validate({"class": "lion_here:Lion"}), beside) == LION


def test_a_source_that_needs_a_neighbour_is_refused_where_it_trains() -> None:
    spec = AdamW.model_validate({"class": "mine:Lion"})
    with pytest.raises(
        InputError, match=r"no worker can import it \(ModuleNotFoundError: No module named 'my_neighbour'\)"
    ):
        make_optimizer(spec, "import my_neighbour\n", torch.nn.Linear(1, 1))


@cases(
    ("given", "said"),
    [
        ({"settings": {"momentum": 0.9}}, "Name it with `class`"),
        ({"class": "a:B", "beta1": 0.5}, "has beta1, which is AdamW's"),
        ({"class": "a:B", "weight_decay": 0.1}, "has weight_decay, which is AdamW's"),
        ({"class": "a:B", "settings": {"lr": 0.1}}, "has lr or params below `settings`"),
        ({"class": "torch.optim.SGD"}, "must be module:Class"),
        ({"warmup": 1}, "less than 1"),
        ({"warmup": 500}, "less than 1"),
        ({"schedule": "polynomial"}, "'linear', 'cosine' or 'constant'"),
    ],
)
def test_settings_that_would_do_nothing_are_refused(given: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        AdamW.model_validate(given)


def test_a_class_is_not_recorded() -> None:
    with pytest.raises(ValueError, match=r"torch.optim:SGD may read values as it steps.*or graphed: false"):
        light_trial(graphed=True, optimizer={"class": "torch.optim:SGD"})
