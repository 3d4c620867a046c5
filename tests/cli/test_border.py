"""Bad input: what, where, rule, remedy, exit code 2; never a traceback."""

from pathlib import Path

import pytest

from rse_study.cli import border
from rse_study.errors import NonFiniteLoss

TRIAL = """
encoder: {name: tiny, pooling: mean}
corpus: {source: CORPUS}
budget: {unit: steps, amount: 1}
selection: {dev: builtin}
"""

# files to write, arguments, what the message must say
BAD = [
    ({}, ["train", "nowhere.yaml"], ["nowhere.yaml", "no such file", "rse-study studies"]),
    ({"t.yaml": "a: [1"}, ["train", "t.yaml"], ["t.yaml:1", "valid YAML"]),
    ({"t.yaml": "- a\n"}, ["train", "t.yaml"], ["t.yaml", "mapping"]),
    ({"t.yaml": "batch_size: 4\nbatch_size: 5\n"}, ["train", "t.yaml"], ["t.yaml:2", "duplicate key"]),
    ({"t.yaml": b"a: \xff\n"}, ["train", "t.yaml"], ["t.yaml", "UTF-8"]),
    (
        {"t.yaml": "batch_sise: 4\n"},
        ["train", "t.yaml"],
        ["t.yaml: batch_sise", "Did you mean 'batch_size'?"],
    ),
    (
        {"t.yaml": "batch_size: 4\n"},
        ["train", "t.yaml", "-o", "max_length=1"],
        ["max_length = 1", "must be >= 4"],
    ),
    ({"t.yaml": "batch_size: 4\n"}, ["train", "t.yaml", "-o", "max_length"], ["-o", "path=value"]),
    ({"t.yaml": "method: {lambda1: -1}\n"}, ["train", "t.yaml"], ["method.lambda1 = -1", "must be >= 0"]),
    ({"t.yaml": TRIAL}, ["train", "t.yaml"], ["CORPUS", "no such file"]),
    (
        {"t.yaml": TRIAL, "cache/data/CORPUS": ""},
        ["train", "t.yaml"],
        ["CORPUS", "0 distinct sentence", "at least 2"],
    ),
    ({"t.yaml": TRIAL, "cache/data/CORPUS": "one\n"}, ["train", "t.yaml"], ["CORPUS", "1 distinct sentence"]),
    ({"t.yaml": TRIAL, "cache/data/CORPUS": b"one\n\xff\n"}, ["train", "t.yaml"], ["CORPUS:2", "UTF-8"]),
    ({"t.yaml": TRIAL, "cache/data/CORPUS": "a" * 100_001}, ["train", "t.yaml"], ["CORPUS:1", "100,000"]),
    ({}, ["validate", "quikstart"], ["quikstart", "Did you mean 'quickstart'?"]),
    ({}, ["validate", "quickstart", "-o", "num_trials=none"], ["num_trials = 'none'", "must be an integer"]),
    ({}, ["run", "quickstart", "-o", "search.rho={float: [0, 2]}"], ["search.rho = 2", "must be <= 1"]),
    ({}, ["report", "quickstart"], ["no study 'quickstart' has run", "rse-study run"]),
    ({}, ["export", "quickstart", "out"], ["no study 'quickstart' has run"]),
    ({"empty/x": ""}, ["export", "empty", "out"], ["empty", "neither a model nor a ledger"]),
    ({}, ["evaluate", "nothing/here/at/all"], ["no STS set is here", "RSE_STUDY_DATA"]),
    ({}, ["data", "verify", "STS99"], ["STS99", "Did you mean 'STS1"]),
    ({}, ["data", "fetch", "nothing"], ["no such data set 'nothing'"]),
    ({}, ["frobnicate"], ["No such command 'frobnicate'"]),
    ({}, ["train"], ["Missing argument"]),
    ({}, ["train", "t.yaml", "--seed", "-1"], ["--seed"]),
]


@pytest.mark.parametrize(
    ("written", "arguments", "said"), BAD, ids=[" ".join(case[1]) + str(i) for i, case in enumerate(BAD)]
)
def test_bad_input_is_explained(rse, tmp_path, written, arguments, said):
    for name, content in written.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    ended = rse(*arguments)
    assert ended.code == 2, ended
    assert all(part in ended.err for part in said), ended.err
    assert "Traceback" not in ended.out + ended.err


def run_guarded(error):
    def verb():
        raise error

    return border._run(verb)


def test_a_failed_run_is_one_line_and_1(capsys):
    assert run_guarded(NonFiniteLoss("the loss is not finite", 3)) == 3
    assert capsys.readouterr().err == "the run failed: step 3: the loss is not finite\n"


def test_an_interruption_is_130(capsys):
    assert run_guarded(KeyboardInterrupt()) == 130
    assert "goes on from here" in capsys.readouterr().err


def test_our_own_defect_is_one_line_and_a_log_and_70(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("RSE_STUDY_CACHE", str(tmp_path))
    assert run_guarded(ZeroDivisionError("by\nzero")) == 70
    said = capsys.readouterr().err
    assert said.startswith("internal error: ZeroDivisionError: by (traceback: ")
    assert said.count("\n") == 1
    log = Path(said.rsplit("traceback: ")[-1].strip().rstrip(")"))
    assert "Traceback" in log.read_text()
