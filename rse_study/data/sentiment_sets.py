"""Readers of sentiment data for victims: film reviews, sentences from three sites.

Layout below the data folder, plain or gzip:

    sentiment/review_polarity_v2/review_polarity.jsonl      one JSON object a line: label 0 or 1, text
    sentiment/uci_labelled/{amazon_cells,imdb,yelp}_labelled.txt    sentence TAB 0 or 1
"""

from collections.abc import Iterator
from pathlib import Path

from rse_study.data.classes import (
    BINARY,
    SENTIMENT_CLASSES,
    Example,
    find_set_file,
    label_of,
    labelled,
    read_objects,
    tabbed_sentences,
    text_of,
)
from rse_study.data.labelled import Labelled
from rse_study.registry import Registry

SENTIMENT_SETS: Registry[str] = Registry(
    "sentiment set",
    {
        "review-polarity": "sentiment/review_polarity_v2/review_polarity.jsonl",
        "uci-amazon": "sentiment/uci_labelled/amazon_cells_labelled.txt",
        "uci-imdb": "sentiment/uci_labelled/imdb_labelled.txt",
        "uci-yelp": "sentiment/uci_labelled/yelp_labelled.txt",
    },
)


def read_sentiment(name: str, data_dir: Path) -> Labelled:
    """Read the whole set (split `all`), with classes negative and positive."""
    path = find_set_file(SENTIMENT_SETS.get(name), data_dir)
    examples = _objects(path) if path.name.removesuffix(".gz").endswith(".jsonl") else tabbed_sentences(path)
    return labelled(name, "all", examples, SENTIMENT_CLASSES, str(path))


def _objects(path: Path) -> Iterator[Example]:
    for where, (label, text) in read_objects(path, ("label", "text")):
        yield text_of(text, where=where), label_of(label, BINARY, where)
