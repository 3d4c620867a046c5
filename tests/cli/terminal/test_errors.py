"""Bad input: what, where, rule, remedy, exit code 2; never a traceback."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rse_study.cli
from rse_study.cli.terminal import errors
from rse_study.cli.terminal.screen import json_of
from rse_study.errors import NonFiniteLoss, Unavailable
from rse_study.results.files.ledger import Ledger
from tests.cli.a_study import SEARCH, cell_of, run

TRIAL = """
encoder: {name: tiny, pooling: mean}
corpus: {source: CORPUS}
budget: {unit: steps, amount: 1}
selection: {dev: builtin}
"""
SMALL = """
encoder: {name: models/encoder, pooling: mean}
corpus: {source: {kind: builtin, num_sentences: 200}}
method: {lambda2: 0}
budget: {unit: steps, amount: 1}
selection: {dev: builtin}
"""


# Files to write, the command line, what the message must say; rules have their own tests where they live.
BAD = [
    ({}, "train nowhere.yaml", "nowhere.yaml | no such file | rse-study studies"),
    ({"t.yaml": "a: [1"}, "train t.yaml", "t.yaml:1 | valid YAML"),
    ({"t.yaml": "batch_sise: 4\n"}, "train t.yaml", "t.yaml: batch_sise | Did you mean 'batch_size'?"),
    ({"t.yaml": "batch_size: 4\n"}, "train t.yaml -o max_length=1", "max_length = 1 | must be >= 4"),
    ({"t.yaml": TRIAL}, "train t.yaml", "CORPUS | no such file"),
    (
        {"t.yaml": "method: {masks: {phi: 0.1, num_layers: 0, sites: below_k}}\n"},
        "train t.yaml",
        "t.yaml: method.masks | phi > 0 needs a site | Raise num_layers",
    ),
    ({"t.yaml": SMALL}, "train t.yaml --device tpu", "--device | 'tpu' | rse-study doctor"),
    (
        {"t.yaml": SMALL},
        "train t.yaml --workers 3",
        "--workers | 3 workers | `train` trains in one process | resources: {executor: train, workers: N}",
    ),
    ({"t.yaml": SMALL, "f": ""}, "train t.yaml --out f/x/y", "--out f/x/y | f is not a folder"),
    ({"t.yaml": SMALL, "cache": ""}, "train t.yaml", "RSE_STUDY_CACHE | cache is not a folder"),
    ({"cache": ""}, "run joint", "RSE_STUDY_CACHE | cache is not a folder"),
    ({"f": ""}, "run joint --store f", "--store f/joint | f is not a folder"),
    ({"f": ""}, "report joint --store f", "f: no study 'joint' has run"),
    ({}, f"train {'x' * 300}.yaml", "cannot be read | Check the path"),
    ({}, "train tiny_simcs", "TRIAL | Did you mean 'tiny_simcse'?"),
    ({}, "evaluate tiny", "MODEL | 'tiny' is not a model | an asset | Train it first"),
    ({}, "validate quikstart", "quikstart | Did you mean 'quickstart'?"),
    ({"empty/x": ""}, "export empty out", "empty | neither a model nor a ledger"),
    ({}, "evaluate nothing/here/at/all", "no such folder | Check the path"),
    ({}, "data verify STS99", "STS99 | Did you mean 'STS1"),
    ({}, "data fetch nothing", "no such data set 'nothing'"),
    ({}, "frobnicate", "No such command 'frobnicate'"),
    ({}, "train", "Missing argument"),
    ({}, "train t.yaml --seed -1", "--seed"),
    *(
        ({}, line, "no study 'joint' has run")
        for line in ("status joint", "check joint", "dashboard joint", "export joint x", "replay joint 0")
    ),
    ({}, "report joint", "no study 'joint' has run | rse-study run"),
    ({}, "status nowhere.yaml", "nowhere.yaml: no such file"),
    ({}, "status joint --watch --json", "--watch: --json | for people"),
    ({"d/ledger.sqlite": "no database at all"}, "status d", "d/ledger.sqlite | no ledger | sets it aside"),
    ({"d/ledger.sqlite": ""}, "status d", "d | ledger"),
    ({}, "dashboard joint --port 99999", "--port | 65535"),
    ({}, "init 'Step Sizes'", "NAME: 'Step Sizes' | lower case | rse-study init step-sizes"),
    ({}, "init one two", "extra argument"),
    ({}, "doctor --rebuild d", "--rebuild was removed | Run the study"),
    ({}, "run joint --max-hours -1", "--max-hours | greater than or equal to 0"),
    ({}, "run joint -o allowance.max_cost=1", "allowance.max_cost | in device hours | --max-hours"),
    ({}, "plan joint --max-cost 1", "--max-cost | was removed | --max-hours"),
    *(
        ({}, f"{verb} joint -o 'evaluations=[STS-B/test]'", "evaluations | STS-B | RSE_STUDY_DATA")
        for verb in ("run", "validate")
    ),
    ({}, "validate joint --store x", "No such option: --store"),
    ({}, "run rse_table6_mini -o paper.table=rse-tabel6", "paper.table = 'rse-tabel6'"),
    ({}, "report joint --as xml", "--as | parquet"),
]


@pytest.mark.parametrize(("written", "line", "said"), BAD, ids=[line for _, line, _ in BAD])
def test_bad_input_is_explained(rse, tmp_path, models_folder, written, line, said):
    (tmp_path / "models").symlink_to(models_folder)
    for name, content in written.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    ended = rse(*shlex.split(line))
    assert ended.code == 2, ended
    assert [part for part in said.split(" | ") if part not in ended.err] == [], ended.err
    assert "Traceback" not in ended.out + ended.err


def run_guarded(error):
    def verb():
        raise error

    return errors._run(verb)


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (NonFiniteLoss("the loss is not finite", 3), 3, "the run failed: step 3: the loss is not finite"),
        (
            Unavailable("the storage is gone", "Bring it back"),
            3,
            "gave up: the storage is gone. Bring it back",
        ),
        (KeyboardInterrupt(), 130, "interrupted; the same command resumes the run"),
    ],
)
def test_what_ends_a_run_is_one_line_and_a_code(capsys, error, code, line):
    assert run_guarded(error) == code
    assert capsys.readouterr().err == f"{line}\n"


def test_our_own_defect_is_one_line_and_a_log_and_70(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("RSE_STUDY_CACHE", str(tmp_path))
    assert run_guarded(ZeroDivisionError("by\nzero")) == 70
    said = capsys.readouterr().err
    assert said.startswith("internal error: ZeroDivisionError: by (traceback: ")
    assert said.count("\n") == 1
    log = Path(said.rsplit("traceback: ")[-1].strip().rstrip(")"))
    assert "Traceback" in log.read_text()


# Whatever a command prints with --json a strict reader can read: RFC 8259 knows neither NaN nor infinity.


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
CONTENT = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner)
)


def strictly(text):
    """What a reader says that refuses all that is no JSON."""

    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


@given(CONTENT)
def test_all_that_json_knows_comes_back_and_the_rest_is_null(content):
    text = json_of(content)
    assert text.isascii()
    found, told = strictly(text), json.loads(json.dumps(content), parse_constant=lambda name: None)
    assert found == told


def test_numbers_of_numpy_are_numbers():
    assert strictly(json_of([np.float64("nan"), np.float64(-np.inf), np.float64(0.5)])) == [None, None, 0.5]


def test_no_verb_writes_json_by_other_means():
    writers = {
        path.name
        for path in Path(rse_study.cli.__file__).parent.rglob("*.py")
        if "json.dumps(" in path.read_text(encoding="utf-8")
    }
    assert writers == {"screen.py", "studies.py"}  # the latter writes a schema, which has no numbers


def test_a_value_that_is_not_finite_is_null(rse, tmp_path):
    with Ledger.open(tmp_path / "studies" / "little") as ledger:
        ledger.freeze(SEARCH.model_copy(update={"kind": "grid"}))
        run(ledger, cell_of(0).model_copy(update={"stage": "grid"}), float("inf"))
    content = strictly(rse("status", "little", "--json").out)
    assert content["best"] is None
