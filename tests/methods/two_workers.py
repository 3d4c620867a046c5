"""The same steps on one process and on several gloo workers: what every worker found, for a test to compare."""

from pathlib import Path

import torch

from rse_study.data.batches import Batch
from rse_study.distributed import Group
from rse_study.methods import RobustSentEmbed
from rse_study.tensors import Alone, Collectives
from tests.conformance.entries import ENTRIES
from tests.gloo import in_group
from tests.methods.problem import SENTENCES, make_batch, make_networks, make_run, settings, take_step

SCENARIOS = {
    "default": {},
    "write-back last": {"token_level": {"write_back": "last"}},
    "write-back accumulate": {"token_level": {"write_back": "accumulate"}},
    "masks": {"masks": {"phi": 0.3}},
    "batch norm": {"head": "batch_norm", "temperature": 0.5},
    "batch norm and masks": {"head": "batch_norm", "temperature": 0.5, "masks": {"phi": 0.3}},
    "separate passes, l1": {
        "norm": "l1", "radius": 0.012, "trajectories": "separate", "delta_gradient": "without_eta",
    },
    "negatives included": {"z_adv_negatives": "included", "second_positive": "outside"},
    "RTD sum of samples": {"rtd": {"reduction": "sum", "choice": "sample", "positions": "everywhere"}},
    "SimCSE": {"K": 0, "T": 0, "lambda1": 0.0, "lambda2": 0.0},
    **{name: one.method for name, one in ENTRIES.items() if not isinstance(one.method, RobustSentEmbed)},
}  # fmt: skip
"""Switches of RobustSentEmbed, or another method."""


def share(rank: int, size: int) -> Batch:
    """A worker's rows of the global batch, padded to its own longest."""
    full = make_batch()
    return make_batch(SENTENCES[rank::size], full.rows[rank::size].tolist(), num_rows=len(SENTENCES))


def all_steps(collectives: Collectives, rank: int = 0, size: int = 1) -> dict[str, dict[str, object]]:
    """Every scenario's step on this worker."""
    found = {}
    for name, switches in SCENARIOS.items():
        method = settings(**switches) if isinstance(switches, dict) else switches
        run = make_run(collectives=collectives, is_reported=True)
        networks = make_networks(method, run)
        outcome, state, gradients = take_step(method, networks, share(rank, size), run)
        metrics = {n: (float(m.total), float(m.count)) for n, m in outcome.metrics.items()}
        found[name] = dict(loss=outcome.loss.detach(), gradients=gradients, state=state, metrics=metrics)
        found[name]["buffers"] = dict(networks.named_buffers())
    return found


def alone() -> dict[str, dict[str, object]]:
    """Every scenario on one process."""
    return all_steps(Alone())


def together(directory: Path, size: int = 2) -> list[dict[str, dict[str, object]]]:
    """Every scenario on `size` workers of a gloo group."""
    in_group(_take_steps, directory, size)
    return [torch.load(directory / f"{rank}.pt") for rank in range(size)]


def _take_steps(rank: int, size: int, directory: Path) -> None:
    torch.save(all_steps(Group(), rank, size), directory / f"{rank}.pt")
