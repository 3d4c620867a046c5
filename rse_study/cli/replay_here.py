"""What `replay` does: a cell's record from the ledger, its materials again, the cell again, every number compared."""

import math
import tempfile
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from rse_study.assets import prepare
from rse_study.cli.cells import find_cell
from rse_study.cli.errors import CONTRADICTED, OK
from rse_study.cli.naming import names_by_identity
from rse_study.cli.places import require_cache, require_new_folder
from rse_study.cli.screen import announce
from rse_study.data.location import cache_dir, data_dir
from rse_study.errors import InputError
from rse_study.results.reader import Reader
from rse_study.results.records import FINISHED
from rse_study.results.result_file import Point, Result
from rse_study.study.definition.reading import build
from rse_study.training.materials import Materials
from rse_study.training.provenance import provenance
from rse_study.training.replay import ReplayComparison, ReplayDifference, replay
from rse_study.training.trial import Trial

MOST_SHOWN = 5


def replay_here(study_dir: Path, wanted: str, out: Path | None) -> int:
    """Run the cell again, say whether it is the same to the last bit; 1 where it is not."""
    name, recorded = record_of(study_dir, wanted)
    where = f"{name} of {study_dir}"
    workers, threads = recorded.provenance["workers"], recorded.provenance["threads"]
    device = require_device(recorded, where)
    if out:
        require_new_folder(out, where="--out")
    require_cache()
    trial = build(Trial, recorded.config, where=where)
    materials = prepare(trial, cache_dir(), data_dir(), announce)
    require_fingerprints(recorded, materials, where)
    for line in changes(recorded.provenance, provenance(torch.device(device))):
        announce(f"note: {line}")
    announce(f"{name}: again, with {workers} worker(s) of {threads} thread(s) on {device}")
    with tempfile.TemporaryDirectory(prefix="rse-study-replay-") as scratch:
        compared = replay(
            trial,
            recorded.seed,
            materials,
            recorded,
            out or Path(scratch) / "cell",
            workers=workers,
            threads=threads,
            device=device,
        )
    for line in told(name, recorded, compared):
        announce(line)
    return OK if compared.is_equal else CONTRADICTED


def record_of(study_dir: Path, wanted: str) -> tuple[str, Result]:
    """The cell's name and what the ledger holds of it. Raises InputError where it has not ended with a result."""
    with Reader(study_dir) as reader:
        cells = reader.cells(retired=True)
        row = find_cell(cells, wanted, study_dir)
        history = reader.history(row["identity"])
        name = names_by_identity(reader.study(), cells)[row["identity"]]
    if row["status"] not in FINISHED or not {"workers", "threads"} <= row["provenance"].keys():
        ended = f"{row['status']}: {row['reason']}" if row["reason"] else row["status"]
        what, rule = f"{name} cannot be replayed", f"it is {ended}; there is no result to compare with"
        raise InputError(what, where=str(study_dir), rule=rule, remedy="Choose one that ended with a result")
    fields = {
        key: row[key]
        for key in ("identity", "seed", "config", "status", "reason", "provenance", "duration_s")
    }
    return name, Result(**fields, history=tuple(_points(history)))


def require_device(recorded: Result, where: str) -> str:
    """The device it ran on, if there is one here."""
    device = str(recorded.provenance.get("device_type", "cpu"))
    if device == "cuda" and not torch.cuda.is_available():
        rule, remedy = "there is none here", "Replay it on such a machine"
        raise InputError("was run on a GPU", where=where, rule=rule, remedy=remedy)
    return device


def require_fingerprints(recorded: Result, materials: Materials, where: str) -> None:
    """InputError that names what the record rests on and what is here instead."""
    before, now = recorded.provenance.get("materials", {}), materials.fingerprints
    differing = [part for part in {**before, **now} if before.get(part) != now.get(part)]
    if differing:
        told = [f"{part} was {_short(before.get(part))} and is {_short(now.get(part))}" for part in differing]
        remedy = "Bring back the files of that time (RSE_STUDY_DATA, RSE_STUDY_CACHE), or their versions"
        raise InputError("other materials", where=where, rule="; ".join(told), remedy=remedy)


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """What else the last bits may depend on, where it is not what it was."""
    flat = [{**where, **where.get("packages", {})} for where in (before, now)]
    for key in ("device", "python", *now.get("packages", {})):
        old, new = (where.get(key) for where in flat)
        if old != new:
            yield f"{key} was {old} and is {new}: the last bits may differ"


def told(name: str, recorded: Result, compared: ReplayComparison) -> Iterator[str]:
    """The verdict, and the first differences."""
    num_numbers = sum(len(point.metrics) for point in recorded.history)
    counted = f"{compared.num_points} points, {num_numbers} numbers"
    if compared.is_equal:
        yield f"{name}: bit-equal: {counted}"
        return
    yield f"{name}: not equal: {len(compared.differences)} differences in {counted}"
    yield from (f"    {_difference(difference)}" for difference in islice(compared.differences, MOST_SHOWN))


def _difference(difference: ReplayDifference) -> str:
    recorded, again = (
        "absent" if value is None else value if isinstance(value, str) else repr(value)
        for value in (difference.recorded, difference.again)
    )
    return f"step {difference.t}, {difference.name}: {recorded} on record, {again} again"


def _points(history: pd.DataFrame) -> Iterator[Point]:
    for t, rows in history.groupby("t"):
        values = [math.nan if pd.isna(value) else float(value) for value in rows["value"]]
        yield Point(t=int(t), metrics=dict(zip(rows["name"], values, strict=True)))


def _short(fingerprint: str | None) -> str:
    return fingerprint[:12] if fingerprint else "absent"
