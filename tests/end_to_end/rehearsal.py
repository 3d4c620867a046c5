"""The studies of the papers from an empty data folder to their tables: python -m tests.end_to_end.rehearsal [STUDY ...]

Each study goes the way that a lab would go, by the same commands: data fetch, validate, plan, run, check, report with
tables in LaTeX. The hub and GitHub are a server on this machine. BERT-base has its twelve layers there, 64 wide: its
word vectors are counted and its masked-LM head is trained on the head of the corpus, for a generator must beat the
unigram baseline. Texts are the real ones where the data folder has them. Overrides shorten budgets, seeds and what is
fine-tuned and attacked, and take no GPU.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from analysis.columns import read_columns
from analysis.comparison import read_comparison
from analysis.paper.columns import columns_of
from rse_study.assets.masked_lm import MaskedLMTraining
from rse_study.assets.tiny import TinyEncoder, tiny_encoder
from rse_study.data.text_files import read_lines
from rse_study.results.reader import Reader
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.shipped import shipped_studies
from tests.hub import serve
from tests.mirror import write_mirror

BERT = "bert-base-uncased"
NOWHERE = "http://hub.invalid"  # a name that no DNS knows
SIZE = TinyEncoder(
    vocabulary_size=4000,
    hidden_size=64,
    num_layers=12,
    num_heads=2,
    intermediate_size=128,
    max_positions=512,
    initializer_range=0.02,
    window=2,
    training=MaskedLMTraining(num_steps=300, lr=5e-3),
)
SHORTER = (
    "seeds=[0]",
    "base.budget.unit=steps",
    "base.budget.amount=4",
    "base.corpus.limit=2000",
    "base.batch_size=16",
    "base.selection.every=2",
    "base.precision=float32",
    "resources={executor: inline}",
)
OF_SEARCHES = (
    "num_trials=3",
    "early_stopping=null",
    "confirm.seeds=[1]",
    "confirm.num_best=1",
    "ablation_path.seeds=[1]",
)
OF_ROWS = "base.budget.amount=32"  # rows with budgets of their own have their shares of it
OF_TASKS = ("attacks.num_inputs=2", "attacks.num_training=128", "attacks.max_queries=200")
OF_FINE_TUNING = ("tasks.num_training=256", "fine_tuning.precision=float32", "fine_tuning.epochs=1")


@dataclass
class Walked:
    """A study's way: seconds and exit code of each command, and what came out."""

    study: str
    seconds: dict[str, float] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)
    num_cells: int = 0
    num_evaluations: int = 0
    num_files: int = 0
    num_verdicts: int = 0
    """claims of the paper that were judged on its rows"""
    missing: list[str] = field(default_factory=list)
    """columns of the paper's table without a score"""
    problem: str = ""
    """the first command that failed, with its last lines"""


