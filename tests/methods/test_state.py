"""Run-level state, batches at the edge, and what precision may not touch."""

import dataclasses

import pytest
import torch

from tests.methods.problem import CLS, SEP, make_batch, make_networks, make_run, settings, take_step
from tests.methods.watching import mean_of, watch_ascents


class TestTable:
    @pytest.mark.parametrize(
        ("weights", "table"),
        [(torch.bfloat16, torch.float32), (torch.float32, torch.float32), (torch.float64, torch.float64)],
    )
    def test_never_below_float32_and_outside_autograd(self, weights, table):
        method, run = settings(), make_run()
        networks = make_networks(method, run).to(weights)
        state = method.state(networks, run.streams)
        assert state["V"].dtype == table
        assert not state["V"].requires_grad
        assert "V" not in networks.state_dict()

    def test_goes_on_or_is_drawn_anew_each_epoch(self):
        run = make_run()
        for redraw in ("never", "epoch"):
            method = settings(token_level={"redraw": redraw})
            networks = make_networks(method, run)
            first = method.state(networks, run.streams)
            later = method.renew(first, networks, run.streams, 1)
            assert (later is first) == (redraw == "never")
            assert torch.equal(later["V"], first["V"]) == (redraw == "never")

    @pytest.mark.parametrize(
        "switches", [{"token_level": {"presence": "none"}}, {"K": 0, "T": 0, "lambda1": 0.0}]
    )
    def test_no_eta_no_table(self, switches):
        method, run = settings(**switches), make_run()
        assert method.state(make_networks(method, run), run.streams) == {}


EDGES = {
    "no content anywhere": [[CLS, SEP], [CLS, SEP]],
    "one sentence": [[CLS, 7, 8, SEP]],
    "the same sentence twice": [[CLS, 7, 8, SEP], [CLS, 7, 8, SEP]],
    "one token each": [[CLS, 7, SEP], [CLS, 8, SEP], [CLS, SEP]],
}


@pytest.mark.parametrize("sentences", EDGES.values(), ids=EDGES)
def test_edges_give_finite_losses_and_gradients(sentences):
    for norm in ("l1", "l2", "linf"):
        method, run = settings(norm=norm, masks={"phi": 0.3}), make_run()
        batch = make_batch(sentences, range(len(sentences)))
        outcome, state, gradients = take_step(method, make_networks(method, run), batch, run)
        assert outcome.loss.isfinite(), norm
        assert state["V"].isfinite().all(), norm
        assert all(gradient.isfinite().all() for gradient in gradients.values()), norm


class TestBf16:
    """bf16's spacing at an embedding's size is far above alpha: E + delta must not be rounded to it."""

    def both(self, monkeypatch):
        found, seen = [], watch_ascents(monkeypatch)
        for autocast in (False, True):
            method, run = settings(alpha=1e-5, beta=1e-5, masks={"phi": 0.2}), make_run(is_reported=True)
            run.generator.float()
            if autocast:
                run = dataclasses.replace(run, autocast=lambda: torch.autocast("cpu", torch.bfloat16))
            networks = make_networks(method, run, width=32).float()
            dtypes = set()
            hook = networks.encoder.backbone.embeddings.register_forward_hook(
                lambda module, inputs, output, seen=dtypes: seen.add(output.dtype)
            )
            outcome, state, _ = take_step(method, networks, make_batch(), run)
            hook.remove()
            found.append((outcome, state, seen[-1].states[0], dtypes))
        return found

    def test_small_steps_survive(self, monkeypatch):
        (full, _, exact, _), (half, state, rounded, dtypes) = self.both(monkeypatch)
        assert dtypes == {torch.float32}
        assert state["V"].dtype == rounded.pgd.delta.dtype == torch.float32
        assert torch.equal(exact.pgd.start, rounded.pgd.start)
        for name in ("delta/moved", "delta/moved_fgsm"):
            one, two = (mean_of(outcome.metrics[name]) for outcome in (full, half))
            assert one > 0
            assert two == pytest.approx(one, rel=0.05)
        assert half.loss.dtype == torch.float32
        assert half.loss.item() == pytest.approx(full.loss.item(), rel=0.1)
