"""A trial's materials on this machine: corpus, encoder, generator, dev pairs."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rse_study.activity import SILENCE, ActivityCallback
from rse_study.assets.masked_lm import TrainingCallback, masked_accuracy, split
from rse_study.assets.replayed import Reference, adversarial_set, adversarial_texts
from rse_study.assets.store import META, build, fingerprint_of_model, write_meta
from rse_study.assets.tiny import TINY, minilm_generator, packaged, tiny_encoder
from rse_study.assets.tokenised import synonym_table, tokenised_corpus
from rse_study.assets.trial_checks import check_encoder, check_length, check_tokens, usable_length
from rse_study.data import study_folders
from rse_study.data.batches import Synonyms
from rse_study.data.corpus import check_batch, read_corpus
from rse_study.data.hub_models import check_model, local_name
from rse_study.data.labelled import StsPairs, joined
from rse_study.data.lexicons import wordnet_archive
from rse_study.data.own_tables import with_views
from rse_study.data.readers import read_dev
from rse_study.data.tokenised import TokenisedCorpus, tokenise
from rse_study.errors import InputError
from rse_study.evaluation.replayed import ReplayedPairs, ReplayedTexts
from rse_study.models.generators import check_same_tokenizer, load_generator
from rse_study.models.loading import load_tokenizer
from rse_study.spec import fingerprint_of
from rse_study.training.arithmetic import torch_threads
from rse_study.training.materials import Materials, require_generator
from rse_study.training.own_optimizer import source_of_optimizer
from rse_study.training.trial import Selection, Trial

MEASURED_LENGTH = 64  # tokens
MEASURED_ON = 4000  # sentences: 3,800 to count words by, 200 held out


def choose_generator(
    trial: Trial, base: str, root: Path, sentences: list[str], on_progress: TrainingCallback, *folders: Path
) -> tuple[str, str]:
    """Return G as (folder or hub name, revision), empty without RTD; it may be tuned."""
    require_generator(trial, *folders)
    if not trial.method.generator:
        return "", ""
    wanted, encoder = trial.method.generator, trial.encoder
    if wanted == "minilm-mlm" or (wanted == "base" and encoder.name == "minilm"):
        return str(minilm_generator(root, sentences, on_progress=on_progress)), "main"
    if wanted in ("base", "tiny"):
        return base, encoder.revision
    return local_name(wanted, *folders), "main"


def check_generator(
    name: str, revision: str, tokenizer: Any, wanted_length: int, root: Path, sentences: list[str]
) -> None:
    """Refuse a generator that does not fit the encoder or is no better than a unigram."""
    check_same_tokenizer(load_tokenizer(name, revision), tokenizer)
    usable = usable_length(name, revision, tokenizer)
    check_length(wanted_length, usable, name)
    known = _accuracies(Path(name) / META)
    model, unigram = known or _measure(name, revision, tokenizer, usable, root, sentences)
    if model <= unigram:
        what = f"the generator guesses {model:.1%} of masked tokens, the commonest token alone {unigram:.1%}"
        rule = "a generator must beat the unigram baseline, else replaced tokens are trivial to find"
        remedy = "Use a larger corpus or another generator, or set lambda2: 0"
        raise InputError(what, where=name, rule=rule, remedy=remedy)


def _accuracies(meta: Path) -> tuple[float, float] | None:
    """Read the masked accuracies (G's, unigram's) from an asset's meta.json, if any."""
    content = json.loads(meta.read_text(encoding="utf-8")) if meta.is_file() else None
    if not isinstance(content, dict) or not {"masked_accuracy", "unigram_accuracy"} <= content.keys():
        return None
    return content["masked_accuracy"], content["unigram_accuracy"]


def _measure(
    name: str, revision: str, tokenizer: Any, usable: int, root: Path, sentences: list[str]
) -> tuple[float, float]:
    """Measure the accuracies of a generator that was not built here, once per corpus."""
    generator = load_generator(name, revision)
    used, length = sentences[:MEASURED_ON], min(MEASURED_LENGTH, usable)
    key = {"generator": fingerprint_of_model(name, revision), "sentences": fingerprint_of(used)}

    def write(draft: Path) -> None:
        training, held_out = split(used)
        with TemporaryDirectory() as scratch, torch_threads(1):
            seen = tokenise(training, tokenizer, length, Path(scratch) / "training")
            left = tokenise(held_out, tokenizer, length, Path(scratch) / "held_out")
            found = masked_accuracy(generator.model, left, seen)
        draft.mkdir(parents=True)
        write_meta(draft, {"masked_accuracy": found.model, "unigram_accuracy": found.unigram})

    found = _accuracies(build(root, "generator-accuracy", key, write) / META)
    assert found is not None
    return found


