"""Which tokens are masked for G, and what comes of them (decision 0003)."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rse_study.data.batches import rtd_mask
from rse_study.methods.adversary import ReplacedTokenDetection
from rse_study.streams import Streams
from tests.methods.problem import CLS, MASK, SEP, make_batch, make_run


def sentence(num_content):
    return [CLS, *range(5, 5 + num_content), SEP]


@given(
    st.lists(st.integers(0, 17), min_size=1, max_size=5), st.integers(0, 50), st.sampled_from([0.2, 0.5, 1.0])
)
def test_counts(contents, step, share):
    batch = make_batch([sentence(n) for n in contents], range(len(contents)))
    masked = rtd_mask(batch, Streams(0), step, share)
    assert not (masked & ~batch.perturbable).any()
    assert masked.sum(1).tolist() == [max(1, round(share * n)) if n else 0 for n in contents]


def test_keyed_by_sentence_and_step_not_by_place_and_every_content_token_has_its_turn():
    streams, contents = Streams(3), [sentence(12), sentence(15), sentence(9)]
    forward = rtd_mask(make_batch(contents, (0, 1, 2)), streams, 4)
    backward = rtd_mask(make_batch(contents[::-1], (2, 1, 0), extra_padding=4), streams, 4)
    assert torch.equal(backward.flip(0)[:, : forward.shape[1]], forward)
    assert not torch.equal(rtd_mask(make_batch(contents, (0, 1, 2)), streams, 5), forward)
    assert not torch.equal(rtd_mask(make_batch(contents, (3, 4, 5)), streams, 4), forward)
    batch = make_batch([sentence(10)], (0,))
    turns = sum(rtd_mask(batch, Streams(0), step).long() for step in range(400))[0, 1:-1]
    assert turns.sum() == 800
    assert bool(((turns > 45) & (turns < 120)).all())


class TestFill:
    batch = make_batch([sentence(15), sentence(4), sentence(0)], (1, 0, 2))

    def masked_once(self, run):
        return rtd_mask(self.batch, run.streams, 6)

    def test_argmax_of_one_masked_copy_at_the_masked_places(self):
        run, rtd = make_run(), ReplacedTokenDetection()
        edited, masked = rtd.edited(self.batch, run, 6), self.masked_once(run)
        assert torch.equal(edited[~masked], self.batch.ids[~masked])
        for i in range(3):  # each sentence alone and unpadded
            real = int(self.batch.mask[i].sum())
            hidden = torch.where(masked[i, :real], MASK, self.batch.ids[i, :real])
            best = run.generator.model(input_ids=hidden[None]).logits[0].argmax(-1)
            expected = torch.where(masked[i, :real], best, self.batch.ids[i, :real])
            assert torch.equal(edited[i, :real], expected)

    def test_everywhere_takes_all_content_tokens_never_specials(self):
        run, rtd = make_run(), ReplacedTokenDetection(positions="everywhere")
        edited = rtd.edited(self.batch, run, 6)
        assert torch.equal(edited[~self.batch.perturbable], self.batch.ids[~self.batch.perturbable])
        masked = self.masked_once(run)
        assert torch.equal(edited[masked], ReplacedTokenDetection().edited(self.batch, run, 6)[masked])
        assert bool((edited != self.batch.ids)[self.batch.perturbable & ~masked].any())

    def test_samples_follow_the_distribution(self):
        run = make_run()
        # A flat generator: one word in four sentences' worth of draws is not enough to be always the best one.
        with torch.no_grad():
            run.generator.model.cls.predictions.decoder.weight.mul_(0.05)
            run.generator.model.cls.predictions.bias.zero_()
        rtd = ReplacedTokenDetection(choice="sample", share=1.0)
        batch = make_batch([sentence(17)] * 8, range(8))
        drawn = torch.cat([rtd.edited(batch, run, step)[batch.perturbable] for step in range(6)])
        again = torch.cat([rtd.edited(batch, run, step)[batch.perturbable] for step in range(6)])
        assert torch.equal(drawn, again)
        hidden = torch.where(batch.perturbable[0], MASK, batch.ids[0])[None]
        expected = run.generator.model(input_ids=hidden).logits[0][batch.perturbable[0]].softmax(-1).mean(0)
        seen = torch.bincount(drawn, minlength=len(expected)) / len(drawn)
        assert float((seen - expected).abs().max()) < 0.035

    def test_a_row_is_filled_alike_in_any_company(self):
        run = make_run()
        for choice in ("argmax", "sample"):
            rtd = ReplacedTokenDetection(choice=choice)
            alone = make_batch([sentence(4)], (0,), num_rows=3)
            real = alone.ids.shape[1]
            assert torch.equal(rtd.edited(alone, run, 6)[0], rtd.edited(self.batch, run, 6)[1, :real])

    @pytest.mark.parametrize("settings", [{}, {"positions": "everywhere"}, {"choice": "sample"}], ids=repr)
    def test_of_a_fixed_shape_no_other_tokens_are_replaced(self, settings):
        run, rtd = make_run(), ReplacedTokenDetection(**settings)
        batch = make_batch([sentence(15), sentence(4), sentence(0)], (1, 0, 2), extra_padding=7)
        edited = rtd.edited(replace(batch, is_fixed=True), run, 6)
        assert torch.equal(edited[:, : self.batch.ids.shape[1]], rtd.edited(self.batch, run, 6))
        assert torch.equal(edited[~batch.perturbable], batch.ids[~batch.perturbable])


def test_no_share_is_refused():
    with pytest.raises(ValueError, match="share"):
        ReplacedTokenDetection(share=0.0)
