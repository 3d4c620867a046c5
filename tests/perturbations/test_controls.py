"""The controls of an ascent: steps down the gradient, and noise as long as what the gradient reached."""

import pytest
import torch
from pydantic import ValidationError

from rse_study.perturbations.ascent import ascend
from rse_study.perturbations.blend import Blend
from rse_study.perturbations.sentence_level import VirtualAdversarial
from tests.perturbations.linear import STEPS, STREAMS, anchor, linear

PLAYERS = {
    "blend": lambda ascent: Blend(**STEPS, rho=0.3, ascent=ascent),
    "r": lambda ascent: VirtualAdversarial(num_steps=2, ascent=ascent),
}


def reached(kind, ascent, slope=1.0, padding=0):
    where, player = anchor(padding=padding), PLAYERS[kind](ascent)
    objective = linear(slope * torch.linspace(-1, 1, 6, dtype=torch.float64).expand_as(where.embeddings))
    end = ascend(objective, [player], [player.init(where, STREAMS)], looks_at_end=True)
    return player.apply(end.states[0]).addition, end


@pytest.mark.parametrize("kind", PLAYERS)
def test_flipped_goes_down_as_far_as_gradient_goes_up(kind):
    (up, risen), (down, fallen) = reached(kind, "gradient"), reached(kind, "flipped")
    start = risen.losses[0]
    assert risen.at_end > start > fallen.at_end
    mirrored, _ = reached(kind, "gradient", slope=-1.0)
    assert torch.equal(down, mirrored)
    assert not torch.equal(down, up)


@pytest.mark.parametrize("kind", PLAYERS)
def test_noise_has_the_length_of_the_ascent_and_no_other_trace_of_it(kind):
    (up, _), (noise, end) = reached(kind, "gradient"), reached(kind, "noise")
    lengths = [delta.flatten(1).norm(dim=1) for delta in (up, noise)]
    torch.testing.assert_close(*lengths, rtol=1e-12, atol=0)
    assert (noise.abs().amax((1, 2)) <= up.abs().amax((1, 2)) + 1e-15).all()
    perturbable = anchor().perturbable
    assert (noise[perturbable] != 0).all()
    assert not noise[~perturbable].any()
    other, _ = reached(kind, "noise", slope=-1.0)
    assert torch.equal(noise.sign(), other.sign())  # the gradient decides the length alone
    end_of_noise = (noise * torch.linspace(-1, 1, 6, dtype=torch.float64)).sum()
    torch.testing.assert_close(end.at_end, end_of_noise)  # what the inner loss reports is the noise's


@pytest.mark.parametrize("kind", PLAYERS)
def test_noise_does_not_hang_on_padding(kind):
    short, long = reached(kind, "noise")[0], reached(kind, "noise", padding=2)[0]
    torch.testing.assert_close(long[:, : short.shape[1]], short, rtol=1e-12, atol=0)


def test_an_ascent_along_the_gradient_is_what_it_always_was():
    assert "ascent" not in Blend().identity()
    assert "ascent" not in VirtualAdversarial().identity()
    assert Blend(ascent="noise").identity()["ascent"] == "noise"


def test_noise_in_place_of_separate_branches_is_refused():
    with pytest.raises(ValidationError, match="trajectories"):
        Blend(ascent="noise", trajectories="separate")
