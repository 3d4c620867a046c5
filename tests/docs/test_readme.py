"""README's study and output are what `python -m benchmarks.readme` makes of the archive of the quickstart."""

import shutil
from pathlib import Path

import pytest

from benchmarks.readme import main

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(shutil.which("script") is None, reason="needs `script` (Debian's bsdutils)")
def test_the_command_that_writes_them_changes_nothing_and_draws_the_first_screen(tmp_path):
    readme, picture = tmp_path / "README.md", tmp_path / "report.png"
    shutil.copy(ROOT / "README.md", readme)
    drawn = ["--picture", str(picture)] if shutil.which("chromium") else []
    main([str(ROOT / "docs" / "results" / "quickstart.tar.xz"), "--readme", str(readme), *drawn])
    assert readme.read_text(encoding="utf-8") == (ROOT / "README.md").read_text(encoding="utf-8")
    assert not drawn or picture.read_bytes()[1:4] == b"PNG"
