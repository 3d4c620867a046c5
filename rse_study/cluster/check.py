"""Problems of a cluster, and of a study with its files on it, found offline."""

import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from itertools import chain
from pathlib import Path, PurePath
from typing import Any

from rse_study.cluster.job import sample_job
from rse_study.cluster.node_capacity import nodes_of, require_room
from rse_study.cluster.spec import ClusterSpec
from rse_study.cluster.template import FILES, read_template, render
from rse_study.data.corpus import TextFiles
from rse_study.data.hub import Table
from rse_study.errors import InputError, InputErrors
from rse_study.registry import is_class_path
from rse_study.storage import is_url, secret_in
from rse_study.study.checking.data_check import models_of_study, trials_that_differ
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.definition.config import Study
from rse_study.study.definition.parts import Resources
from rse_study.yaml12 import parse_yaml

COMMENT = re.compile(r"^\s*#(?!SBATCH|!).*", re.MULTILINE)
GPUS = re.compile(r"^#SBATCH .*(gpu|gres|tres)", re.MULTILINE)
COMMANDS = ("setup_commands", "head_start_ray_commands", "worker_start_ray_commands")
PLACEHOLDERS = re.compile(
    r"/shared/rse-study|my-bucket|my-project|ami-0123456789abcdef0|[\w./-]*\bexample\.com|192\.168\.0\.1\d"
)
"""accounts, registries, disks and machines of the shipped files"""
NAME = re.compile(r"TOKEN(?!IZER)|SECRET|PASSW|CREDENTIAL|ACCESS_KEY|API_?KEY|PRIVATE_KEY", re.IGNORECASE)
SETTING = re.compile(
    r"""(?:name: *["']?)?([A-Za-z_][\w-]*)"""
    r"""(?:=|["']?,? *\n? *value: *|(?<=-token) +|(?<=-password) +)["']?[^\s"'$`;&|(-]"""
)
"""a name with a literal value: a variable of a shell or a pod, or the option of a program"""
IN_URL = re.compile(r"://[^/\s:@]*:[^/\s@$]+@")
REFERENCE = re.compile(r"_(PATH|FILE|DIR|NAME)$", re.IGNORECASE)
RULE = "a secret would be in every rendered file"
REMEDIES = {
    "local": "Export it in the shell that starts the cluster",
    "slurm": "Export it in the shell that submits: sbatch hands the environment on",
    "kuberay": "Make a Kubernetes Secret of it, and name that under `envFrom`",
    "launcher": "Give the nodes their rights by a profile or a service account, or let them read a file of their own",
}


MIB = 2**20
MOST_BYTES = {
    "launcher": (500 * MIB, "Ray packs them into a message, which holds 512 MiB"),
    "kuberay": (8 * MIB, "they are packed into a ConfigMap, which holds 1 MiB"),
}
"""most that the files of a study may have, and why"""


def problems_of(spec: ClusterSpec, checked: CheckedStudy | None, *, where: str) -> Iterator[InputError]:
    """Yield the problems of a cluster, and the reasons why a study cannot run on it."""
    yield from check_secrets(spec, where=where)
    yield from check_template(spec, where=where)
    if checked:
        yield from check_resources(spec, checked, where=where)
        yield from check_storage(spec, checked, where=where)
        yield from check_files(spec, checked)


def check_resources(spec: ClusterSpec, checked: CheckedStudy, *, where: str) -> Iterator[InputError]:
    """Yield the reasons why no cell could ever start."""
    for at, resources in resources_by_path(checked.study).items():
        try:
            require_room(resources, nodes_of(spec))
        except InputError as error:
            what = f"{at} on {where}: {error.what}"
            yield InputError(what, where=checked.where, rule=error.rule, remedy=error.remedy)


def resources_by_path(study: Study) -> dict[str, Resources]:
    """Return the cells' resources by their path in the study."""
    own = study.confirm.resources if study.confirm else None
    return {"resources": study.resources} | ({"confirm.resources": own} if own else {})


