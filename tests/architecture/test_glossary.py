"""The glossary's words are borne by code that is there."""

import re

from tests.architecture.findings import require_none
from tests.architecture.sources import ROOT, resolves

PAGE = ROOT / "docs" / "glossary.md"
PATH = re.compile(r"`((?:rse_study|analysis)(?:\.\w+)+)`")
ROW = re.compile(r"^\| (?!word |--)(?P<word>[^|]+) \| (?P<meaning>[^|]+) \| (?P<bearer>[^|]+) \|$")
LINES = PAGE.read_text(encoding="utf-8").splitlines()
ROWS = [match for line in LINES if (match := ROW.match(line))]


def test_every_word_has_one_meaning_and_a_bearer_that_is_there():
    require_none(
        f"docs/glossary.md:{number}: {path} is not defined. Name the class or function that bears the word now"
        for number, line in enumerate(LINES, start=1)
        for path in PATH.findall(line)
        if not resolves(path)
    )
    assert len(ROWS) > 40
    assert [row["word"] for row in ROWS if not PATH.search(row["bearer"])] == []
    words = [word for row in ROWS for word in row["word"].split(", ")]
    assert sorted(words) == sorted(set(words))
