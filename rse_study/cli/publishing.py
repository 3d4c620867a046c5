"""An exported model for others: its card, its study beside it, and its way to the hub."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple
from math import isfinite, nan
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import Any, NamedTuple

from analysis.formats import counted
from rse_study.assets.store import trained_assets
from rse_study.data import cache_dir
from rse_study.data.catalogue import sets_by_path
from rse_study.data.hub_models import CARD, LIKE_A_PATH, OF_EACH, OUR_OWN, is_in_cache, model_file
from rse_study.errors import InputError, first_line
from rse_study.results.archive import write_archive
from rse_study.results.comparing.comparisons import MIN_SEEDS, objectives_of
from rse_study.results.export import citation
from rse_study.results.files.result_file import FILE_NAME, Result, read_result
from rse_study.results.files.schema import ledger_path
from rse_study.results.reader import Reader
from rse_study.results.statistics import t_interval

KIND = {"library_name": "sentence-transformers", "pipeline_tag": "sentence-similarity"}
PUBLISHED = {"minilm": ("sentence-transformers/all-MiniLM-L6-v2", "apache-2.0")}
"""the assets that are published models, and their licences"""
LANGUAGE = "en"  # of all data that come with the product; the base's own card may name others


def put_study_beside(directory: Path, cell: Path) -> None:
    """Put the file and the archive of a cell's study into an export's folder."""
    study, folder = cell.parent.parent, directory / "study"
    if ledger_path(study).is_file():
        folder.mkdir()
        with Reader(study) as reader:
            resolved, name = reader.study().resolved, reader.study().name
        (folder / f"{name}.yaml").write_text(json.dumps(resolved, indent=2, ensure_ascii=False))
        write_archive(study, folder / f"{name}.tar.xz", trained_assets(study, cache_dir()))


def check_push(name: str) -> None:
    """Raise InputError if nothing can be pushed to a repository ORG/NAME from here."""
    from huggingface_hub import constants, get_token
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id

    rule, remedy = "", "Name an account or organisation and a model: ORG/NAME"
    try:
        validate_repo_id(name)
    except HFValidationError as error:
        rule = first_line(error)
    if rule or "/" not in name:
        raise InputError(f"--push {name!r}", rule=rule or "names no account of the hub", remedy=remedy)
    if constants.is_offline_mode():
        raise InputError("--push", rule="HF_HUB_OFFLINE is set", remedy="Unset it, or leave out --push")
    if not get_token():
        raise InputError(
            "--push", rule="there is no token for the hub", remedy="Run `hf auth login`, or set HF_TOKEN"
        )


def publish(directory: Path, name: str, *, is_public: bool) -> str:
    """Upload a folder to a new or empty repository of models on the hub; return its address.

    Raises InputError if the repository holds files, is public though that was not asked for, or the hub refuses.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HTTPError

    api, remedy = HfApi(), "Name another repository, or delete that one on the hub"
    try:
        url = api.create_repo(name, private=not is_public, exist_ok=True)
        there = api.model_info(name)
        if files := {one.rfilename for one in there.siblings or ()} - {OF_EACH}:
            raise InputError(f"holds {counted(len(files), 'file')} already", where=name, remedy=remedy)
        if not is_public and not there.private:
            raise InputError("is public", where=name, rule="--public was not given", remedy=remedy)
        api.upload_folder(repo_id=name, folder_path=directory, commit_message=f"Add {directory.name}")
    except (HTTPError, OSError, ValueError, RuntimeError) as error:
        rule = f"the hub: {first_line(error)}"
        remedy = f"The model is whole in {directory}: correct this, then `hf upload {name} {directory}`"
        raise InputError("could not be pushed", where=name, rule=rule, remedy=remedy) from None
    return str(url)


