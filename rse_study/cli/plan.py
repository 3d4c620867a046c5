"""`plan`: what a study costs, before it runs."""

from typing import Annotated

import typer

from rse_study.cli.arguments import DEFAULT_STORE, Overrides, Store, StudyArgument, study_file

MaxHours = Annotated[
    float | None,
    typer.Option(min=0, help="Device hours the study may cost in all; default: its budget; 0 = no limit."),
]
MaxCost = Annotated[
    float | None,
    typer.Option(min=0, help="Price the study may have in all; default: its budget; 0 = no limit."),
]


def plan(
    study: StudyArgument,
    override: Overrides = None,
    probe: Annotated[
        bool, typer.Option("--probe", help="Train a few steps on this machine to tell how long cells take.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    max_hours: MaxHours = None,
    max_cost: MaxCost = None,
    store: Store = DEFAULT_STORE,
) -> None:
    """Say what is left of a study and what it costs: cells, steps, gradient passes, device hours, price.

    Hours are told from the studies in the store, or from a probe; else they are unknown. A device is a GPU, or a
    processor core where cells use no GPU. Exit code 4 where the expected total passes a limit; a warning where only
    the high estimate does.
    """
    from rse_study.cli.verbs.plan import plan_here

    plan_here(study_file(study), override or (), store, probe, as_json, max_hours, max_cost)
