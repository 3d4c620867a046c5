"""Files that `report --tables` and `--figures` write, for programs and papers."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from analysis.comparison import comparison_of
from analysis.contents import contents_of
from analysis.paper.kit import ImageKind, bibtex, how_compared, how_to_replay, write_figures
from analysis.paper.layout import write_latex
from rse_study import open_study
from rse_study.cli.arguments.paths import require_folder
from rse_study.data import cache_dir
from rse_study.errors import InputError
from rse_study.frames.study_results import StudyResults
from rse_study.results.archive import write_archive
from rse_study.results.export import write_tables
from rse_study.results.files.atomic import write_whole
from rse_study.results.reader import Reader

FORMATS = {"--tables": ("parquet", "csv", "latex"), "--figures": ("svg", "png")}
"""by the option that asks for the files; the first of each is the default"""
CITATION = "citation.txt"


@dataclass(frozen=True)
class FilesRequest:
    """Files to write beside the page."""

    tables: Path | None
    figures: Path | None
    kit: Path | None
    formats: Collection[str]
    """named by the user"""

    def check(self) -> None:
        """Raise InputError where a folder cannot be written, or a format decides nothing."""
        folders = {"--tables": self.tables, "--figures": self.figures}
        for option, folder in {**folders, "--kit": self.kit}.items():
            if folder:
                require_folder(folder, where=option)
        for name in self.formats:
            (option,) = (option for option, known in FORMATS.items() if name in known)
            if folders[option] is None:
                rule, remedy = "a format that has no effect", f"Say where they go: {option} DIR"
                raise InputError(f"--as {name} without {option}", rule=rule, remedy=remedy)

    def formats_of(self, option: str) -> list[str]:
        """Return the formats of --tables or --figures."""
        return [name for name in FORMATS[option] if name in self.formats] or [FORMATS[option][0]]


def write_files(study_dir: Path, html: str, request: FilesRequest) -> Iterator[Path]:
    """Write the requested files beside a study's page, and yield the paths."""
    study = open_study(study_dir)
    if request.tables:
        for name in request.formats_of("--tables"):
            if name == "latex":
                yield from write_latex(study, request.tables)
                continue
            with Reader(study_dir) as reader:
                yield from write_tables(reader, request.tables, cast(Literal["parquet", "csv"], name))
    if request.figures:
        yield from write_images(html, request.figures, request)
    if request.kit:
        yield from write_kit(study, html, request.kit)
    for folder in dict.fromkeys(folder for folder in (request.tables, request.figures) if folder):
        yield write_whole(folder / CITATION, f"{study.citation}\n")


def write_images(html: str, folder: Path, request: FilesRequest) -> Iterator[Path]:
    """Write a page's figures in every requested format, and yield the paths."""
    for name in request.formats_of("--figures"):
        yield from write_figures(html, folder, cast(ImageKind, name))


def write_kit(study: StudyResults, html: str, folder: Path) -> Iterator[Path]:
    """Write a paper's kit: paragraph, citation, tables, figures, archive."""
    from rse_study.assets.store import trained_assets  # imports torch

    archive = f"{study.name}.tar.xz"
    contents = contents_of(study)
    texts = {
        "how-compared.txt": f"{how_compared(contents, comparison_of(study))}\n",
        "citation.bib": bibtex(contents, study.citation),
        "replay.md": how_to_replay(contents, study.citation, archive),
    }
    for name, text in texts.items():
        yield write_whole(folder / name, text)
    yield from write_latex(study, folder / "tables")
    with Reader(study.folder) as reader:
        yield from write_tables(reader, folder / "tables", "csv")
    yield write_archive(study.folder, folder / archive, trained_assets(study.folder, cache_dir()))
    yield from write_figures(html, folder / "figures", "svg")  # last, for it needs a browser
