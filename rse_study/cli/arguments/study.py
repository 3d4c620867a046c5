"""Studies and trials as a user names them: a file, a folder, or a name."""

import os
from pathlib import Path

from rse_study.cli.arguments.completion import DEFAULT_STORE
from rse_study.errors import InputError
from rse_study.registry import did_you_mean
from rse_study.results.files.schema import is_archive
from rse_study.study.definition.shipped import shipped_studies, shipped_trials

KEYS = {
    "study": {"base", "grid", "search", "question"},
    "cluster": {"head", "workers"},
    "trial": {"method", "encoder", "corpus", "optimizer", "budget"},
}
"""top-level fields that only one kind of file has"""
COMMANDS = {"study": "run {}", "cluster": "cluster validate {} STUDY", "trial": "train {}"}


def study_file(study: str, store: Path = DEFAULT_STORE) -> Path:
    """Find the YAML file a user means: a path, a shipped study's, or an archive's."""
    if is_archive(study):
        folder = study_folder(study, store)
        return folder / f"{folder.name}.yaml"
    return _file(study, "study")


def trial_file(trial: str) -> Path:
    """Find the YAML file a user means: a path, or the name of a shipped trial."""
    return _file(trial, "trial")


def _file(given: str, kind: str) -> Path:
    shipped = {path.stem: path for path in (*shipped_studies(), *shipped_trials())}
    is_file = Path(given).suffix in (".yaml", ".yml") or os.path.isfile(given)
    path = Path(given) if is_file else shipped.get(given.replace("-", "_"))
    if path is not None:
        _require_kind(path, kind, given)
        return path
    shipped = {path.stem: path for path in (shipped_studies() if kind == "study" else shipped_trials())}
    rule = f"a YAML file or the name of a shipped {kind}"
    if (DEFAULT_STORE / Path(given).name / "ledger.sqlite").is_file():
        remedy = f"It has run here: name the YAML file it was run from, {Path(given).name}.yaml or another"
        raise InputError(f"no {kind} {given!r}", where=kind.upper(), rule=rule, remedy=remedy)
    raise InputError(
        f"no {kind} {given!r}", where=kind.upper(), rule=rule, remedy=did_you_mean(given, shipped)
    )


def _require_kind(path: Path, kind: str, given: str) -> None:
    """Raise InputError for a file of another kind, which its keys tell; a broken one is its reader's business."""
    from rse_study.study.definition.reading import read_extended

    try:
        keys = read_extended(path).keys()
    except InputError:
        return
    found = next((name for name, telling in KEYS.items() if keys & telling), kind)
    if found != kind:
        words = COMMANDS[found].format(given)
        rule = f"a {kind} is expected here, and its fields are those of a {found}"
        raise InputError(f"is a {found}", where=given, rule=rule, remedy=f"Give it to: rse-study {words}")


def study_folder(study: str, store: Path) -> Path:
    """Find the folder of a study that has run, by its name, folder or YAML file."""
    from rse_study.results.files.schema import ledger_path

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
