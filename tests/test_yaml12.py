"""YAML 1.2: numbers, words and duplicate keys."""

import os
import time

import pytest

from rse_study.errors import InputError
from rse_study.yaml12 import parse_yaml, read_yaml
from tests.cases import cases


@cases(
    ("text", "value"),
    [
        ("1e-5", 1e-5), ("1E5", 1e5), ("1.5e-3", 1.5e-3), (".5", 0.5), ("0.05", 0.05), ("12", 12), ("-3", -3),
        ("off", "off"), ("on", "on"), ("no", "no"), ("yes", "yes"), ("true", True), ("null", None),
        ("1/128", "1/128"), ("12:30", "12:30"), ("010", 10), ("[1e-5, off]", [1e-5, "off"]), ("'1e-5'", "1e-5"),
        ("2026-11-01", "2026-11-01"), ("2026-99-99", "2026-99-99"), ("2026-11-01T25:00:00", "2026-11-01T25:00:00"),
    ],
)  # fmt: skip
def test_values(text, value):
    found = parse_yaml(f"key: {text}", where="x")["key"]
    assert found == value
    assert type(found) is type(value)


@cases(
    ("text", "where", "what"),
    [
        ("a: 1\nb: 2\na: 3\n", "study.yaml:3", "duplicate key"),
        ("a: [1, 2\nb: 3\n", "study.yaml:2", "expected"),
        ("a: 1\n b: 2\n", "study.yaml:2", "mapping values"),
        ("- 1\n- 2\n", "study.yaml", "no mapping"),
        ("", "study.yaml", "no mapping"),
        ("a: !!python/object:os.system x\n", "study.yaml:1", "constructor"),
        ("a: 1\nb: !!int abc\n", "study.yaml:2", "no valid int"),
        ("a: !!float abc\n", "study.yaml:1", "no valid float"),
        ("a: [!!bool maybe]\n", "study.yaml:1", "no valid bool"),
        ("a: " + 5_000 * "9", "study.yaml:1", "no valid int"),
        ("a: 9223372036854775808", "study.yaml", "too large an integer"),
        ("a: !!set {b}", "study.yaml", "a set"),
        ("? [[a]]\n: x\n", "study.yaml", "a key must be a text"),
        ('a: "\\UFFFFFFFF"', "study.yaml", "no valid character"),
        ('a: "\\ud800"', "study.yaml", "the character '\\ud800'"),
        ('grid: {rows: {"\\e[2J": {}}}', "study.yaml", "the character '\\x1b'"),
        ("a: &a [*a]", "study.yaml", "too many values, or nested too deeply"),
        ("- " * 60, "study.yaml", "too many values, or nested too deeply"),
        ("{a: " * 3_000, "study.yaml:1", "nested too deeply"),
    ],
)
def test_what_is_wrong_and_where(text, where, what):
    with pytest.raises(InputError) as caught:
        parse_yaml(text, where="study.yaml")
    assert caught.value.where == where
    assert what in caught.value.what
    assert caught.value.rule
    assert caught.value.remedy


@cases(
    ("first", "further", "said"),
    [
        ("a0: &a0 [x]\n", "a{next}: &a{next} [*a{last}, *a{last}]\n", "too many values"),
        ("a0: &a0 {x: 1}\n", "a{next}: &a{next} {{<<: [*a{last}, *a{last}]}}\n", "too many merged keys"),
    ],
)
def test_a_few_lines_that_stand_for_a_billion_values_are_refused_at_once(first, further, said):
    text = first + "".join(further.format(last=number, next=number + 1) for number in range(29))
    started = time.process_time()
    with pytest.raises(InputError, match=said):
        parse_yaml(text, where="x")
    assert time.process_time() - started < 5


def test_a_text_that_an_alias_repeats_counts_with_its_length():
    with pytest.raises(InputError, match="too many values"):
        parse_yaml(f"a: &a {'x' * 10_000}\nb: [{'*a, ' * 5_000}]\n", where="x")


def test_who_changes_what_was_read_changes_it_for_no_other_reader_or_alias():
    """A text is parsed once."""
    read = parse_yaml("a: &a {b: 1}\nc: *a\n", where="x")
    read["a"]["b"] = 2
    assert read["c"] == {"b": 1}
    assert parse_yaml("a: &a {b: 1}\nc: *a\n", where="x") == {"a": {"b": 1}, "c": {"b": 1}}


def test_a_pipe_a_device_and_a_file_without_an_end_are_refused_unread(tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    large = tmp_path / "large.yaml"
    large.write_text("#" * 300_000)
    for path in (tmp_path / "pipe.yaml", "/dev/urandom", large):
        with pytest.raises(InputError, match="a file of at most 256 KiB") as caught:
            read_yaml(tmp_path / path)
        assert caught.value.remedy


def test_files(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text("sätze: 1e-3\n", encoding="utf-8")
    assert read_yaml(path) == {"sätze": 1e-3}
    path.write_bytes("sätze: 1".encode("latin-1"))
    with pytest.raises(InputError, match="byte 1 is not UTF-8"):
        read_yaml(path)
    for missing in (tmp_path / "other.yaml", tmp_path, path / "other.yaml"):
        with pytest.raises(InputError, match="no such file"):
            read_yaml(missing)
    with pytest.raises(InputError, match="cannot be read") as caught:
        read_yaml(tmp_path / ("x" * 300))
    assert caught.value.remedy
