"""Signature and help of the commands that show what a study came to."""

from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli.arguments.completion import DEFAULT_STORE
from rse_study.cli.arguments.declarations import (
    AsJson,
    FileFormat,
    RanStudyArgument,
    RowArguments,
    Store,
    Wide,
)


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


def report(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY",
            help="A study that has run: its name, folder, YAML file or archive. Or a folder of attacks.",
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
            help="Write what a paper needs here: tables, figures, BibTeX, an archive, how rows were compared.",
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


def archive(
    study: RanStudyArgument,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The archive; default: STUDY.tar.xz.")
    ] = None,
    store: Store = DEFAULT_STORE,
) -> None:
    """Pack a study into one file that others can open and continue.

    Commands that take a study that has run take the file, too: report, check, notebook, replay. `unpack` makes it a
    study of the store, which `run` continues. It holds the ledger, the results and the weights of an encoder or
    generator that was trained here, but no models of cells and no texts.
    """
    from rse_study.cli.verbs.archive import archive_study

    archive_study(study, store, out)


def unpack(
    archive: Annotated[Path, typer.Argument(metavar="FILE", help="What `archive` wrote: STUDY.tar.xz.")],
    store: Store = DEFAULT_STORE,
) -> None:
    """Unpack an archive into the store, and print its study's file.

    `run` continues the study in that file.
    """
    from rse_study.cli.verbs.unpack import unpack_study

    unpack_study(archive, store)


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
    as_json: AsJson = False,
    store: Store = DEFAULT_STORE,
    wide: Wide = False,
) -> int:
    """Compare a grid with its baseline and with the paper's claims.

    Compares the rows with the baseline, and the paper's claims with the rows.

    Exit code 0 if every claim holds (at a smaller scale: the same direction), 1 if one is contradicted, 3 if the
    study is incomplete, a claim is undecided, or no claim about its rows is stored: so for every study of your own.
    """
    from rse_study.cli.verbs.check import check_study

    return check_study(study, store, out, wide, baseline, as_json=as_json)


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
