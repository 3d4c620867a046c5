"""`data list` and `data verify`."""


def test_data_sets_are_listed_with_licence(rse):
    ended = rse("data", "list")
    assert ended.code == 0
    assert "STS12: " in ended.out
    assert "0 of" in ended.out
    assert "    to be placed by hand: wiki/wiki1m_head/wiki1m_for_simcse.head.txt\n" in ended.out
    assert "by hand: wiki/wiki1m/" not in ended.out


def test_a_changed_file_is_found(rse, tmp_path):
    path = tmp_path / "data" / "sts" / "STS12" / "senteval" / "STS.gs.MSRpar.txt"
    path.parent.mkdir(parents=True)
    path.write_text("4.0\n")
    ended = rse("data", "verify", "STS12", "--data", str(tmp_path / "data"))
    assert ended.code == 2
    assert "different" in ended.out
