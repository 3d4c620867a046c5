"""`cluster init`: a shipped cluster's two files, copied under a new name and ready to be changed."""

import pytest

from rse_study.cluster.reading import read_cluster, shipped_clusters


@pytest.mark.parametrize("shipped", shipped_clusters())
def test_the_copy_is_a_valid_cluster_of_its_own_name(rse, tmp_path, shipped):
    ended = rse("cluster", "init", shipped, "mysite")
    assert (ended.code, ended.err, ended.next) == (0, "", "rse-study cluster validate mysite STUDY")
    spec = read_cluster("mysite")
    assert spec.name == "mysite"
    assert {one.name for one in tmp_path.iterdir()} == {"mysite.yaml", spec.template}
    assert rse("cluster", "validate", "mysite").out.startswith("mysite: valid. ")


def test_the_placeholders_to_replace_are_named(rse):
    out = rse("cluster", "init", "slurm", "mysite").out
    assert out.splitlines()[:2] == [
        "mysite.yaml: nodes, prices, places. mysite.sbatch: everything else",
        "replace in them: /shared/rse-study",
    ]


@pytest.mark.parametrize("file", ["mysite.yaml", "mysite.sbatch"])
def test_nothing_is_overwritten(rse, tmp_path, file):
    (tmp_path / file).write_text("mine", encoding="utf-8")
    ended = rse("cluster", "init", "slurm", "mysite")
    assert (ended.code, ended.err) == (
        2,
        f"{file}: already exists: nothing is overwritten. Choose another name, or remove it\n",
    )
    assert [one.name for one in tmp_path.iterdir()] == [file]


def test_a_name_that_is_not_shipped_or_no_name_is_refused(rse):
    assert "Did you mean 'slurm'?" in rse("cluster", "init", "slrm", "mysite").err
    assert "name = '../x': must match" in rse("cluster", "init", "slurm", "../x").err
