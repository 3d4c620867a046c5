"""Twenty optimiser steps whose losses are on file: a refactoring changes none of them."""

import json
from pathlib import Path

import pytest
import torch

from rse_study.methods import RobustSentEmbed
from tests.methods.problem import CLS, SEP, make_batch, make_encoder, make_run, settings

FILE = Path(__file__).with_name("golden_losses.json")
METHODS = {
    "default": RobustSentEmbed(),
    "stronger": settings(masks={"phi": 0.2}, norm="l2"),
    "SimCSE": settings(K=0, T=0, lambda1=0.0, lambda2=0.0),
}


def train(method: RobustSentEmbed) -> list[float]:
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
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("name", METHODS)
def test_losses_are_those_on_file(name):
    expected = json.loads(FILE.read_text())[name]
    found = train(METHODS[name])
    worst = max(abs(a - b) for a, b in zip(found, expected, strict=True))
    assert worst <= 1e-10, f"losses moved by {worst:.3g}: bump semantics or revert"


if __name__ == "__main__":
    FILE.write_text(json.dumps({name: train(method) for name, method in METHODS.items()}, indent=1) + "\n")
