"""A trial's materials on this machine: corpus, base encoder, generator and dev pairs, each made or found once."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers.utils import cached_file

from rse_study.assets.masked_lm import Told
from rse_study.assets.minilm import minilm_folder, minilm_generator
from rse_study.assets.store import META
from rse_study.assets.tiny import tiny_encoder
from rse_study.assets.tokenised import tokenised_corpus
from rse_study.data import builtin
from rse_study.data.corpus import Sentences, read_corpus
from rse_study.data.pairs import StsPairs
from rse_study.data.readers import read_sts
from rse_study.data.tokenised import TokenisedCorpus
from rse_study.errors import InputError
from rse_study.models.loading import load_tokenizer
from rse_study.models.rtd import check_same_tokenizer
from rse_study.spec import fingerprint_of, hash_file
from rse_study.training.materials import Materials
from rse_study.training.trial import Selection, Trial

Announce = Callable[[str], None]
TOLD_EVERY = 100  # steps between two lines about an asset's training


def prepare(
    trial: Trial, cache_dir: Path, data_dir: Path, announce: Announce = lambda line: None
) -> Materials:
    """Everything a trial is trained on and judged by. Raises InputError where something is missing or misfit."""
    corpus = read_corpus(trial.corpus, data_dir)
    announce(f"corpus: {corpus}")
    dev = dev_pairs(trial.selection, data_dir)
    root = cache_dir / "assets"
    base = _base(trial, root, corpus, announce)
    tokenizer = load_tokenizer(base, trial.encoder.revision)
    generator = _generator(trial, base, root, corpus, announce)
    if generator:
        check_same_tokenizer(load_tokenizer(generator), tokenizer)
    tokenised = tokenised_corpus(root, corpus.sentences, tokenizer, trial.max_length, trial.encoder.template)
    fingerprints = {
        "corpus": TokenisedCorpus.open(tokenised).fingerprint,
        "base": fingerprint_of_model(base, trial.encoder.revision),
        "dev": dev.fingerprint,
    }
    if generator:
        fingerprints["generator"] = fingerprint_of_model(generator, "main")
    return Materials(tokenised, base, dev, generator, fingerprints)


def dev_pairs(selection: Selection, data_dir: Path) -> StsPairs:
    """The dev pairs a trial is selected on: dev splits only, by the type of the field."""
    if selection.dev == "builtin":
        return builtin.graded_pairs("dev")
    return read_sts(selection.dev, "dev", data_dir)


def fingerprint_of_model(path_or_name: str, revision: str) -> str:
    """sha256 of a folder's configuration, tokenizer and weights; a hub name's commit."""
    folder = Path(path_or_name)
    if not folder.is_dir():
        found = cached_file(path_or_name, "config.json", revision=revision)
        return f"{path_or_name}@{Path(str(found)).parent.name}"
    names = ("config.json", "tokenizer.json", "vocab.txt", "model.safetensors", "pytorch_model.bin")
    return fingerprint_of({name: hash_file(folder / name) for name in names if (folder / name).is_file()})


def _base(trial: Trial, root: Path, corpus: Sentences, announce: Announce) -> str:
    if trial.encoder.name == "tiny":
        return str(tiny_encoder(root, corpus.sentences, told=_teller("tiny", announce)))
    return str(minilm_folder()) if trial.encoder.name == "minilm" else trial.encoder.name


def _generator(trial: Trial, base: str, root: Path, corpus: Sentences, announce: Announce) -> str:
    """Folder or name of G; empty where RTD is off."""
    if not trial.method.needs_generator:
        return ""
    wanted = trial.method.rtd.generator
    if wanted == "minilm-mlm" or (wanted == "base" and trial.encoder.name == "minilm"):
        teller = _teller("minilm-mlm", announce)
        return _worthwhile(minilm_generator(root, corpus.sentences, told=teller))
    if wanted == "tiny" and trial.encoder.name != "tiny":
        where, rule = (
            "method.rtd.generator",
            "its tokenizer is the encoder's only where the encoder is tiny too",
        )
        raise InputError("tiny", where=where, rule=rule, remedy="Use generator: base, or encoder.name: tiny")
    if trial.encoder.name == "tiny" and wanted in ("base", "tiny"):
        return _worthwhile(Path(base))
    return base if wanted == "base" else wanted


def _worthwhile(generator: Path) -> str:
    """A generator that guesses no better than the commonest token makes RTD trivial."""
    meta: dict[str, Any] = json.loads((generator / META).read_text(encoding="utf-8"))
    model, unigram = meta["masked_accuracy"], meta["unigram_accuracy"]
    if model <= unigram:
        raise InputError(
            f"the generator guesses {model:.1%} of masked tokens, the commonest token alone {unigram:.1%}",
            where=str(generator),
            rule="a generator must beat the unigram baseline, else replaced tokens are trivial to find",
            remedy="Use a larger corpus or another generator, or set lambda2: 0",
        )
    return str(generator)


def _teller(name: str, announce: Announce) -> Told:
    def told(done: int, total: int, loss: float) -> None:
        if done % TOLD_EVERY == 0 or done == total:
            announce(f"asset {name}: masked-LM step {done} of {total}, loss {loss:.2f}")

    return told
