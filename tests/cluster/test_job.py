"""A study becomes a job: self-contained, with a name that follows from its question."""

from rse_study.cli.arguments import study_file
from rse_study.cluster.job import RenderedFile, Submission, job_of
from rse_study.cluster.submit import write_submission
from rse_study.cluster.yaml_text import yaml_text
from rse_study.study.checking.validation import read_study
from rse_study.study.definition.content import read_content
from rse_study.study.definition.shipped import shipped_studies
from rse_study.yaml12 import parse_yaml
from tests.cases import cases
from tests.cluster.samples import WHEEL, shipped


def job(*overrides, cluster="local", limits=()):
    path = study_file("joint")
    checked = read_study(path, overrides)
    return job_of(checked, read_content(path, overrides), shipped(cluster), WHEEL, limits)


@cases("path", shipped_studies(), ids=lambda path: path.stem)
def test_the_studys_text_reads_back_as_the_resolved_study(path):
    content = read_content(path)
    assert parse_yaml(yaml_text(content), where="") == content


def test_the_studys_text_needs_no_other_file(tmp_path):
    path = study_file("mini_robust")
    checked = read_study(path)
    written = job_of(checked, read_content(path), shipped("local"), WHEEL)
    (tmp_path / "study.yaml").write_text(written.study_yaml, encoding="utf-8")
    assert "extends" in path.read_text(encoding="utf-8")
    assert read_study(tmp_path / "study.yaml").study == checked.study


def test_words_that_yaml_may_misread_stay_words():
    content = {"a": "off", "b": "1e-5", "c": 1e-5, "d": "1/128", "e": "two\nlines\n", "f": None}
    assert parse_yaml(yaml_text(content), where="") == content


def test_the_same_question_has_the_same_name_and_another_another():
    name = job().submission_id
    assert name == job().submission_id
    assert name == job("resources.max_concurrent=1", "allowance.price_per_hour=2").submission_id
    for override in ("confirm.seeds=[3]", "num_trials=6", "base.batch_size=16", "search_seed=1"):
        assert job(override).submission_id != name, override


def test_the_storage_of_the_cluster_is_in_the_studys_file_and_limits_are_handed_on():
    assert "storage: s3://my-bucket/rse-study\n" in job(cluster="kuberay").study_yaml
    assert "storage" not in job(cluster="local").study_yaml
    assert "s3://" not in " ".join(job(cluster="kuberay").options)
    assert job(limits=("--max-hours", "3")).options[-2:] == ("--max-hours", "3")


def test_the_jobs_folder_has_study_and_code(tmp_path):
    submission = Submission(job(), (RenderedFile("job.sbatch", "#!/bin/bash\n"),), tmp_path / "job")
    written = write_submission(submission)
    assert [path.name for path in written] == ["job.sbatch", "study.yaml", WHEEL.name]
    assert (tmp_path / "job" / WHEEL.name).read_bytes() == WHEEL.content


def test_the_clusters_price_is_in_the_studys_file_unless_the_study_has_its_own():
    for own, price in (((), 0.115625), (("allowance.price_per_hour=3",), 3)):  # (8 * 0.45 + 0.1) / 32
        content = parse_yaml(job(*own, cluster="aws-gpu").study_yaml, where="")
        assert content["allowance"] == {"price_per_hour": price}
