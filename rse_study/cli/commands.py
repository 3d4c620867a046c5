"""Signature and help of every command.

A body is one call into `verbs/`, imported when the command runs. The first line of a docstring is the command's summary
in `rse-study --help`, which has about 65 characters for it; the meaning of an argument stands in its `help=`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from rse_study.cli.arguments.completion import DEFAULT_STORE, Context, complete_data_set, complete_study
from rse_study.cli.arguments.declarations import (
    AsJson,
    CellArgument,
    DataFolder,
    DeviceName,
    Epochs,
    FileFormat,
    LearningRate,
    MaxCost,
    MaxHours,
    MaxLength,
    ModelArgument,
    OptionalStudyArgument,
    Overrides,
    PoolingOption,
    RanStudyArgument,
    RowArguments,
    Store,
    StudyArgument,
    SuiteOption,
    Threads,
    TrialArgument,
    TuningSeed,
    Wide,
)

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


def validate(study: StudyArgument, override: Overrides = None) -> None:
    """Check a study and its data, and say every problem at once.

    Checks every row of the grid, or every edge of the space. Exit code 2, with a line for each problem.
    """
    from rse_study.cli.verbs.validate import validate_study

    validate_study(study, override or ())


def plan(
    study: StudyArgument,
    override: Overrides = None,
    probe: Annotated[
        bool,
        typer.Option(
            "--probe", help="Time a few training steps on this machine to estimate how long cells take."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
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

    The cost in steps, gradient passes, device hours and price.

    Hours are estimated from the studies in the store, or from a probe; otherwise they are unknown. A device is a GPU,
    or a processor core if cells use no GPU. Exit code 4 if the expected total exceeds a limit; a warning if only the
    high estimate does.
    """
    from rse_study.cli.verbs.plan.show import show_plan

    show_plan(study, override or (), store, probe, as_json, max_hours, max_cost, cluster, wide)


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
    max_hours: MaxHours = None,
    max_cost: MaxCost = None,
    wide: Wide = False,
) -> int:
    """Run or resume a study, and write its report.

    An interrupted study continues where it stopped.

    The first Ctrl-C lets running cells finish; the second stops at once. Exit code 0 if every cell completed, 3 if
    some did not, 4 if the study costs more than its allowance, --max-hours or --max-cost, 130 after Ctrl-C.
    """
    from rse_study.cli.verbs.run import run_and_report

    return run_and_report(study, override or (), store, cpus, address, max_hours, max_cost, wide)


def status(
    study: RanStudyArgument,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON; docs/status.md lists its keys.")
    ] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Look again until its run has ended.")] = False,
    store: Store = DEFAULT_STORE,
) -> None:
    """Show a study's progress, also while it runs.

    Shows its cells, the best trial so far, running cells, lost attempts and the time left.
    """
    from rse_study.cli.verbs.status.show import show_status

    show_status(study, store, as_json, watch)


def dashboard(
    study: RanStudyArgument,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 = any free one.")] = 8080,
    store: Store = DEFAULT_STORE,
) -> None:
    """Show a study in the browser, also while it runs.

    Serves optuna-dashboard from a copy in memory, on this machine only.
    """
    from rse_study.cli.verbs.dashboard import serve_dashboard

    serve_dashboard(study, store, port)


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


