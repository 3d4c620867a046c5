"""Twenty optimiser steps whose losses are on file: a refactoring changes none of them.

`python -m tests.methods.test_golden` adds those of new entries; with `--anew` all, once a move is meant.
"""

import json
import sys
from pathlib import Path
from typing import get_args

import pytest
import torch

from rse_study import methods
from rse_study.methods import DCL, Method, RobustSentEmbed
from rse_study.models.heads import HEADS
from rse_study.perturbations.geometry import Norm
from tests.conformance.entries import GOLDEN
from tests.methods.problem import CLS, SEP, make_batch, make_encoder, make_run

FILE = Path(__file__).with_name("golden_losses.json")


def train(method: Method) -> list[float]:
    """Losses of 20 AdamW steps on a tiny float64 BERT without dropout, whose masks differ between builds of torch."""
    run = make_run(seed=7)
    networks = method.networks(make_encoder(), run.streams, run.collectives).double().train()
    state = method.state(networks, run.streams)
    optimizer = torch.optim.AdamW(networks.parameters(), lr=1e-3, weight_decay=0.0)
    losses = []
    for step in range(20):
        words = torch.randint(5, 24, (6, 7), generator=run.streams.generator("order", step)).tolist()
        batch = make_batch([[CLS, *row[: 2 + i], SEP] for i, row in enumerate(words)], range(6))
        loss = method.step(networks, state, batch, run, step).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        method.after(networks)
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("name", GOLDEN)
def test_losses_are_those_on_file(name):
    expected = json.loads(FILE.read_text())[name]
    found = train(GOLDEN[name])
    worst = max(abs(a - b) for a, b in zip(found, expected, strict=True))
    assert worst <= 1e-10, f"losses moved by {worst:.3g}: bump semantics or revert"


def test_every_entry_is_on_file():
    assert {type(method) for method in GOLDEN.values()} == set(methods.METHODS.values())
    assert {method.head for method in GOLDEN.values() if not isinstance(method, DCL)} == set(HEADS)
    blended = [method for method in GOLDEN.values() if isinstance(method, RobustSentEmbed)]
    assert {method.blend.pgd.ball.norm for method in blended} == set(get_args(Norm))
    assert json.loads(FILE.read_text()).keys() == GOLDEN.keys()


if __name__ == "__main__":
    given = {} if "--anew" in sys.argv else json.loads(FILE.read_text())
    losses = {name: given.get(name) or train(method) for name, method in GOLDEN.items()}
    FILE.write_text(json.dumps(losses, indent=1) + "\n")
