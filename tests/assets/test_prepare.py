"""A trial's materials: complete, built once, the right generator, and refused before anything long is done."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest
from transformers import BertForMaskedLM

from rse_study.activity import SILENCE
from rse_study.assets import prepare, tiny
from rse_study.assets.masked_lm import MaskedLMTraining
from rse_study.assets.store import META
from rse_study.assets.tiny import MiniLMGenerator
from rse_study.data import builtin
from rse_study.data.labelled import StsPairs
from rse_study.data.tokenised import TokenisedCorpus
from rse_study.errors import InputError
from rse_study.evaluation.sts import evaluate_sts
from rse_study.models.embedder import Embedder
from rse_study.models.export import save_encoder
from rse_study.models.loading import load_encoder
from rse_study.spec import fingerprint_of
from rse_study.training.loop import train
from rse_study.training.materials import Materials
from rse_study.training.trial import Selection, Trial
from tests.heard import Heard

from .conftest import SMALL, topical

pytestmark = pytest.mark.xdist_group("prepare")  # what the fixtures made is used by all
# Enough to beat the commonest token clearly.
SPEC = SMALL.model_copy(update={"vocabulary_size": 300})
TUNED = MiniLMGenerator(training=MaskedLMTraining(num_steps=40, max_epochs=20, batch_size=32, lr=1e-2))
NUM = 500
SENTENCES = topical(["ta", "so", "ve", "hi", "gu", "ra", "no", "me", "li", "zu"], NUM)
NONE = {"lambda2": 0.0}


def trial(*, encoder="tiny", method=None, num_sentences=NUM, **changes):
    """A trial on sentences of few words, small enough for a small encoder."""
    settings = {
        "encoder": {"name": str(encoder), "pooling": "mean"},
        "corpus": {"source": "sentences.txt", "limit": num_sentences},
        "method": method or {},
        "selection": {"dev": "builtin"},
        "batch_size": 16,
        "max_length": 16,
    }
    return Trial.model_validate(settings | changes)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A data folder that holds the sentences and nothing else."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "sentences.txt").write_text("\n".join(SENTENCES))
    return folder


@pytest.fixture(scope="module", autouse=True)
def first(cache, data, tmp_path_factory):
    """The first trial's materials and what was heard meanwhile; from then on its encoder without a head is MiniLM.

    The real paths through `prepare`, with a small budget.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiny, "TinyEncoder", lambda: SPEC)
        patch.setitem(tiny.TINY, "tiny", SPEC)
        patch.setattr(tiny, "MiniLMGenerator", lambda: TUNED)
        heard, folder = Heard(), tmp_path_factory.mktemp("minilm") / "model"
        made = prepare(trial(), cache, data, heard)
        save_encoder(folder, *load_encoder(made.base))
        patch.setattr(tiny, "minilm_folder", lambda: folder)
        yield made, heard


@pytest.fixture
def ready(cache, data):
    """Prepare a trial."""

    def ready(wanted, callback=SILENCE):
        return prepare(wanted, cache, data, callback)

    return ready


def assets(cache):
    """name -> time of the last change of every asset in the cache."""
    folders = [path for path in (cache / "assets").iterdir() if path.is_dir()]
    return {path.name: (path / META).stat().st_mtime_ns for path in folders}


class TestComplete:
    def test_everything_a_run_needs_is_there(self, first):
        found, heard = first
        assert heard.messages[0].startswith(f"corpus: {NUM} sentences")
        assert heard.names == ["asset tiny: masked-LM steps", "corpus: sentences tokenised"]
        assert heard.activities[-1] == ("corpus: sentences tokenised", NUM, NUM)
        corpus, (encoder, tokenizer) = TokenisedCorpus.open(found.corpus), load_encoder(found.base)
        assert (len(corpus), corpus.meta.max_length) == (NUM, 16)
        assert corpus.row(0).tolist()[:3] == tokenizer(SENTENCES[0]).input_ids[:3]
        assert encoder.hidden_size == SPEC.hidden_size
        assert found.generator == found.base
        assert found.dev.fingerprint == builtin.graded_pairs("dev").fingerprint
        assert found.fingerprints.keys() == {"corpus", "base", "dev", "generator"}
        assert found.fingerprints["base"] == found.fingerprints["generator"]
        assert found.fingerprints["corpus"] == corpus.fingerprint

    def test_the_second_call_builds_nothing(self, ready, first, cache):
        before, heard = assets(cache), Heard()
        second = ready(trial(), heard)
        assert assets(cache) == before
        assert heard.activities == []
        assert dataclasses.replace(second, dev=first[0].dev) == first[0]

    def test_folders_are_absolute_however_named(self, ready, small_copy, cache, data, tmp_path, monkeypatch):
        """Workers have another working directory; fingerprints are those of the same folders by their whole names."""
        base, other = small_copy("base"), small_copy("other")
        method = {"rtd": {"generator": "./other"}}
        whole = ready(trial(encoder=base, method={"rtd": {"generator": str(other)}}))
        monkeypatch.chdir(tmp_path)
        linked = tmp_path / "assets_of_all"
        linked.symlink_to(cache)
        found = prepare(trial(encoder="./base", method=method), Path(linked.name), data)
        assert (found.base, found.generator) == (str(base), str(other))
        assert found.corpus.is_absolute()
        assert found.fingerprints == whole.fingerprints


