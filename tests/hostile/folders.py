"""Mutants of what a study or an attack leaves behind: ledgers, workers' files, archives, outcomes."""

import ast
import gzip
import io
import json
import lzma
import os
import shutil
import sqlite3
import tarfile
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from random import Random

from rse_study.results.files.ledger import Ledger
from rse_study.spec import fingerprint_of
from tests.hostile.execution import Mutant
from tests.hostile.mutations import NUMBERS, TEXTS, as_json, mangled, mangled_lines, mutate
from tests.hostile.specs import ROOT, nothing

STUDIES = ROOT / "tests" / "fixtures" / "earlier_study" / "studies"
SIDECARS = ("result.json", "evaluations.json", "items.json")
READERS = [
    *([["status", "{}"]] * 16 + [["status", "{}", "--json"]] * 8 + [["check", "{}"]] * 6),
    *(["compare", "{}:0", "{}:1"], ["export", "{}", "{out}"], ["archive", "{}", "--out", "{out}.tar.xz"]),
    *(["notebook", "{}", "--out", "{out}.ipynb"], ["report", "{}", "--out", "{out}.html"]),
]
STATEMENTS = [
    "DROP TABLE {table}",
    "DELETE FROM {table}",
    "ALTER TABLE {table} DROP COLUMN {column}",
    "ALTER TABLE {table} RENAME COLUMN {column} TO other",
    "ALTER TABLE {table} ADD COLUMN {column}_too TEXT",
    "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM cell; END",
    "CREATE VIEW v AS SELECT * FROM {table}",
    "PRAGMA user_version = {number}",
    "PRAGMA application_id = {number}",
]


def _copy(random: Random, folder: Path) -> Path:
    name, now = random.choice(["old_grid", "old_search"]), folder.parent / "now"
    if not now.exists():  # with the tables of today's ledgers
        shutil.copytree(STUDIES, now)
        for study in now.iterdir():
            Ledger.open(study).close()
    source = random.choice([STUDIES, now, now])
    return Path(shutil.copytree(source / name, folder / name))


def _command(random: Random, study: Path, out: Path) -> list[str]:
    return [part.format(study, out=out) for part in random.choice(READERS)]


def ledger(random: Random, folder: Path) -> Mutant:
    study = _copy(random, folder)
    path = study / "ledger.sqlite"
    if random.random() < 0.25:
        path.write_bytes(mangled(random, path.read_bytes()))
    else:
        with closing(sqlite3.connect(path)) as db:
            for _ in range(random.choice([1, 1, 3])):
                _change_row(random, db)
            db.commit()
    if random.random() < 0.1:
        path.with_name("ledger.sqlite-wal").write_bytes(random.randbytes(5_000))
    return [_command(random, study, folder / "out")], nothing


def _change_row(random: Random, db: sqlite3.Connection) -> None:
    tables = sorted(name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))
    if not tables:
        return
    table = random.choice([*tables, *({"revision", "cell", "metric"} & set(tables))])
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    column = random.choice(columns)
    try:
        if random.random() < 0.15:
            number = random.choice([-1, 0, 1, 3, 99, 2**31 - 1])
            db.execute(random.choice(STATEMENTS).format(table=table, column=column, number=number))
            return
        rows = db.execute(f"SELECT {column} FROM {table}").fetchall()
        (old,) = random.choice(rows or [(None,)])
        if isinstance(old, str) and old[:1] in ("{", "["):
            new = as_json(mutate(random, json.loads(old)))
        else:
            new = random.choice([*NUMBERS, *TEXTS, None, b"\xff\x00", "{", "[1]", -5, 10**6])
        db.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {column} IS ?", (new, old))
    except (sqlite3.Error, OverflowError, UnicodeEncodeError):
        pass  # SQLite refuses it by itself


def _sealed(path: Path, content: dict[str, object]) -> None:
    """Write a file with the checksum that its content has."""
    for kind in content:
        if kind != "checksum":
            try:
                content["checksum"] = fingerprint_of(content[kind])
            except (ValueError, TypeError, RecursionError):  # NaN has none, nor have keys of several kinds
                continue
    path.write_text(as_json(content), encoding="utf-8")


