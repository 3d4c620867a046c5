"""Embeddings per second with the same weights, ours and sentence-transformers'.

python -m benchmarks.encoding

The texts are the distinct sides of STS-B's test pairs, because ours would encode a repeated one only once. Both sort
by length and pool alike (mean, not normalised). CPU seconds of alternating runs include tokenisation. The greatest
difference is over all entries of all vectors.
"""

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.encoders import encoder_names, save_encoder
from benchmarks.machine import describe_machine, load, may_time
from benchmarks.output import common_parser, heading, markdown_table, write_json
from benchmarks.sentences import similarity_texts
from benchmarks.timing import Spread, ratios, take_turns
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder, quiet_loading

EncodeTexts = Callable[[list[str]], np.ndarray]
HEADER = (
    "encoder",
    "texts",
    "embeddings a second",
    "sentence-transformers / ours, CPU s",
    "greatest difference",
)


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark of the command line and print its table."""
    options = parser().parse_args(arguments)
    torch.set_num_threads(options.threads)
    machine, texts = describe_machine(options.seed), similarity_texts()
    sentences = list(dict.fromkeys(texts.sentences))[: options.limit or None]
    with tempfile.TemporaryDirectory(prefix="rse-study-bench-") as folder:
        rows = [
            {"size": size} | measure_encoding(save_encoder(size, Path(folder) / size), sentences, options)
            for size in options.sizes
        ]
    print(heading(f"encoding {texts.name}, mean pooling", machine))
    print(markdown_table(HEADER, [_cells(row) for row in rows]))
    write_json(options.out, machine, vars(options) | {"texts": texts.name}, rows)


def measure_encoding(encoder: Path, sentences: list[str], options: argparse.Namespace) -> dict[str, Any]:
    """Return the greatest difference of the vectors, and times on a quiet machine."""
    encoders = {"ours": our_encode(encoder, options.batch), "library": library_encode(encoder, options.batch)}
    ours, library = (encode(sentences) for encode in encoders.values())
    row: dict[str, Any] = {
        "num_texts": len(sentences),
        "greatest_difference": float(np.abs(ours - library).max()),
    }
    if not options.repeat or not may_time(options):
        reason = f"load {load()}" if options.repeat else "not wanted"
        return row | {"cpu_seconds": {}, "times_not_taken": reason}
    before = load()
    works = {who: lambda number, encode=encode: encode(sentences) for who, encode in encoders.items()}
    seconds = take_turns(works, options.repeat)
    rates = {who: Spread.of([len(sentences) / value for value in values]) for who, values in seconds.items()}
    return row | {
        "cpu_seconds": seconds,
        "per_second": {who: asdict(rate) for who, rate in rates.items()},
        "ratio": asdict(ratios(seconds["library"], seconds["ours"])),
        "load": [before, load()],
    }


def our_encode(folder: Path, batch_size: int) -> EncodeTexts:
    """Return the embedder that evaluations use."""
    encoder, tokenizer = load_encoder(str(folder), "mean")
    return Embedder(encoder, tokenizer, batch_size=batch_size)


def library_encode(folder: Path, batch_size: int) -> EncodeTexts:
    """Return the encode function of sentence-transformers with the same weights."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    with quiet_loading():
        words = Transformer(str(folder))
    pooling = Pooling(words.get_embedding_dimension(), pooling_mode="mean")
    model: Any = SentenceTransformer(modules=[words, pooling], device="cpu")
    return lambda sentences: model.encode(sentences, batch_size=batch_size, show_progress_bar=False)


def _cells(row: dict[str, Any]) -> list[str]:
    is_timed = bool(row["cpu_seconds"])
    return [
        row["size"],
        str(row["num_texts"]),
        str(Spread(**row["per_second"]["ours"])) if is_timed else "-",
        str(Spread(**row["ratio"])) if is_timed else "-",
        f"{row['greatest_difference']:.1e}",
    ]


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    made = common_parser("encoding")
    sizes = encoder_names()
    made.add_argument("--sizes", nargs="+", choices=sizes, default=sizes, help="encoders")
    made.add_argument("--batch", type=int, default=64, help="texts of a forward pass, for both")
    made.add_argument("--limit", type=int, default=0, help="the first so many texts; 0: all")
    made.add_argument("--repeat", type=int, default=5, help="timed runs of each; 0: no times")
    return made


if __name__ == "__main__":
    main()
