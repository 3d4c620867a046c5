"""The body of `archive`: a study as one file, to read and continue elsewhere."""

from pathlib import Path

from rse_study.assets.trained import trained_assets
from rse_study.cli.arguments.study import study_folder
from rse_study.cli.arguments.writable import require_file
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.next_step import command, suggest
from rse_study.cli.terminal.screen import stderr
from rse_study.data.location import cache_dir
from rse_study.results.archive import write_archive


def archive_study(study: str, store: Path, out: Path | None) -> None:
    """Write a study's archive and print its path."""
    folder = study_folder(study, store)
    path = out or Path(f"{folder.resolve().name}.tar.xz")
    require_file(path, where="--out")
    with ActivityBars(stderr()) as bars, bars.waiting("packing"):
        write_archive(folder, path, trained_assets(folder, cache_dir()))
    print(path)
    suggest(command("report", str(path)))