def report(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY",
            help="A study that has run: its name, folder or YAML file. Or a folder of attacks.",
        ),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(help="The HTML file; default: report.html in the study's folder, or attacks.html."),
    ] = None,
    tables: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write the ledger's tables into this folder.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also write every figure into this folder.")
    ] = None,
    formats: Annotated[
        list[FileFormat] | None,
        typer.Option(
            "--as",
            help="Tables: parquet (default), csv, or latex for a paper. Figures: svg (default) or png.",
        ),
    ] = None,
    kit: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write all that a paper needs here: checklists, tables, figures, BibTeX, an archive.",
        ),
    ] = None,
    every: Annotated[
        bool,
        typer.Option("--all", help="Write an index of all studies, and each report that is missing or old."),
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Update it while the study runs; the page reloads itself.")
    ] = False,
    store: Store = DEFAULT_STORE,
) -> None:
    """Write the study's report: one self-contained HTML file.

    --tables also writes its numbers for other programs or for a paper, and --figures its figures as images (extra
    `images`).

    For a folder that `attack` wrote, writes the page of its attacks.
    """
    from rse_study.cli.verbs.report.index import write_index_page
    from rse_study.cli.verbs.report.page import write_page
    from rse_study.cli.verbs.report.watch import watch_page

    if every:
        write_index_page(
            study, store, out, {"--tables": tables, "--figures": figures, "--kit": kit, "--watch": watch}
        )
    elif watch:
        watch_page(study, store, out, {"--tables": tables, "--figures": figures, "--kit": kit})
    else:
        write_page(study, store, out, tables, figures, formats or (), kit)


def notebook(
    study: RanStudyArgument,
    kind: Annotated[
        str,
        typer.Argument(
            metavar="[KIND]",
            help="ablations, methods, robustness, search or cost; default: the one that fits.",
        ),
    ] = "",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The notebook; default: STUDY-KIND.ipynb.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    store: Store = DEFAULT_STORE,
) -> None:
    """Write a Jupyter notebook about a study.

    Whenever it runs, it reads the ledger again. You may change it freely. Needs the extra `notebooks`.
    """
    from rse_study.cli.verbs.notebook import write_notebook

    write_notebook(study, kind, out, force, store)


def track(
    study: RanStudyArgument,
    to: Annotated[str, typer.Option(metavar="TRACKER", help="mlflow, tensorboard, wandb, or module:Class.")],
    target: Annotated[
        str,
        typer.Option(
            "--uri",
            "--dir",
            metavar="WHERE",
            help="MLflow's tracking URI, or a folder; default: the tracker's own default.",
        ),
    ] = "",
    live: Annotated[
        bool, typer.Option("--live", help="Keep copying until the study's run has ended.")
    ] = False,
    store: Store = DEFAULT_STORE,
) -> None:
    """Copy a study into MLflow, TensorBoard or Weights & Biases.

    Copies trials, cells, metrics by step, evaluations and states; only reads the ledger.

    The same command again adds only what is new, even after an interruption. Each tracker is an extra of the same
    name. wandb stays offline if no API key is configured.
    """
    from rse_study.cli.verbs.track import track_study

    track_study(study, to, target, live, store)


def check(
    study: RanStudyArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the table here as CSV and LaTeX, next to the paper's."),
    ] = None,
    baseline: Annotated[
        str,
        typer.Option(
            metavar="ROW", help="Compare with this row: 'SimCSE', 'norm = l1'; default: the study's."
        ),
    ] = "",
    store: Store = DEFAULT_STORE,
    wide: Wide = False,
) -> int:
    """Compare a grid with its baseline and with the paper's claims.

    Compares the rows with the baseline, and the paper's claims with the rows.

    Exit code 0 if every claim holds (at a smaller scale: the same direction), 1 if one is contradicted, 3 if the
    study is incomplete, a claim is undecided, or no claim about its rows is stored.
    """
    from rse_study.cli.verbs.check import check_study

    return check_study(study, store, out, wide, baseline)


def compare(
    rows: RowArguments,
    metric: Annotated[
        str, typer.Option(help="task/split, for example STS-B/test; default: the studies' objective.")
    ] = "",
    unpaired: Annotated[
        bool, typer.Option("--unpaired", help="Compare means without pairing by seed.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a page that shows them side by side.")
    ] = None,
    store: Store = DEFAULT_STORE,
) -> None:
    """Compare rows, or all rows that studies share.

    The first minus each of the others, seed by seed.
    """
    from rse_study.cli.verbs.compare import compare_rows

    compare_rows(rows, metric, unpaired, store, out)


def studies(store: Store = DEFAULT_STORE) -> None:
    """List the shipped studies and trials, and what has run here."""
    from rse_study.cli.verbs.studies import list_studies

    list_studies(store)


