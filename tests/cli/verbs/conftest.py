"""A study that has run, as a run would leave it; and data that are attacked in a second."""

import pytest

from rse_study.data import builtin
from rse_study.evaluation.attacks.recipes import PWWS
from rse_study.results.files.ledger import Ledger
from tests.cli.a_study import SEARCH, cell_of, fail, run
from tests.evaluation.attacks.toy_data import VOCABULARY, lay


@pytest.fixture
def ran(tmp_path):
    """A study of two trials that has run: one complete, one failed."""
    with Ledger.open(tmp_path / "studies" / "little") as ledger:
        ledger.freeze(SEARCH.model_copy(update={"num_trials": 2, "num_cells": 2}))
        run(ledger, cell_of(0), 50.0)
        fail(ledger, cell_of(1), "step 3: the loss is not finite")
    return tmp_path / "studies" / "little"


@pytest.fixture(scope="session")
def toy_data(tmp_path_factory):
    """What PWWS reads, sentences of its words with two classes (mr), and pairs with scores (STS-B)."""
    folder = lay(PWWS.needs, tmp_path_factory.mktemp("toy_data"))
    texts = {
        kind: [f"the {word} film of {word}" for word in VOCABULARY if word.startswith(kind)]
        for kind in ("bad", "good")
    }
    write(folder / "transfer/MR/rt-polarity.neg", texts["bad"])
    write(folder / "transfer/MR/rt-polarity.pos", texts["good"])
    write(folder / "attack/mr/mr.txt", [f"{n} a {kind}{n} film" for n, kind in enumerate(texts)] * 4)
    for split in ("train", "dev", "test"):
        pairs = builtin.graded_pairs("dev")
        rows = zip(pairs.gold, pairs.first, pairs.second, strict=True)
        lines = [
            f"g\tf\ty\ti\t{gold}\t{first} {VOCABULARY[n % 9]}\t{second}"
            for n, (gold, first, second) in enumerate(rows)
        ]
        write(folder / f"sts/STSBenchmark/orig/sts-{split}.csv", lines[:40])
    return folder


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))