def check_storage(spec: ClusterSpec, checked: CheckedStudy, *, where: str) -> Iterator[InputError]:
    """Yield a problem if a node could not access the study's files."""
    storage = checked.study.storage or spec.storage
    if spec.kind == "local" or is_url(storage):
        return
    folder, what = (storage, f"storage = {storage!r}") if storage else (spec.store, "storage is not given")
    if not any(PurePath(folder).is_relative_to(shared) for shared in spec.shared_folders):
        rule = f"{folder} is on the disk of one node: no other sees it"
        remedy = "Name a URL (s3://bucket/prefix), or a folder below one of `shared`"
        yield InputError(what, where=where, rule=rule, remedy=remedy)


def check_secrets(spec: ClusterSpec, *, where: str) -> Iterator[InputError]:
    """Yield a problem for each line or URL with a secret."""
    text, remedy = read_template(spec), REMEDIES[spec.kind]
    settings = [(one.start(1), one[1].replace("-", "_")) for one in SETTING.finditer(text)]
    found = [(at, name) for at, name in settings if NAME.search(name) and not REFERENCE.search(name)]
    for at, name in [*found, *((one.start(), "a password before @") for one in IN_URL.finditer(text))]:
        line = text.count("\n", 0, at) + 1
        yield InputError(f"holds {name}", where=f"{spec.template}:{line}", rule=RULE, remedy=remedy)
    if secret_in(spec.storage):
        yield InputError("storage holds a key or a password", where=where, rule=RULE, remedy=remedy)


def check_template(spec: ClusterSpec, *, where: str) -> Iterator[InputError]:
    """Yield the problems of a template that is filled in for a sample job."""
    text = COMMENT.sub("", read_template(spec))
    for name, group in spec.workers.items():
        at = f"workers.{name}"
        needed = [f"{at}.{key}" for key in ("gpus", "labels") if getattr(group, key)]
        for what in needed if f"@{{{at}." in text else [f"{at}.cpus"]:
            if f"@{{{what}" not in text:
                remedy = f"Use it there, as @{{{what}}}, or remove it here"
                yield InputError(what, where=where, rule="the template does not use it", remedy=remedy)
        if group.gpus and spec.kind == "slurm" and not GPUS.search(text):
            rule = "no #SBATCH line of the template asks for GPUs"
            remedy = "Take the first # from ##SBATCH --gpus-per-node, or --gres"
            yield InputError(f"{at}.gpus", where=where, rule=rule, remedy=remedy)
    try:
        text = render(spec, sample_job(spec))[FILES[spec.kind]]
        scripts = [text] if spec.kind in ("slurm", "local") else []
        if spec.kind == "launcher":
            content = parse_yaml(text, where=spec.template)
            scripts = [str(line) for key in COMMANDS for line in content.get(key) or ()]
    except InputError as error:
        yield from error.problems if isinstance(error, InputErrors) else [error]
        return
    for said in filter(None, map(_syntax_error, scripts)):
        remedy = "Correct it: `bash -n` reads it without running it"
        yield InputError(said, where=spec.template, rule="bash cannot read it", remedy=remedy)


def placeholders_of(spec: ClusterSpec) -> list[str]:
    """Return the examples of shipped files that a spec and its template still have."""
    texts = [COMMENT.sub("", read_template(spec)), spec.storage, spec.folder]
    return list(dict.fromkeys(match[0] for text in texts for match in PLACEHOLDERS.finditer(text)))


def _syntax_error(text: str) -> str:
    """Return the first syntax error that bash sees; empty without one or without bash."""
    if (bash := shutil.which("bash")) is None:
        return ""
    read = subprocess.run([bash, "-n"], input=text, text=True, capture_output=True, check=False)
    return read.stderr.strip().splitlines()[0].removeprefix(f"{bash}: ") if read.returncode else ""


