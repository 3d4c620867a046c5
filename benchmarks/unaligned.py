"""MiniLM with its alignment unlearnt: five checkpoints of masked-LM training.

python -m benchmarks.unaligned FOLDER

MiniLM was fine-tuned on sentence pairs, so that its vectors have little left to learn. Masked-LM training on the
sentences that its studies train on takes that away. Writes FOLDER/0 to FOLDER/4, about 7 minutes of a core each, and
prints their scores on STS-B dev, Spearman x100. `benchmarks/unaligned_minilm.yaml` reads them from
`unaligned` in the working folder.
"""

import argparse
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.output import markdown_table
from rse_study.assets.masked_lm import MaskedLMTraining
from rse_study.assets.store import META
from rse_study.assets.tiny import MiniLMGenerator, minilm_folder, minilm_generator
from rse_study.data import data_dir
from rse_study.data.corpus import Corpus, read_corpus
from rse_study.data.readers import read_dev
from rse_study.evaluation.sts import evaluate_sts
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder

SEEDS = range(5)
TRAINING = MaskedLMTraining(num_steps=400, batch_size=32, max_length=48, lr=6e-4)
TEXTS = ("wiki/wiki1m_head/wiki1m_for_simcse.head.txt", "wiki/wikitext2/sentences.txt")
POOLINGS = ("cls", "mean")


def main(arguments: list[str] | None = None) -> None:
    """Make the checkpoints that are missing, and print what all of them score."""
    folder = parser().parse_args(arguments).folder
    lines = [("all-MiniLM-L6-v2", "", *scores(minilm_folder()))]
    for seed in SEEDS:
        made = folder / str(seed)
        if not (made / META).is_file():
            make(made, TRAINING.model_copy(update={"seed": seed}))
        guessed = json.loads((made / META).read_text(encoding="utf-8"))["masked_accuracy"]
        lines.append((f"seed {seed}", f"{guessed:.1%}", *scores(made)))
    print(markdown_table(["checkpoint", "masked tokens guessed", *POOLINGS], lines))


def make(folder: Path, training: MaskedLMTraining) -> None:
    """Train a checkpoint and move it to its place."""
    sentences = read_corpus(Corpus.model_validate({"source": TEXTS, "limit": 0}), data_dir()).sentences

    def on_progress(done: int, total: int, loss: float) -> None:
        print(f"\r{folder}: step {done} of {total}, loss {loss:.2f}", end="\n" * (done == total), flush=True)

    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent) as root:
        minilm_generator(Path(root), sentences, MiniLMGenerator(training=training), on_progress).rename(
            folder
        )


def scores(folder: Path) -> list[str]:
    """Return a checkpoint's score from each pooling."""
    dev = read_dev("STS-B", data_dir())
    embedders = [Embedder(*load_encoder(str(folder), pooling, "main")) for pooling in POOLINGS]
    return [f"{evaluate_sts(embed, [dev])[0].value:.2f}" for embed in embedders]


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.unaligned")
    made.add_argument("folder", type=Path, metavar="FOLDER", help="a folder for the five checkpoints")
    return made


if __name__ == "__main__":
    main()
