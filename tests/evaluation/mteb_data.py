"""Made-up data of MTEB's tasks, in the hub's cache and in the layout of each task's own repository."""

import json
from pathlib import Path
from typing import Any

import mteb
import pytest

from rse_study.data import builtin

Rows = list[dict[str, Any]]
KINDS = {
    "STS": "STSBenchmark",
    "Classification": "Banking77Classification",
    "PairClassification": "SprintDuplicateQuestions",
    "Clustering": "TwentyNewsgroupsClustering.v2",
    "Retrieval": "SciFact",
    "Reranking": "AskUbuntuDupQuestions",
}
"""A task of each type that is scored."""
OLD = "RedditClustering"
"""A clustering of lists, which older leaderboards have."""
MANY = "STS17"
"""A task of several languages."""
NUM_PAIRS = 40


def sts_rows() -> Rows:
    pairs = builtin.graded_pairs("test")
    sides = zip(pairs.first, pairs.second, pairs.gold, strict=True)
    return [{"sentence1": one, "sentence2": two, "score": gold} for one, two, gold in sides][:NUM_PAIRS]


def _classes(split: str) -> Rows:
    found = builtin.opinions(split)
    return [
        {"text": text, "label": label}
        for (text,), label in zip(found.texts, found.labels.tolist(), strict=True)
    ][:60]


def _documents() -> dict[str, dict[str, Rows]]:
    """Queries whose relevant document is the second sentence of a pair; every third query has two."""
    pairs = sts_rows()
    texts = {f"d{i}": row["sentence2"] for i, row in enumerate(pairs)}
    relevant = [(f"q{i}", f"d{i}", 1) for i in range(20)] + [
        (f"q{i}", f"d{i + 1}", 1) for i in range(0, 20, 3)
    ]
    names = ("query-id", "corpus-id", "score")
    return {
        "corpus": {"test": [{"_id": key, "title": "", "text": text} for key, text in texts.items()]},
        "queries": {"test": [{"_id": f"q{i}", "text": pairs[i]["sentence1"]} for i in range(20)]},
        "default": {"test": [dict(zip(names, row, strict=True)) for row in relevant]},
    }


def rows_of(task: str) -> dict[str, dict[str, Rows]]:
    """Rows by configuration and split."""
    pairs, classes = sts_rows(), _classes("test")
    if task in (KINDS["STS"], MANY):
        languages = ("en-en", "ar-ar") if task == MANY else (None,)
        rows = [row | ({"lang": lang} if lang else {}) for lang in languages for row in pairs]
        return {"default": {"test": rows}}
    if task == KINDS["Classification"]:
        return {"default": {"train": _classes("train"), "test": classes}}
    if task == KINDS["PairClassification"]:
        columns = {
            name: [row[key] for row in pairs]
            for name, key in (("sent1", "sentence1"), ("sent2", "sentence2"))
        }
        return {"default": {"test": [{**columns, "labels": [int(row["score"] > 2.5) for row in pairs]}]}}
    if task in (KINDS["Clustering"], OLD):
        texts = builtin.corpus(num_sentences=60 if task == OLD else 1500)  # of which the new one draws 4%
        labels = [len(text.split()) % 4 for text in texts]
        halves = (slice(0, len(texts) // 2), slice(len(texts) // 2, None))
        return {"default": {"test": [{"sentences": texts[half], "labels": labels[half]} for half in halves]}}
    found = _documents()
    if task == KINDS["Reranking"]:
        ranked = [
            {"query-id": f"q{i}", "corpus-ids": [f"d{(i + j) % NUM_PAIRS}" for j in range(8)]}
            for i in range(20)
        ]
        found["top_ranked"] = {"test": ranked}
    return found


def write_data(folder: Path, configurations: dict[str, dict[str, Rows]]) -> Path:
    """Write tables and the README that lists them."""
    card = ["---", "configs:"]
    for name, splits in configurations.items():
        card += [f"- config_name: {name}", "  data_files:"]
        for split, rows in splits.items():
            file = folder / name / f"{split}.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
            card += [f"  - split: {split}", f"    path: {name}/{split}.jsonl"]
    (folder / "README.md").write_text("\n".join([*card, "---", ""]))
    return folder


def in_cache(cache: Path, task: str) -> Path:
    """Write a task's data where the hub's cache has them at the task's revision."""
    about = mteb.get_task(task).metadata.dataset
    repository = cache / "hub" / f"datasets--{about['path'].replace('/', '--')}"
    return write_data(repository / "snapshots" / about["revision"], rows_of(task))


def use_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the hub's cache and what `datasets` prepares from this folder, and ask nobody."""
    for name, value in {
        "huggingface_hub.constants.HF_HUB_CACHE": str(cache / "hub"),
        "huggingface_hub.constants.HF_HUB_OFFLINE": True,
        "datasets.config.HF_DATASETS_CACHE": cache / "datasets",
        "datasets.config.HF_HUB_OFFLINE": True,
    }.items():
        monkeypatch.setattr(name, value)
