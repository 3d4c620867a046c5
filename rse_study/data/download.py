"""Downloads from the hub and GitHub, and conversions of published files.

A download goes on where it was cut off. Each conversion is the one by which the catalogue's own file was made, so that
its checksum holds for what is written.
"""

import fcntl
import http.client
import io
import json
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, urlsplit

from rse_study.activity import ProgressCallback
from rse_study.errors import InputError, first_line
from rse_study.results.archive import read_tar

GITHUB_RAW = "https://raw.githubusercontent.com"
GITHUB_ARCHIVES = "https://codeload.github.com"
SECONDS = 30.0
"""silence of a server after which a download is given up; the next one goes on"""
CHUNK = 1 << 16  # bytes
PART = ".part"
PARTIAL = 206  # HTTP's status of the rest of a file


@dataclass(frozen=True)
class RemoteFile:
    """A file on a server, as the server describes it."""

    name: str
    """repository and path, for messages"""
    url: str
    size: int
    """bytes; 0 where the server does not say"""
    place: Path
    """where it is kept; another content has another name"""
    headers: tuple[tuple[str, str], ...] = ()


def on_github(repository: str, commit: str, path: str, folder: Path) -> RemoteFile:
    """Find a file of a commit, or the commit's archive where `path` is empty."""
    name = f"{repository}@{commit[:8]}/{path or 'archive'}"
    file = f"{GITHUB_RAW}/{repository}/{commit}/{quote(path)}"
    url = file if path else f"{GITHUB_ARCHIVES}/{repository}/tar.gz/{commit}"
    with _opened(name, urllib.request.Request(url, method="HEAD")) as answer:
        size = int(answer.headers.get("Content-Length") or 0)
    key = "--".join([*repository.split("/"), commit, *path.split("/")])
    return RemoteFile(name, url, size, folder / key)


def on_hub(repository: str, path: str, kind: str = "dataset", revision: str = "main") -> RemoteFile:
    """Find a file on the hub, else in the hub's cache, where it is kept."""
    from huggingface_hub import constants, get_hf_file_metadata, get_token, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.errors import HTTPError
    from huggingface_hub.file_download import repo_folder_name

    name = f"{repository}/{path}"
    url = hf_hub_url(repository, path, repo_type=kind, revision=revision)
    try:
        found = get_hf_file_metadata(url, timeout=SECONDS)
    except (HTTPError, OSError) as error:
        cached = try_to_load_from_cache(repository, path, revision=revision, repo_type=kind)
        if isinstance(cached, str):
            return RemoteFile(name, "", 0, Path(cached))
        raise _unreachable(name, error) from None
    folder = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=repository, repo_type=kind) / "blobs"
    # Where the hub sends us to another server, the address itself is the permission.
    is_at_home = urlsplit(url).netloc == urlsplit(found.location).netloc
    token = get_token() if is_at_home else None
    headers = (("Authorization", f"Bearer {token}"),) if token else ()
    return RemoteFile(name, found.location, found.size or 0, folder / str(found.etag), headers)


def download_from_hub(
    repository: str, path: str, on_progress: ProgressCallback, kind: str = "dataset", revision: str = "main"
) -> Path:
    """Download into the hub's cache, where its client then finds the file."""
    from huggingface_hub import hf_hub_download

    download(on_hub(repository, path, kind, revision), on_progress)
    return Path(hf_hub_download(repository, path, repo_type=kind, revision=revision))


def download(remote: RemoteFile, on_progress: ProgressCallback = lambda done, total: None) -> Path:
    """Download to the file's place, going on with the part that is there.

    `on_progress` gets bytes.
    """
    part = remote.place.with_name(remote.place.name + PART)
    if not remote.place.is_file():
        try:
            part.parent.mkdir(parents=True, exist_ok=True)
            with part.open("ab") as held:  # whoever else wants the file waits, and then finds it
                fcntl.flock(held, fcntl.LOCK_EX)
                if remote.place.is_file():
                    part.unlink(missing_ok=True)
                    return remote.place
                _complete(remote, part, on_progress)
                part.replace(remote.place)
        except OSError as error:
            what = f"cannot be written ({error.strerror})"
            raise InputError(what, where=str(part), remedy="Free space, or use another folder") from None
    return remote.place


def _complete(remote: RemoteFile, part: Path, on_progress: ProgressCallback) -> None:
    done = part.stat().st_size if part.is_file() else 0
    if remote.size and done > remote.size:
        done = 0
    if not remote.size or done != remote.size:
        done = _append(remote, part, done, on_progress)
    if remote.size and done != remote.size:
        raise _unreachable(remote.name, f"cut off after {done:,} of {remote.size:,} bytes")


def _append(remote: RemoteFile, part: Path, done: int, on_progress: ProgressCallback) -> int:
    request = urllib.request.Request(remote.url, headers=dict(remote.headers))
    if done:
        request.add_header("Range", f"bytes={done}-")
    with _opened(remote.name, request) as answer:
        goes_on = answer.status == PARTIAL  # a server that knows no ranges sends the whole file
        done = done if goes_on else 0
        with part.open("ab" if goes_on else "wb") as stream:
            while chunk := answer.read1(CHUNK):
                done += stream.write(chunk)
                on_progress(done, remote.size)
    return done


