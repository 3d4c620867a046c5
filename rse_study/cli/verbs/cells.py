"""The bodies of `replay` and `export`: a cell run again, and its model handed on."""

import math
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import torch
import typer

from analysis.formats import counted
from rse_study.cli import arguments, parameters
from rse_study.cli.models import cell_folder, find_cell
from rse_study.cli.publishing import check_push, complete_card, publish, put_study_beside
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.errors import CONTRADICTED, INCOMPLETE, OK
from rse_study.cli.terminal.screen import announce, command, stderr, suggest
from rse_study.errors import InputError
from rse_study.models.export import export
from rse_study.models.loading import load_encoder
from rse_study.results.bit_equality import NEAR, what_differs
from rse_study.results.files.result_file import Point, Result
from rse_study.results.files.schema import MODEL_FOLDER
from rse_study.results.reader import Reader
from rse_study.results.records import FINISHED, MetricRow
from rse_study.results.row_names import names_by_identity
from rse_study.study.definition.reading import build
from rse_study.training.arithmetic import provenance
from rse_study.training.materials import Materials, other_materials
from rse_study.training.replay import ReplayComparison, ReplayDifference, replay
from rse_study.training.trial import Trial

MOST_SHOWN = 5


def replay_cell(
    study: parameters.RanStudyArgument,
    cell: parameters.CellArgument,
    out: Annotated[Path | None, typer.Option(help="Keep the retrained cell in this new folder.")] = None,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> int:
    """Train a cell again and compare every number with the ledger's.

    Does not change the study's own files. On the same kind of machine, numbers must agree to the last bit: exit code
    0 if they do, otherwise 1, with the first differences. On another kind of machine, or with other versions, exit
    code 0 if all agree to 1e-6, otherwise 3, with the largest differences.
    """
    study_dir = arguments.study_folder(study, store)
    name, recorded = record_of(study_dir, cell)
    where = f"{name} of {study_dir}"
    if (workers := recorded.provenance["workers"]) > 1:
        rule = f"{workers} workers trained it, and a replay is one process"
        remedy = "Run its study in another --store, and compare"
        raise InputError(f"{name} cannot be replayed", where=str(study_dir), rule=rule, remedy=remedy)
    device = require_device(recorded, where)
    if out:
        arguments.require_new_folder(out, where="--out")
    arguments.require_cache()
    trial = build(Trial, recorded.config, where=where)
    here = provenance(torch.device(device), 1, trial.precision) | {"threads": recorded.provenance["threads"]}
    if unlike := what_differs(here, recorded.provenance):
        announce(f"note: numbers need not be bit-identical ({'; '.join(unlike)})")
    with ActivityBars() as bars:
        beside = Path(study).parent if Path(study).is_file() else Path()
        materials = arguments.materials_of(bars, beside, trial, study_dir)
    require_fingerprints(recorded, materials, where)
    compared = _trained_again(name, recorded, trial, materials, out, device)
    announce(*verdict_lines(name, recorded, compared))
    if compared.is_confirmed:
        return OK
    suggest(f"{command('doctor')} (versions and machine)")
    return INCOMPLETE if compared.unlike else CONTRADICTED


def _trained_again(
    name: str, recorded: Result, trial: Trial, materials: Materials, out: Path | None, device: str
) -> ReplayComparison:
    threads = recorded.provenance["threads"]
    announce(f"{name}: again, with {counted(threads, 'thread')} on {device}")
    with tempfile.TemporaryDirectory(prefix="rse-study-replay-") as scratch, ActivityBars() as bars:
        folder, on_progress = out or Path(scratch) / "cell", partial(bars.advanced, f"{name}: steps")
        how: dict[str, Any] = {"threads": threads, "device": device, "on_progress": on_progress}
        return replay(trial, recorded.seed, materials, recorded, folder, **how)


def record_of(study_dir: Path, wanted: str) -> tuple[str, Result]:
    """Return the cell's name and its recorded result; InputError where it has none."""
    with Reader(study_dir) as reader:
        cells = reader.cells(retired=True)
        row = find_cell(cells, wanted, study_dir)
        history = reader.ledger.history(row["identity"])
        name = names_by_identity(reader.study(), reader.ledger.cells())[row["identity"]]
        status = reader.statuses_for_next_run()[row["identity"]]
    if status not in FINISHED or not {"workers", "threads"} <= row["provenance"].keys():
        shown = "lost" if status != row["status"] else status
        ended = f"{shown}: {row['reason']}" if row["reason"] else shown
        what, rule = f"{name} cannot be replayed", f"it is {ended}; there is no result to compare with"
        raise InputError(what, where=str(study_dir), rule=rule, remedy="Choose one that ended with a result")
    fields = {
        key: row[key]
        for key in ("identity", "seed", "config", "status", "reason", "provenance", "duration_s")
    }
    return name, Result(**fields, history=tuple(_points(history)))


def require_device(recorded: Result, where: str) -> str:
    """Return the device the cell ran on; raise InputError where there is none."""
    device = str(recorded.provenance.get("device_type", "cpu"))
    if device == "cuda" and not torch.cuda.is_available():
        rule, remedy = "there is none here", "Replay it on such a machine"
        raise InputError("was run on a GPU", where=where, rule=rule, remedy=remedy)
    return device


def require_fingerprints(recorded: Result, materials: Materials, where: str) -> None:
    """Raise InputError unless the materials are those the cell was trained on."""
    changed = other_materials(recorded.provenance.get("materials", {}), materials.fingerprints)
    if changed:
        remedy = (
            "Restore the files of that time (RSE_STUDY_DATA; RSE_STUDY_CACHE, where another kind of machine trains "
            "encoders and generators with other weights), or their versions"
        )
        raise InputError("other materials", where=where, rule="; ".join(changed), remedy=remedy)


def verdict_lines(name: str, recorded: Result, compared: ReplayComparison) -> Iterator[str]:
    """Describe whether the numbers are equal, with the first or largest differences."""
    num_numbers = sum(len(point.metrics) for point in recorded.history)
    size = f"{counted(compared.num_points, 'point')}, {counted(num_numbers, 'number')}"
    if recorded.status == "failed":
        size += f", and it failed again as it did: {recorded.reason}" if compared.is_equal else ""
    if compared.is_equal:
        yield f"{name}: bit-equal: {size}"
        return
    unlike, differences = "; ".join(compared.unlike), compared.differences
    if compared.is_confirmed:
        yield f"{name}: equal to 1e-6 ({unlike}): {size}, at most {compared.farthest:.1g} apart"
        return
    if compared.unlike:
        far = sorted(differences, key=lambda one: one.distance, reverse=True)
        num_far = sum(one.distance > NEAR for one in far)
        yield f"{name}: not equal to 1e-6: {counted(num_far, 'difference')} beyond it in {size}"
        yield f"    This contradicts nothing, because numbers need not be bit-identical ({unlike}). The largest:"
        differences = tuple(far[:num_far])
    else:
        yield f"{name}: not equal: {counted(len(differences), 'difference')} in {size}"
    yield from (f"    {_difference(difference)}" for difference in differences[:MOST_SHOWN])


def _difference(difference: ReplayDifference) -> str:
    recorded, again = (
        "absent" if value is None else value if isinstance(value, str) else repr(value)
        for value in (difference.recorded, difference.again)
    )
    apart = f" ({difference.distance:.1g} apart)" if math.isfinite(difference.distance) else ""
    return f"step {difference.t}, {difference.name}: {recorded} on record, {again} again{apart}"


def _points(history: list[MetricRow]) -> Iterator[Point]:
    for t, rows in groupby(history, lambda row: row.t):
        yield Point(t=t, metrics={row.name: row.value for row in rows})


def export_model(
    source: Annotated[
        str, parameters.argument("SOURCE", "A cell's folder (written by `train`), or a study that has run.")
    ],
    directory: Annotated[
        Path | None, parameters.argument("[DIR]", "A new folder; default with --push: its NAME.")
    ] = None,
    trial: Annotated[
        str,
        typer.Option(help="A study's trial: `best`, a number, TRIAL/SEED, or an identity's first digits."),
    ] = "best",
    push: Annotated[
        str, typer.Option(metavar="ORG/NAME", help="Also upload the folder to this new model of the hub.")
    ] = "",
    public: Annotated[
        bool, typer.Option("--public", help="Let everybody see what --push uploads; default: private.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write what --push would upload, and stop.")
    ] = False,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Write a model that transformers and sentence-transformers load.

    The vectors stay the same. The card says what was measured; the study's file and archive lie in study/.
    """
    directory = directory or Path(push.rpartition("/")[2])
    if directory == Path():
        raise InputError("DIR is missing", rule="an export needs a folder", remedy="Name a new folder")
    if push:
        check_push(push, is_draft=dry_run)
    elif public or dry_run:
        flag = "--public" if public else "--dry-run"
        raise InputError(flag, rule="says how to push", remedy="Add --push ORG/NAME, or leave it out")
    folder = cell_folder(source, trial, store)
    arguments.require_folder(directory, where="DIR")
    with ActivityBars(stderr()) as bars, bars.waiting("reading and writing the model"):
        encoder, tokenizer = load_encoder(folder / MODEL_FOLDER)
        export(directory, encoder, tokenizer)
        complete_card(directory, folder, push or directory.name)
        put_study_beside(directory, folder)
    print(f"{directory} ({encoder.pooling} pooling, from {folder})")
    if dry_run:
        print(f"not pushed: {directory} would become {push} ({'public' if public else 'private'})")
    elif push:
        address = publish(directory, push, is_public=public)  # whose bars are the hub's own
        print(f"{address} ({'public' if public else 'private'})")
    suggest(command("evaluate", directory))
