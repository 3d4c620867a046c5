"""A study to begin with: complete, valid, and never in the place of another."""

import json

import pytest


@pytest.mark.parametrize(
    ("options", "said", "inert"),
    [
        ([], "16 trials over alpha, beta, N, rho: 22 cells", "the base"),
        (["--grid"], "18 cells", '"rho = 0.5", "rho = 1", "no detection" and "no adversary"'),
    ],
)
def test_what_is_written_is_valid(rse, tmp_path, options, said, inert):
    ended = rse("init", "mine", *options)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("mine.yaml, study.schema.json\n")
    validated = rse("validate", "mine.yaml")
    assert (validated.code, validated.err) == (0, "")
    warning, first, *others = validated.out.splitlines()
    assert warning.startswith(f"warning: PGD's delta has no effect in {inert}: ")
    assert first.startswith("mine: valid. ")
    assert first.endswith(said)
    assert not any(line.startswith("warning: ") for line in others)
    text = (tmp_path / "mine.yaml").read_text()
    assert "my-study" not in text
    assert text.startswith("# yaml-language-server: $schema=study.schema.json\n")
    schema = json.loads((tmp_path / "study.schema.json").read_text())
    assert {"name", "base", "search", "grid"} <= set(schema["properties"])


def test_nothing_is_overwritten(rse, tmp_path):
    (tmp_path / "mine.yaml").write_text("precious")
    ended = rse("init", "mine")
    assert ended.code == 2
    rule = "already exists: nothing is overwritten"
    assert ended.err == f"mine.yaml: {rule}. Choose another name, or remove it\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]
    assert (tmp_path / "mine.yaml").read_text() == "precious"


@pytest.mark.parametrize("name", ["Mine", "a/b", "mine.yaml", "", "x" * 65, "a: b", "- a", "\n"])
def test_a_name_that_cannot_be_is_refused_and_nothing_written(rse, tmp_path, name):
    ended = rse("init", "--", name)
    assert ended.code == 2, ended
    assert ended.err.startswith("NAME")
    assert "Traceback" not in ended.err
    assert list(tmp_path.iterdir()) == []


def test_a_second_study_beside_the_first_is_welcome(rse, tmp_path):
    assert rse("init", "one").code == rse("init", "two", "--grid").code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.yaml", "study.schema.json", "two.yaml"]
