"""Every verb, registered."""

from collections.abc import Callable
from importlib import metadata
from typing import Annotated

import typer

from rse_study.cli import (
    checking,
    datasets,
    doctor,
    models,
    plan,
    replaying,
    starting,
    studies,
    training,
    watching,
)
from rse_study.cli.errors import guarded

app = typer.Typer(
    name="rse-study",
    help="A study platform for robust sentence embeddings.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
catalogue = typer.Typer(help="The data sets the project knows.", no_args_is_help=True)


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


VERBS: tuple[Callable[..., int | None], ...] = (
    training.train,
    studies.validate,
    plan.plan,
    studies.run,
    watching.status,
    watching.dashboard,
    replaying.replay,
    studies.report,
    checking.check,
    checking.compare,
    studies.studies,
    models.evaluate,
    models.export,
    starting.init,
    doctor.doctor,
)
DATA_VERBS: dict[str, Callable[..., int | None]] = {
    "list": datasets.show,
    "verify": datasets.verify,
    "fetch": datasets.fetch,
}
for verb in VERBS:
    app.command()(guarded(verb))
for name, verb in DATA_VERBS.items():
    catalogue.command(name)(guarded(verb))
app.add_typer(catalogue, name="data")
