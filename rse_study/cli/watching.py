"""`status` and `dashboard`: a study is looked at, also while it runs. Nothing here writes to it."""

from typing import Annotated

import typer

from rse_study.cli.arguments import DEFAULT_STORE, RanStudyArgument, Store, study_folder
from rse_study.errors import InputError


def status(
    study: RanStudyArgument,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON; docs/status.md lists its keys.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Look again until the study is complete.")] = False,
    store: Store = DEFAULT_STORE,
) -> None:
    """Show where a study stands: its cells, the best so far, what runs, what was lost, how long it will take."""
    from rse_study.cli.verbs.status import show_status, watch_status

    if watch and as_json:
        remedy = "Call `status --json` as often as you like"
        raise InputError("--json", where="--watch", rule="is for people", remedy=remedy)
    folder = study_folder(study, store)
    if watch:
        watch_status(folder)
    else:
        show_status(folder, as_json)


def dashboard(
    study: RanStudyArgument,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 = any free one.")] = 8080,
    store: Store = DEFAULT_STORE,
) -> None:
    """Show a study in the browser, also while it runs: optuna-dashboard over a copy in memory, on this machine only."""
    from rse_study.cli.verbs.dashboard import dashboard_here

    dashboard_here(study_folder(study, store), port)
