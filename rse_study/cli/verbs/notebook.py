"""The bodies of `notebook` and `dashboard`: explorers of a study."""

import errno
import functools
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Annotated, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import typer

from analysis.notebooks import KINDS, filled_in, fitting_kind
from rse_study import open_study
from rse_study.cli import parameters
from rse_study.cli.arguments import require_file, study_folder
from rse_study.cli.terminal.screen import announce, suggest
from rse_study.errors import InputError
from rse_study.results.files.atomic import write_whole


def write_notebook(
    study: parameters.RanStudyArgument,
    kind: Annotated[
        str,
        parameters.argument(
            "[KIND]", "ablations, methods, robustness, search or cost; default: the one that fits."
        ),
    ] = "",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The notebook; default: STUDY-KIND.ipynb.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Write a Jupyter notebook about a study.

    Whenever it runs, it reads the ledger again. You may change it freely. Needs the extra `notebooks`.
    """
    folder = study_folder(study, store)
    results = open_study(folder)
    chosen = kind or fitting_kind(results)
    path = out or Path(f"{results.name}-{chosen}.ipynb")
    require_file(path, where="--out")
    text = filled_in(chosen, folder.name, _seen_from(path.parent, folder.parent))
    if path.exists() and not force:
        remedy = "Name another file (--out FILE), or overwrite it: --force"
        raise InputError("already exists", where=str(path), rule="nothing is overwritten", remedy=remedy)
    write_whole(path, text)
    others = ", ".join(name for name in KINDS if name != chosen)
    announce(f"{path}: {KINDS[chosen]} (others: {others})")
    suggest(f"jupyter lab {path} (no Jupyter here? pip install 'rse-study[notebooks]')")


def _seen_from(place: Path, folder: Path) -> str:
    """Return a relative path where both lie below this folder, so that they can be moved together."""
    here, there = place.resolve(), folder.resolve()
    is_near = there.is_relative_to(Path.cwd()) and here.is_relative_to(Path.cwd())
    return Path(os.path.relpath(there, here)).as_posix() if is_near else str(there)


HOST = "127.0.0.1"  # whoever reaches the page sees the study: never another address
OWN_NAMES = (HOST, "localhost")
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def serve_dashboard(
    study: parameters.RanStudyArgument,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 = any free one.")] = 8080,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Show a study in the browser, also while it runs.

    Serves optuna-dashboard from a copy in memory, on this machine only.
    """
    with open_server(study_folder(study, store), port) as server:
        announce(f"http://{HOST}:{server.server_port}/  (Ctrl-C ends it; it only reads the study)")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            announce("dashboard closed")


def open_server(study_dir: Path, port: int) -> WSGIServer:
    """Return a server that listens, or raise InputError where its port is taken."""
    application = refuse_other_hosts(_application(study_dir))
    try:
        return make_server(HOST, port, application, server_class=_Server, handler_class=_Quiet)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        what = f"port {port} is taken" if taken else f"port {port} cannot be used ({error.strerror})"
        remedy = "Name another one, for example --port 8081; 0 takes any that is free"
        raise InputError(what, where="--port", remedy=remedy) from None


def refuse_other_hosts(application: Application) -> Application:
    """Refuse requests to other names: a foreign page could borrow the browser to read."""

    def guarded(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ.get("HTTP_HOST", "").rsplit(":", 1)[0] in OWN_NAMES:
            return application(environ, start_response)
        start_response("403 Forbidden", [("Content-Type", "text/plain")])
        return [b"This dashboard answers to 127.0.0.1 and localhost only.\n"]

    return guarded


def _application(study_dir: Path) -> Application:
    try:
        from optuna_dashboard import wsgi
    except ImportError:
        rule = "it is an extra"
        remedy = "pip install 'rse-study[dashboard]', or: pip install optuna-dashboard"
        raise InputError("optuna-dashboard is not installed", rule=rule, remedy=remedy) from None
    from rse_study.sampling.optuna_study import LedgerCopy

    copy, application_over = LedgerCopy(study_dir), functools.lru_cache(maxsize=1)(wsgi)
    return lambda environ, start_response: application_over(copy.storage())(environ, start_response)


class _Server(ThreadingMixIn, WSGIServer):
    """Server with a thread a request: a slow figure keeps nobody waiting."""

    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass
