"""A study becomes a job: self-contained, named by its question, with the files that lie beside it."""

import pytest

from rse_study.cli.arguments.paths import study_file
from rse_study.cluster import check, submit
from rse_study.cluster.check import files_of_study, problems_of
from rse_study.cluster.job import yaml_text
from rse_study.cluster.node_capacity import device_hour_price
from rse_study.cluster.submit import read_job
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.content import read_content
from rse_study.study.definition.resources import Resources
from rse_study.study.definition.shipped import shipped_studies
from rse_study.yaml12 import parse_yaml
from tests.cases import cases
from tests.cluster.samples import WHEEL, shipped
from tests.tiny_models import save_bert, word_tokenizer


@pytest.fixture(autouse=True)
def wheel(monkeypatch):
    """A small one: to pack the real one takes a second."""
    monkeypatch.setattr(submit, "wheel_of_this_version", lambda: WHEEL)


def job(*overrides, cluster="local", study="joint"):
    return read_job(shipped(cluster), study_file(study), overrides)


MISREAD = {"a": "off", "b": "1e-5", "c": 1e-5, "d": "1/128", "e": "two\nlines\n", "f": None}


@cases("content", [MISREAD, *map(read_content, shipped_studies())], ids=lambda content: str(content)[:60])
def test_the_studys_text_reads_back_as_the_resolved_study(content):
    assert parse_yaml(yaml_text(content), where="") == content


def test_the_studys_text_needs_no_other_file(tmp_path):
    path = study_file("mini_robust")
    (tmp_path / "study.yaml").write_text(job(study="mini_robust").study_yaml, encoding="utf-8")
    assert "extends" in path.read_text(encoding="utf-8")
    assert read_study(tmp_path / "study.yaml").study == read_study(path).study


def test_the_same_question_has_the_same_name_and_another_another():
    name = job().submission_id
    assert name == job("resources.max_concurrent=1", "allowance.price_per_hour=2").submission_id
    for override in ("confirm.seeds=[3]", "num_trials=6", "base.batch_size=16", "search_seed=1"):
        assert job(override).submission_id != name, override


def test_storage_and_price_of_the_cluster_are_in_the_studys_file_unless_it_has_its_own():
    there, price = job(cluster="aws-gpu"), device_hour_price(shipped("aws-gpu"), Resources())
    content = parse_yaml(there.study_yaml, where="")
    assert content["storage"] == "s3://my-bucket/rse-study?region=us-east-1"
    assert "s3://" not in " ".join(there.options)
    assert content["allowance"] == {"price_per_hour": price} == {"price_per_hour": 0.115625}
    own = job("allowance.price_per_hour=3", cluster="aws-gpu")
    assert parse_yaml(own.study_yaml, where="")["allowance"] == {"price_per_hour": 3}
    assert "storage" not in job().study_yaml


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
BESIDE = {
    "ENCODER": "models/bert",
    "CORPUS": "[one.txt, sub/two.txt]",
    "DEV": "dev.tsv",
    "CLASS": "sampler_beside:Mine",
}
ELSEWHERE = {
    "ENCODER": "bert-base-uncased",
    "CORPUS": "[/shared/one.txt, nli/of_the_data_folder.txt]",
    "DEV": "STS-B",
    "CLASS": "optuna.samplers:RandomSampler",
}
SAMPLER = "import of_the_sampler, optuna\nclass Mine(optuna.samplers.RandomSampler): pass\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("beside")
    (root / "sub").mkdir()
    for name in ("one.txt", "two.txt", "dev.tsv"):
        (root / name).write_text("a\tb\t1\n")
    (root / "sub" / "two.txt").symlink_to("../two.txt")
    (root / "of_the_sampler.py").write_text("SEED = 1\n")
    (root / "sampler_beside.py").write_text(SAMPLER)
    save_bert(root / "models" / "bert", word_tokenizer(["a", "b"]))
    return root


def checked_in(folder, words, cluster="slurm"):
    """A study with these words in its file, and what a cluster cannot give it."""
    text = STUDY
    for name, value in words.items():
        text = text.replace(name, value)
    (folder / "study.yaml").write_text(text)
    checked = read_study(folder / "study.yaml")
    return checked, [str(one) for one in problems_of(shipped(cluster), checked, where="c")]


def test_what_lies_beside_the_study_is_in_the_jobs_folder_where_its_file_finds_it(folder, tmp_path):
    checked, problems = checked_in(folder, BESIDE)
    models = {f"models/bert/{one.name}" for one in (folder / "models" / "bert").iterdir()}
    others = {"one.txt", "sub/two.txt", "dev.tsv", "sampler_beside.py", "of_the_sampler.py"}
    assert (problems, set(files_of_study(checked))) == ([], models | others)
    job = read_job(shipped("slurm"), folder / "study.yaml", ())
    job.copy_files(tmp_path)
    (tmp_path / "study.yaml").write_text(job.study_yaml)
    again = files_of_study(read_study(tmp_path / "study.yaml"))
    assert again == {name: tmp_path / name for name in job.files}


def test_names_of_the_hub_and_of_the_data_folder_and_shared_paths_need_no_file(folder):
    checked, problems = checked_in(folder, ELSEWHERE)
    assert (problems, files_of_study(checked)) == ([], {})


@cases(
    ("name", "given", "said"),
    [
        ("ENCODER", "{folder}/models/bert", "nodes of slurm do not see it"),
        ("CORPUS", "../outside.txt", "lies outside the study's folder"),
        ("DEV", "working.tsv", "lies outside the study's folder"),
    ],
)
def test_what_no_node_sees_is_refused_by_name(folder, name, given, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "working.tsv").write_text("a\tb\t1\n")
    (folder.parent / "outside.txt").write_text("a\n")
    _, (problem,) = checked_in(folder, ELSEWHERE | {name: given.format(folder=folder)})
    assert said in problem and "Copy it beside the study" in problem


def test_files_that_are_too_large_to_be_sent_are_refused_with_their_size(folder, monkeypatch):
    monkeypatch.setitem(check.MOST_BYTES, "launcher", (1, "Ray packs them"))
    _, (problem,) = checked_in(folder, BESIDE, "aws-gpu")
    assert "the files beside the study have " in problem and "MiB: Ray packs them. Put large" in problem
