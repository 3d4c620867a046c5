"""A server with the addresses of the hub and of GitHub, over a folder.

<root>/datasets/OWNER/NAME/...    a dataset of the hub; <root>/models/NAME/... a model
<root>/github/OWNER/NAME/COMMIT/...    files of a commit, and its archive as archive.tar.gz
"""

import hashlib
import http.server
import json
import re
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import pytest

COMMIT = "0" * 40
REPOSITORY = r"/(?P<kind>datasets/|api/datasets/|api/models/|)(?P<name>[^/]+(?:/[^/]+)??)"
ADDRESSES = {
    "file": re.compile(REPOSITORY + r"/resolve/[^/]+/(?P<path>[^?]+)"),
    "tree": re.compile(REPOSITORY + r"/tree/[^/?]+(?:/(?P<path>[^?]+))?"),
    "paths": re.compile(REPOSITORY + r"/paths-info/"),
    "raw": re.compile(r"/raw/(?P<path>.+)"),
    "archive": re.compile(r"/archives/(?P<repository>[^/]+/[^/]+)/tar.gz/(?P<commit>\w+)"),
    "create": re.compile(r"/api/repos/create"),
    "checked": re.compile(r"/api/validate-yaml"),
    "modes": re.compile(REPOSITORY + r"/preupload/"),
    "large": re.compile(r"/(?P<name>[^/]+/[^/]+)\.git/info/lfs/objects/batch"),
    "stored": re.compile(r"/lfs/(?P<name>[^/]+/[^/]+)/(?P<oid>\w+)"),
    "commit": re.compile(REPOSITORY + r"/commit/"),
    "info": re.compile(REPOSITORY + r"(?:/revision/[^/?]+)?$"),
}


class Hub(http.server.BaseHTTPRequestHandler):
    """Answers of the hub and of GitHub; files in parts, where a part is asked for."""

    server: "HubServer"
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        address = self.path.partition("?")[0].replace("%20", " ").replace("%2F", "/")
        self.server.asked.append((self.command, address, self.headers.get("Range")))
        for kind, pattern in ADDRESSES.items():
            if found := pattern.match(address):
                return getattr(self, f"_{kind}")(**found.groupdict())
        return self._absent("Entry")

    do_HEAD = do_POST = do_PUT = do_GET  # noqa: N815

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"]))

    def _create(self) -> None:
        asked = json.loads(self._body())
        name = f"{asked['organization']}/{asked['name']}"
        self.server.private[name] = asked.get("visibility") == "private" or asked.get("private", False)
        self.server.tokens.append(self.headers.get("Authorization", ""))
        (self.server.root / "models" / name).mkdir(parents=True, exist_ok=True)
        self._json({"url": f"{self.server.address}/{name}"})

    def _checked(self) -> None:
        self._body()
        self._json({"errors": [], "warnings": []})

    def _modes(self, kind: str, name: str) -> None:
        """Weights go their own way, as large files."""
        files = [file["path"] for file in json.loads(self._body())["files"]]
        self._json({"files": [
            {"path": path, "uploadMode": "lfs" if path.endswith(".safetensors") else "regular", "shouldIgnore": False}
            for path in files
        ]})  # fmt: skip

    def _large(self, name: str) -> None:
        objects = json.loads(self._body())["objects"]
        address = f"{self.server.address}/lfs/{name}"
        self._json({"transfer": "basic", "objects": [
            {"oid": one["oid"], "size": one["size"], "actions": {"upload": {"href": f"{address}/{one['oid']}"}}}
            for one in objects
        ]})  # fmt: skip

    def _stored(self, name: str, oid: str) -> None:
        self.server.large[oid] = self._body()
        self._json({})

    def _commit(self, kind: str, name: str) -> None:
        for line in map(json.loads, self._body().splitlines()):
            if line["key"] in ("file", "lfsFile"):
                value, path = line["value"], self.server.root / "models" / name / line["value"]["path"]
                path.parent.mkdir(parents=True, exist_ok=True)
                is_large = line["key"] == "lfsFile"
                path.write_bytes(self.server.large[value["oid"]] if is_large else b64decode(value["content"]))
        self._json({"commitUrl": f"{self.server.address}/{name}/commit/{COMMIT}", "commitOid": COMMIT})

    def _file(self, kind: str, name: str, path: str) -> None:
        folder = self._folder(kind, name)
        self._send(folder / path) if folder.is_dir() else self._absent("Repo")

    def _raw(self, path: str) -> None:
        self._send(self.server.root / "github" / path)

    def _archive(self, repository: str, commit: str) -> None:
        self._send(self.server.root / "github" / repository / commit / "archive.tar.gz")

    def _tree(self, kind: str, name: str, path: str | None) -> None:
        folder = self._folder(kind, name) / (path or "")
        is_whole = "recursive=true" in self.path.lower()
        self._json(
            [self._described(one, kind, name) for one in sorted(folder.glob("**/*" if is_whole else "*"))]
        )

    def _paths(self, kind: str, name: str) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["paths"]
        files = [self._folder(kind, name) / path for path in asked]
        self._json([self._described(file, kind, name) for file in files if file.exists()])

    def _info(self, kind: str, name: str) -> None:
        folder = self._folder(kind, name)
        files = [{"rfilename": str(file.relative_to(folder))} for file in folder.rglob("*") if file.is_file()]
        self._json(
            {
                "id": name,
                "sha": COMMIT,
                "siblings": files,
                "tags": [],
                "private": self.server.private.get(name, False),
            }
        )

    def _folder(self, kind: str, name: str) -> Path:
        return self.server.root / ("datasets" if "datasets" in kind else "models") / name

    def _described(self, file: Path, kind: str, name: str) -> dict[str, object]:
        path = str(file.relative_to(self._folder(kind, name)))
        if file.is_dir():
            return {"type": "directory", "path": path, "oid": COMMIT}
        return {"type": "file", "path": path, "size": file.stat().st_size, "oid": _etag(file)}

    def _send(self, file: Path) -> None:
        if not file.is_file():
            self._absent("Entry")
            return
        content = file.read_bytes()
        start = (
            0
            if not self.server.knows_ranges
            else int((self.headers.get("Range") or "bytes=0-").split("=")[1].rstrip("-").split("-")[0])
        )
        self.send_response(HTTPStatus.PARTIAL_CONTENT if start else HTTPStatus.OK)
        self.send_header("ETag", f'"{_etag(file)}"')
        self.send_header("X-Repo-Commit", COMMIT)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self._end(content[start:], self.server.cut.pop(file.name, None) if self.command == "GET" else None)

    def _json(self, content: object) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "application/json")
        self._end(json.dumps(content).encode())

    def _absent(self, what: str) -> None:
        self.send_response(HTTPStatus.NOT_FOUND)
        self.send_header("X-Error-Code", f"{what}NotFound")
        if what == "Entry":
            self.send_header("X-Repo-Commit", COMMIT)
        self._end(b"")

    def _end(self, content: bytes, cut: int | None = None) -> None:
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[:cut])
        self.close_connection = cut is not None

    def log_message(self, *_: object) -> None:
        pass