def evaluate(
    model: ModelArgument,
    suite: SuiteOption = "sts",
    data: DataFolder = None,
    pooling: PoolingOption = "stored",
    variant: Annotated[
        Literal["orig", "senteval"], typer.Option(help="Which texts of the STS sets.")
    ] = "orig",
    threads: Threads = 0,
    device: DeviceName = "cpu",
    as_json: AsJson = False,
) -> None:
    """Score an encoder's vectors on every data set that is present.

    On STS, and on transfer, geometry and invariance if the suite includes them. For classifiers made from the
    encoder, use `attack` and `fine-tune`.
    """
    from rse_study.cli.verbs.evaluate.encoder import EncoderRequest
    from rse_study.cli.verbs.evaluate.frozen import evaluate_frozen

    evaluate_frozen(EncoderRequest(model, pooling, data, threads, device, as_json), suite, variant)


def attack(
    context: Context,
    model: ModelArgument,
    # What is attacked, and how.
    on: Annotated[
        list[str] | None, typer.Option(help="Sets: mr (default), imdb, sst2 ...; AdvSTS-B, AdvSICK-R.")
    ] = None,
    recipe: Annotated[
        list[str] | None, typer.Option(help="textfooler, pwws, bae ...; default: all that can run here.")
    ] = None,
    inputs: Annotated[
        int, typer.Option(min=0, help="Number of inputs from the start of a set (AdvSTS: random); 0 = all.")
    ] = 0,
    max_queries: Annotated[int, typer.Option(min=1, help="Queries per input.")] = 5000,
    masked_lm: Annotated[
        str, typer.Option(help="Masked LM for bae and bert_attack: a folder, a hub name, or minilm-mlm.")
    ] = "",
    goal: Annotated[
        Literal["deviation", "drift", "maximise"],
        typer.Option(help="AdvSTS: move away from gold, away from the clean score, or as far as possible."),
    ] = "deviation",
    tau: Annotated[float, typer.Option(help="AdvSTS: smallest move that counts, on the gold scale.")] = 1.0,
    sides: Annotated[
        Literal["first", "second", "both"], typer.Option(help="AdvSTS: sentences that may be changed.")
    ] = "both",
    # How the victims are fine-tuned.
    seed: TuningSeed = 0,
    epochs: Epochs = 3,
    lr: LearningRate = 2e-5,
    max_length: MaxLength = 128,
    data: DataFolder = None,
    pooling: PoolingOption = "stored",
    threads: Threads = 0,
    device: DeviceName = "cpu",
    as_json: AsJson = False,
    out: Annotated[Path, typer.Option(help="Folder for every outcome and attacks.html.")] = Path("attacks"),
) -> None:
    """Attack classifiers fine-tuned from an encoder, or its scores.

    For classifiers, shows how often an attack succeeds and after how many queries. With --on AdvSTS-B or AdvSICK-R,
    the encoder's similarity scores are attacked. Options that would have no effect are refused.
    """
    from rse_study.cli.verbs.evaluate.attack import attack_model
    from rse_study.cli.verbs.evaluate.encoder import EncoderRequest

    encoder = EncoderRequest(model, pooling, data, threads, device, as_json)
    tuning = {"epochs": epochs, "lr": lr, "max_length": max_length}
    attacks = {"num_inputs": inputs, "max_queries": max_queries, "masked_lm": masked_lm, "seed": seed}
    similarity = {"goal": goal, "tau": tau, "sides": sides}
    attack_model(context, encoder, on or ["mr"], recipe or (), out, {**attacks, **similarity}, tuning)


