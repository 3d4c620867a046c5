import json

import pytest

from rse_study.data.typos import KEYBOARD, LOOKALIKES, lookalikes, neighbouring_keys
from rse_study.errors import InputError, MissingFile
from tests.cases import cases


def write(folder, below, content):
    path = folder / below
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def test_the_tables_here_know_every_letter(data_dir):
    keys, alike = neighbouring_keys(data_dir), lookalikes(data_dir)
    assert set(keys) == set("abcdefghijklmnopqrstuvwxyz")
    assert set(keys["a"]) == set("qwszx")
    assert all(len(c) == 1 and c.isalnum() for near in keys.values() for c in near)
    assert "\u0430" in alike["a"]  # Cyrillic
    assert all(len(c) == 1 and not c.isascii() for found in alike.values() for c in found)
    assert {key.isalpha() for key in alike} == {True}


def test_single_strings_blanks_and_shifted_keys_and_a_missing_table(tmp_path):
    table = {"u": ["7", "&", " t", "i"], "%": "$", "m": "n", "x": ["#"]}
    assert neighbouring_keys(write(tmp_path, KEYBOARD, table)) == {"u": ("7", "t", "i"), "m": ("n",)}
    with pytest.raises(MissingFile, match=rf"the layout is {LOOKALIKES}"):
        lookalikes(tmp_path)


@cases(
    ("content", "message"),
    [
        ("{", r"keyboard_en.json: is no JSON .*one JSON object: a character and a list.*Fetch it again"),
        ("[1]", "holds a list"),
        ({"ab": ["c"]}, "'ab'"),
        ({"a": ["bc"]}, r"'a': \['bc'\]"),
        ({"a": 3}, "'a': 3"),
        ({"a": [3]}, "'a'"),
    ],
)
def test_malformed_tables_are_refused(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        neighbouring_keys(write(tmp_path, KEYBOARD, content))
