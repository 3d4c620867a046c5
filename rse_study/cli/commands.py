"""Signature and help of the commands that run a study; the table of all.

A body is one call into `verbs/`, imported when the command runs. The first line of a docstring is the command's summary
in `rse-study --help`, which has about 65 characters for it; the meaning of an argument stands in its `help=`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli.arguments.completion import DEFAULT_STORE
from rse_study.cli.arguments.declarations import (
    AsJson,
    CellArgument,
    DeviceName,
    MaxCost,
    MaxHours,
    Overrides,
    RanStudyArgument,
    Store,
    StudyArgument,
    TrialArgument,
    Wide,
)
from rse_study.cli.model_commands import attack, evaluate, export, fine_tune
from rse_study.cli.result_commands import archive, check, compare, dashboard, notebook, report, studies, track

Command = Callable[..., int | None]
"""Arguments in, exit code out; None is 0."""


def train(
    trial: TrialArgument,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the cell; one that holds a checkpoint is resumed.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the cell.")] = 0,
    override: Overrides = None,
    workers: Annotated[
        int, typer.Option(min=1, help="Processes that share every batch; dropout depends on their number.")
    ] = 1,
    threads: Annotated[
        int, typer.Option(min=1, help="CPU threads of each; results depend on them in their last bits.")
    ] = 1,
    device: DeviceName = "cpu",
) -> None:
    """Train one configuration on this machine, without Ray.

    Shows the dev score before and after, beside the baselines.
    """
    from rse_study.cli.verbs.train import train_trial

    train_trial(trial, override or (), seed, out, workers=workers, threads=threads, device=device)


def validate(
    study: StudyArgument,
    override: Overrides = None,
    show: Annotated[
        bool, typer.Option("--show", help="Print the whole study as YAML, with every default.")
    ] = False,
    as_json: AsJson = False,
) -> int | None:
    """Check a study and its data, and say every problem at once.

    Every edge of its space is checked, every row of its grid. Exit code 2 with a line for each problem.
    """
    from rse_study.cli.verbs.validate import validate_as_json, validate_study

    if as_json:
        return validate_as_json(study, override or ())
    validate_study(study, override or (), is_shown=show)
    return None


def plan(
    study: StudyArgument,
    override: Overrides = None,
    probe: Annotated[
        bool, typer.Option("--probe", help="Train a few steps on this machine to tell how long cells take.")
    ] = False,
    as_json: AsJson = False,
    max_hours: MaxHours = None,
    max_cost: MaxCost = None,
    cluster: Annotated[
        str,
        typer.Option(metavar="SPEC", help="Price it on this cluster; default: at allowance.price_per_hour."),
    ] = "",
    store: Store = DEFAULT_STORE,
    wide: Wide = False,
) -> None:
    """Say what is left of a study and what it costs.

    In cells, steps, gradient passes, device hours, price.

    Hours are told from the studies in the store, or from a probe; else they are unknown. A device is a GPU, or a
    processor core where cells use no GPU. Exit code 4 where the expected total passes a limit; a warning where only
    the high estimate does.
    """
    from rse_study.cli.verbs.plan.show import show_plan

    show_plan(study, override or (), store, probe, as_json, max_hours, max_cost, cluster, wide)


def run(
    study: StudyArgument,
    override: Overrides = None,
    store: Store = DEFAULT_STORE,
    cpus: Annotated[int, typer.Option(min=0, help="CPUs to use; 0 = all this process may use.")] = 0,
    address: Annotated[
        str, typer.Option(help="Address of a running Ray cluster; default: Ray on this machine.")
    ] = "",
    max_hours: MaxHours = None,
    max_cost: MaxCost = None,
    wide: Wide = False,
) -> int:
    """Run a study, or go on with it, and write its report.

    One that was interrupted goes on from where it was.

    Ctrl-C lets running cells end first; once more stops now. Exit code 0 where every cell ended well, 3 where some
    did not, 4 where the study costs more than its allowance or --max-hours and --max-cost allow, 130 after Ctrl-C.
    """
    from rse_study.cli.verbs.run import run_and_report

    return run_and_report(study, override or (), store, cpus, address, max_hours, max_cost, wide)


def status(
    study: RanStudyArgument,
    as_json: AsJson = False,
    watch: Annotated[bool, typer.Option("--watch", help="Look again until its run has ended.")] = False,
    store: Store = DEFAULT_STORE,
) -> None:
    """Show where a study stands, also while it runs.

    Its cells, the best so far, what runs, what was lost, how long it will take.
    """
    from rse_study.cli.verbs.status.show import show_status

    show_status(study, store, as_json, watch)


def replay(
    study: RanStudyArgument,
    cell: CellArgument,
    out: Annotated[
        Path | None, typer.Option(help="Keep the cell that is trained anew in this new folder.")
    ] = None,
    store: Store = DEFAULT_STORE,
) -> int:
    """Train a cell again and compare every number with the ledger's.

    The study's own files are left alone. On the same kind of machine the numbers are equal to the last bit: exit code
    0. Exit code 1 where they are not, with the first differences. On another kind, or with other versions, they are
    near: exit code 0 where all agree to 1e-6, else 3, with the largest differences.
    """
    from rse_study.cli.verbs.replay import replay_cell

    return replay_cell(study, store, cell, out)


def init(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="The study's name.")] = "my-study",
    grid: Annotated[bool, typer.Option("--grid", help="A grid; default: a search.")] = False,
) -> None:
    """Write NAME.yaml, a study that runs on this machine as it is.

    Beside it study.schema.json, by which editors check it.
    """
    from rse_study.cli.verbs.init import write_first_study

    write_first_study(name, grid)


def doctor(
    rebuild: Annotated[
        str,
        typer.Option(
            metavar="STUDY", help="Make this study's ledger anew from the files of its cells instead."
        ),
    ] = "",
    as_json: AsJson = False,
    store: Store = DEFAULT_STORE,
) -> int | None:
    """Check this installation, its data and its cache folder.

    Python, versions, threads, memory, and whether the folders can be used.

    With --rebuild: make a lost or damaged ledger anew from study.json and the files of the cells. The one that is
    there is kept beside it. Exit code 3 where a file was damaged: its cell runs again with the next `run`.
    """
    from rse_study.cli.verbs.doctor import examine_installation, rebuild_ledger

    if rebuild:
        return rebuild_ledger(rebuild, store, as_json=as_json)
    return examine_installation(store, as_json=as_json)


COMMANDS: tuple[Command, ...] = (
    train,
    validate,
    plan,
    run,
    status,
    dashboard,
    replay,
    report,
    archive,
    notebook,
    track,
    check,
    compare,
    studies,
    evaluate,
    attack,
    fine_tune,
    export,
    init,
    doctor,
)
