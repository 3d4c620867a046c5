"""The body of `dashboard`: optuna-dashboard over a copy of the ledger."""

import errno
import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Annotated, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import typer

from rse_study.cli import parameters
from rse_study.cli.arguments import study_folder
from rse_study.cli.terminal.screen import announce
from rse_study.errors import InputError

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
