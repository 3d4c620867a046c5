"""Hostile files of every kind, made from a seed: each is read, or refused with a place and a remedy."""

import contextlib
import io
import json
import re
import shutil
import sqlite3
import tarfile
from contextlib import closing
from functools import cache
from pathlib import Path
from random import Random

import pytest

from rse_study.cli.app import app
from rse_study.cli.terminal import errors
from rse_study.errors import InputError, Unavailable
from rse_study.results.files.ledger import Ledger
from rse_study.study.definition.reading import read_extended
from rse_study.study.definition.shipped import shipped_clusters, shipped_studies
from tests.hostile.mutations import (
    NUMBERS,
    TEXTS,
    YAML,
    as_file,
    as_yaml,
    mangled,
    mangled_lines,
    misspelt,
    mutate,
    nodes,
    value,
)

STUDIES = Path(__file__).parents[1] / "fixtures" / "earlier_study" / "studies"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
READERS = [["status"], ["status", "--json"], ["check"], ["export", "out"]]
NUM_FILES = {"study": 60, "override": 250, "cluster": 60, "ledger": 80, "archive": 50}  # 500 in all


@cache
def shipped(kind: str) -> list[dict]:
    """Every shipped study or cluster, without `extends`."""
    paths = sorted(shipped_studies() if kind == "study" else shipped_clusters())
    return [read_extended(path) for path in paths]


def write_spec(random: Random, kind: str, path: Path) -> None:
    content = random.choice(shipped(kind))
    match random.randrange(10):
        case 0:
            path.write_bytes(mangled(random, as_file(content).encode()))
        case 1:
            text = (
                f"extends: {random.choice([as_yaml(random.choice(TEXTS)), path.name, '[[]]', '/dev/zero'])}\n"
            )
            path.write_text(text, "utf-8", "surrogatepass")
        case 2 | 3:
            path.write_text(mangled_lines(random, as_file(content)), "utf-8", "surrogatepass")
        case _:
            path.write_text(as_file(mutate(random, content)), "utf-8", "surrogatepass")


def a_study(random: Random, folder: Path) -> list[str]:
    write_spec(random, "study", folder / "study.yaml")
    return [random.choice(["validate", "validate", "plan"]), str(folder / "study.yaml")]


def a_cluster(random: Random, folder: Path) -> list[str]:
    write_spec(random, "cluster", folder / "cluster.yaml")
    return ["cluster", "validate", str(folder / "cluster.yaml")]


def an_override(random: Random, folder: Path) -> list[str]:
    path = ".".join(map(str, random.choice(nodes(random.choice(shipped("study"))))))
    path = random.choice([path, path, f"base.{path}", misspelt(random, path)])
    text = random.choice([as_yaml(value(random)), *random.sample([*YAML, *TEXTS], 2)])
    given = f"{path}={text}".replace("\0", "").encode("utf-8", "replace").decode()
    return ["validate", random.choice(["joint", "quickstart", "mini_joint"]), "-o", given]


def damaged_study(random: Random, folder: Path) -> Path:
    """A study's folder with an odd value in its ledger, or with damaged bytes in one of its files."""
    study = Path(shutil.copytree(STUDIES / random.choice(["old_grid", "old_search"]), folder / "damaged"))
    if random.random() < 0.7:
        Ledger.open(study).close()  # with the tables of today's ledgers
    if random.random() < 0.3:
        path = random.choice(sorted(path for path in study.rglob("*") if path.is_file()))
        path.write_bytes(mangled(random, path.read_bytes()))
        return study
    with closing(sqlite3.connect(study / "ledger.sqlite")) as ledger, contextlib.suppress(sqlite3.Error):
        named = ledger.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        table = random.choice(sorted(name for (name,) in named))
        column = random.choice([row[1] for row in ledger.execute(f"PRAGMA table_info({table})")])
        if random.random() < 0.2:
            drop = random.choice([f"DROP TABLE {table}", f"ALTER TABLE {table} DROP COLUMN {column}"])
            ledger.execute(random.choice([drop, f"DELETE FROM {table}", "PRAGMA user_version = 99"]))
        (old,) = random.choice(ledger.execute(f"SELECT {column} FROM {table}").fetchall() or [(None,)])
        is_json = isinstance(old, str) and old[:1] in ("{", "[")
        sizes = [number for number in NUMBERS if abs(number) < 2**63]
        new = json.dumps(mutate(random, json.loads(old))) if is_json else random.choice([*sizes, "{", None])
        ledger.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {column} IS ?", (new, old))
        ledger.commit()
    return study


def a_ledger(random: Random, folder: Path) -> list[str]:
    command, *options = random.choice(READERS)
    options = [str(folder / option) if option.startswith("out") else option for option in options]
    return [command, str(damaged_study(random, folder)), *options]


def an_archive(random: Random, folder: Path) -> list[str]:
    path = folder / "study.tar"
    with tarfile.open(path, "w") as files:
        files.add(damaged_study(random, folder), random.choice(["old", "../old", "/old", ".", "A b"]))
    if random.random() < 0.3:
        path.write_bytes(mangled(random, path.read_bytes()))
    return ["status", str(path), "--store", str(folder / "store")]


KINDS = {
    "study": a_study, "override": an_override, "cluster": a_cluster, "ledger": a_ledger, "archive": an_archive,
}  # fmt: skip


def run(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Run a command in this process, and say what is wrong with its end."""
    raised: list[Exception] = []
    original = errors._run

    def noting(call):
        def noted():
            try:
                return call()
            except Exception as error:
                raised.append(error)
                raise

        return original(noted)

    shown = io.StringIO()
    with monkeypatch.context() as patch, contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        patch.setattr(errors, "_run", noting)
        with pytest.raises(SystemExit) as ended:
            app(arguments, prog_name="rse-study")
    problems = [problem for error in raised for problem in getattr(error, "problems", [error])]
    wrong = [
        f"no remedy: {one}"
        for one in problems
        if isinstance(one, InputError | Unavailable) and not one.remedy
    ]
    wrong += [f"no place: {one}" for one in problems if isinstance(one, InputError) and not one.where]
    if control := CONTROL.search(shown.getvalue().replace("\r\n", "\n")):
        wrong.append(f"prints {control.group()!r}")
    if ended.value.code not in (None, 0, 1, 2, 3, 4):
        wrong.append(f"exit code {ended.value.code}: {shown.getvalue()[-500:]}")
    return wrong


@pytest.mark.parametrize("kind", NUM_FILES)
def test_hostile_files_are_read_or_refused_with_a_place_and_a_remedy(kind, tmp_path, monkeypatch):
    for name in ("RSE_STUDY_DATA", "RSE_STUDY_CACHE", "HF_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.chdir(tmp_path)
    wrong = {}
    for number in range(NUM_FILES[kind]):
        folder = tmp_path / str(number)
        folder.mkdir()
        if found := run(KINDS[kind](Random(f"{kind}/{number}"), folder), monkeypatch):
            wrong[number] = found
    assert not wrong
