"""A few hostile files of each kind: read, or refused with a place and a remedy."""

from random import Random

import pytest

from tests.hostile.execution import GOOD, tried
from tests.hostile.trials import KINDS, prepare

NUMBERS = {
    "study": 25, "override": 25, "cluster": 10, "ledger": 6, "sidecar": 3, "archive": 6, "attack": 2, "notebook": 1,
    "model": 8,
}  # fmt: skip


@pytest.mark.parametrize("kind", NUMBERS)
def test_mutants_are_read_or_refused_with_a_remedy(kind, tmp_path, monkeypatch):
    for name in ("RSE_STUDY_DATA", "RSE_STUDY_CACHE", "HF_HOME", "HF_HUB_OFFLINE", "COLUMNS"):
        monkeypatch.setenv(name, "")  # so that it is put back
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    bad = []
    for number in range(NUMBERS[kind]):
        folder = tmp_path / str(number)
        folder.mkdir()
        ended = tried(*KINDS[kind](Random(f"suite/{kind}/{number}"), folder))
        if ended.outcome not in (*GOOD, "slow", "large"):  # a busy machine is no failure
            bad.append((number, ended.outcome, ended.lacking or ended.unclean or ended.said))
    assert not bad
