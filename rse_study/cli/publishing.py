"""An exported model for others: its card, its study, and its way to the hub."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple
from math import isfinite, nan
from pathlib import Path
from statistics import fmean
from typing import Any

from analysis.formats import counted
from rse_study.assets.store import trained_assets
from rse_study.cli.terminal.screen import json_of
from rse_study.data import cache_dir
from rse_study.data.catalogue import sets_by_path
from rse_study.data.hub_models import CARD, CONFIG, LIKE_A_PATH, OF_EACH, OUR_OWN, model_file
from rse_study.errors import InputError, first_line
from rse_study.results.archive import write_archive
from rse_study.results.comparing.comparisons import MIN_SEEDS, by_subject
from rse_study.results.export import citation
from rse_study.results.files.result_file import FILE_NAME, Result, read_result
from rse_study.results.files.schema import ledger_path
from rse_study.results.reader import Reader
from rse_study.results.statistics import t_interval
from rse_study.results.study_record import AT_CHECKPOINT

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
        (folder / f"{name}.yaml").write_text(json_of(resolved))
        write_archive(study, folder / f"{name}.tar.xz", trained_assets(study, cache_dir()))


def check_push(name: str, *, is_draft: bool) -> None:
    """Raise InputError if nothing could be pushed to ORG/NAME from here."""
    from huggingface_hub import constants, get_token
    from huggingface_hub.utils import validate_repo_id

    try:
        validate_repo_id(name)
        _owner, _name = name.split("/")
    except ValueError:
        remedy = "Name an account or organisation, and a model"
        raise InputError(f"--push {name!r}", rule="is no ORG/NAME of the hub", remedy=remedy) from None
    if not is_draft and (constants.is_offline_mode() or not get_token()):
        rule = "HF_HUB_OFFLINE is set" if constants.is_offline_mode() else "there is no token for the hub"
        raise InputError("--push", rule=rule, remedy="Run `hf auth login` or set HF_TOKEN, and be online")


def publish(directory: Path, name: str, *, is_public: bool) -> str:
    """Upload a folder to a new or empty model of the hub, and return its address.

    Raises InputError if there are files, if others see it who should not (or do not who should), or the hub refuses.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HTTPError

    api, remedy = HfApi(), "Name another repository, or delete that one on the hub"
    try:
        url = api.create_repo(name, private=not is_public, exist_ok=True)
        there = api.model_info(name)
        if files := {one.rfilename for one in there.siblings or ()} - {OF_EACH}:
            raise InputError(f"holds {counted(len(files), 'file')} already", where=name, remedy=remedy)
        if is_public == bool(there.private):
            what = f"is {'private' if there.private else 'public'} already"
            raise InputError(what, where=name, rule="unlike what --public says", remedy=remedy)
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
    from huggingface_hub import ModelCard

    if not (cell / FILE_NAME).is_file():
        return
    card, result, source = ModelCard.load(directory / CARD), read_result(cell), ""
    kept = next((one for one in ("dev/kept", "dev") if one in result.final), "")
    scores = [_result("dev", kept, result.final[kept], seed=result.seed)] if kept else []
    if ledger_path(study := cell.parent.parent).is_file():
        with Reader(study) as reader:
            scores = [*_measured(reader, result)] or scores
            source = f"\n## Source\n\n{citation(reader)} Cell {result.identity[:16]}.\n"
    for key, value in {**KIND, **_origin(result.config), "model_name": name}.items():
        setattr(card.data, key, value)
    card.data.eval_results = scores
    card.text += (
        f"{_table(result.seed, scores)}{source}\n## Configuration\n\n```json\n{json_of(result.config)}\n```\n"
    )
    card.save(directory / CARD)


def _result(measure: str, metric: str, value: float, **over_seeds: Any) -> Any:
    """Return the hub's record of a score, and of what its row has over all seeds."""
    from huggingface_hub import EvalResult

    dataset = metric.rpartition("/")[0] or metric
    return EvalResult(KIND["pipeline_tag"], dataset, measure, metric, value, metric_args=over_seeds)


def _measured(reader: Reader, result: Result) -> Iterator[Any]:
    """Yield the cell's score on every objective and measure.

    A retired cell, of an earlier revision, has its own scores alone: other cells have its row's number today.
    """
    cells, study = reader.cells(retired=True).set_index("identity"), reader.study()
    if result.identity not in cells.index:
        return
    own = cells.loc[result.identity]
    of_trial = cells[(cells["trial"] == own["trial"]) & ~cells["retired"] & (not own["retired"])]
    row = of_trial[of_trial["stage"] == ("confirm" if "confirm" in {*of_trial["stage"]} else own["stage"])]
    scores = reader.evaluations(retired=True).pivot_table("value", "subject", "metric")
    found: dict[str, tuple[str, Any]] = {}
    for one in study.all_objectives:
        kept = one.curve + AT_CHECKPOINT  # where there is one, the exported weights are its
        metric = kept if kept in result.final else one.metric
        found[one.label or one.metric] = metric, by_subject(reader, metric)
    found |= {one.name: (one.metric, scores.get(one.metric, {})) for one in study.shown_measures}
    for measure, (metric, by_cell) in found.items():
        value = float(by_cell.get(result.identity, result.final.get(metric, nan)))
        known = {seed: by_cell[one] for one, seed in row["seed"].items() if one in by_cell}
        known = {seed: float(one) for seed, one in known.items() if isfinite(one)}
        over = {"seeds": [*known], "of": len(row), "mean": fmean(known.values())} if known else {}
        if len(known) >= MIN_SEEDS:
            over["interval_95"] = [*astuple(t_interval([*known.values()]))]
        if isfinite(value):
            yield _result(measure, metric, value, seed=result.seed, **over)


def _table(seed: int, scores: Sequence[Any]) -> str:
    lines = []
    for one in scores:
        seeds, of, mean, ends = (
            one.metric_args.get(key, ()) for key in ("seeds", "of", "mean", "interval_95")
        )
        interval = " to ".join(f"{end:.4g}" for end in ends)
        over = f"{mean:.4g} | {interval} | {len(seeds)} of {of}" if seeds else "| |"
        lines.append(f"| {one.dataset_name} | {one.metric_value:.4g} | {over} |\n")
    heading = f"| measure | this model (seed {seed}) | mean over seeds | 95% interval | seeds |\n"
    return f"\n## Scores\n\n{heading}|---|--:|--:|--:|--:|\n{''.join(lines)}" if scores else ""


def _origin(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return base model, languages, licence and data sets, each only where it is known."""
    from huggingface_hub import ModelCard

    encoder, source = config["encoder"], config["corpus"]["source"]
    name, revision = encoder["name"], encoder.get("revision", "main")  # old cells name none
    is_on_hub = not Path(name).is_dir() and model_file(name, CONFIG, revision) is not None
    base, licence = PUBLISHED.get(name, (name if is_on_hub else None, None))
    path = None if name in OUR_OWN else model_file(name, CARD, revision)
    told: dict[str, Any] = {}
    with suppress(Exception):  # a stranger's card may hold anything
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
