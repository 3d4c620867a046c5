from pathlib import Path

from rse_study.data import cache_dir, data_dir


def test_two_environment_variables_say_where_things_lie(monkeypatch):
    monkeypatch.setenv("RSE_STUDY_CACHE", "/some/cache")
    monkeypatch.delenv("RSE_STUDY_DATA", raising=False)
    assert (cache_dir(), data_dir()) == (Path("/some/cache"), Path("/some/cache/data"))
    monkeypatch.setenv("RSE_STUDY_DATA", "/some/data")
    assert data_dir() == Path("/some/data")
    monkeypatch.delenv("RSE_STUDY_CACHE")
    assert cache_dir() == Path.home() / ".cache" / "rse_study"
