"""`validate`, `run`, `report`, `studies`."""

from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli.arguments import (
    DEFAULT_STORE,
    Overrides,
    Store,
    StudyArgument,
    shipped_studies,
    shipped_trials,
    study_file,
    study_folder,
)
from rse_study.cli.places import require_file


def validate(study: StudyArgument, override: Overrides = None) -> None:
    """Check a study: every problem at once, every edge of its space."""
    from rse_study.study.validation import read_study

    checked = read_study(study_file(study), override or ())
    for warning in checked.warnings:
        print(f"warning: {warning}")
    axes = ", ".join(axis.name for axis in checked.space.axes)
    print(f"{checked.study.name}: valid. {checked.study.num_trials} trials over {axes}")


def run(
    study: StudyArgument,
    override: Overrides = None,
    store: Store = DEFAULT_STORE,
    cpus: Annotated[int, typer.Option(min=0, help="CPUs to use; 0 = all this process may use.")] = 0,
    address: Annotated[
        str, typer.Option(help="Address of a running Ray cluster; default: Ray on this machine.")
    ] = "",
) -> int:
    """Run a study, or go on with one that was interrupted; then write its report. Exit code 3 where trials failed."""
    from rse_study.cli.search_here import search_here

    return search_here(study_file(study), override or (), store, cpus, address)


def report(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="A study's name, folder or YAML file.")],
    out: Annotated[
        Path | None, typer.Option(help="The HTML file; default: report.html in the study's folder.")
    ] = None,
    store: Store = DEFAULT_STORE,
) -> None:
    """Write the study's report: one self-contained HTML file."""
    from analysis.report import write_report

    folder = study_folder(study, store)
    if out:
        require_file(out, where="--out")
    print(write_report(folder, out))


def studies() -> None:
    """List the studies and trials that come with the package."""
    from rse_study.study.reading import read_extended

    for path in shipped_studies():
        content = read_extended(path)
        print(f"{path.stem}: {content['question']}\n    {content['num_trials']} trials, {path}")
    print("\ntrials, for `rse-study train`:")
    for path in shipped_trials():
        content = read_extended(path)
        budget = f"{content['budget']['amount']} {content['budget']['unit']}"
        print(f"{path.stem}: encoder {content['encoder']['name']}, {budget}\n    {path}")
