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


def dashboard(
    study: RanStudyArgument,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 = any free one.")] = 8080,
    store: Store = DEFAULT_STORE,
) -> None:
    """Show a study in the browser, also while it runs.

    Serves optuna-dashboard over a copy in memory, on this machine only.
    """
    from rse_study.cli.verbs.dashboard import serve_dashboard

    serve_dashboard(study, store, port)


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
        typer.Option(
            help="The HTML file; default: report.html in the study's folder, attacks.html of attacks."
        ),
    ] = None,
    tables: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the ledger's tables into this folder, too.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write every figure into this folder, too.")
    ] = None,
    formats: Annotated[
        list[FileFormat] | None,
        typer.Option(
            "--as",
            help="Of the tables: parquet (default), csv, or latex for a paper; of the figures: svg (default), png.",
        ),
    ] = None,
    kit: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write a paper's kit into this folder: checklists, tables, figures, BibTeX, an archive to replay.",
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="An index of all studies, and each report that is missing or old.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Write it again while the study runs; the page reloads itself.")
    ] = False,
    store: Store = DEFAULT_STORE,
) -> None:
    """Write the study's report: one self-contained HTML file.

    With --tables, its numbers for other programs or for a paper; with --figures, its figures as images (extra
    `images`).

    Of a folder that `attack` wrote: the page of its attacks.
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
            help="ablations, methods, robustness, search or cost; default: what fits the study.",
        ),
    ] = "",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The notebook; default: STUDY-KIND.ipynb.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file where it is there.")] = False,
    store: Store = DEFAULT_STORE,
) -> None:
    """Write a Jupyter notebook about a study, ready to be worked in.

    It reads the ledger anew whenever it runs; what is changed in it is yours. Needs the extra `notebooks`.
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
            help="MLflow's tracking URI, or a folder; default: the one that the tracker's own command opens here.",
        ),
    ] = "",
    live: Annotated[
        bool, typer.Option("--live", help="Go on while the study runs, until its run has ended.")
    ] = False,
    store: Store = DEFAULT_STORE,
) -> None:
    """Copy a study into MLflow, TensorBoard or Weights & Biases.

    Trials, cells, metrics by step, evaluations, states; the ledger is only read.

    Given again, it adds what is new and doubles nothing, whenever it was interrupted. Each tracker is an extra of the
    same name. wandb stays offline where no API key is configured.
    """
    from rse_study.cli.verbs.track import track_study

    track_study(study, to, target, live, store)


def check(
    study: RanStudyArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the table here as CSV and LaTeX, ours beside the paper's."),
    ] = None,
    baseline: Annotated[
        str,
        typer.Option(
            metavar="ROW", help="Compare with this row: 'SimCSE', 'norm = l1'; default: the study's."
        ),
    ] = "",
    as_json: AsJson = False,
    store: Store = DEFAULT_STORE,
    wide: Wide = False,
) -> int:
    """Compare a grid with its baseline and with the paper's claims.

    Its rows are compared with its baseline, and the paper's claims with the rows.

    Exit code 0 where every claim holds (at a smaller scale: the same direction), 1 where one is contradicted, 3 where
    the study is incomplete, a claim undecided, or no claim stored about its rows.
    """
    from rse_study.cli.verbs.check import check_study

    return check_study(study, store, out, wide, baseline, as_json=as_json)


def compare(
    rows: RowArguments,
    metric: Annotated[
        str, typer.Option(help="task/split, for example STS-B/test; default: the studies' objective.")
    ] = "",
    unpaired: Annotated[bool, typer.Option("--unpaired", help="Compare means of unrelated seeds.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page that shows them side by side, too.")
    ] = None,
    as_json: AsJson = False,
    store: Store = DEFAULT_STORE,
) -> None:
    """Compare rows, or all rows that studies share.

    The first minus each of the others, seed by seed.
    """
    from rse_study.cli.verbs.compare import compare_rows

    compare_rows(rows, metric, unpaired, store, out, as_json=as_json)


