import json

import datasets
import pytest

from rse_study.data import GLUE
from rse_study.data.hub import read_glue
from rse_study.errors import InputError, MissingFile
from tests.cases import cases

pytestmark = pytest.mark.usefixtures("no_hub")
NUM_ROWS = 4


def _rows(task, split, num=NUM_ROWS):
    num_classes = len(task.classes)
    rows = [{c: f" {split} {c} {i}" for c in task.columns} for i in range(num)]
    labels = [i % num_classes if num_classes else 1.25 * i for i in range(num)]
    return [row | {"label": label, "idx": i} for i, (row, label) in enumerate(zip(rows, labels, strict=True))]


def _hub_copy(root, names):
    """As nyu-mll/glue lies on the hub: parquet with class labels, and configurations in its README."""
    entries = []
    for name in names:
        task = GLUE.get(name)
        (root / task.config).mkdir(parents=True)
        lines = []
        for split in (*task.splits, "test"):
            table = datasets.Dataset.from_list(_rows(task, split))
            if task.classes:
                table = table.cast_column("label", datasets.ClassLabel(names=list(task.classes)))
            path = f"{task.config}/{split}-00000-of-00001.parquet"
            table.to_parquet(str(root / path))
            lines += [f"  - split: {split}", f"    path: {path}"]
        entries += [f"- config_name: {task.config}", "  data_files:", *lines]
    (root / "README.md").write_text("\n".join(["---", "configs:", *entries, "---", ""]))


def test_every_task_of_the_hubs_copy(tmp_path):
    _hub_copy(tmp_path / "glue", list(GLUE))
    for name in GLUE:
        task = GLUE.get(name)
        for split in task.splits:
            found = read_glue(name, split, tmp_path, "glue")
            assert (found.name, found.split, len(found)) == (f"GLUE-{name}", split, NUM_ROWS)
            if name == "STS-B":
                assert found.gold.tolist() == [0.0, 1.25, 2.5, 3.75]
                assert (found.first[1], found.second[1]) == (f"{split} sentence1 1", f"{split} sentence2 1")
            else:
                assert found.classes == task.classes
                assert found.labels.tolist() == [i % len(task.classes) for i in range(NUM_ROWS)]
                assert found.texts[1] == tuple(f"{split} {column} 1" for column in task.columns)


def test_files_of_one_task_are_not_taken_for_anothers(tmp_path):
    """RTE and MRPC have the same columns."""
    folder = tmp_path / "nyu-mll/glue/rte"
    folder.mkdir(parents=True)
    datasets.Dataset.from_list(_rows(GLUE.get("RTE"), "train")).to_json(str(folder / "train.json"))
    assert len(read_glue("RTE", "train", tmp_path)) == NUM_ROWS
    with pytest.raises(MissingFile, match=r"mrpc: no such folder: the layout is .* Copy it .* beside rte"):
        read_glue("MRPC", "train", tmp_path)


@cases("kind", ["json", "csv", "parquet"])
@cases("below", ["mine/rte", "mine"])
def test_plain_files_of_one_task(tmp_path, kind, below):
    folder = tmp_path / below
    folder.mkdir(parents=True)
    for split in ("train", "validation"):
        table = datasets.Dataset.from_list(_rows(GLUE.get("RTE"), split))
        getattr(table, f"to_{kind}")(str(folder / f"{split}.{kind}"))
    found = read_glue("RTE", "validation", tmp_path, "mine")
    assert found.labels.tolist() == [0, 1, 0, 1]
    assert found.texts[2] == ("validation sentence1 2", "validation sentence2 2")
    assert found.classes == ("entailment", "not_entailment")


def _lines(tmp_path, rows):
    (tmp_path / "mine").mkdir(exist_ok=True)
    (tmp_path / "mine" / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_labels_by_name_and_missing_labels(tmp_path):
    names = ["acceptable", "unacceptable", None]
    _lines(tmp_path, [{"sentence": "s", "label": label} for label in names])
    found = read_glue("CoLA", "train", tmp_path, "mine")
    assert (found.labels.tolist(), found.num_unlabelled) == ([1, 0], 1)
    _lines(tmp_path, [{"sentence": "s", "label": label} for label in (1, -1, 0)])
    found = read_glue("CoLA", "train", tmp_path, "mine")
    assert (found.labels.tolist(), found.num_unlabelled) == ([1, 0], 1)


def test_another_order_of_the_classes_is_put_right(tmp_path):
    table = datasets.Dataset.from_list(_rows(GLUE.get("RTE"), "train"))
    swapped = datasets.ClassLabel(names=["not_entailment", "entailment"])
    (tmp_path / "mine").mkdir()
    table.cast_column("label", swapped).to_parquet(str(tmp_path / "mine" / "train.parquet"))
    assert read_glue("RTE", "train", tmp_path, "mine").labels.tolist() == [1, 0, 1, 0]


REFUSED = [
    ("CoLA", [{"sentence": "s", "label": 2}], r"mine train, row 1: label 2: a label is one of unacceptable"),
    ("CoLA", [{"sentence": "s", "label": "good"}], r"row 1: label 'good'"),
    ("CoLA", [{"sentense": "s", "label": 1}], r"no column 'sentence'. Did you mean 'sentense'"),
    ("CoLA", [{"sentence": "s", "label": -1}], r"holds no labelled example \(1 without a label\)"),
    ("CoLA", [{"sentence": 3, "label": 1}], r"row 1: 3: a sentence must be text"),
    ("STS-B", [{"sentence1": "a", "sentence2": "b", "label": 5.5}], r"row 1: gold score 5.5: .* 0 to 5"),
    ("STS-B", [{"sentence1": "a", "sentence2": "b", "label": None}], r"row 1: gold score None"),
]


@cases(("name", "rows", "said"), REFUSED)
def test_malformed_rows_are_refused_by_number(tmp_path, name, rows, said):
    _lines(tmp_path, rows)
    with pytest.raises(InputError, match=said):
        read_glue(name, "train", tmp_path, "mine")


@cases(
    ("task", "split", "said"),
    [
        ("SST2", "train", r"no such GLUE task 'SST2'. Did you mean 'SST-2'"),
        ("MNLI", "validation", r"no such split of GLUE MNLI 'validation'. Did you mean 'validation_m"),
        ("RTE", "test", r"no such split of GLUE RTE 'test'"),
        ("RTE", "train", r"dataset nyu-mll/glue: cannot be loaded"),
    ],
)
def test_unknown_names_and_no_network(tmp_path, task, split, said):
    with pytest.raises(InputError, match=said):
        read_glue(task, split, tmp_path)
