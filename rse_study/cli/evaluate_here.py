"""What `evaluate` does: an encoder, the STS sets that are here, a table."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import torch

from rse_study.cli.found import model_name
from rse_study.cli.screen import announce, print_table
from rse_study.data.location import data_dir
from rse_study.data.pairs import StsPairs
from rse_study.data.readers import Variant, read_sts
from rse_study.errors import InputError, MissingFile
from rse_study.evaluation.sts import AGGREGATIONS, SEVEN, StsScore, average, evaluate_sts
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.models.stored import stored_template

SPLITS = (*((name, "test") for name in SEVEN), ("STS-B", "dev"))


def evaluate_here(
    model: str, data: Path | None, pooling: str, variant: Variant, threads: int, as_json: bool
) -> None:
    """Evaluate and print."""
    name, folder = model_name(model), data or data_dir()
    tasks, absent = find_tasks(folder, variant)
    if not tasks:
        remedy = "Set RSE_STUDY_DATA or --data, or fetch sets: rse-study data list"
        raise InputError("no STS set is here", where=str(folder), remedy=remedy)
    if threads:
        torch.set_num_threads(threads)
    encoder, tokenizer = load_encoder(name, pooling)
    template = stored_template(name) if encoder.pooling == "prompt" else ""
    if encoder.pooling == "prompt" and not template:
        rule = "it reads the vector at a template's [MASK], and no template is stored beside these weights"
        remedy = "Use cls, mean or first_last, or a model trained here with prompt pooling"
        raise InputError("pooling 'prompt'", where=model, rule=rule, remedy=remedy)
    scores = evaluate_sts(Embedder(encoder, tokenizer, template), tasks)
    if as_json:
        content = {"model": model, "pooling": encoder.pooling, "variant": variant, "absent": absent}
        announce(json.dumps({**content, "scores": [asdict(score) for score in scores]}, indent=1))
        return
    announce(f"{model}, {encoder.pooling} pooling, {variant} text: Spearman x100")
    print_table(table_of(scores, absent))


def find_tasks(folder: Path, variant: Variant) -> tuple[list[StsPairs], dict[str, str]]:
    """The STS sets in the data folder; and of those that are not (all) there, what is missing."""
    tasks, absent = [], {}
    for name, split in SPLITS:
        try:
            tasks.append(read_sts(name, split, folder, variant))
        except MissingFile as error:
            absent[f"{name} {split}"] = f"lacks {error.part}" if error.part else "absent"
    return tasks, absent


def table_of(scores: Sequence[StsScore], absent: Mapping[str, str]) -> pd.DataFrame:
    """One row a set: three aggregations, pairs; then the papers' average, and what is absent."""
    rows: dict[str, dict[str, str]] = {}
    for score in scores:
        row = rows.setdefault(f"{score.task} {score.split}", {"pairs": str(score.num_examples)})
        row[score.aggregation] = f"{score.spearman:.2f}{' (degenerate)' if score.degenerate else ''}"
    rows |= {name: {"pairs": missing} for name, missing in absent.items()}
    present = {score.task for score in scores if score.split == "test"}
    if present >= set(SEVEN):
        rows["average of the seven"] = {name: f"{average(scores, name):.2f}" for name in AGGREGATIONS}
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=[*AGGREGATIONS, "pairs"]).fillna("")
    return frame.rename_axis("set").reset_index()
