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
    Revise,
    Store,
    StudyArgument,
    TrialArgument,
    Wide,
)
from rse_study.cli.model_commands import attack, evaluate, export, fine_tune
from rse_study.cli.result_commands import archive, check, compare, dashboard, notebook, report, studies

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
        int, typer.Option(min=1, help="Processes that share each batch; dropout depends on their number.")
    ] = 1,
    threads: Annotated[
        int, typer.Option(min=1, help="CPU threads of each process; affects the last bits of results.")
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
    """Check a study and its data, and report every problem at once.

    Checks every row of the grid, or every edge of the space. Exit code 2, with a line for each problem.
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
        bool,
        typer.Option(
            "--probe", help="Time a few training steps on this machine to estimate how long cells take."
        ),
    ] = False,
    as_json: AsJson = False,
    max_hours: MaxHours = None,
    max_cost: MaxCost = None,
    cluster: Annotated[
        str,
        typer.Option(
            metavar="SPEC", help="Use the prices of this cluster; default: allowance.price_per_hour."
        ),
    ] = "",
    store: Store = DEFAULT_STORE,
    wide: Wide = False,
) -> None:
    """Show the remaining cells of a study and estimate their cost.

    The cost in steps, device hours and price.

    Hours are estimated from the studies in the store, or from a probe; otherwise they are unknown. A device is a GPU,
    or a processor core if cells use no GPU. Exit code 4 if the expected total of a grid exceeds --max-hours; a
    warning if only the high estimate does.
    """
    from rse_study.cli.verbs.plan.show import show_plan

    show_plan(study, override or (), store, probe, as_json, max_hours, cluster, wide)


def run(
    study: StudyArgument,
    override: Overrides = None,
    store: Store = DEFAULT_STORE,
    cpus: Annotated[
        int, typer.Option(min=0, help="CPUs to use; 0 = all that are available to this process.")
    ] = 0,
    address: Annotated[
        str, typer.Option(help="Address of a running Ray cluster; default: Ray on this machine.")
    ] = "",
    track: Annotated[str, typer.Option(help="Follow it in a tracker: mlflow, wandb, tensorboard.")] = "",
    max_hours: MaxHours = None,
    max_cost: MaxCost = None,
    wide: Wide = False,
    revise: Revise = False,
) -> int:
    """Run or resume a study, and write its report.

    An interrupted study continues where it stopped.

    The first Ctrl-C lets running cells finish; the second stops at once. Exit code 0 if every cell completed, 3 if
    some did not, 4 if a grid would take more than --max-hours, 130 after Ctrl-C.
    """
    from rse_study.cli.verbs.run import run_and_report

    return run_and_report(
        study, override or (), store, cpus, address, max_hours, wide, is_revised=revise, track=track
    )


def status(
    study: RanStudyArgument,
    as_json: AsJson = False,
    watch: Annotated[bool, typer.Option("--watch", help="Look again until its run has ended.")] = False,
    store: Store = DEFAULT_STORE,
) -> None:
    """Show a study's progress, also while it runs.

    Shows its cells, the best trial so far, running cells, lost attempts and the time left.
    """
    from rse_study.cli.verbs.status.show import show_status

    show_status(study, store, as_json, watch)


def replay(
    study: RanStudyArgument,
    cell: CellArgument,
    out: Annotated[Path | None, typer.Option(help="Keep the retrained cell in this new folder.")] = None,
    store: Store = DEFAULT_STORE,
) -> int:
    """Train a cell again and compare every number with the ledger's.

    Does not change the study's own files. On the same kind of machine, numbers must agree to the last bit: exit code
    0 if they do, otherwise 1, with the first differences. On another kind of machine, or with other versions, exit
    code 0 if all agree to 1e-6, otherwise 3, with the largest differences.
    """
    from rse_study.cli.verbs.replay import replay_cell

    return replay_cell(study, store, cell, out)


def init(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="The study's name.")] = "my-study",
    grid: Annotated[bool, typer.Option("--grid", help="Write a grid; default: a search.")] = False,
) -> None:
    """Write NAME.yaml, a commented study that runs on this machine.

    Also writes study.schema.json, with which editors check the file.
    """
    from rse_study.cli.verbs.init import write_first_study

    write_first_study(name, grid)


def doctor(
    rebuild: Annotated[
        str,
        typer.Option(
            metavar="STUDY", help="Instead, rebuild this study's ledger from the files of its cells."
        ),
    ] = "",
    as_json: AsJson = False,
    store: Store = DEFAULT_STORE,
) -> int | None:
    """Check this installation, its data and its cache folder.

    Python, versions, threads, memory, and whether the folders can be used.

    --rebuild recreates a lost or damaged ledger from study.json and the files of the cells. The existing ledger is
    kept next to it. Exit code 3 if a file was damaged: the next `run` reruns its cell.
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
