"""A study becomes a job: self-contained, with a name that follows from its question."""

from rse_study.cli.arguments.paths import study_file
from rse_study.cluster.job import job_of, yaml_text
from rse_study.cluster.node_capacity import device_hour_price
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.content import read_content
from rse_study.study.definition.resources import Resources
from rse_study.study.definition.shipped import shipped_studies
from rse_study.yaml12 import parse_yaml
from tests.cases import cases
from tests.cluster.samples import WHEEL, shipped


def job(*overrides, cluster="local", study="joint"):
    path = study_file(study)
    return job_of(read_study(path, overrides), read_content(path, overrides), shipped(cluster), WHEEL)


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
