import pytest

from tests.cases import cases


def test_every_case_that_fails_is_named(tmp_path):
    @cases("path", [None])
    @cases(("number", "limit"), [(1, 0), (3, 2), (0, 6)], ids=["one", "three", "none"])
    def holds(tmp_path, path, number, limit):
        assert path is None and not any(tmp_path.iterdir())
        (tmp_path / "left").touch()
        with pytest.raises(ZeroDivisionError):
            assert number / limit < 1

    with pytest.raises(BaseExceptionGroup, match="1 of 1 cases") as caught:
        holds(tmp_path=tmp_path)
    (group,) = caught.value.exceptions
    expected = [("AssertionError", ["Case: three"]), ("Failed", ["Case: none"])]
    assert [(type(error).__name__, error.__notes__) for error in group.exceptions] == expected
