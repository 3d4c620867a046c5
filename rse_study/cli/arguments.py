"""Studies, folders and devices that a user names, and materials of a trial."""

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.paper.tables import known_places
from rse_study.activity import ActivityCallback
from rse_study.cli.parameters import DEFAULT_STORE
from rse_study.data import cache_dir, data_dir
from rse_study.errors import InputError
from rse_study.registry import did_you_mean
from rse_study.results.files.schema import is_archive, ledger_path
from rse_study.study.definition.shipped import shipped_studies, shipped_trials

if TYPE_CHECKING:
    from rse_study.training.materials import Materials
    from rse_study.training.trial import Trial


def study_file(study: str) -> Path:
    """Find the YAML file a user means: a path, or the name of a shipped study."""
    if is_archive(study):
        remedy = f"Run `rse-study unpack {study}` and name the file that it prints"
        raise InputError("is an archive", where=study, rule="a YAML file is expected here", remedy=remedy)
    return _file(study, "study")


def trial_file(trial: str) -> Path:
    """Find the YAML file a user means: a path, or the name of a shipped trial."""
    return _file(trial, "trial")


def _file(given: str, kind: str) -> Path:
    shipped = {path.stem: path for path in (*shipped_studies(), *shipped_trials())}
    is_file = Path(given).suffix in (".yaml", ".yml") or os.path.isfile(given)
    path = Path(given) if is_file else shipped.get(given.replace("-", "_"))
    if path is not None:
        return path
    shipped = {path.stem: path for path in (shipped_studies() if kind == "study" else shipped_trials())}
    rule = f"a YAML file or the name of a shipped {kind}"
    if (DEFAULT_STORE / Path(given).name / "ledger.sqlite").is_file():
        remedy = f"It has run here: name the YAML file it was run from, {Path(given).name}.yaml or another"
        raise InputError(f"no {kind} {given!r}", where=kind.upper(), rule=rule, remedy=remedy)
    raise InputError(
        f"no {kind} {given!r}", where=kind.upper(), rule=rule, remedy=did_you_mean(given, shipped)
    )


def study_folder(study: str, store: Path) -> Path:
    """Find the folder of a study that has run, by its name, folder or YAML file."""
    if is_archive(study):
        from rse_study.results.archive import unpack_archive

        return unpack_archive(Path(study), store)
    candidates = [Path(study), store / study]
    known = sorted(path.name for path in store.glob("*/") if ledger_path(path).is_file())
    remedy = did_you_mean(Path(study).stem, known) if known else "Run it first: rse-study run STUDY"
    is_file = Path(study).suffix in (".yaml", ".yml") and (
        os.path.isfile(study) or not remedy.startswith("Did")
    )
    if is_file or study.replace("-", "_") in {path.stem for path in shipped_studies()}:
        candidates.append(store / name_in(study_file(study)))
    for folder in candidates:
        if ledger_path(folder).is_file():
            return folder
    raise InputError(f"no study {study!r} has run", where=str(store), remedy=remedy)


def name_in(path: Path) -> str:
    """Return the name a study file gives itself."""
    from rse_study.study.definition.reading import read_extended

    return str(read_extended(path).get("name", path.stem))


def problems_of_table(table: str, where: str) -> list[InputError]:
    """Return what is wrong with the name of a table or figure; nothing if it is empty."""
    if not table or table in known_places():
        return []
    what, rule = f"paper.table = {table!r}", "no table or figure of a paper"
    return [InputError(what, where=where, rule=rule, remedy=did_you_mean(table, known_places()))]


LONGEST_NAME = 240
"""Bytes of a file's name: most file systems take 255, and the draft of a file has some more."""


def require_folder(path: Path, *, where: str) -> None:
    """Raise InputError unless the folder can be written, or made; nothing is made."""
    if re.match(r"\w\w+:/", str(path)):  # pathlib makes one / of two
        rule, remedy = "a folder of this machine is needed", "`storage:` in a study's file takes a URL"
        raise InputError("is a URL", where=f"{where} {path}", rule=rule, remedy=remedy)
    full = path.absolute()
    nearest = next(folder for folder in (full, *full.parents) if os.path.lexists(folder))
    rule, remedy = "a folder that can be written is needed", "Name another folder"
    if not os.path.isdir(nearest):
        raise InputError(f"{nearest} is not a folder", where=f"{where} {path}", rule=rule, remedy=remedy)
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise InputError(f"{nearest} cannot be written", where=f"{where} {path}", rule=rule, remedy=remedy)


def require_new_folder(path: Path, *, where: str) -> None:
    """Raise InputError unless the folder can be made, or is there and empty."""
    require_folder(path, where=where)
    if path.is_dir() and any(path.iterdir()):
        remedy = "Name a new folder"
        raise InputError(
            "is not empty", where=f"{where} {path}", rule="nothing is overwritten", remedy=remedy
        )


def require_file(path: Path, *, where: str) -> None:
    """Raise InputError unless a file can be written at this path."""
    if os.path.isdir(path):
        rule, remedy = "a file is written here", f"Name a file in it: {path / 'report.html'}"
        raise InputError("is a folder", where=f"{where} {path}", rule=rule, remedy=remedy)
    if (size := len(os.fsencode(path.name))) > LONGEST_NAME:
        what, rule = f"a name of {size} bytes", f"a file's name has {LONGEST_NAME} at most"
        raise InputError(what, where=f"{where} {path}", rule=rule, remedy="Name a shorter one")
    require_folder(path.parent, where=where)


def require_cache() -> None:
    """Raise InputError unless the cache folder can be written: assets are built there."""
    require_folder(cache_dir(), where="RSE_STUDY_CACHE")


def require_device(device: str) -> None:
    """Raise InputError unless this machine has the device."""
    import torch

    num_gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    known = ["cpu", *(["cuda"] if num_gpus else []), *(f"cuda:{i}" for i in range(num_gpus))]
    if device not in known:
        rule, remedy = f"must be one of {', '.join(known)} here", "See `rse-study doctor`"
        raise InputError(f"device {device!r}", where="--device", rule=rule, remedy=remedy)


def materials_of(
    callback: ActivityCallback, beside: Path, trial: "Trial", study_dir: Path | None = None
) -> "Materials":
    """Return what a trial is trained on.

    Its corpus may lie in `beside`, weights that came with its study's archive in `study_dir`.
    """
    from rse_study.assets import prepare  # imports torch, which a plan does without
    from rse_study.assets.store import came_with_archive
    from rse_study.results.archive import ASSETS

    for weights in (study_dir / ASSETS).glob("*") if study_dir else ():
        place = came_with_archive(cache_dir() / "assets", weights.stem)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(weights, place)
    return prepare(trial, cache_dir(), data_dir(), callback, beside)
