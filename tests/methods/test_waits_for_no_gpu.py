"""A step gives a GPU its work and waits for nothing."""

import pytest
import torch

from rse_study.data.batches import Batch
from rse_study.methods.atcl import ATCL
from rse_study.methods.consert import ConSERT
from rse_study.methods.ct import CT
from rse_study.methods.dcl import DCL
from rse_study.methods.l2p_csr import L2PCSR
from rse_study.methods.method import Method
from rse_study.methods.sg_opt import SGOPT
from rse_study.methods.v_adv_cse import VAdvCSE
from tests.methods.problem import make_batch, make_networks, make_run, settings
from tests.simulated_gpu import simulated_gpu

SENTENCES = [[2, 5, 6, 7, 3], [2, 8, 9, 3], [2, 5, 5, 6, 10, 11, 3], [2, 12, 3]]
# Not among them: `reduction: mean_padding`, whose D keeps its padding; transformers then reads the mask once a pass.
METHODS: dict[str, Method] = {
    "robust_sent_embed": settings(),
    "masks": settings(masks={"phi": 0.3}, perturbed_tokens="all"),
    "l1, last": settings(norm="l1", token_level={"write_back": "last"}, lambda2=0),
    "l2, accumulate": settings(norm="l2", token_level={"write_back": "accumulate"}, lambda2=0),
    "sampled": settings(rtd={"choice": "sample", "positions": "everywhere"}),
    "summed": settings(rtd={"reduction": "sum"}),
    "l2p_csr": L2PCSR(),
    "l2p_csr, embeddings": L2PCSR(perturbs="embeddings"),
    "v_adv_cse": VAdvCSE(),
    "dcl": DCL(masked_lm=0.1),
    "atcl": ATCL(),
    "ct": CT(num_negatives=2),
    "sg_opt": SGOPT(hidden=6),
    "consert": ConSERT(),
    "consert, token cutoff": ConSERT(first="token_cutoff", second="adversarial"),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_step_waits_for_nothing_and_computes_the_same(name, monkeypatch):
    outcomes = []
    for on_gpu in (False, True):
        method, run, batch = METHODS[name], make_run(), make_batch(SENTENCES)
        networks = make_networks(method, run, pooling="cls", dropout=0.0)
        state = method.state(networks, run.streams)
        if not on_gpu:
            outcomes.append(_step(method, networks, state, batch, run))
            continue
        assert run.generator is not None
        modules = (networks, run.generator)
        held = [tensor for each in modules for tensor in (*each.parameters(), *each.buffers())]
        with simulated_gpu(monkeypatch, [*held, *state.values()]):
            sent = batch.to("cpu")
            assert sent.host is batch
            outcomes.append(_step(method, networks, state, sent, run))
    torch.testing.assert_close(outcomes[0], outcomes[1], rtol=0, atol=0)


def _step(method: Method, networks, state, batch: Batch, run):
    outcome = method.step(networks, state, batch, run, 3)
    outcome.loss.backward()
    torch.nn.utils.clip_grad_norm_(networks.parameters(), 1.0)
    gradients = [p.grad for p in networks.parameters() if p.grad is not None]
    return [outcome.loss.detach(), *gradients, *state.values()]
