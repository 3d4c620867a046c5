"""Readers of sentiment data: reviews, and sentences from three sites.

Layout below the data folder, plain or gzip:

    sentiment/{imdb,yelp}/{train,test}.jsonl                IMDB (Maas et al. 2011), YELP polarity (Zhang et al. 2015):
                                                            one JSON object a line: label 0 or 1, text
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

REVIEWS = ("IMDB", "YELP")


def read_reviews(name: str, split: str, data_dir: Path) -> Labelled:
    """Read train or test of IMDB or YELP polarity, with classes negative and positive."""
    path = find_set_file(reviews_file(name, split), data_dir)
    return labelled(name, split, _objects(path), SENTIMENT_CLASSES, str(path))


def reviews_file(name: str, split: str) -> str:
    """Return the file of a split, below the data folder."""
    return f"sentiment/{name.lower()}/{split}.jsonl"


def read_sentiment(name: str, data_dir: Path) -> Labelled:
    """Read the whole set (split `all`), with classes negative and positive."""
    path = find_set_file(SENTIMENT_SETS.get(name), data_dir)
    examples = _objects(path) if path.name.removesuffix(".gz").endswith(".jsonl") else tabbed_sentences(path)
    return labelled(name, "all", examples, SENTIMENT_CLASSES, str(path))


def _objects(path: Path) -> Iterator[Example]:
    for where, (label, text) in read_objects(path, ("label", "text")):
        yield text_of(text, where=where), label_of(label, BINARY, where)
