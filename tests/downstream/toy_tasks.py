"""Tiny NLI and GLUE files in the published layouts: what a text says is told by which group its words are of."""

import json
import random

from tests.training.classifier.sorted_words import GROUPS, words_of

NLI_LABELS = ("entailment", "neutral", "contradiction")
SIDES = ((0, 0), (0, 1), (1, 1))  # groups of premise and hypothesis, by class


def nli_pairs(num, seed):
    """(premise, hypothesis, class)."""
    rng = random.Random(seed)
    return [(words_of(SIDES[i % 3][0], rng), words_of(SIDES[i % 3][1], rng), i % 3) for i in range(num)]


def write_nli(folder, below, num, seed, *, unlabelled=0, labels=NLI_LABELS):
    """SNLI's and MNLI's files; `labels`: what each class is called."""
    rows = [{"gold_label": labels[k], "sentence1": p, "sentence2": h} for p, h, k in nli_pairs(num, seed)]
    rows += [{"gold_label": "-", "sentence1": "red", "sentence2": "cat"}] * unlabelled
    write_lines(folder / f"nli/{below}.jsonl", rows)


def write_anli(folder, number, split, num, seed):
    rows = [{"context": p, "hypothesis": h, "label": "enc"[k]} for p, h, k in nli_pairs(num, seed)]
    write_lines(folder / f"nli/anli/R{number}/{split}.jsonl", rows)


def write_snli(folder):
    """SNLI with a train and a test split."""
    write_nli(folder, "snli/snli_1.0_train", 90, seed=0)
    write_nli(folder, "snli/snli_1.0_test", 30, seed=1, unlabelled=2)


def write_rounds(folder, splits=("test", "dev")):
    for split_number, split in enumerate(splits):
        for number in (1, 2, 3):
            write_anli(folder, number, split, 6 * number, seed=10 * number + split_number)


def write_fever(folder, split, num, seed):
    labels = ("SUPPORTS", "NOT ENOUGH INFO", "REFUTES")
    rows = [{"context": p, "query": h, "label": labels[k]} for p, h, k in nli_pairs(num, seed)]
    write_lines(folder / f"nli/fever/{split}_fitems.jsonl", rows)


def write_reviews(folder, task, split, num, seed):
    rng = random.Random(seed)
    rows = [{"label": i % 2, "text": words_of(i % 2, rng)} for i in range(num)]
    write_lines(folder / f"sentiment/{task.lower()}/{split}.jsonl", rows)


def write_glue(folder, task, split, rows):
    write_lines(folder / f"nyu-mll/glue/{task}/{split}.jsonl", rows)


def write_mrpc(folder, split, num, seed):
    """Equivalent (1) where both sentences are of the first group, three of four."""
    groups = [(0, 0) if i % 4 else (1, 1) for i in range(num)]
    _write_pairs(folder, "mrpc", split, groups, random.Random(seed), lambda one, other: 1 - one)


def write_stsb(folder, split, num, seed):
    """Gold 0, 2.5 or 5: how many of the two texts are of the second group."""
    rng = random.Random(seed)
    groups = [(rng.randint(0, 1), rng.randint(0, 1)) for _ in range(num)]
    _write_pairs(folder, "stsb", split, groups, rng, lambda one, other: 2.5 * (one + other))


def _write_pairs(folder, task, split, groups, rng, label):
    words = [(words_of(one, rng), words_of(other, rng), label(one, other)) for one, other in groups]
    names = ("sentence1", "sentence2", "label")
    write_glue(folder, task, split, [dict(zip(names, row, strict=True)) for row in words])


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_squad(folder, split, num, seed, most=5):
    """Contexts of words of one group but for the answer; the question is of the answer's group."""
    rng, paragraphs = random.Random(seed), []
    for i in range(num):
        answer, others = rng.choice(GROUPS[i % 2]), rng.choices(GROUPS[1 - i % 2], k=rng.randint(1, most))
        place = rng.randint(0, len(others))
        context = " ".join([*others[:place], answer, *others[place:]])
        marked = {"text": answer, "answer_start": context.index(answer)}
        question = {"question": words_of(i % 2, rng), "answers": [marked], "id": str(i)}
        paragraphs.append({"context": context, "qas": [question]})
    path = folder / f"squad/{split}-v1.1.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"data": [{"title": "Groups", "paragraphs": paragraphs}], "version": "1.1"}))
