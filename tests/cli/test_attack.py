"""`evaluate --suite attacks` refuses before anything is trained."""

import pytest


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--recipe", "bae"], ["--recipe bae", "no masked language model", "--masked-lm"]),
        (["--recipe", "pws"], ["no such attack 'pws'", "Did you mean 'pwws'?"]),
        (["--recipe", "pwws", "--on", "mrr"], ["no such attack set 'mrr'", "Did you mean 'mr'?"]),
        (["--recipe", "pwws", "--lr", "0"], ["lr = 0.0", "must be > 0"]),
        (["--recipe", "pwws", "--max-length", "600"], ["max_length = 600", "must be <= 512"]),
    ],
    ids=str,
)
def test_what_cannot_run_is_refused_first(rse, data_dir, arguments, words):
    ended = rse(
        "evaluate", "minilm", "--suite", "attacks", "--data", str(data_dir), "--out", "kept", *arguments
    )
    assert ended.code == 2, ended.err
    assert all(word in ended.err for word in words), ended.err
    assert "victim" not in ended.out
