"""A job has neither the study's folder nor the working folder: their files are refused before."""

import pytest

from rse_study.cluster.checking.check import check_study_on
from rse_study.study.checking.validation import read_study
from tests.cases import cases
from tests.cluster.samples import shipped
from tests.tiny_models import save_bert, word_tokenizer

STUDY = """
name: mine
question: Does it run there?
base:
  encoder: {name: ENCODER}
  corpus: {source: CORPUS}
  selection: {dev: DEV}
search: {rho: {float: [0, 1]}}
sampler: {class: "CLASS"}
"""
HERE = [
    ("ENCODER", "bert", ["base.encoder.name = 'bert'"]),
    (
        "CORPUS",
        "[one.txt, sub/two.txt]",
        ["base.corpus.source = 'one.txt'", "base.corpus.source = 'sub/two.txt'"],
    ),
    ("DEV", "dev.tsv", ["base.selection.dev = 'dev.tsv'"]),
    ("CLASS", "sampler_beside:Mine", ["sampler.class = 'sampler_beside:Mine'"]),
]
ELSEWHERE = {
    "ENCODER": "bert-base-uncased",
    "CORPUS": "[/shared/one.txt, nli/of_the_data_folder.txt]",
    "DEV": "STS-B",
    "CLASS": "optuna.samplers:RandomSampler",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("beside")
    (root / "sub").mkdir()
    for name in ("one.txt", "sub/two.txt", "dev.tsv"):
        (root / name).write_text("a\tb\t1\n")
    save_bert(root / "bert", word_tokenizer(["a", "b"]))
    (root / "sampler_beside.py").write_text(
        "import optuna\nclass Mine(optuna.samplers.RandomSampler): pass\n"
    )
    return root


def problems(folder, words):
    text = STUDY
    for name, value in words.items():
        text = text.replace(name, value)
    (folder / "study.yaml").write_text(text)
    found = [*check_study_on(shipped("slurm"), read_study(folder / "study.yaml"), where="slurm")]
    assert all("a job has neither" in problem.rule and problem.remedy for problem in found)
    return [problem.what for problem in found]


@cases(("name", "given", "said"), HERE)
def test_what_lies_beside_the_study_is_refused_by_name(folder, name, given, said):
    assert problems(folder, ELSEWHERE | {name: given}) == said


def test_absolute_paths_names_of_the_hub_and_of_the_data_folder_pass(folder):
    assert problems(folder, ELSEWHERE) == []
    assert problems(folder, ELSEWHERE | {"ENCODER": str(folder / "bert")}) == []
