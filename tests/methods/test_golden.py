"""Twenty optimiser steps whose losses are on file: a refactoring changes none of them."""

import json
from pathlib import Path
from typing import get_args

import pytest
import torch

from rse_study import methods
from rse_study.methods import DCL, L2PCSR, ConSERT, Method, RobustSentEmbed, VAdvCSE
from rse_study.models.heads import HEADS
from rse_study.perturbations.geometry import Norm
from tests.methods.problem import CLS, SEP, make_batch, make_encoder, make_run, settings

FILE = Path(__file__).with_name("golden_losses.json")
METHODS = {
    "default": RobustSentEmbed(),
    "stronger": settings(masks={"phi": 0.2}, norm="l2"),
    "SimCSE": settings(K=0, T=0, lambda1=0.0, lambda2=0.0),
    "l1, separate": settings(norm="l1", radius=0.012, projection="rescale", trajectories="separate"),
    "tokens' balls, joint state": settings(
        scope="token", strength="literal", weighs="fgsm", trajectories="joint_state", perturbed_tokens="all"
    ),
    "eta": settings(token_level={"scaling": "after", "write_back": "accumulate"}, z_adv_eta="with"),
    "no eta": settings(token_level={"presence": "none", "write_back": "none"}, head="none"),
    "masks below k": settings(masks={"phi": 0.3, "num_layers": 1, "sites": "below_k"}),
    "RTD": settings(
        rtd={"reduction": "sum", "choice": "sample", "positions": "everywhere", "h": "before_head"}
    ),
    "batch norm": settings(head="batch_norm", temperature=0.5, delta_gradient="without_eta"),
    "negatives": settings(z_adv_negatives="included", second_positive="outside"),
    "L2P-CSR": L2PCSR(),
    "L2P-CSR, released": L2PCSR(
        masks={
            "num_steps": 4,
            "step_size": 0.1,
            "token_step": "sign",
            "features": "shared",
            "sites": "below_k",
        }
    ),
    "L2P-CSR, continual": L2PCSR(masks={"values": "continual", "tokens": "none"}, head="batch_norm"),
    "V-advCSE": VAdvCSE(weight=0.1),
    "V-advCSE, raw KL": VAdvCSE(weight=0.1, divergence="kl", r={"gradient": "raw", "num_steps": 2}),
    "V-advCSE, similarities": VAdvCSE(
        weight=0.1,
        divergence="symmetric_kl",
        output="similarities",
        r={"ball": {"norm": "linf"}},
        head="none",
    ),
    "ConSERT": ConSERT(),
    "ConSERT, adversarial": ConSERT(
        first="token_cutoff", second="adversarial", dropout=True, head="linear_tanh"
    ),
    "DCL": DCL(hidden=6, width=4),
    "DCL, no norm": DCL(hidden=6, width=4, norm="none", masked_lm=0.0, share=0.5, decay=0.9),
    "L2P-CSR, embedding noise": L2PCSR(perturbs="embeddings"),
}


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


@pytest.mark.parametrize("name", METHODS)
def test_losses_are_those_on_file(name):
    expected = json.loads(FILE.read_text())[name]
    found = train(METHODS[name])
    worst = max(abs(a - b) for a, b in zip(found, expected, strict=True))
    assert worst <= 1e-10, f"losses moved by {worst:.3g}: bump semantics or revert"


def test_every_entry_is_on_file():
    assert {type(method) for method in METHODS.values()} == set(methods.METHODS.values())
    assert {method.head for method in METHODS.values() if not isinstance(method, DCL)} == set(HEADS)
    blended = [method for method in METHODS.values() if isinstance(method, RobustSentEmbed)]
    assert {method.blend.pgd.ball.norm for method in blended} == set(get_args(Norm))
    assert json.loads(FILE.read_text()).keys() == METHODS.keys()


if __name__ == "__main__":
    FILE.write_text(json.dumps({name: train(method) for name, method in METHODS.items()}, indent=1) + "\n")