def complete_card(directory: Path, cell: Path, name: str) -> None:
    """Add to an export's card what is known of a cell, for a model of this name.

    The metadata get base model, languages, licence, data sets and model-index: each measure of the study for this
    cell, and over all seeds of its row (of a search: over the fresh seeds of its trial) mean and 95% interval.
    """
    from huggingface_hub import EvalResult, ModelCard

    if not (cell / FILE_NAME).is_file():
        return
    card, result, source = ModelCard.load(directory / CARD), read_result(cell), ""
    scores = [Score("dev", "dev", value) for value in _kept(result)]
    if ledger_path(study := cell.parent.parent).is_file():
        with Reader(study) as reader:
            scores = [*_measured(reader, result.identity)]
            source = f"\n## Source\n\n{citation(reader)} Cell {result.identity[:16]}.\n"
    for key, value in {**KIND, **_origin(result.config), "model_name": name}.items():
        setattr(card.data, key, value)
    card.data.eval_results = [
        EvalResult(
            KIND["pipeline_tag"],
            dataset_type=one.measure.partition(",")[0],
            dataset_name=one.measure,
            metric_type=one.metric,
            metric_value=one.value,
            metric_args={"seed": result.seed, **one.over_seeds},
        )
        for one in scores
    ]
    config = json.dumps(result.config, indent=1)
    told = f"{_table(result.seed, scores)}{source}\n## Configuration\n\n```json\n{config}\n```\n"
    card.text = f"{card.text.rstrip()}\n{told}"
    card.save(directory / CARD)


class Score(NamedTuple):
    """A cell's score, and what its row has over all seeds."""

    measure: str
    metric: str
    value: float
    over_seeds: Mapping[str, Any] = MappingProxyType({})


def _kept(result: Result) -> list[float]:
    """Return the dev score at the kept checkpoint, or at the end."""
    return [result.final[metric] for metric in ("dev/kept", "dev") if metric in result.final][:1]


def _measured(reader: Reader, identity: str) -> Iterator[Score]:
    """Yield the cell's score on the objective and on each measure."""
    cells, study = reader.cells(retired=True).set_index("identity"), reader.study()
    own = cells.loc[identity]
    of_trial = cells[(cells["trial"] == own["trial"]) & ~cells["retired"]]
    row = of_trial[of_trial["stage"] == ("confirm" if "confirm" in {*of_trial["stage"]} else own["stage"])]
    scores = reader.evaluations(retired=True).pivot_table("value", "subject", "metric")
    found = {study.objective.label or study.objective.metric: (study.objective.metric, objectives_of(reader))}
    found |= {one.name: (one.metric, scores.get(one.metric, {})) for one in study.shown_measures}
    for measure, (metric, by_cell) in found.items():
        known = {seed: by_cell[one] for one, seed in row["seed"].items() if one in by_cell}
        known = {seed: float(value) for seed, value in known.items() if isfinite(value)}
        over = {"seeds": [*known], "mean": fmean(known.values())} if known else {}
        if len(known) >= MIN_SEEDS:
            over["interval_95"] = [*astuple(t_interval([*known.values()]))]
        if isfinite(by_cell.get(identity, nan)):
            yield Score(measure, metric, float(by_cell[identity]), over)


def _table(seed: int, scores: Sequence[Score]) -> str:
    lines = [
        f"| {one.measure} | {one.value:.2f} | {one.over_seeds.get('mean', nan):.2f} | "
        f"{' to '.join(f'{end:.2f}' for end in one.over_seeds.get('interval_95', ()))} | "
        f"{len(one.over_seeds.get('seeds', ()))} |\n".replace("nan", "")
        for one in scores
    ]
    heading = f"| measure | this model (seed {seed}) | mean over seeds | 95% interval | seeds |\n"
    return f"\n## Scores\n\n{heading}|---|--:|--:|--:|--:|\n{''.join(lines)}" if scores else ""


def _origin(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return base model, languages, licence and data sets, each only where it is known."""
    from huggingface_hub import ModelCard

    encoder, source = config["encoder"], config["corpus"]["source"]
    name, revision = encoder["name"], encoder["revision"]
    base, licence = PUBLISHED.get(name, (name if is_in_cache(name, revision) else None, None))
    path = None if name in OUR_OWN else model_file(name, CARD, revision)
    told: dict[str, Any] = {}
    with suppress(OSError, ValueError):  # a stranger's card may hold anything
        told = ModelCard.load(path).data.to_dict() if path else {}
    sets = filter(None, map(sets_by_path().get, source.get("paths", ())))
    on_hub = [home.repository for one in sets for home in one.homes if not getattr(home, "commit", "")]
    named = source.get("dataset", "")
    on_hub += [named] if named and not named.startswith(LIKE_A_PATH) and not Path(named).exists() else []
    return {
        "base_model": base or told.get("base_model"),
        "language": told.get("language", LANGUAGE),
        "license": licence or told.get("license"),
        "datasets": [*dict.fromkeys(on_hub)] or None,
    }
