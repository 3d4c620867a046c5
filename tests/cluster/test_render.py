"""Every shipped cluster renders to the files that were last looked at."""

from rse_study.cluster.kinds import KINDS
from tests.cases import cases
from tests.cluster.golden_files import FOLDER, VARIANTS, rendered
from tests.cluster.samples import CLUSTERS, shipped


@cases("variant", VARIANTS)
def test_the_files_are_those_in_golden(variant):
    files = {file.name: file.text for file in rendered(variant)}
    kept = {path.name: path.read_text(encoding="utf-8") for path in (FOLDER / variant).iterdir()}
    assert files == kept, "python -m tests.cluster.golden_files writes them anew"


def test_golden_holds_nothing_else():
    assert {path.name for path in FOLDER.iterdir()} == set(VARIANTS)


def test_every_kind_has_a_shipped_cluster():
    assert {shipped(name).kind for name in CLUSTERS} == set(KINDS)


@cases("variant", VARIANTS)
def test_every_file_asks_for_the_token_and_holds_none(variant, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_TOKEN", "5ecret")
    texts = [file.text for file in rendered(variant)]
    assert any("RAY_AUTH_MODE" in text for text in texts)
    assert not any("5ecret" in text for text in texts)