class TestNeeds:
    """Trials whose `needs` are equal share what was prepared for one of them."""

    def test_nothing_is_read_that_they_leave_out(self, ready, monkeypatch):
        wanted = trial()
        read = set()
        for kind in (Trial, Selection, type(wanted.method)):
            monkeypatch.setattr(kind, "__getattribute__", recording(kind, read))
        wanted.needs()
        needed = set(read)
        read.clear()
        ready(wanted)
        assert {("Trial", "corpus"), ("Selection", "dev"), ("RobustSentEmbed", "needs_mask")} <= read
        assert read <= needed


def recording(kind, read):
    """`kind.__getattribute__` that notes which public attributes were read."""
    original = kind.__getattribute__

    def get(self, name):
        if not name.startswith(("_", "model_")):
            read.add((kind.__name__, name))
        return original(self, name)

    return get


class TestGenerator:
    @pytest.mark.parametrize("encoder", ["tiny", "minilm"])
    def test_none_without_rtd(self, ready, encoder):
        found = ready(trial(encoder=encoder, method=NONE))
        assert found.generator == ""
        assert "generator" not in found.fingerprints

    def test_tiny_and_a_users_folder_are_their_own_or_another_folder_is(
        self, ready, small_copy, tmp_path, monkeypatch
    ):
        for name in ("base", "tiny"):
            found = ready(trial(method={"rtd": {"generator": name}}))
            assert found.generator == found.base
        base, other = small_copy("base"), small_copy("other")
        assert ready(trial(encoder=base)).generator == str(base)
        found = ready(trial(encoder=base, method={"rtd": {"generator": str(other)}}))
        assert found.generator == str(other)
        monkeypatch.setenv("HOME", str(tmp_path))
        at_home = ready(trial(encoder="~/base", method={"rtd": {"generator": "~/other"}}))
        assert (at_home.base, at_home.generator) == (str(base), str(other))

    def test_minilm_gets_the_one_made_from_it_by_either_name(self, ready, cache):
        for name in ("base", "minilm-mlm"):
            found = ready(trial(encoder="minilm", method={"rtd": {"generator": name}}))
            assert found.base == str(tiny.minilm_folder())
            assert found.generator.startswith(str(cache / "assets" / "minilm-mlm-"))
            meta = json.loads((cache / "assets" / found.generator / META).read_text())
            assert meta["masked_accuracy"] > meta["unigram_accuracy"]
            assert found.fingerprints["base"] != found.fingerprints["generator"]

    def test_tiny_serves_tiny_alone_and_another_tokenizer_nobody(self, ready, small):
        with pytest.raises(InputError, match=r"method.rtd.generator: tiny: its tokenizer.*generator: base"):
            ready(trial(encoder="minilm", method={"rtd": {"generator": "tiny"}}))
        with pytest.raises(InputError, match=r"token \d+ is .* for the generator .* token by token"):
            ready(trial(method={"rtd": {"generator": str(small)}}))

    def test_an_unknown_name_is_refused(self, ready, monkeypatch):
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        with pytest.raises(InputError, match=r"no-such-generator: cannot be checked offline"):
            ready(trial(method={"rtd": {"generator": "no-such-generator"}}))


@pytest.fixture
def small_copy(ready, tmp_path):
    """Copies of the tiny asset under names of a user's; without meta.json, as anybody else's folder."""

    def small_copy(name):
        source = ready(trial()).base
        shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns(META))
        return tmp_path / name

    return small_copy


