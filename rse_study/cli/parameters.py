"""Arguments and options that commands share, and names that shells complete.

Shells ask at every press of a key: nothing heavy is imported.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rse_study.data import store_dir
from rse_study.study.definition.shipped import shipped_clusters, shipped_studies, shipped_trials

if TYPE_CHECKING:
    from typer import Context
else:
    Context = typer.Context.__base__  # typer passes one of these, and none of its own class

DEFAULT_STORE = store_dir()
YAML = ("*.yaml", "*.yml")
SUITES = ("sts", "fast", "full")


def complete_study(incomplete: str) -> list[str]:
    """Complete names of shipped studies and YAML files."""
    return _beginning(incomplete, [*(path.stem for path in shipped_studies()), *_yaml_files(incomplete)])


def complete_trial(incomplete: str) -> list[str]:
    """Complete names of shipped trials and YAML files."""
    return _beginning(incomplete, [*(path.stem for path in shipped_trials()), *_yaml_files(incomplete)])


def complete_ran_study(context: Context, incomplete: str) -> list[str]:
    """Complete names of the studies in the store."""
    store = Path(context.params.get("store") or DEFAULT_STORE)
    return _beginning(incomplete, sorted(path.parent.name for path in store.glob("*/ledger.sqlite")))


def complete_cluster(incomplete: str) -> list[str]:
    """Complete names of shipped clusters and YAML files."""
    return _beginning(incomplete, [*(path.stem for path in shipped_clusters()), *_yaml_files(incomplete)])


def complete_model(incomplete: str) -> list[str]:
    """Complete folders with a model, and the encoder that comes as an extra."""
    folder = Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent
    configs = (*folder.glob("*/config.json"), *folder.glob("*/model/config.json"))
    here = {str(folder / path.relative_to(folder).parts[0]) for path in configs}
    return _beginning(incomplete, ["minilm", *sorted(here)])


def complete_suite(incomplete: str) -> list[str]:
    """Complete names of the suites that score frozen vectors."""
    return _beginning(incomplete, SUITES)


def complete_data_set(incomplete: str) -> list[str]:
    """Complete names of the catalogue's data sets."""
    from rse_study.data.catalogue import catalogue

    return _beginning(incomplete, catalogue())


def _yaml_files(incomplete: str) -> list[str]:
    folder = Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent
    return sorted(str(path) for pattern in YAML for path in folder.glob(pattern))


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


class FileFormat(StrEnum):
    """Formats of the files that `report` writes beside its page."""

    PARQUET = "parquet"
    CSV = "csv"
    LATEX = "latex"
    SVG = "svg"
    PNG = "png"


def argument(metavar: str, meaning: str, complete: Callable[..., list[str]] | None = None) -> Any:
    """Return an argument as `--help` shows it, whose words shells complete."""
    return typer.Argument(metavar=metavar, help=meaning, autocompletion=complete)


YAML_STUDY = "A YAML file, or the name of a shipped study."
StudyArgument = Annotated[str, argument("STUDY", YAML_STUDY, complete_study)]
OptionalStudyArgument = Annotated[str, argument("[STUDY]", YAML_STUDY, complete_study)]
RAN = "A study that has run: its name, folder, YAML file or archive."
RanStudyArgument = Annotated[str, argument("STUDY", RAN, complete_ran_study)]
A_CLUSTER = "A cluster: a YAML file, or the name of a shipped one."
ClusterArgument = Annotated[str, argument("SPEC", A_CLUSTER, complete_cluster)]
ROWS = "Studies that have run, or rows of them: rse-table6:rho = 0.5."
RowArguments = Annotated[list[str], argument("STUDY[:ROW]...", ROWS, complete_ran_study)]
A_CELL = "A trial's number, TRIAL/SEED, or an identity's first digits."
CellArgument = Annotated[str, argument("CELL", A_CELL)]
A_TRIAL = "A YAML file, or the name of a shipped trial."
TrialArgument = Annotated[str, argument("TRIAL", A_TRIAL, complete_trial)]
A_MODEL = "A Hugging Face encoder (folder or name), `minilm`, or a cell's folder."
ModelArgument = Annotated[str, argument("MODEL", A_MODEL, complete_model)]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "-o",
        "--override",
        metavar="PATH=VALUE",
        help="Change a setting; rho=0,0.5,1 makes a grid of its values; may be repeated.",
    ),
]
MaxHours = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Limit in device hours (0 = none): a grid that would take longer is refused, and a search ends at it; "
        "default: search_budget.device_hours.",
    ),
]


def _refuse_max_cost(given: float | None) -> None:
    if given is not None:
        raise typer.BadParameter(
            "was removed. Use --max-hours: divide the money by the price of a device hour"
        )


MaxCost = Annotated[float | None, typer.Option(hidden=True, callback=_refuse_max_cost, help="Refused.")]
Revise = Annotated[
    bool,
    typer.Option(
        "--revise",
        help="Go on although the question has changed, complete cells leave, or another file has this name.",
    ),
]
SuiteOption = Annotated[
    str,
    typer.Option(
        metavar=f"[{'|'.join(SUITES)}]",
        autocompletion=complete_suite,
        help="sts; fast adds transfer (5 folds) and geometry; full adds invariance (10 folds).",
    ),
]
EvaluationNames = Annotated[
    list[str] | None,
    typer.Option(
        "--on",
        metavar="NAME",
        help="An evaluation (MR/fast, mteb/STS12); may be repeated.",
    ),
]
MtebResults = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Also write results of MTEB's tasks as its leaderboard has them."),
]
DataFolder = Annotated[Path | None, typer.Option("--data", help="Data folder; default: RSE_STUDY_DATA.")]
Store = Annotated[Path, typer.Option(help="Folder of the studies' folders; RSE_STUDY_STORE sets it.")]
Wide = Annotated[
    bool, typer.Option("--wide", help="Show every column of a table, even if the terminal is narrower.")
]
PoolingOption = Annotated[
    str,
    typer.Option(
        help="cls, mean, first_last, pooler, prompt or convolved (if stored so); stored = the model's own."
    ),
]
Threads = Annotated[int, typer.Option(min=0, help="CPU threads; 0 = torch's default.")]
DeviceName = Annotated[str, typer.Option(help="cpu or cuda.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, as docs/output.schema.json says.")]
TuningSeed = Annotated[int, typer.Option(min=0, help="Seed of the fine-tuning, and of what is drawn.")]
Epochs = Annotated[int, typer.Option(min=1, help="Epochs of the fine-tuning.")]
LearningRate = Annotated[float, typer.Option("--lr", help="Learning rate of the fine-tuning.")]
MaxLength = Annotated[
    int,
    typer.Option(
        min=4,
        help="Tokens per text that a classifier reads; the default is less for an encoder that reads fewer.",
    ),
]
