"""Steps with and without torch.compile, in a process without the shape checks of pytest, which it cannot trace.

python -m tests.models.compiled_steps METHOD aot_eager|inductor
"""

import json
import sys
from functools import partial

import torch
from torch._dynamo.utils import counters

from rse_study.methods.consert import ConSERT
from rse_study.models.encoder import SentenceEncoder
from tests.methods.problem import make_batch, make_networks, make_run, settings, take_step

METHODS = {"robust_sent_embed": settings(masks={"phi": 0.3}), "consert": ConSERT(second="adversarial")}
BATCHES = [
    [[2, 5, 6, 7, 3], [2, 8, 9, 3], [2, 12, 3], [2, 9, 3]],
    [[2, 5, 5, 6, 10, 11, 3], [2, 12, 3], [2, 7, 7, 8, 9, 3], [2, 12, 12, 3]],
    [[2, 5, 5, 6, 10, 11, 12, 12, 3], [2, 12, 9, 3], [2, 7, 3], [2, 8, 8, 3]],
    [[2, 5, 6, 7, 8, 9, 3], [2, 11, 12, 9, 3], [2, 7, 7, 3], [2, 6, 3]],
]


def main(name: str, backend: str) -> None:
    """Print how far losses and gradients lie apart, and what was compiled for each batch."""
    if backend != "inductor":
        torch.compile = partial(_traced, torch.compile)
    plain, _ = steps(name, compiles=False)
    compiled, graphs = steps(name, compiles=True)
    _, then = steps(name, compiles=True, seed=2)
    apart = max(float((one - other).abs().max()) for one, other in zip(plain, compiled, strict=True))
    found = {"apart": apart, "graphs": graphs, "of_next_cell": then[-1] - graphs[-1]}
    print(json.dumps({**found, "breaks": len(counters["graph_break"])}))


def steps(name: str, *, compiles: bool, seed: int = 1) -> tuple[list[torch.Tensor], list[int]]:
    """Losses and gradients on batches of several lengths, and the graphs compiled until then."""
    method, run = METHODS[name], make_run(seed)
    networks = make_networks(method, run, dropout=0.1)
    for reader in networks.modules() if compiles else ():
        if isinstance(reader, SentenceEncoder):
            reader.compile_passes()
    found, graphs = [], []
    for step, sentences in enumerate(BATCHES):
        outcome, _, gradients = take_step(method, networks, make_batch(sentences), run, step=step)
        found += [outcome.loss.detach(), *gradients.values()]
        graphs.append(counters["stats"]["unique_graphs"])
    return found, graphs


def _traced(compile_, function, *, dynamic, options):
    """Without the C++ compiler: traced, and run as it is."""
    return compile_(function, dynamic=dynamic, backend="aot_eager")


if __name__ == "__main__":
    main(*sys.argv[1:])