def files_of_study(checked: CheckedStudy) -> dict[str, Path]:
    """Return the files that a study names below its folder, by their path there."""
    folder = checked.folder.absolute()
    places = [place for name, _ in _names(checked) if not _is_elsewhere(name) for place in _at(folder / name)]
    files = [place for place in places if place.is_file()]
    for top, _, names in chain.from_iterable(os.walk(place, followlinks=True) for place in places):
        files += [Path(top, name) for name in names if "__pycache__" not in top]
    return {path.relative_to(folder).as_posix(): path for path in files}


def check_files(spec: ClusterSpec, checked: CheckedStudy) -> Iterator[InputError]:
    """Yield files that a job would look for in vain, or that are too large to send."""
    is_here, places = spec.kind == "local", dict[str, str]()
    shared = [Path(one).resolve() for one in spec.shared_folders]
    for name, at in _names(checked):
        places.setdefault(name, at)
    for name, at in places.items():
        path = checked.folder.absolute() / os.path.expanduser(name)
        if os.path.isabs(os.path.expanduser(name)):
            if is_here or not path.exists() or any(map(path.resolve().is_relative_to, shared)):
                continue
            rule = f"nodes of {spec.name} do not see it: it lies in no folder of `shared`"
            remedy = "Copy it beside the study, by a relative path; or name its folder under `shared`"
        elif _is_elsewhere(name) or (not _at(path) and _at(Path.cwd() / name)):
            rule = "lies outside the study's folder, and a job has that folder alone"
            remedy = "Copy it beside the study, or give its absolute path in a folder that all nodes see"
        else:
            continue
        yield InputError(f"{at} = {name!r}", where=checked.where, rule=rule, remedy=remedy)
    size = sum(path.stat().st_size for path in files_of_study(checked).values())
    most, rule = MOST_BYTES.get(spec.kind, (math.inf, ""))
    if size > most:
        remedy = "Put large files on storage that all nodes see, and give their absolute paths"
        what = f"the files beside the study have {size / MIB:,.0f} MiB"
        yield InputError(what, where=checked.where, rule=rule, remedy=remedy)


def _is_elsewhere(name: str) -> bool:
    parts = PurePath(name).parts
    return not parts or ".." in parts or name.startswith(("/", "~"))


def _at(path: Path) -> list[Path]:
    """Return a path, and the compressed file of its name, if they are there."""
    return [one for one in (path, path.with_name(f"{path.name}.gz")) if one.exists()]


def _names(checked: CheckedStudy) -> Iterator[tuple[str, str]]:
    """Yield the names of models, corpora, pairs and modules that may be paths, and where each stands."""
    yield from ((name, at) for (name, _), at in models_of_study(checked).items())
    yield from ((one.path, "evaluations") for one in checked.study.own_files)
    own = [(name, one) for name, one in checked.study.own_baselines.items() if one.vectors]
    yield from ((one.vectors, f"baselines.{name}.vectors") for name, one in own)
    for at, trial in trials_that_differ(checked):
        for source in (trial.corpus.source, trial.views):
            if isinstance(source, TextFiles):
                yield from ((path, f"{at}corpus.source") for path in source.paths)
            elif isinstance(source, Table):
                yield getattr(source, "file", "") or source.dataset, f"{at}corpus.source or views"
        yield from ((name, f"{at}selection.dev") for name in trial.selection.sets if name != "builtin")
    folders = checked.folder.resolve(), Path.cwd()
    installed = [place for place in sys.path if Path(place).resolve() not in folders]
    for at, text in _texts(checked.study.resolved(), ""):
        module, place = text.partition(":")[0].partition(".")[0], text.partition("/")[0]  # of an evaluation
        if is_class_path(place) and not PathFinder.find_spec(module, installed):
            yield module if any((folder / module).is_dir() for folder in folders) else f"{module}.py", at
            yield from ((path.name, at) for path in checked.folder.glob("*.py"))  # which it may import


def _texts(content: Any, at: str) -> Iterator[tuple[str, str]]:
    """Yield every text of a study with its path."""
    if isinstance(content, str):
        yield at, content
    elif isinstance(content, dict | list):
        for key, value in content.items() if isinstance(content, dict) else enumerate(content):
            yield from _texts(value, f"{at}.{key}" if at else str(key))