class TestWorthwhile:
    """A generator that guesses no better than the commonest token makes RTD trivial."""

    REFUSED = r"guesses .*% of masked tokens, the commonest token alone .*must beat the unigram.*lambda2: 0"

    def test_an_asset_is_judged_by_its_meta(self, ready):
        meta = Path(ready(trial()).base) / META
        kept = meta.read_text()
        content = json.loads(kept)
        try:
            meta.write_text(json.dumps({**content, "masked_accuracy": content["unigram_accuracy"]}))
            with pytest.raises(InputError, match=self.REFUSED):
                ready(trial())
            ready(trial(method=NONE))  # as an encoder it may serve
        finally:
            meta.write_text(kept)

    def test_a_users_folder_is_measured_once(self, ready, cache, small_copy):
        base = small_copy("mine")
        ready(trial(encoder=base))
        before = assets(cache)
        assert [name for name in before if name.startswith("generator-accuracy-")]
        ready(trial(encoder=base))
        assert assets(cache) == before

    def test_one_that_knows_nothing_is_refused(self, ready, small_copy):
        base = small_copy("blank")
        model = BertForMaskedLM.from_pretrained(base)
        for parameter in model.parameters():
            parameter.data.zero_()  # random weights guess well by chance, and others with other kernels
        model.save_pretrained(base)
        with pytest.raises(InputError, match=self.REFUSED):
            ready(trial(encoder=base))


class TestPromptAndOptimizer:
    PROMPT = "ta so "

    def test_a_corpus_is_tokenised_with_the_prompt_and_apart(self, ready):
        heard = Heard()
        plain, prompted = ready(trial(method=NONE)), ready(prompted_trial(self.PROMPT), heard)
        assert heard.messages[1] == f"prompt before every sentence: {self.PROMPT!r}"
        before, after = (TokenisedCorpus.open(made.corpus) for made in (plain, prompted))
        _, tokenizer = load_encoder(plain.base)
        for index in range(0, NUM, 50):
            ids = tokenizer(self.PROMPT + SENTENCES[index], truncation=True, max_length=16).input_ids
            assert after.row(index).tolist() == ids
        assert before.fingerprint != after.fingerprint
        assert {**plain.fingerprints, "corpus": ""} == {**prompted.fingerprints, "corpus": ""}

    def test_training_and_its_model_have_it(self, ready, tmp_path):
        wanted = prompted_trial(self.PROMPT, optimizer={"lr": 1e-3}, selection={"dev": "builtin", "every": 2})
        made = ready(wanted)
        points = list(train(wanted, 0, made, tmp_path / "cell"))
        for folder, point in ((made.base, points[0]), (tmp_path / "cell" / "model", points[-1])):
            encoder, tokenizer = load_encoder(folder, "mean", prompt=self.PROMPT if point.t == 0 else "")
            encoder.prompt, prompt = "", encoder.prompt
            pairs = made.dev.to_json()
            sides = {side: [prompt + text for text in pairs[side]] for side in ("first", "second")}
            rows = evaluate_sts(Embedder(encoder, tokenizer), [StsPairs.from_json({**pairs, **sides})])
            assert rows[0].value == pytest.approx(point.metrics["dev"], abs=1e-3)
            assert prompt == self.PROMPT

    def test_no_cell_is_shared_with_another_text_or_class(self, ready, data, cache, tmp_path):
        own = "import torch\nclass Mine(torch.optim.SGD):\n    pass\n"
        (tmp_path / "an_own_optimizer.py").write_text(own)
        mine = trial(method=NONE, optimizer={"class": "an_own_optimizer:Mine", "settings": {"momentum": 0.5}})
        made = prepare(mine, cache, data, beside=tmp_path)
        assert made.optimizer == own
        assert made.fingerprints["optimizer"] == fingerprint_of(own)
        assert Materials.load(made.save(tmp_path)).optimizer == own
        plain = ready(trial(method=NONE))
        assert "optimizer" not in plain.fingerprints
        assert "optimizer" not in plain._content()
        with pytest.raises(InputError, match="cannot be imported"):
            ready(trial(method=NONE, optimizer={"class": "no_such_module:Mine"}))


def prompted_trial(prompt, **changes):
    budget = {"unit": "steps", "amount": 4}
    given = trial(method={"name": "robust_sent_embed", **NONE, "lambda1": 0}, budget=budget, **changes)
    return given.model_copy(update={"encoder": given.encoder.model_copy(update={"prompt": prompt})})
