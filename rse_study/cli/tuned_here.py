"""What `evaluate --suite nli` and `glue` do: classifiers fine-tuned from an encoder, scored on held-out texts."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from rse_study.assets.victim import WEAK, VictimClassifier
from rse_study.cli.json_text import json_of
from rse_study.cli.model_argument import model_name
from rse_study.cli.places import require_cache, require_folder
from rse_study.cli.screen import announce, print_table
from rse_study.data.glue import GLUE, GLUE_LAYOUT
from rse_study.data.location import cache_dir
from rse_study.data.pairs import StsPairs
from rse_study.data.text_files import SET_DATA
from rse_study.downstream.fine_tuned import FineTunedTask
from rse_study.downstream.glue import PREFIX, GlueFineTuned
from rse_study.downstream.nli import NliFineTuned
from rse_study.downstream.registry import FINE_TUNED, NLI
from rse_study.downstream.scored_model import ModelFiles
from rse_study.downstream.settings import Settings
from rse_study.errors import InputError, MissingFile
from rse_study.models.loading import load_encoder
from rse_study.registry import Registry
from rse_study.results.records import EvaluationRow

TOLD_EVERY = 50  # steps
Announce = Callable[[str], None]
_NLI_LAYOUT = "nli/snli/..., nli/mnli/..., nli/anli/R1/{train,dev,test}.jsonl (plain or .gz)"


@dataclass(frozen=True)
class FineTuningRequest:
    """What is fine-tuned for. `on`: tasks by name; without any, all whose texts are in the data folder."""

    suite: str  # nli or glue
    data_dir: Path
    on: Sequence[str]
    settings: Settings
    out: Path | None


def tuned_here(model: str, pooling: str, asked: FineTuningRequest, threads: int, as_json: bool) -> None:
    """Fine-tune, score, print. Interrupted, the same command goes on. Nothing trains before all was looked for."""
    require_cache()
    if asked.out is not None:
        require_folder(asked.out, where="--out")
    say: Announce = partial(print, file=sys.stderr, flush=True) if as_json else announce
    folder, absent = model_name(model), dict[str, str]()
    evaluations = _here(asked, absent)
    kind = load_encoder(folder, pooling)[0].pooling
    weights = ModelFiles(folder, kind, cache_dir() / "assets", cache_dir() / "assets")
    if threads:
        torch.set_num_threads(threads)
    rows = [row for one in evaluations for row in _rows(one, weights, model, say)]
    told = {"model": model, "pooling": weights.pooling_of_classifiers, "suite": asked.suite, "absent": absent}
    content = json_of({**told, "rows": [row.model_dump(mode="json") for row in rows]})
    if asked.out is not None:
        asked.out.mkdir(parents=True, exist_ok=True)
        (asked.out / f"{asked.suite}.json").write_text(content + "\n", encoding="utf-8")
    if as_json:
        announce(content)
        return
    print_table(_table(rows))
    for name, reason in absent.items():
        announce(f"{name}: {reason}")


def _here(asked: FineTuningRequest, absent: dict[str, str]) -> list[FineTunedTask]:
    """What is asked, read; without a wish, what is here. Names of what is not go to `absent`, with the reason."""
    known = Registry(f"{asked.suite} task", dict.fromkeys(NLI if asked.suite == "nli" else GLUE, None))
    for name in asked.on:
        known.get(name, where="--on")
    found = (
        [_read(name, asked) for name in asked.on] if asked.on else list(_present(tuple(known), asked, absent))
    )
    if not found:
        layout = _NLI_LAYOUT if asked.suite == "nli" else f"{asked.settings.tasks.glue}/{GLUE_LAYOUT}"
        hub = "" if asked.suite == "nli" else ". A task named by --on is asked of the hub"
        rule, remedy = f"the layout is {layout} in the data folder", f"{SET_DATA}{hub}"
        raise InputError(
            f"no {asked.suite} task is here", where=str(asked.data_dir), rule=rule, remedy=remedy
        )
    absent |= {path: "not in the data folder" for one in found for path in one.lacking}
    return found


def _present(
    names: Sequence[str], asked: FineTuningRequest, absent: dict[str, str]
) -> Iterator[FineTunedTask]:
    """Tasks with files in the data folder; nothing is fetched."""
    if asked.suite == "glue" and not (asked.data_dir / asked.settings.tasks.glue).is_dir():
        return
    for name in names:
        try:
            yield _read(name, asked)
        except MissingFile as problem:
            absent[name] = str(problem)


def _read(name: str, asked: FineTuningRequest) -> FineTunedTask:
    if asked.suite == "nli":
        return NliFineTuned.read(f"{name}/{FINE_TUNED}", asked.data_dir, asked.settings)
    return GlueFineTuned.read(f"{PREFIX}{name}/{FINE_TUNED}", asked.data_dir, asked.settings)


def _rows(one: FineTunedTask, weights: ModelFiles, model: str, say: Announce) -> list[EvaluationRow]:
    """One task: its classifier, told every 50 steps, and what it scores."""

    def told(progress: Any) -> None:
        if progress.t % TOLD_EVERY == 0 or progress.t == progress.num_steps:
            say(f"{one.task}: step {progress.t} of {progress.num_steps}")

    made = one.classifier(weights, told)
    say(f"{one.task}: {_described(one, made)}")
    return one.rows(made, weights, model)


def _described(one: FineTunedTask, made: VictimClassifier) -> str:
    """What the classifier was trained on, and how well that went."""
    texts = f"{len(one.training) - made.num_removed} texts of {one.training.name} {one.training.split}"
    removed = f", {made.num_removed} left out that are scored" if made.num_removed else ""
    if isinstance(one.training, StsPairs):
        return f"{texts}{removed}; Spearman {made.dev_accuracy:.3f} on a held-out share"
    weak = f", below {WEAK:.0%}: weak" if made.is_weak else ""
    return f"{texts}{removed}; accuracy {made.dev_accuracy:.1%} on a held-out share{weak}"


def _table(rows: Sequence[EvaluationRow]) -> pd.DataFrame:
    """A row a figure."""
    shown = [
        {
            "task": row.task,
            "split": row.split,
            "metric": row.aggregation.removesuffix(row.split).strip(),
            "value": f"{row.value:.2f}",
            "examples": str(row.num_examples),
            "skipped": str(row.num_skipped),
            "weak": "weak" if row.degenerate else "",
        }
        for row in rows
    ]
    return pd.DataFrame(shown)
