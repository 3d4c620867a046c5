"""Outputs of a generator on disk: the same tokens, computed where they are not whole."""

import os

import numpy as np
import pytest
import torch

from rse_study.models import generators
from rse_study.models.generators import BLOCK, GeneratorOutputs

IDS = torch.arange(12).view(3, 4)


def edited_at(step):
    """Replaces `step` modulo 4 tokens."""
    edited = IDS.clone()
    edited.view(-1)[: step % 4] = 100 + step
    return edited


def ask(outputs, steps):
    """What it gives at each step, and the steps it had computed."""
    computed, found = [], []
    for step in steps:
        found.append(outputs.edited(IDS, step, lambda step=step: computed.append(step) or edited_at(step)))
    return found, computed


def hold_steps(found, steps):
    assert all(torch.equal(one, edited_at(step)) for one, step in zip(found, steps, strict=True))


STEPS = range(BLOCK - 3, 2 * BLOCK + 2)


def test_the_second_one_computes_nothing(tmp_path):
    first, second = GeneratorOutputs(tmp_path / "key"), GeneratorOutputs(tmp_path / "key")
    found, computed = ask(first, STEPS)
    hold_steps(found, STEPS)
    assert computed == list(STEPS)
    first.flush()
    again, none = ask(second, STEPS)
    hold_steps(again, STEPS)
    assert none == []
    assert [path.name for path in sorted((tmp_path / "key").iterdir())] == ["000000", "000001", "000002"]


def test_two_at_a_time_keep_what_either_wrote(tmp_path):
    one, other = GeneratorOutputs(tmp_path), GeneratorOutputs(tmp_path)
    ask(one, range(30)), ask(other, range(10))
    one.flush(), other.flush()  # the shorter one last
    assert ask(GeneratorOutputs(tmp_path), range(30))[1] == []


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "a folder"])
def test_a_damaged_file_is_computed_again_and_written_anew(tmp_path, damage):
    outputs = GeneratorOutputs(tmp_path)
    ask(outputs, range(8))
    outputs.flush()
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    if damage == "a folder":
        path.unlink()
        path.mkdir()
    else:
        flipped = content[:40] + bytes([content[40] ^ 1]) + content[41:]
        path.write_bytes({"cut": content[:-4], "flipped": flipped, "empty": b""}[damage])
    again = GeneratorOutputs(tmp_path)
    found, computed = ask(again, range(8))
    hold_steps(found, range(8))
    assert computed == list(range(8))
    again.flush()
    if damage != "a folder":
        assert path.read_bytes() == content


def test_the_folders_used_longest_ago_make_room(tmp_path):
    for age, name in enumerate(["new", "older", "oldest", "mine"]):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "000000").write_bytes(np.zeros(100, np.uint8).tobytes())
        os.utime(folder, (1000 - age, 1000 - age))
    generators.make_room(tmp_path, tmp_path / "mine", 400)
    assert len(list(tmp_path.iterdir())) == 4
    generators.make_room(tmp_path, tmp_path / "mine", 299)
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "new"}
    generators.make_room(tmp_path, tmp_path / "another", 0)
    assert {path.name for path in tmp_path.iterdir()} == {"another"}
