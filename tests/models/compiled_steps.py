"""Steps with and without torch.compile, in a process without the shape checks of pytest, which it cannot trace.

python -m tests.models.compiled_steps
"""

import json

import torch
from torch._dynamo.utils import counters

from rse_study.methods.consert import ConSERT
from rse_study.models.encoder import SentenceEncoder
from tests.methods.problem import make_batch, make_networks, make_run, take_step

METHOD = ConSERT(second="adversarial")
BATCHES = [
    [[2, 5, 6, 7, 3], [2, 8, 9, 3], [2, 12, 3], [2, 9, 3]],
    [[2, 5, 5, 6, 10, 11, 3], [2, 12, 3], [2, 7, 7, 8, 9, 3], [2, 12, 12, 3]],
    [[2, 5, 5, 6, 10, 11, 12, 12, 3], [2, 12, 9, 3], [2, 7, 3], [2, 8, 8, 3]],
    [[2, 5, 6, 7, 8, 9, 3], [2, 11, 12, 9, 3], [2, 7, 7, 3], [2, 6, 3]],
]


def main() -> None:
    """Print how far losses and gradients lie apart, and what was compiled for each batch."""
    plain, _ = steps(compiles=False)
    compiled, graphs = steps(compiles=True)
    _, then = steps(compiles=True, seed=2)
    apart = max(float((one - other).abs().max()) for one, other in zip(plain, compiled, strict=True))
    found = {"apart": apart, "graphs": graphs, "of_next_cell": then[-1] - graphs[-1]}
    print(json.dumps({**found, "breaks": len(counters["graph_break"])}))


def steps(*, compiles: bool, seed: int = 1) -> tuple[list[torch.Tensor], list[int]]:
    """Losses and gradients on batches of several lengths, and the graphs compiled until then."""
    run = make_run(seed)
    networks = make_networks(METHOD, run, dropout=0.1)
    for reader in networks.modules() if compiles else ():
        if isinstance(reader, SentenceEncoder):
            reader.compile_passes()
    found, graphs = [], []
    for step, sentences in enumerate(BATCHES):
        outcome, _, gradients = take_step(METHOD, networks, make_batch(sentences), run, step=step)
        found += [outcome.loss.detach(), *gradients.values()]
        graphs.append(counters["stats"]["unique_graphs"])
    return found, graphs


if __name__ == "__main__":
    main()
