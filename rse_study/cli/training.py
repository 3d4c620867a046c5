"""`train`: one configuration on this machine, without Ray."""

from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli.arguments import Overrides, TrialArgument, trial_file


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
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
) -> None:
    """Train one configuration and show the dev score before and after, beside the baselines."""
    from rse_study.cli.verbs.train import show_training
    from rse_study.study.definition.reading import read_spec
    from rse_study.training.trial import Trial

    path = trial_file(trial)
    config = read_spec(Trial, path, override or ())
    folder = out or Path("studies") / "trials" / f"{path.stem}-seed{seed}"
    show_training(config, seed, folder, workers=workers, threads=threads, device=device)