@contextmanager
def _opened(name: str, request: urllib.request.Request) -> Iterator[Any]:
    request.add_header("Accept-Encoding", "identity")
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            yield answer
    except (http.client.HTTPException, ConnectionError, TimeoutError, urllib.error.URLError) as error:
        raise _unreachable(name, error) from None


def _unreachable(name: str, error: Exception | str) -> InputError:
    reason = error if isinstance(error, str) else first_line(error)
    remedy = "Check the connection and run the same command again: it resumes the download"
    return InputError(f"cannot be fetched ({reason})", where=name, remedy=remedy)


NLI_LABELS = ("entailment", "neutral", "contradiction", "-")  # -1 on the hub: no majority


def documents(archive: bytes, folder: str) -> bytes:
    """Make JSON Lines of the texts in neg/ and pos/ of a folder of a tar archive."""
    rows: list[tuple[int, str, str]] = []
    for member, content in read_tar(io.BufferedReader(io.BytesIO(archive))):
        name = PurePosixPath(member.name)
        if name.match(f"*/{folder}/*/*") and name.parent.name in ("neg", "pos") and member.isreg():
            text = b"".join(content).decode("latin-1").strip()
            rows.append((int(name.parent.name == "pos"), name.stem, text))
    return _lines({"id": stem, "label": label, "text": text} for label, stem, text in sorted(rows))


def _confusables(content: bytes) -> bytes:
    """Make a table in JSON of Unicode's: ASCII letter or digit -> other characters."""
    alike: dict[str, set[str]] = defaultdict(set)
    for line in content.decode("utf-8-sig").split("\n"):
        columns = [column.strip() for column in line.partition("#")[0].split(";")]
        if len(columns) > 1 and not any(" " in column for column in columns[:2]):
            source, target = (chr(int(column, 16)) for column in columns[:2])
            if target.isascii() and target.isalnum() and not source.isascii():
                alike[target].add(source)
    return json.dumps({target: sorted(alike[target]) for target in sorted(alike)}, indent=0).encode()


def _no_next_line(content: bytes) -> bytes:
    """Replace U+0085 by a blank, since some readers of lines end one there."""
    return content.decode("utf-8").replace("\u0085", " ").encode()


def _no_parses(content: bytes) -> bytes:
    """Drop the parse trees of JSON Lines in SNLI's form."""
    rows = [json.loads(line) for line in content.decode("utf-8").split("\n") if line.strip()]
    return _lines({key: value for key, value in row.items() if not key.endswith("_parse")} for row in rows)


def _squad(content: bytes) -> bytes:
    """Make SQuAD's JSON of a Parquet file of the hub, whose rows are questions."""
    articles = [
        {
            "title": title,
            "paragraphs": [
                {"context": context, "qas": [_question(row) for row in rows]}
                for context, rows in groupby(of_title, key=itemgetter("context"))
            ],
        }
        for title, of_title in groupby(_rows(content), key=itemgetter("title"))
    ]
    return json.dumps({"data": articles, "version": "1.1"}).encode()


def _question(row: dict[str, Any]) -> dict[str, Any]:
    starts, texts = row["answers"]["answer_start"], row["answers"]["text"]
    answers = [{"answer_start": start, "text": text} for start, text in zip(starts, texts, strict=True)]
    return {"answers": answers, "question": row["question"], "id": row["id"]}


_PREMISE, _HYPOTHESIS = itemgetter("premise"), itemgetter("hypothesis")
_JSON_LINES: dict[str, dict[str, Callable[[dict[str, Any]], object]]] = {
    "nli": {  # SNLI's and MNLI's keys
        "gold_label": lambda row: NLI_LABELS[row["label"]],
        "sentence1": _PREMISE,
        "sentence2": _HYPOTHESIS,
    },
    "anli": {
        "uid": itemgetter("uid"),
        "context": _PREMISE,
        "hypothesis": _HYPOTHESIS,
        "label": lambda row: NLI_LABELS[row["label"]][0],
    },
    # nli_fever's keys; on the hub its claims are premises.
    "fever": {"query": _PREMISE, "context": _HYPOTHESIS, "label": itemgetter("fever_gold_label")},
    "reviews": {"label": itemgetter("label"), "text": itemgetter("text")},
}
"""Keys of JSON Lines, and what each is of a row of the hub's Parquet file."""


def _renamed(keys: dict[str, Callable[[dict[str, Any]], object]], content: bytes) -> bytes:
    return _lines({key: value(row) for key, value in keys.items()} for row in _rows(content))


CONVERSIONS: dict[str, Callable[[bytes], bytes]] = {
    "none": bytes,
    "confusables": _confusables,
    "no_next_line": _no_next_line,
    "no_parses": _no_parses,
    **{name: partial(_renamed, keys) for name, keys in _JSON_LINES.items()},
    "squad": _squad,
}
"""Conversions of one file; `documents` takes an archive."""


def _rows(content: bytes) -> list[dict[str, Any]]:
    # pyarrow takes a second to import, so import it on first use.
    import pyarrow.parquet

    return pyarrow.parquet.read_table(io.BytesIO(content)).to_pylist()


def _lines(rows: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()