class HubServer(http.server.ThreadingHTTPServer):
    """Remembers what was asked, and breaks off the next answer with a file named in `cut`."""

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), Hub)
        self.root = root
        self.asked: list[tuple[str, str, str | None]] = []
        self.cut: dict[str, int] = {}
        self.knows_ranges = True
        self.private: dict[str, bool] = {}
        self.tokens: list[str] = []
        self.large: dict[str, bytes] = {}
        self.address = f"http://127.0.0.1:{self.server_port}"


def ask_only(server: HubServer, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything that asks the hub or GitHub ask the server, and keep it in `cache`."""
    pattern = server.address + "/{repo_id}/resolve/{revision}/{filename}"
    for name, value in {
        "huggingface_hub.constants.ENDPOINT": server.address,
        "huggingface_hub.hf_api.api.endpoint": server.address,
        "huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE": pattern,
        "huggingface_hub.constants.HF_HUB_CACHE": str(cache / "hub"),
        "huggingface_hub.constants.HF_HUB_OFFLINE": False,
        "datasets.config.HF_ENDPOINT": server.address,
        "datasets.config.HF_DATASETS_CACHE": cache / "datasets",
        "datasets.config.HF_HUB_OFFLINE": False,
        "rse_study.data.download.GITHUB_RAW": f"{server.address}/raw",
        "rse_study.data.download.GITHUB_ARCHIVES": f"{server.address}/archives",
        "transformers.utils.hub._hf_api": None,  # which remembers the address it was made with
    }.items():
        monkeypatch.setattr(name, value)


@contextmanager
def serve(root: Path) -> Iterator[HubServer]:
    """Serve a folder while the context lasts."""
    with HubServer(root) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def _etag(file: Path) -> str:
    return hashlib.sha1(file.read_bytes(), usedforsecurity=False).hexdigest()