def studies(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORD]...", help="Only those with these words in name, question, size or folder."
        ),
    ] = None,
    as_json: AsJson = False,
    store: Store = DEFAULT_STORE,
) -> None:
    """List what has run here, then the shipped studies and trials."""
    from rse_study.cli.verbs.studies import list_studies

    list_studies(words or (), store, as_json=as_json)


def evaluate(
    model: ModelArgument,
    suite: SuiteOption = "sts",
    data: DataFolder = None,
    pooling: PoolingOption = "stored",
    variant: Annotated[Literal["orig", "senteval"], typer.Option(help="Text of the STS sets.")] = "orig",
    threads: Threads = 0,
    device: DeviceName = "cpu",
    as_json: AsJson = False,
) -> None:
    """Score an encoder's vectors on every data set that is present.

    On STS, and on transfer, geometry and invariance where the suite has them. `attack` and `fine-tune` are for
    classifiers made from it.
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
        list[str] | None, typer.Option(help="textfooler, pwws, bae ...; default: what can run.")
    ] = None,
    inputs: Annotated[
        int, typer.Option(min=0, help="The first so many of a set (AdvSTS: drawn); 0 = all.")
    ] = 0,
    max_queries: Annotated[int, typer.Option(min=1, help="Queries an input.")] = 5000,
    masked_lm: Annotated[
        str, typer.Option(help="bae and bert_attack need one; a folder, a hub name, or minilm-mlm.")
    ] = "",
    goal: Annotated[
        Literal["deviation", "drift", "maximise"],
        typer.Option(help="AdvSTS: away from gold, away from the clean score, or as far as it goes."),
    ] = "deviation",
    tau: Annotated[float, typer.Option(help="AdvSTS: how far that must be, on the gold scale.")] = 1.0,
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
    out: Annotated[Path, typer.Option(help="Folder of every outcome and of attacks.html.")] = Path("attacks"),
) -> None:
    """Attack classifiers fine-tuned from an encoder, or its scores.

    Of classifiers: how often they fall, after how many queries. With --on AdvSTS-B or AdvSICK-R the encoder's scores of
    similarity are attacked. An option that would decide nothing is refused.
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
        list[str] | None, typer.Option(help="Tasks: ANLI ..., RTE ...; default: what is in the data folder.")
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
    out: Annotated[Path | None, typer.Option(help="Folder of the rows as JSON, SUITE.json.")] = None,
) -> None:
    """Fine-tune a classifier for each task, and score it.

    Each is fine-tuned from the encoder and scored on texts it has not seen.
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
            metavar="SOURCE", help="A cell's folder (what `train` wrote), or a study that has run."
        ),
    ],
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")],
    trial: Annotated[
        str,
        typer.Option(help="Of a study: `best`, a trial's number, TRIAL/SEED, or an identity's first digits."),
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


def data_list(
    study: OptionalStudyArgument = None,
    override: Overrides = None,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """List data sets: licence, place, how many of their files are here.

    With STUDY: all that the study reads, its models included.
    """
    from rse_study.cli.verbs.data.listing import show_needs, show_sets

    show_needs(study, override or (), data, as_json=as_json) if study else show_sets(data, as_json=as_json)


def data_verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", autocompletion=complete_data_set, help="Sets; default: all."),
    ] = None,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> int | None:
    """Compare files with their checksums.

    Exit code 2 where a file differs; absent ones are only said.
    """
    from rse_study.cli.verbs.data.listing import verify_sets

    return verify_sets(names or [], data, as_json=as_json)


def data_fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", autocompletion=complete_data_set, help="Sets to fetch."),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(
            "--for", metavar="STUDY", autocompletion=complete_study, help="Fetch all that it reads."
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

    The same command goes on where a download was cut off. Exit code 3 where something is left to be placed by hand.
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
