import pytest

from rse_study.errors import InputError
from rse_study.study.reading import overlay, read_extended, read_spec
from rse_study.training.trial import Trial


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_lies_over_the_one_it_extends(tmp_path):
    write(tmp_path / "base.yaml", "a: {b: 1, c: 2}\nd: [1, 2]\n")
    path = write(tmp_path / "over.yaml", "extends: base.yaml\na: {c: 3}\nd: [4]\n")
    assert read_extended(path) == {"a": {"b": 1, "c": 3}, "d": [4]}


def test_an_axis_is_replaced_as_a_whole_and_null_takes_it_away():
    below = {"search": {"rho": {"float": [0, 1]}, "phi": {"float": [0, 0.3]}}}
    above = {"search": {"rho": {"choice": [0, 1]}, "phi": None}}
    assert overlay(below, above) == {"search": {"rho": {"choice": [0, 1]}}}


def test_a_circle_is_refused(tmp_path):
    write(tmp_path / "a.yaml", "extends: b.yaml\n")
    write(tmp_path / "b.yaml", "extends: a.yaml\n")
    with pytest.raises(InputError, match="in a circle"):
        read_extended(tmp_path / "a.yaml")


def test_a_missing_base_is_named_where_it_is_written(tmp_path):
    path = write(tmp_path / "a.yaml", "extends: nowhere.yaml\n")
    with pytest.raises(InputError, match=r"a\.yaml: extends = 'nowhere\.yaml': no such file"):
        read_extended(path)


def test_a_missing_base_is_not_blamed_on_another(tmp_path):
    write(tmp_path / "b.yaml", "extends: nowhere.yaml\n")
    path = write(tmp_path / "a.yaml", "extends: b.yaml\n")
    with pytest.raises(InputError, match=r"b\.yaml: extends"):
        read_extended(path)


def test_an_override_may_name_a_field_by_the_end_of_its_path(tmp_path):
    path = tmp_path / "trial.yaml"
    path.write_text("method: {lambda2: 0}\n")
    trial = read_spec(Trial, path, ["pgd.num_steps=3", "lr=1/1000", "method.temperature=0.1"])
    assert trial.method.blend.pgd.num_steps == 3
    assert trial.optimizer.lr == 1e-3
    assert trial.method.temperature == 0.1


def test_an_override_that_names_nothing_says_what_was_meant(tmp_path):
    path = tmp_path / "trial.yaml"
    path.write_text("method: {lambda2: 0}\n")
    with pytest.raises(InputError, match=r"-o: pgd.num_step: no such field of PGD. Did you mean 'num_steps'"):
        read_spec(Trial, path, ["pgd.num_step=3"])