def prepare(
    trial: Trial, cache_dir: Path, data_dir: Path, callback: ActivityCallback = SILENCE, beside: Path = Path()
) -> Materials:
    """Collect or build everything a trial needs for training and selection.

    `beside` is the folder of the file that names corpus and models, in which they may lie.
    """
    folders = study_folders(beside, data_dir)
    for model in trial.models.values():
        check_model(*model, *folders)  # fails now rather than after a minute of tries
    corpus = read_corpus(trial.corpus, data_dir, beside)
    callback.message(f"corpus: {corpus}")
    all_texts, num_sentences = corpus.sentences, len(corpus.sentences)
    if trial.views:
        all_texts, note = with_views(trial.views, all_texts, *folders, is_triple=trial.needs_negatives)
        callback.message(f"views: {note}")
    check_batch(trial.batch_size, num_sentences)
    optimizer = source_of_optimizer(trial.optimizer, beside)
    if trial.method.needs_synonyms:
        wordnet_archive(data_dir)  # fails now rather than after minutes of training
    dev = dev_pairs(trial.selection, *folders)
    root = cache_dir.absolute() / "assets"
    base = _base(trial, root, corpus.sentences, callback, folders)
    tokenizer = load_tokenizer(base, trial.encoder.revision)
    asked, on_tokens = (trial.max_length, trial.encoder.template), "corpus: sentences tokenised"
    if prompt := check_encoder(trial, base, tokenizer):
        callback.message(f"prompt before every sentence: {prompt!r}")
    prompted, told = [prompt + one for one in all_texts], partial(callback.advanced, on_tokens)
    tokenised = tokenised_corpus(root, prompted, tokenizer, *asked, told, len(all_texts) // num_sentences)
    callback.message(check_tokens(trial, TokenisedCorpus.open(tokenised), tokenizer))
    on_progress = _training_progress("minilm-mlm", callback)
    generator, revision = choose_generator(trial, base, root, corpus.sentences, on_progress, *folders)
    if generator:
        check_generator(generator, revision, tokenizer, trial.max_length, root, corpus.sentences)
    synonyms = str(synonym_table(root, tokenizer, data_dir)) if trial.method.needs_synonyms else ""
    replayed, texts = _replayed(trial, base, (dev.tasks() or (dev,))[0], root, folders, callback)
    made = Materials(
        corpus=tokenised,
        num_sentences=num_sentences,
        base=_whole_path(base),
        dev=dev,
        generator=_whole_path(generator),
        generator_revision=revision,
        synonyms=synonyms,
        replayed=replayed,
        replayed_texts=texts,
        optimizer=optimizer,
    )
    return replace(made, fingerprints=_fingerprints(made, trial.encoder.revision))


def _fingerprints(made: Materials, revision: str) -> dict[str, str]:
    """Return the sha256 of each part that there is, by name."""
    parts = {
        "corpus": TokenisedCorpus.open(made.corpus).fingerprint,
        "base": fingerprint_of_model(made.base, revision),
        "dev": made.dev.fingerprint,
        "generator": made.generator and fingerprint_of_model(made.generator, made.generator_revision),
        "synonyms": made.synonyms and Synonyms.open(Path(made.synonyms)).fingerprint,
        "replayed": made.replayed and ReplayedPairs.open(Path(made.replayed)).fingerprint,
        "optimizer": made.optimizer and fingerprint_of(made.optimizer),
        "replayed_texts": made.replayed_texts and ReplayedTexts.open(Path(made.replayed_texts)).fingerprint,
    }
    return {name: fingerprint for name, fingerprint in parts.items() if fingerprint}


def _replayed(
    trial: Trial, base: str, dev: StsPairs, root: Path, folders: tuple[Path, ...], callback: ActivityCallback
) -> tuple[str, str]:
    """Return the folders of attacked pairs and texts; empty where a trial replays none."""
    asked, data_dir, pairs, texts = trial.replayed, folders[-1], "", ""
    if asked.recipe == "none":
        return pairs, texts
    reference = Reference.of(asked, base, trial.encoder, *folders)
    on_progress = partial(callback.advanced, f"adversarial set: pairs attacked by {asked.recipe}")
    pairs = str(adversarial_set(root, asked, reference, dev, data_dir, on_progress))
    callback.message(f"adversarial set: {_described(pairs, f'{asked.num_pairs} pairs', 'Spearman')}")
    if asked.labelled != "none":
        on_progress = partial(callback.advanced, f"adversarial texts: texts attacked by {asked.recipe}")
        texts = str(adversarial_texts(root, asked, reference, data_dir, on_progress))
        callback.message(f"adversarial texts: {_described(texts, str(asked.num_texts), 'accuracy')}")
    return pairs, texts


def _described(folder: str, wanted: str, figure: str) -> str:
    made = json.loads((Path(folder) / META).read_text(encoding="utf-8"))
    clean, now = made[f"clean_{figure.lower()}"], made[f"{figure.lower()}_under_attack"]
    changed = f"{made['num_changed']} of {wanted} changed by {made['recipe']}"
    return f"{changed}, the reference's {figure} {clean:.1f} -> {now:.1f}"


def dev_pairs(selection: Selection, *folders: Path) -> StsPairs:
    """Read the dev pairs on which a trial is selected; several sets are joined."""
    return joined([read_dev(name, *folders) for name in selection.sets], "dev")


def _base(
    trial: Trial, root: Path, sentences: list[str], callback: ActivityCallback, folders: tuple[Path, ...]
) -> str:
    name = trial.encoder.name
    if name in TINY:
        return str(tiny_encoder(root, sentences, TINY[name], _training_progress(name, callback)))
    return packaged(trial.encoder.name, *folders)


def _whole_path(name: str) -> str:
    """Make a folder's path absolute, since Ray's workers run elsewhere."""
    return str(Path(name).absolute()) if name and Path(name).is_dir() else name


def _training_progress(name: str, callback: ActivityCallback) -> TrainingCallback:
    def on_progress(done: int, total: int, loss: float) -> None:
        callback.advanced(f"asset {name}: masked-LM steps", done, total, f"loss {loss:.2f}")

    return on_progress