def fine_tune(
    model: ModelArgument,
    suite: Annotated[
        Literal["nli", "glue"], typer.Option(help="nli: SNLI, MNLI, ANLI, FEVER; glue: GLUE's.")
    ],
    on: Annotated[
        list[str] | None, typer.Option(help="Tasks: ANLI ..., RTE ...; default: all in the data folder.")
    ] = None,
    seed: TuningSeed = 0,
    epochs: Epochs = 3,
    lr: LearningRate = 2e-5,
    max_length: MaxLength = 128,
    data: DataFolder = None,
    pooling: PoolingOption = "stored",
    threads: Threads = 0,
    device: DeviceName = "cpu",
    as_json: AsJson = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the rows as JSON (SUITE.json).")] = None,
) -> None:
    """Fine-tune a classifier for each task, and score it.

    Each classifier is fine-tuned from the encoder and scored on held-out texts.
    """
    from rse_study.cli.verbs.evaluate.encoder import EncoderRequest
    from rse_study.cli.verbs.evaluate.fine_tune import fine_tune_model

    encoder = EncoderRequest(model, pooling, data, threads, device, as_json)
    tuning = {"epochs": epochs, "lr": lr, "max_length": max_length}
    fine_tune_model(encoder, suite, on or (), out, seed, tuning)


def export(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="A cell's folder (written by `train`), or a study that has run."
        ),
    ],
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")],
    trial: Annotated[
        str,
        typer.Option(help="A study's trial: `best`, a number, TRIAL/SEED, or an identity's first digits."),
    ] = "best",
    store: Store = DEFAULT_STORE,
) -> None:
    """Write a model that transformers and sentence-transformers load.

    The vectors stay the same.
    """
    from rse_study.cli.verbs.export import export_model

    export_model(source, directory, trial, store)


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
    store: Store = DEFAULT_STORE,
) -> int | None:
    """Check this installation, its data and its cache folder.

    Python, versions, threads, memory, and whether the folders can be used.

    --rebuild recreates a lost or damaged ledger from study.json and the files of the cells. The existing ledger is
    kept next to it. Exit code 3 if a file was damaged: the next `run` reruns its cell.
    """
    from rse_study.cli.verbs.doctor import examine_installation, rebuild_ledger

    return rebuild_ledger(rebuild, store) if rebuild else examine_installation(store)


def data_list(
    study: OptionalStudyArgument = None, override: Overrides = None, data: DataFolder = None
) -> None:
    """List data sets: licence, place, how many of their files are here.

    With STUDY, everything that the study reads, including models.
    """
    from rse_study.cli.verbs.data.listing import show_needs, show_sets

    show_needs(study, override or (), data) if study else show_sets(data)


def data_verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", autocompletion=complete_data_set, help="Sets; default: all."),
    ] = None,
    data: DataFolder = None,
) -> int | None:
    """Compare files with their checksums.

    Exit code 2 if a file differs; missing files are only listed.
    """
    from rse_study.cli.verbs.data.listing import verify_sets

    return verify_sets(names or [], data)


def data_fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", autocompletion=complete_data_set, help="Sets to fetch."),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(
            "--for", metavar="STUDY", autocompletion=complete_study, help="Fetch everything that it reads."
        ),
    ] = None,
    override: Overrides = None,
    accept_licence: Annotated[
        bool, typer.Option("--accept-licence", help="Accept licences that forbid some uses.")
    ] = False,
    data: DataFolder = None,
    mirror: Annotated[
        Path | None, typer.Option(help="Folder that holds copies of repositories: OWNER/NAME/...")
    ] = None,
) -> int | None:
    """Fetch the missing files of data sets, or all that a study reads.

    The same command resumes an interrupted download. Exit code 3 if some files must be placed by hand.
    """
    from rse_study.cli.verbs.data.fetching import fetch_for_study, fetch_sets

    if study:
        return fetch_for_study(study, override or (), names or [], data, mirror, is_accepted=accept_licence)
    fetch_sets(names or [], data, mirror, is_accepted=accept_licence)
    return None


COMMANDS: tuple[Command, ...] = (
    train,
    validate,
    plan,
    run,
    status,
    dashboard,
    replay,
    report,
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
DATA_COMMANDS: dict[str, Command] = {"list": data_list, "verify": data_verify, "fetch": data_fetch}
