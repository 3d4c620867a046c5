"""What a step may cost, in encoder calls and in floating-point operations counted by torch."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry
from transformers import BertConfig, BertForMaskedLM, BertModel

from rse_study.methods import adversary
from rse_study.methods.adversary import Adversary
from rse_study.methods.atcl import ATCL
from rse_study.methods.ct import CT
from rse_study.methods.sg_opt import SGOPT
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.rtd import Generator
from rse_study.perturbations.ascent import Anchor
from tests.methods import problem
from tests.methods.problem import CLS, SEP, make_batch, make_networks, make_run, settings, take_step
from tests.slow import mostly_slow

OFF = {"K": 0, "T": 0, "lambda1": 0.0}


def calls_of(module, take):
    """How often `module` runs forward while `take` runs."""
    calls = []
    handle = module.register_forward_hook(lambda *_: calls.append(1))
    take()
    handle.remove()
    return len(calls)


def gradients_of(take):
    """How often autograd runs backwards while `take` runs."""
    calls = []
    with pytest.MonkeyPatch.context() as patch:
        for owner, name in ((torch.autograd, "grad"), (torch.autograd, "backward")):
            compute = getattr(owner, name)
            patch.setattr(owner, name, lambda *a, compute=compute, **k: calls.append(1) or compute(*a, **k))
        take()
    return len(calls)


SWITCHES = pytest.mark.parametrize(
    ("switches", "per_step", "beside"),
    [
        ({}, 1, 2),
        ({"masks": {"phi": 0.3}}, 1, 2),
        ({"token_level": {"presence": "none"}}, 1, 2),
        ({"token_level": {"presence": "none"}, "delta_gradient": "without_eta"}, 1, 2),
        ({"trajectories": "joint_state"}, 1, 2),
        ({"head": "batch_norm"}, 1, 2),
        ({"rho": 1.0}, 1, 2),
        ({"rho": 1.0, "trajectories": "separate"}, 1, 2),
        ({"outer_dropout": "shared_first"}, 1, 4),
        ({"delta_gradient": "without_eta"}, 2, 2),
        ({"trajectories": "joint_state", "delta_gradient": "without_eta"}, 2, 2),
        ({"trajectories": "separate"}, 2, 2),
        ({"trajectories": "separate", "delta_gradient": "without_eta"}, 3, 2),
    ],
)


def passes_of(method):
    """(encoder calls, gradients) of one step."""
    run, gradients = make_run(), []
    networks = make_networks(method, run)

    def take():
        gradients.append(gradients_of(lambda: take_step(method, networks, make_batch(), run)))

    return calls_of(networks.encoder, take), *gradients


@pytest.mark.parametrize("num_steps", mostly_slow([1, 2], fast=[2]))
@SWITCHES
def test_declared_passes_are_measured(switches, per_step, beside, num_steps):
    method = settings(K=num_steps, T=num_steps, **switches)
    calls, gradients = passes_of(method)
    assert calls == per_step * num_steps + beside
    assert method.cost.gradient_passes == gradients == per_step * num_steps + 1


def test_the_loop_runs_what_its_players_need_and_each_of_d_and_g_once():
    without = settings(**OFF, lambda2=0.2)
    assert passes_of(without) == (1, without.cost.gradient_passes) == (1, 1)
    for K, T, rho, steps in ((1, 4, 0.5, 4), (1, 4, 1.0, 1), (1, 4, 0.0, 4), (3, 0, 0.5, 3)):
        assert passes_of(settings(K=K, T=T, rho=rho))[0] == steps + 2, (K, T, rho)
    method, run = settings(), make_run()
    networks = make_networks(method, run)
    for module in (networks.discriminator, run.generator.model):
        assert calls_of(module, lambda: take_step(method, networks, make_batch(), run)) == 1


class World:
    """A BERT at which attention is a small share, as at paper scale; eager attention, which torch counts in full."""

    def __init__(self, method=None, **switches):
        shape = dict(hidden_size=128, num_hidden_layers=3, num_attention_heads=2, intermediate_size=512)
        config = BertConfig(vocab_size=600, max_position_embeddings=64, **shape)
        config._attn_implementation = "eager"
        torch.manual_seed(0)
        self.method = method or settings(**switches)
        generator = Generator(BertForMaskedLM(config), problem.MaskToken(), "random")
        self.run = make_run(generator=generator)
        encoder = SentenceEncoder(BertModel(config, add_pooling_layer=False), "cls", 4)
        self.networks = self.method.networks(encoder, self.run.streams, self.run.collectives).train()
        self.batch = make_batch([[CLS, *range(10 + i, 24 + i), SEP] for i in range(8)], range(8))

    def read_whole_layers(self):
        """Leave out nothing: neither padding nor what pooling does not read."""
        for module in self.networks.modules():
            if isinstance(module, SentenceEncoder):
                module.skips_padding = False

    def step(self):
        """Operations of one whole step, backward included."""
        return counted(lambda: take_step(self.method, self.networks, self.batch, self.run))

    def forward(self):
        """Operations of f on the batch's b rows."""

        def encode():
            words = self.networks.encoder.word_embeddings(self.batch.ids)
            self.networks.head(self.networks.encoder(words, self.batch.mask, self.batch.ids))

        return counted(encode)


class Operations(TorchDispatchMode):
    """Their number by torch's own formulas; torch's FlopCounterMode follows modules besides, for thrice the price."""

    total = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if formula := flop_registry.get(func.overloadpacket):
            self.total += formula(*args, **(kwargs or {}), out_val=result)
        return result


def counted(take):
    with Operations() as operations:
        take()
    return operations.total


