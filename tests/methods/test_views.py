"""Views of a file: a paraphrase is the positive, and each hard negative a candidate of every anchor."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

from rse_study.data import builtin
from rse_study.data.batches import Batches
from rse_study.data.corpus import read_corpus
from rse_study.data.own_tables import with_views as read_with_views
from rse_study.data.tokenised import tokenise
from rse_study.distributed import Group
from rse_study.methods.adversary import InnerObjective
from rse_study.methods.method import RunContext
from rse_study.models.encoder import SentenceEncoder
from rse_study.perturbations.ascent import Anchor
from rse_study.streams import Streams
from rse_study.training.trial import Trial
from tests.conformance.entries import ENTRIES, GOLDEN, NUM_VIEWS
from tests.gloo import in_group
from tests.methods.problem import make_batch, make_networks, make_run, settings, take_step, with_views
from tests.tiny_models import save_bert, word_tokenizer, words_of

TRIPLETS = [*zip(*(builtin.corpus(seed, num_sentences=24) for seed in (1, 2, 3)), strict=True)]
COLUMNS = ["sent0", "sent1", "hard_neg"]
NEAR = dict(rtol=0, atol=1e-6)


def as_file(folder: Path) -> dict[str, object]:
    """Triplets as TSV without a header."""
    (folder / "triplets.tsv").write_text("".join("\t".join(row) + "\n" for row in TRIPLETS))
    return {"file": "triplets.tsv"}


def as_dataset(folder: Path) -> dict[str, object]:
    """Triplets in the hub's layout, as SimCSE's file of NLI has them."""
    (folder / "nli").mkdir()
    with (folder / "nli" / "train.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([COLUMNS, *TRIPLETS])
    return {"dataset": "nli", "columns": COLUMNS}


@pytest.mark.parametrize("write", [as_file, as_dataset])
def test_supervised_simcse_is_the_loss_of_sentence_transformers(write, tmp_path):
    """Gao et al. 2021, eq 5, is MultipleNegativesRankingLoss with hard negatives and scale 1 / tau."""
    method = {"preset": "simcse_supervised", "head": "none", "temperature": 0.05}
    trial = Trial.model_validate({"method": method, "views": write(tmp_path), "batch_size": 8})
    sentences = read_corpus(trial.corpus, tmp_path).sentences
    texts, _ = read_with_views(trial.views, sentences, tmp_path, is_triple=trial.needs_negatives)
    tokenizer = word_tokenizer(words_of(word for row in TRIPLETS for word in row))
    off = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    base = save_bert(tmp_path / "base", tokenizer, initializer_range=0.5, **off)
    corpus = tokenise(texts, tokenizer, 32, tmp_path / "tokens", num_texts=3)

    theirs = SentenceTransformer(modules=[module := Transformer(str(base)), Pooling(16, "cls")], device="cpu")
    theirs.double().train()
    encoder = SentenceEncoder(module.auto_model, "cls")
    batches = Batches(corpus, 8, Streams(0))
    run = make_run()
    networks = trial.method.networks(encoder, run.streams, run.collectives)
    own = trial.method.step(networks, {}, batches.batch(1), run, 1).loss
    parameters = [one for one in encoder.parameters() if one.requires_grad]
    gradients = torch.autograd.grad(own, parameters, allow_unused=True)

    rows = [TRIPLETS[i] for i in batches.sentences(1)]
    given = [theirs.preprocess(list(column)) for column in zip(*rows, strict=True)]
    loss = MultipleNegativesRankingLoss(theirs, scale=1 / 0.05)(given, None)
    torch.testing.assert_close(own, loss, **NEAR)
    for mine, other in zip(gradients, torch.autograd.grad(loss, parameters, allow_unused=True), strict=True):
        if mine is not None and other is not None:
            torch.testing.assert_close(mine, other, **NEAR)
        assert (mine is None) == (other is None)
    assert max(float(one.abs().max()) for one in gradients if one is not None) > 1e-2


VIEWED = {name: entry.method for name, entry in ENTRIES.items() if entry.method.takes_views}
VIEWED = {name: method for name, method in VIEWED.items() if method.name != "atcl" or not method.weight}
"""but for ATCL, whose r follows the gradient through z_pos only where that is of X"""
VIEWED |= {name: GOLDEN[name] for name in NUM_VIEWS}
EACH = pytest.mark.parametrize("name", VIEWED)
NUMBERS = pytest.mark.parametrize("num_views", [1, 2])


def taken(method, batch, run: RunContext | None = None, chunk_size: int = 0, **sizes):
    """Loss and gradients of a step."""
    run = run or make_run()
    networks = make_networks(method, run, **sizes)
    for module in networks.modules():
        if hasattr(module, "chunk_size"):
            module.chunk_size = chunk_size
    outcome, state, gradients = take_step(method, networks, batch, run)
    return {"loss": outcome.loss.detach(), **state, **gradients}


def hold(one, two, tolerance=1e-10):
    torch.testing.assert_close(two, one, rtol=0, atol=tolerance)


@EACH
def test_sentences_that_are_their_own_paraphrases_are_a_corpus_without_views(name):
    batch = make_batch()
    hold(taken(VIEWED[name], batch), taken(VIEWED[name], replace(batch, views=(make_batch(),))))


@EACH
def test_each_view_counts_and_its_words_learn(name):
    batch = with_views(make_batch(), 2)
    whole = taken(VIEWED[name], batch)
    words = whole["encoder.backbone.embeddings.word_embeddings.weight"]
    for number, view in enumerate(batch.views):
        only = set(view.ids[view.perturbable].tolist())
        only -= {
            id for text in (batch, *batch.views) if text is not view for id in text.ids.flatten().tolist()
        }
        learnt = words[sorted(only)].abs().sum(1) > 0
        assert only and learnt.sum() >= len(only) - 1  # a token may be cut off
        views = [*batch.views]
        views[number] = replace(view, ids=torch.where(view.perturbable, 6, view.ids))
        changed = taken(VIEWED[name], replace(batch, views=tuple(views)))
        assert abs(float(changed["loss"] - whole["loss"])) > 1e-6


@EACH
def test_neither_chunks_nor_padding_change_a_step_with_views(name):
    batch, wide = (with_views(make_batch(extra_padding=more), 2) for more in (0, 2))
    whole = taken(VIEWED[name], batch)
    hold(whole, taken(VIEWED[name], batch, chunk_size=3))
    hold(whole, taken(VIEWED[name], wide))
    again = [taken(VIEWED[name], batch, dropout=0.2) for _ in range(2)]
    hold(*again, tolerance=0)


@NUMBERS
def test_the_inner_loop_perturbs_the_anchor_against_the_paraphrases(num_views):
    method, run, batch = settings(lambda2=0.0), make_run(), with_views(make_batch(), num_views)
    networks = make_networks(method, run).eval()
    points = networks.encoder.word_embeddings(batch.ids).detach()
    found = InnerObjective.at(method._adversary, networks, Anchor(points, batch, 3), run)
    z = [networks.project(networks.encoder.word_embeddings(one.ids), one)[0] for one in batch.texts]
    hold(z[1], found.z_pos)
    hold(torch.cat(z[1:]), found.others)
    own = torch.eye(len(z[0]), dtype=torch.bool)
    assert torch.equal(found.own, torch.cat([own, *[torch.zeros_like(own)] * (num_views - 1)], dim=1))


def test_the_virtual_term_of_v_adv_cse_is_that_of_the_sentence_alone():
    method, batch = GOLDEN["V-advCSE, paraphrases"], make_batch()
    without = method.model_copy(update={"weight": 0.0})
    texts = batch, with_views(batch, 2)
    virtual = [taken(method, one)["loss"] - taken(without, one)["loss"] for one in texts]
    hold(*virtual)
    assert virtual[0] > 1e-4


def _shares(rank: int, size: int, folder: Path) -> None:
    whole, group = with_views(make_batch(), 2), Group()
    mine = [
        replace(
            one, **{part: getattr(one, part)[rank::size] for part in ("ids", "mask", "perturbable", "rows")}
        )
        for one in (whole, *whole.views)
    ]
    batch = replace(mine[0], views=tuple(mine[1:]))
    torch.save(
        {name: taken(VIEWED[name], batch, make_run(collectives=group)) for name in NUM_VIEWS},
        folder / f"{rank}.pt",
    )


def test_two_workers_take_the_step_of_one(tmp_path):
    in_group(_shares, tmp_path)
    both = [torch.load(tmp_path / f"{rank}.pt") for rank in range(2)]
    for name in NUM_VIEWS:
        alone = taken(VIEWED[name], with_views(make_batch(), 2))
        hold(alone["loss"], both[0][name]["loss"] + both[1][name]["loss"])
        for part in alone.keys() - {"loss"}:
            hold(alone[part], both[0][name][part])


def test_a_hard_negative_costs_a_view_more():
    triplets, pairs = ({"file": "a.csv", "columns": COLUMNS[:number]} for number in (3, 2))
    for method in VIEWED.values():
        if getattr(method, "hard_negatives", "") != "required":
            assert Trial(method=method, views=pairs).cost == Trial(method=method).cost == method.cost
        more = Trial(method=method, views=triplets).cost.work - method.cost.work
        assert more == 6 + 4 * method.cost.ascent * (method.cost.views_per_ascent > 1)
    assert Trial(method={"preset": "simcse_supervised"}, views={"file": "a.tsv"}).cost.work == 18
