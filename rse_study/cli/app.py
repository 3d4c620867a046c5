"""The typer application: all commands, guarded by `errors`."""

from importlib import metadata
from typing import Annotated

import typer

from rse_study.cli.commands import COMMANDS, command_of
from rse_study.cli.terminal.errors import guarded
from rse_study.errors import InputError

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