@pytest.mark.parametrize(
    ("switches", "work"),
    [
        ({**OFF, "lambda2": 0.0}, 12),
        (OFF, 20),
        ({"K": 2, "T": 2, "lambda2": 0.0}, 28),
        ({"K": 3, "T": 3}, 40),
        ({"K": 1, "T": 3, "rho": 1.0}, 32),
        ({"K": 2, "T": 1, "masks": {"phi": 0.3}}, 36),
        ({"K": 1, "T": 1, "outer_dropout": "shared_first"}, 32),
        ({"K": 1, "T": 1, "trajectories": "separate", "delta_gradient": "without_eta"}, 40),
    ],
)
def test_declared_work_is_measured(switches, work):
    """A forward pass over b rows is 2 P*T; losses, and the vocabulary head of G, are the two per cent.

    Of whole layers: P*T counts no position that pooling leaves out.
    """
    world = World(**switches)
    world.read_whole_layers()
    assert world.method.cost.work == work
    assert world.step() == pytest.approx(work * world.forward() / 2, rel=0.02)


@pytest.mark.parametrize(
    ("chunk_size", "switches", "twice"),
    [
        (8, {"K": 1, "T": 1}, 2 * 3),
        (3, {"K": 2, "T": 2}, 2 * (2 + 3 + 1)),
        (2, {**OFF, "lambda2": 0.0}, 2 * 2),
        (16, {**OFF, "lambda2": 0.0}, 0),
    ],
)
def test_what_chunks_compute_twice_is_measured(chunk_size, switches, twice):
    world = World(**switches)
    world.read_whole_layers()
    whole = world.step()
    world.networks.encoder.chunk_size = chunk_size
    if world.networks.discriminator is not None:
        world.networks.discriminator.encoder.chunk_size = chunk_size
    assert world.method.cost.repeated(8, chunk_size) == twice
    assert world.step() - whole == pytest.approx(twice * world.forward() / 2, rel=0.03)


@pytest.mark.parametrize(
    ("method", "work", "twice"),
    [(ATCL(), 22, 10), (ATCL(weight=0), 12, 4), (CT(num_negatives=2), 12, 4), (SGOPT(hidden=8), 8, 2)],
    ids=["ATCL", "ATCL, weight 0", "CT", "SG-OPT"],
)
def test_declared_work_of_methods_that_differentiate_or_encode_otherwise_is_measured(method, work, twice):
    world = World(method)
    world.read_whole_layers()
    whole, forward = world.step(), world.forward()
    assert method.cost.work == work
    assert whole == pytest.approx(work * forward / 2, rel=0.02)
    for encoder in (module for module in world.networks.modules() if isinstance(module, SentenceEncoder)):
        encoder.chunk_size = 3
    assert world.step() - whole == pytest.approx(twice * forward / 2, rel=0.03)
    assert method.cost.repeated(8, 3) == twice


# The ascent changes V and nothing else; test_cost.py counts that it computes no gradient of a weight.


SETTINGS = {
    "default": {},
    "masks": {"masks": {"phi": 0.3}},
    "separate passes": {"trajectories": "separate", "delta_gradient": "without_eta"},
    "batch norm": {"head": "batch_norm"},
    "fixed dropout": {"inner_dropout": "fixed"},
    "fresh dropout": {"inner_dropout": "fresh"},
    "no eta": {"token_level": {"presence": "none"}},
}


def prepared(switches):
    """() -> Found, and the networks: with odd modes, a frozen weight and gradients already there."""
    method, run, batch = settings(**switches), make_run(), make_batch()
    networks = make_networks(method, run, dropout=0.2)
    networks.encoder.backbone.encoder.layer[0].eval()
    networks.encoder.backbone.embeddings.LayerNorm.weight.requires_grad_(False)
    for i, parameter in enumerate(networks.parameters()):
        parameter.grad = torch.full_like(parameter, float(i)) if i % 3 else None
    embeddings = networks.encoder.word_embeddings(batch.ids).detach()
    where = Anchor(embeddings, batch, 3)
    sees_eta = method.delta_gradient == "with_eta" or not method.has_eta
    same = {name: getattr(method, name) for name in ("blend", "token_level", "masks", "temperature")}
    finder = Adversary(**same, dropout=method.inner_dropout, delta_sees_eta=sees_eta)
    table = method.state(networks, run.streams).get("V")
    return networks, lambda: finder.find(networks, table, where, run)


def snapshot(networks):
    """Everything of a network that an ascent could disturb, and torch's global random state."""
    return {
        "random": torch.get_rng_state().tolist(),
        "modes": {name: module.training for name, module in networks.named_modules()},
        "requires_grad": {name: p.requires_grad for name, p in networks.named_parameters()},
        "hooks": {name: len(module._forward_hooks) for name, module in networks.named_modules()},
        "gradients": {n: None if p.grad is None else p.grad.tolist() for n, p in networks.named_parameters()},
        "weights": {name: value.tolist() for name, value in networks.state_dict().items()},
    }


@pytest.mark.parametrize("switches", SETTINGS.values(), ids=SETTINGS)
def test_ascent_leaves_the_model_untouched(switches):
    networks, find = prepared(switches)
    torch.manual_seed(7)
    before = snapshot(networks)
    found = find()
    assert found.delta.abs().max() > 0
    assert not found.delta.requires_grad
    assert found.eta is None or not found.eta.requires_grad
    assert not any(weight.requires_grad for weight in found.weights)
    assert snapshot(networks) == before


def test_an_error_inside_leaves_it_untouched_too(monkeypatch):
    networks, find = prepared({})
    before = snapshot(networks)
    monkeypatch.setattr(adversary, "info_nce", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        find()
    assert snapshot(networks) == before