@dataclass(frozen=True)
class Lab:
    """A machine with empty folders, which sees the mirror as hub and GitHub."""

    home: Path
    address: str

    def rse_study(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Give a command as a user gives it, in a process of its own."""
        command = [sys.executable, "-m", "tests.end_to_end.at_mirror", self.address, *words]
        environment = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        environment |= {
            "HOME": str(self.home),
            "HF_ENDPOINT": self.address,
            "RSE_STUDY_DATA": str(self.home / "data"),
            "OMP_NUM_THREADS": "1",
            "COLUMNS": "200",
        }
        return subprocess.run(command, env=environment, capture_output=True, text=True)


@contextmanager
def lab(data_dir: Path) -> Iterator[Lab]:
    """Open a lab whose mirror is made of the data folder."""
    with TemporaryDirectory() as folder:
        root, known = Path(folder), Path(folder) / "known"
        shutil.copytree(data_dir, known, copy_function=os.symlink)
        sentences = _name_corpus(known)
        write_mirror(root / "mirror", known)
        made = tiny_encoder(root / "assets", sentences[:20000], SIZE)
        named = root / "mirror" / "models" / BERT
        shutil.copytree(made, named, ignore=shutil.ignore_patterns("meta.json", "1_Pooling", "modules.json"))
        (root / "home" / "data").mkdir(parents=True)
        with serve(root / "mirror") as server:
            yield Lab(root / "home", server.address)


def _name_corpus(known: Path) -> list[str]:
    """Give the head of the corpus the name of the whole; return its sentences."""
    (head,) = (known / "wiki" / "wiki1m_head").glob("*.txt*")
    sentences = [line for line in read_lines(head) if line.strip()]
    (known / "wiki" / "wiki1m").mkdir()
    whole = known / "wiki" / "wiki1m" / "wiki1m_for_simcse.txt"
    whole.write_text("\n".join(sentences) + "\n", encoding="utf-8")
    return sentences


def walk(here: Lab, study: Path, *, has_hub: bool = True) -> Walked:
    """Go a study's whole way, after `data fetch` perhaps without the hub; stop at the first command that fails."""
    name, store = study.stem, str(here.home / "studies")
    options = [word for one in overrides(study) for word in ("-o", one)]
    folder = here.home / "studies" / name.replace("_", "-")
    walked = Walked(name)
    is_search = read_study(study).study.grid is None
    judged = {2} if is_search else {0, 1, 3}  # check compares the rows of a grid and refuses a search
    for step, words, allowed in (
        ("fetch", ["data", "fetch", "--for", name, "--accept-licence"], {0}),
        ("validate", ["validate", name, *options], {0}),
        ("plan", ["plan", name, *options, "--store", store], {0}),
        ("run", ["run", name, *options, "--store", store, "--max-hours", "0"], {0}),
        ("check", ["check", name, "--store", store, "--out", str(here.home / "checked")], judged),
        (
            "report",
            ["report", name, "--store", store, "--tables", str(here.home / name), "--as", "latex"],
            {0},
        ),
    ):
        begun, here = time.monotonic(), here if has_hub or step == "fetch" else replace(here, address=NOWHERE)
        done = here.rse_study(*words)
        walked.seconds[step], walked.codes[step] = time.monotonic() - begun, done.returncode
        if done.returncode not in allowed:
            said = (done.stdout + done.stderr).strip().splitlines()
            walked.problem = f"{step} ({done.returncode}): " + " / ".join(said[-6:])
            return walked
    _count(walked, folder, here.home)
    return walked


def overrides(study: Path) -> list[str]:
    """Return what makes a study short."""
    checked = read_study(study)
    evaluations = checked.study.evaluations
    grid = checked.study.grid
    chosen = [*SHORTER, *(OF_SEARCHES if grid is None else ())]
    if grid is not None and any("budget" in row for row in grid.rows.values()):
        chosen += [OF_ROWS]
    if any(name.startswith(("attack-", "Adv")) for name in evaluations):
        chosen += OF_TASKS
    if any(name.endswith(("fine_tuned", "synonyms")) or name.startswith("attack-") for name in evaluations):
        chosen += OF_FINE_TUNING
    return chosen


def _count(walked: Walked, folder: Path, home: Path) -> None:
    with Reader(folder) as reader:
        walked.num_cells = len(reader.cells())
        walked.num_evaluations = len(reader.evaluations())
        comparison = read_comparison(reader)
        if comparison is not None:
            walked.num_verdicts = sum(judged.verdict != "not asked" for judged in comparison.judged)
            measured = {column.heading for column, _ in read_columns(reader, comparison.table)}
            asked = (column.heading for column in columns_of(comparison.table, comparison.encoder))
            walked.missing = [heading for heading in asked if heading not in measured]
    walked.num_files = sum(1 for _ in (home / walked.study).glob("*.tex"))


def table(rows: Sequence[Walked]) -> Iterator[str]:
    """Return a line a study, in Markdown."""
    yield "| study | cells | scores | verdicts asked | missing columns | minutes | exit codes | LaTeX files | ended |"
    yield "|---|--:|--:|--:|---|--:|---|--:|---|"
    for one in rows:
        codes = " ".join(f"{step} {code}" for step, code in one.codes.items() if code) or "all 0"
        minutes = sum(one.seconds.values()) / 60
        ended = one.problem.replace("|", "/") or "whole"
        yield (
            f"| {one.study} | {one.num_cells} | {one.num_evaluations} | {one.num_verdicts} "
            f"| {', '.join(one.missing) or 'none'} | {minutes:.1f} | {codes} | {one.num_files} | {ended} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("studies", nargs="*", help="names; default: all of search_spaces/paper")
    parser.add_argument("--without-hub", action="store_true", help="it is gone after `data fetch`")
    parser.add_argument("--out", type=Path, default=Path("build/rehearsal"))
    given = parser.parse_args()
    paths = {path.stem: path for path in shipped_studies() if path.parent.name == "paper"}
    given.out.mkdir(parents=True, exist_ok=True)
    rows = []
    with lab(Path(os.environ["RSE_STUDY_DATA"])) as here:
        for name in given.studies or paths:
            rows.append(walk(here, paths[name], has_hub=not given.without_hub))
            print(list(table(rows))[-1], flush=True)
            (given.out / "rehearsal.json").write_text(json.dumps([vars(one) for one in rows], indent=1))
            shutil.rmtree(here.home / "studies", ignore_errors=True)
    (given.out / "rehearsal.md").write_text("\n".join(table(rows)) + "\n", encoding="utf-8")
    sys.exit(any(one.problem for one in rows))


if __name__ == "__main__":
    main()
