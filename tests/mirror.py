"""Repositories with all that the catalogue fetches, in the layout of `tests.hub`.

A file whose checksum the catalogue knows is made of the real one in the data folder; all others are made up.
"""

import gzip
import io
import json
import tarfile
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from rse_study.data import GLUE
from rse_study.data.catalogue import ArchiveHome, File, TableHome, catalogue, present

NLI_ROWS = [
    {"uid": str(label), "premise": "A red cat.", "hypothesis": "A cat.", "label": label, "reason": ""}
    for label in (0, 1, 2, -1)
]

SQUAD_ROW = {
    "id": "1",
    "title": "Cats",
    "context": "A red cat.",
    "answers": {"text": ["red cat"], "answer_start": [2]},
}


def write_mirror(root: Path, data_dir: Path, names: Iterable[str] = ()) -> None:
    """Write every home of the named sets, or of the whole catalogue."""
    archives: dict[Path, dict[str, bytes]] = {}
    for entry in (catalogue().get(name) for name in names or catalogue()):
        contents = {file.path: content_of(file, data_dir) for file in entry.files}
        for home in entry.homes:
            commit = getattr(home, "commit", "")
            folder = root / ("github" if commit else "datasets") / home.repository / commit
            if isinstance(home, TableHome):
                for split, path in home.splits.items():
                    _write(
                        folder / f"data/{split}-00000-of-00001.parquet", _table(contents[path], home.columns)
                    )
            elif isinstance(home, ArchiveHome):
                for inside, outside in home.folders.items():
                    below = {
                        path: content for path, content in contents.items() if path.startswith(f"{outside}/")
                    }
                    named = {f"{inside}/{Path(path).name}": content for path, content in below.items()}
                    archives.setdefault(folder / home.archive, {}).update(named)
            elif home.conversion == "documents":
                ((inside, path),) = home.members.items()
                archives[folder / "archive.tar.gz"] = _documents(contents[path], f"top-{commit}/{inside}")
            else:
                for member, path in home.members.items():
                    more = b"One more sentence.\n" if home.is_head else b""
                    _write(folder / member, _source(home.conversion, contents[path], path) + more)
    for path, members in archives.items():
        _write(path, _packed(members))


def content_of(file: File, data_dir: Path) -> bytes:
    """Return the file's content in the data folder, or what stands for it."""
    found = present(file, data_dir)
    if found is not None:
        return gzip.decompress(found.read_bytes()) if found.suffix == ".gz" else found.read_bytes()
    return _made_up(file.path)


def _made_up(path: str) -> bytes:
    if path.startswith("nyu-mll/glue/"):
        (task,) = (GLUE.get(name) for name in GLUE if GLUE.get(name).config == path.split("/")[2])
        labels = range(len(task.classes)) if task.classes else (0.0, 5.0)
        split = Path(path).stem.partition("-")[0]  # no text of one split is in another
        rows = [
            {**dict.fromkeys(task.columns, f"{split} cat {n} {label}"), "label": label}
            for n in range(20)
            for label in labels
        ]
        return _parquet(rows)
    if path.startswith("transfer/SUBJ"):
        return "".join(f"a red cat {word}\n" for word in range(20)).encode()
    if path.startswith("attack/snli"):
        return b"entailment\ta red cat\ta cat\nneutral\ta red cat\ta cat runs\n"
    if path.startswith("attack/"):
        return b"0 a bad place\n1 a good place\n"
    if path.startswith("sts/SICK"):
        return b"pair_ID\tA\tB\tscore\tjudgment\n1\ta red cat\ta cat\t4.5\tENTAILMENT\n"
    if ".gs." in path:
        return b"3.5\n0\n"
    return b"one\ttwo\nthree\tfour\n" if path.startswith("sts/") else b"One sentence.\nAnother one.\n"


def _confusables(content: bytes) -> bytes:
    rows = [(source, target) for target, sources in json.loads(content).items() for source in sources]
    lines = [f"{ord(source):04X} ;\t{ord(target):04X} ;\tMA\t# {source}" for source, target in rows]
    return "\n".join(["\ufeff# confusables", *lines, "0041 ;\t0061 0062 ;\tMA"]).encode()


def _with_parses(content: bytes) -> bytes:
    rows = [json.loads(line) for line in content.decode().split("\n") if line]
    lines = [json.dumps({"sentence1_binary_parse": "( A )", **row, "sentence2_parse": "(S)"}) for row in rows]
    return "".join(f"{line}\n" for line in lines).encode()


_SOURCES = {
    "confusables": _confusables,
    "no_parses": _with_parses,
}
"""What a conversion starts from."""


def _source(conversion: str, content: bytes, path: str) -> bytes:
    """Return the hub's file from which a conversion makes `path`; no text of one file is in another."""
    match conversion:
        case "nli" | "anli" | "fever":
            rows = [row | {"premise": f"{path}: a red cat {n}."} for n in range(100) for row in NLI_ROWS]
            labelled = rows if conversion == "nli" else [row for row in rows if row["label"] != -1]
            return _parquet([row | {"fever_gold_label": "REFUTES"} for row in labelled])
        case "reviews":
            return _parquet([{"label": n % 2, "text": f"{path}: a red cat {n}"} for n in range(20)])
        case "squad":
            return _parquet([{**SQUAD_ROW, "question": f"{path}: which cat {n}?"} for n in range(20)])
    return _SOURCES.get(conversion, bytes)(content)


def _documents(content: bytes, folder: str) -> dict[str, bytes]:
    rows = [json.loads(line) for line in content.decode().split("\n") if line]
    named = {f"{folder}/{('neg', 'pos')[row['label']]}/{row['id']}.txt": row["text"] for row in rows}
    return {name: f"{text} \n".encode("latin-1") for name, text in named.items()}


def _table(content: bytes, columns: tuple[str, ...]) -> bytes:
    rows = [line.split("\t")[: len(columns)] for line in content.decode().splitlines()]
    table = pd.DataFrame(rows, columns=list(columns))
    return _bytes_of(table.assign(score=table["score"].astype(float)))


def _parquet(rows: list[dict[str, object]]) -> bytes:
    return _bytes_of(pd.DataFrame(rows))


def _bytes_of(table: pd.DataFrame) -> bytes:
    stream = io.BytesIO()
    table.to_parquet(stream)
    return stream.getvalue()


def _packed(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(f"./{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