def sidecar(random: Random, folder: Path) -> Mutant:
    study = _copy(random, folder)
    paths = sorted(path for path in study.rglob("*.json") if path.name in SIDECARS)
    for _ in range(random.choice([1, 1, 2])):
        path = random.choice(paths)
        try:
            content = json.loads(path.read_bytes())
            assert isinstance(content, dict)
        except (ValueError, AssertionError, RecursionError):
            continue
        if random.random() < 0.25:
            path.write_bytes(mangled(random, path.read_bytes()))
            continue
        kind = next((key for key in content if key != "checksum"), "checksum")
        content[kind] = mutate(random, {kind: content[kind]}).get(kind)
        _sealed(path, content) if random.random() < 0.9 else path.write_text(as_json(content))
    return [_command(random, study, folder / "out")], nothing


@cache
def _packed(name: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as files:
        files.add(STUDIES / name, name)
    return buffer.getvalue()


def archive(random: Random, folder: Path) -> Mutant:
    path, store = folder / random.choice(["x.tar.xz", "x.tar"]), folder / "store"
    way = random.randrange(10)
    if way < 2:
        content = _packed("old_grid")
        packed = lzma.compress(content, preset=0) if way else content
        path.write_bytes(mangled(random, packed))
    elif way == 2:
        path.write_bytes(_bomb(random))
    else:
        with (
            tarfile.open(path, "w:xz" if path.suffix == ".xz" else "w", preset=0)
            if path.suffix == ".xz"
            else tarfile.open(path, "w") as files
        ):
            made = folder / "made"
            made.mkdir()
            study = _copy(random, made)
            if random.random() < 0.5:
                _damage(random, study)
            for member in random.sample(_members(random, study.name), k=random.choice([0, 1, 3])):
                files.addfile(member, io.BytesIO(b"{}" * (member.size // 2 + 1)) if member.isfile() else None)
            files.add(
                study,
                random.choice([study.name] * 8 + ["../" + study.name, "/" + study.name, "other", ".", "A b"]),
            )
            for member in random.sample(_members(random, study.name), k=random.choice([0, 1, 3])):
                files.addfile(member, io.BytesIO(b"{}" * (member.size // 2 + 1)) if member.isfile() else None)
            shutil.rmtree(made)
    command = random.choice(
        [["status", str(path)]] * 3 + [["check", str(path)], ["notebook", str(path), "--out", "n"]]
    )
    (folder / "n").unlink(missing_ok=True)
    return [[*command, "--store", str(store)]], partial(_left_behind, folder, store, _listing(folder))


def _bomb(random: Random) -> bytes:
    """Return up to 6 GB in some MB: a header, or a file, or nothing but zeros."""
    if random.random() < 0.2:
        return lzma.compress(bytes(10**8), preset=0)
    member = tarfile.TarInfo(
        f"old_grid/{random.choice(['baselines/items.json', 'ledger.sqlite', 'model/x'])}"
    )
    member.type, member.size = random.choice([b"0", b"L", b"x", b"g", b"S"]), 10**8 * random.choice([1, 60])
    ten_mb = gzip.compress((random.choice([bytes(1), b" ", b"[", b"10 abc=de\n"]) * 10**7)[: 10**7], 1)
    return gzip.compress(member.tobuf()) + ten_mb * (member.size // 10**7)


def _damage(random: Random, study: Path) -> None:
    path = random.choice(sorted(path for path in study.rglob("*") if path.is_file()))
    if path.suffix == ".sqlite":
        with closing(sqlite3.connect(path)) as db:
            _change_row(random, db)
            db.commit()
    else:
        path.write_bytes(mangled(random, path.read_bytes()))


def _members(random: Random, name: str) -> list[tarfile.TarInfo]:
    """Return links, devices, paths that lead out and headers that lie."""
    inside = random.choice(
        ["baselines/items.json", "ledger.sqlite", "cells/a/result.json", "assets/x.safetensors", "evil.py"]
    )
    made = []
    for path in (
        inside,
        f"../{inside}",
        f"../../../{inside}",
        f"a/../../{inside}",
        "x" * 300,
        f"\n/{inside}",
        f"{inside}/y",
    ):
        member = tarfile.TarInfo(f"{name}/{path}")
        member.size = random.choice([0, 2, 2, 1_000])
        member.mode = random.choice([0o644, 0o4777, 0])
        made.append(member)
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE, b"Z"):
        member = tarfile.TarInfo(f"{name}/{random.choice([inside, 'cells', 'assets', ''])}")
        member.type, member.linkname = (
            kind,
            random.choice(["/etc/passwd", "..", f"{name}/study.json", "/dev/zero", ""]),
        )
        made.append(member)
    return made


def _listing(folder: Path) -> dict[str, int]:
    return {str(path): path.lstat().st_size for path in folder.rglob("*")}


def _left_behind(folder: Path, store: Path, before: dict[str, int]) -> str:
    """Say what an archive wrote outside its study's folder."""
    for path, size in _listing(folder).items():
        place = Path(path)
        if place.is_relative_to(store):
            if place.is_symlink() or not (place.is_file() or place.is_dir()):
                return f"{path} is no plain file"
            if place.stat().st_mode & 0o7000:
                return f"{path} has a mode of the archive's"
            if place.suffix == ".py":
                return f"{path} was unpacked"
        elif place.name != "n" and before.get(path) != size:
            return f"{path} was written"
    return ""


@cache
def _attacked(folder: Path) -> Path:
    from tests.results.attacked import end, keep, outcome, skipped

    made = folder / "attacked"
    made.mkdir(exist_ok=True)
    many = [outcome(index, "a good film of the year", {1: "bad"}) for index in range(4)]
    end(made, "mr", "textfooler", [*many, skipped(4), outcome(5, "so so", verdict="failed")])
    end(made, "AdvSTS-B", "pwws", [outcome(0, ("a cat", "a dog"), {1: "cow"}, label=3.5)], goal="deviation")
    keep(made, "sst2", "pwws", many[:2], classes=("no", "yes"))
    return made


def attack(random: Random, folder: Path) -> Mutant:
    made = folder / "attacks"
    shutil.copytree(_attacked(folder.parent), made)
    for _ in range(random.choice([1, 1, 2])):
        path = random.choice(sorted(made.glob("*.json*")))
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        way = random.randrange(10)
        try:
            if way < 7 and path.suffix == ".json":
                path.write_text(as_json(mutate(random, {"": json.loads(text)}).get("")), encoding="utf-8")
            elif way < 7:
                lines = text.splitlines()
                number = random.randrange(len(lines))
                lines[number] = as_json(mutate(random, {"": json.loads(lines[number])}).get(""))
                path.write_text("\n".join(lines) + "\n", "utf-8", "surrogatepass")
            elif way == 7:
                path.write_text(mangled_lines(random, text), "utf-8", "surrogatepass")
            else:
                path.write_bytes(mangled(random, path.read_bytes()))
        except (ValueError, RecursionError):
            pass  # damaged by the change before
    return [["report", str(made), "--out", str(folder / "a.html")]], nothing


def notebook(random: Random, folder: Path) -> Mutant:
    """Odd names of studies, stores, kinds and files, which become parameters of a notebook."""
    name = random.choice([*TEXTS, "'; import os; '", '"""', "old_grid", "a  # b", "\\", "x\ny"])
    name = "".join(
        letter for letter in name if (letter not in "/\0" and letter.isprintable()) or letter == "\n"
    )[:80]
    name = name if name.strip(". ") else "plain"
    store = folder / random.choice(["studies", "a b", "quo'te", 'dou"ble', "#  # x", "new\nline", "\\"])
    store.mkdir()
    study = Path(shutil.copytree(STUDIES / random.choice(["old_grid", "old_search"]), store / name))
    kind = random.choice(["", "search", "ablations", "cost", "methods", random.choice(TEXTS), "../search"])
    out = folder / random.choice(["n.ipynb", "n.ipynb", "no/n.ipynb", "x" * 300, name, "."])
    kinds = [kind.replace("\0", "").encode("utf-8", "replace").decode()] if kind else []
    return [["notebook", str(study), *kinds, f"--out={out}"]], partial(_parameters_are_texts, out)


def _parameters_are_texts(path: Path) -> str:
    """Say what is wrong with a notebook's parameters: they must be two texts and no program."""
    if not os.path.isfile(path):  # False for a name that is too long
        return ""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    (given,) = (cell["source"] for cell in cells if "parameters" in cell["metadata"].get("tags", ()))
    body = ast.parse("".join(given)).body
    are_texts = all(isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant) for one in body)
    return "" if are_texts and len(body) == 2 else f"{path}: its parameters are a program"
