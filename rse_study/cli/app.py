"""The typer application, and the table of all commands that it is made from."""

import ast
import functools
from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path
from typing import Annotated, Any

import typer

from rse_study.cli.terminal.errors import guarded
from rse_study.errors import InputError

Command = Callable[..., int | None]
"""Arguments in, exit code out; None is 0."""
VERBS = Path(__file__).parent / "verbs"

COMMANDS = {
    "train": "train:train_trial",
    "validate": "validate:validate_study",
    "plan": "plan:show_plan",
    "run": "run:run_and_report",
    "status": "status:show_status",
    "dashboard": "notebook:serve_dashboard",
    "replay": "cells:replay_cell",
    "report": "report:write_page",
    "archive": "studies:archive_study",
    "unpack": "studies:unpack_study",
    "notebook": "notebook:write_notebook",
    "check": "check:check_study",
    "compare": "compare:compare_rows",
    "studies": "studies:list_studies",
    "evaluate": "evaluate:evaluate_frozen",
    "attack": "classifiers:attack_model",
    "fine-tune": "classifiers:fine_tune_model",
    "export": "cells:export_model",
    "init": "studies:write_first_study",
    "doctor": "doctor:examine_installation",
    "data list": "data:show_sets",
    "data verify": "data:verify_sets",
    "data fetch": "data:fetch_sets",
    "cluster init": "cluster:write_cluster",
    "cluster render": "cluster:render_cluster",
    "cluster validate": "cluster:validate_cluster",
    "cluster submit": "cluster:submit_study",
    "cluster status": "cluster:show_cluster_status",
    "cluster logs": "cluster:show_log",
    "cluster fetch": "cluster:fetch_study",
    "cluster down": "cluster:end_jobs",
}
"""Module below `verbs` and function of each command, in the order of `rse-study --help`.

The function's docstring is the command's help. Its first line is the summary in that list, which has about 65
characters for it.
"""


def command_of(place: str) -> Command:
    """Return a command whose module is imported when it is called.

    Help and completion need the signature alone. It is made from the module's source, with the imports of the names in
    it, so that they do not wait for what the body imports (pandas, torch, Ray).
    """
    module, _, name = place.partition(":")
    path = VERBS / f"{module}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (function,) = (one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == name)
    function.body, function.returns = function.body[:1], None  # the docstring
    names = {one.id for one in ast.walk(function) if isinstance(one, ast.Name)}
    imports = [
        one for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom) and _binds(one, names)
    ]
    scope: dict[str, Any] = {}
    exec(compile(ast.Module([*imports, function], []), str(path), "exec"), scope)

    @functools.wraps(scope[name])
    def command(**given: Any) -> int | None:
        code: int | None = getattr(import_module(f"rse_study.cli.verbs.{module}"), name)(**given)
        return code

    return command


def _binds(one: ast.Import | ast.ImportFrom, names: set[str]) -> bool:
    return any((alias.asname or alias.name) in names for alias in one.names)


app = typer.Typer(
    name="rse-study",
    help="A study platform for robust sentence embeddings.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
data = typer.Typer(help="List, fetch and verify data sets.", no_args_is_help=True)
cluster = typer.Typer(help="Run studies on clusters.", no_args_is_help=True)


def _show_version(wanted: bool) -> bool:
    if not wanted:
        return False
    try:
        print(f"rse-study {metadata.version('rse-study')}")
    except metadata.PackageNotFoundError:
        print("rse-study, not installed (a checkout on the path)")
    raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """A study platform for robust sentence embeddings."""


@app.command(hidden=True, add_help_option=False, context_settings={"ignore_unknown_options": True})
@guarded
def track(words: Annotated[list[str] | None, typer.Argument()] = None) -> None:
    """Refuse a former command."""
    remedy = "`run --track mlflow|wandb|tensorboard` follows a run; docs/trackers.md logs a finished study"
    raise InputError("the command `track` was removed", remedy=remedy)


groups = {"": app, "data": data, "cluster": cluster}
for words, place in COMMANDS.items():
    group, _, name = words.rpartition(" ")
    groups[group].command(name)(guarded(command_of(place)))
app.add_typer(data, name="data")
app.add_typer(cluster, name="cluster")
