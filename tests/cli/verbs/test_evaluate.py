"""`evaluate`: which suites, which sets are present, and which pooling."""

import json

import numpy as np
import pytest

from rse_study.cli.verbs.evaluate import find_tasks, table_of
from rse_study.data import builtin
from rse_study.evaluation.sts import evaluate_sts
from rse_study.models.model_files import StoredPooling, store_pooling
from tests.evaluation import mteb_data


def test_a_set_that_lacks_a_file_is_not_called_absent(tmp_path):
    folder = tmp_path / "sts" / "STS13" / "orig"
    folder.mkdir(parents=True)
    for subset in ("FNWN", "headlines"):
        (folder / f"STS.input.{subset}.txt").write_text("a\tb\n")
        (folder / f"STS.gs.{subset}.txt").write_text("1\n")
    tasks, absent = find_tasks(tmp_path, "orig")
    assert tasks == []
    assert (absent["STS13 test"], absent["STS12 test"]) == ("lacks OnWN", "absent")


def test_a_set_that_is_here_in_another_copy_says_how_to_read_it(tmp_path):
    folder = tmp_path / "sts" / "STSBenchmark" / "senteval"
    folder.mkdir(parents=True)
    (folder / "sts-test.csv").write_text("g\tf\ty\t0\t4.2\tone\ttwo\n")
    tasks, absent = find_tasks(tmp_path, "orig")
    assert tasks == []
    assert absent["STS-B test"] == "missing; with --variant senteval it is here"
    assert [one.variant for one in find_tasks(tmp_path, "senteval")[0]] == ["senteval"]


def test_absent_sets_are_listed_as_absent():
    pairs = builtin.graded_pairs("test")
    scores = evaluate_sts(lambda texts: np.random.default_rng(0).normal(size=(len(texts), 3)), [pairs])
    frame = table_of(scores, {"STS13 test": "absent", "STS15 test": "lacks belief"})
    assert frame["set"].tolist() == [f"{pairs.name} test", "STS13 test", "STS15 test"]
    assert frame["pairs"].tolist() == [str(len(pairs)), "absent", "lacks belief"]


def test_prompt_pooling_needs_a_stored_template(rse, models_folder, tmp_path):
    folder = tmp_path / "data" / "sts" / "STSBenchmark" / "orig"
    folder.mkdir(parents=True)
    rows = ["g\tf\ty\t0\t4.2\tone\ttwo\n", "g\tf\ty\t0\t1.0\ta\tb\n"]
    (folder / "sts-dev.csv").write_text("".join(rows))
    (tmp_path / "prompted").mkdir()
    for file in (models_folder / "encoder").iterdir():
        (tmp_path / "prompted" / file.name).symlink_to(file)
    arguments = ["evaluate", "prompted", "--pooling", "prompt", "--data", "data"]
    ended = rse(*arguments)
    assert ended.code == 2
    assert "prompted: pooling 'prompt'" in ended.err
    assert "none is stored beside these weights" in ended.err
    assert "Use cls" in ended.err
    stored = StoredPooling(pooling="prompt", template='This sentence of "[X]" means [MASK].')
    store_pooling(tmp_path / "prompted", stored)
    assert rse(*arguments).code == 0


@pytest.mark.parametrize(
    ("suite", "remedy"),
    [
        ("attacks", "Use rse-study attack tiny"),
        ("nli", "Use rse-study fine-tune tiny --suite nli"),
        ("glue", "Use rse-study fine-tune tiny --suite glue"),
        ("ful", "Did you mean 'full'?"),
    ],
)
def test_a_suite_of_another_command_names_it(rse, suite, remedy):
    ended = rse("evaluate", "tiny", "--suite", suite)
    told = f"--suite: no suite {suite!r}: suites of frozen vectors are sts, fast, full. {remedy}\n"
    assert (ended.code, ended.out, ended.err) == (2, "", told)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--on", "builtin/tset"], "no such evaluation 'builtin/tset'. Did you mean 'builtin/test'?"),
        (["--on", "attack-mr/pwws"], "it needs an encoder's weights. Use rse-study attack or fine-tune"),
        (
            ["--on", "builtin/test", "--suite", "fast"],
            "--suite fast: --on says what is scored. Drop one of them",
        ),
        (
            ["--on", "builtin/test", "--mteb-results", "out"],
            "--mteb-results: --on names none of MTEB's tasks",
        ),
        (["--on", "mteb/STS17"], "mteb/STS17: it has sets of other languages, too. Write mteb/STS17/eng"),
        (["--on", "mteb/STS12", "--mteb-results", __file__], "--mteb-results " + __file__),
    ],
)
def test_what_on_cannot_score_is_refused(rse, models_folder, options, told):
    ended = rse("evaluate", str(models_folder / "encoder"), *options)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err


def test_on_scores_its_evaluations_alone_and_writes_what_mteb_reads(
    rse, models_folder, tmp_path, monkeypatch
):
    mteb_data.use_cache(tmp_path, monkeypatch)
    mteb_data.in_cache(tmp_path, "STSBenchmark")
    names = ["--on", "builtin/test", "--on", "mteb/STSBenchmark", "--pooling", "mean"]
    ended = rse(
        "evaluate", str(models_folder / "encoder"), *names, "--json", "--mteb-results", str(tmp_path / "out")
    )
    assert ended.code == 0, ended.err
    content = json.loads(ended.out)
    assert (content["suite"], content["scores"], content["absent"]) == ("", [], {})
    assert [row["task"] for row in content["rows"]] == ["builtin"] * 3 + ["mteb"]
    (file,) = (tmp_path / "out").rglob("STSBenchmark.json")
    main_score = json.loads(file.read_text())["scores"]["test"][0]["main_score"]
    assert 100 * main_score == pytest.approx(content["rows"][-1]["value"], abs=1e-4)
