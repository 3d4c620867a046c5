"""README's study, output and picture, from the archive of a finished quickstart.

python -m benchmarks.readme docs/results/quickstart.tar.xz [--readme README.md] [--picture docs/images/report.png]

Trains nothing. The output is what `check` prints on a terminal of 94 columns, as far as its tables go; the picture is
the report's first screen in Chromium.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from rse_study.results.archive import unpack_archive

WIDTH = 94
SIZE = "1280,680"
STUDY = re.compile(r"```yaml\nname: quickstart\n.*?```", re.DOTALL)
OUTPUT = re.compile(r"    \$ rse-study check quickstart\n(?:    .*\n|\n(?=    ))*")
SCREEN = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=8000"]


def main(arguments: list[str] | None = None) -> None:
    """Write README's blocks and, if asked for, the picture."""
    options = parser().parse_args(arguments)
    with TemporaryDirectory() as folder:
        study = unpack_archive(options.archive, Path(folder))
        output = run("rse-study", "check", str(study))
        if options.picture:
            page = Path(folder) / "report.html"
            run("rse-study", "report", str(study), "--out", str(page))
            shot = f"--screenshot={options.picture.resolve()}"
            own = (f"--user-data-dir={folder}/profile", f"--window-size={SIZE}", shot)
            command = ("chromium", *SCREEN, *own, page.as_uri())
            subprocess.run(command, check=True, timeout=300, capture_output=True)
    text = options.readme.read_text(encoding="utf-8")
    options.readme.write_text(with_blocks(text, output), encoding="utf-8")


def with_blocks(readme: str, output: str) -> str:
    """Return README with the shipped study, uncommented, and `check`'s tables."""
    shipped = files("search_spaces").joinpath("quickstart.yaml").read_text(encoding="utf-8")
    study = "\n".join(line.partition(" # ")[0] for line in shipped.splitlines() if line[:1] != "#")
    tables, follows, _ = output.partition("\n\nVerdicts follow")
    assert follows, output
    shown = "\n".join(
        f"    {line}".rstrip() for line in ("$ rse-study check quickstart", *tables.splitlines())
    )
    readme = STUDY.sub(lambda _: f"```yaml\n{study}\n```", readme, count=1)
    return OUTPUT.sub(lambda _: f"{shown.rstrip()}\n", readme, count=1)


def run(*words: str) -> str:
    """Return what a command prints on a terminal; it may end with any code."""
    line = shlex.join([str(Path(sys.executable).parent / words[0]), *words[1:]])
    terminal = os.environ | {"TERM": "xterm", "COLUMNS": str(WIDTH), "NO_COLOR": "1", "LANG": "C.UTF-8"}
    command = ("script", "-qc", line, "/dev/null")
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, env=terminal)
    return ended.stdout.replace("\r\n", "\n")


def parser() -> argparse.ArgumentParser:
    """Return the parser of this script's options."""
    found = argparse.ArgumentParser(prog="benchmarks.readme")
    found.add_argument("archive", type=Path)
    found.add_argument("--readme", type=Path, default=Path("README.md"))
    found.add_argument("--picture", type=Path)
    return found


if __name__ == "__main__":
    main()
