import gzip
import io
import json
import tarfile

import pytest
from datasets import Dataset as HubTable

from rse_study.data import SUBSETS
from rse_study.data.catalogue import FETCHED, catalogue, list_sets, verify
from rse_study.data.fetch import fetch
from rse_study.data.readers import SICK_FILES, read_sts
from rse_study.errors import InputError
from tests.cases import cases

SIMCSE = "princeton-nlp/datasets-for-simcse"


def test_the_catalogue_knows_what_the_readers_read_and_every_home_fills_files_of_its_set():
    files = [file.path for name in catalogue() for file in catalogue().get(name).files]
    assert len(files) == len(set(files))
    for name in catalogue():
        entry = catalogue().get(name)
        assert entry.what
        assert entry.licence
        assert entry.source
        for home in entry.homes:
            filled = getattr(home, "members", None) or getattr(home, "splits", None) or home.folders
            for path in filled.values():
                assert any(file.path == path or file.path.startswith(f"{path}/") for file in entry.files)
    files = {file.path for name in catalogue() for file in catalogue().get(name).files}
    for task, subsets in SUBSETS.items():
        for subset in subsets:
            assert f"sts/{task}/orig/STS.gs.{subset}.txt" in files
            assert f"sts/{task}/senteval/STS.input.{subset}.txt" in files
    assert {f"sts/SICK/SICK_{part}.txt" for part in SICK_FILES["all"]} <= files


def test_the_data_here_are_the_data_measured(data_dir):
    found = verify(["STS12", "STS12-orig", "STS-B", "SICK-R", "wiki1m-head", "wordnet"], data_dir)
    assert {(row.path, row.status) for row in found if row.status != "ok"} == set()


@pytest.fixture
def mirror(tmp_path, no_hub):
    """Repositories in the hub's layout: an archive, a plain file and a table, with made-up content."""
    simcse = tmp_path / "mirror" / SIMCSE
    simcse.mkdir(parents=True)
    (simcse / "wiki1m_for_simcse.txt").write_text("one\ntwo\n")
    with tarfile.open(simcse / "senteval.tar", "w") as archive:
        for subset in SUBSETS["STS13"]:
            _add(archive, f"STS/STS13-en-test/STS.input.{subset}.txt", f"{subset} a\tb\nc\td\n")
            _add(archive, f"STS/STS13-en-test/STS.gs.{subset}.txt", "3.5\n0\n")
        for split in ("train", "dev", "test"):
            _add(archive, f"STS/STSBenchmark/sts-{split}.csv", f"g\tf\ty\t0\t4.2\t{split}\tx\n")
    table = tmp_path / "mirror" / "mteb" / "stsbenchmark-sts" / "data"
    table.mkdir(parents=True)
    for split in ("train", "validation", "test"):
        _table(split).to_parquet(str(table / f"{split}-00000-of-00001.parquet"))
    return tmp_path / "mirror"


def _add(archive, name, text):
    info = tarfile.TarInfo(f"./{name}")
    info.size = len(text)
    archive.addfile(info, io.BytesIO(text.encode()))


def _table(split):
    texts = dict(genre="g", dataset="f", year="y", sid="7", sentence1=f"{split}\tone", sentence2='two "')
    return HubTable.from_dict({**{name: [text] for name, text in texts.items()}, "score": [4.25]})


def test_sets_are_fetched_into_the_layout_the_readers_expect(mirror, tmp_path):
    folder = tmp_path / "data"
    rows = fetch("STS13", folder, mirror)
    assert [(row.rows, row.was_here) for row in rows] == [(2, False)] * 6
    assert str(rows[0]) == f"{rows[0].path}: 2 lines from {SIMCSE}"
    pairs = read_sts("STS13", "test", folder, ("senteval",))
    assert pairs.first == ["FNWN a", "c", "headlines a", "c", "OnWN a", "c"]
    fetch("STS-B", folder, mirror)
    assert read_sts("STS-B", "dev", folder).first == ["validation one"]
    assert read_sts("STS-B", "dev", folder).second == ['two "']
    assert read_sts("STS-B", "test", folder, ("senteval",)).first == ["test"]
    fetch("wiki1m", folder, mirror)
    written = (folder / "wiki" / "wiki1m" / "wiki1m_for_simcse.txt.gz").read_bytes()
    assert gzip.decompress(written) == b"one\ntwo\n"


def test_what_was_fetched_is_verified_against_its_record_and_counted(mirror, tmp_path):
    folder = tmp_path / "data"
    fetch("STS-B", folder, mirror)
    assert {row.status for row in verify(["STS-B"], folder)} == {"fetched"}
    record = json.loads((folder / FETCHED).read_text())["sts/STSBenchmark/orig/sts-dev.csv"]
    assert record["repository"].startswith("mteb")
    (folder / "sts/STSBenchmark/orig/sts-dev.csv.gz").write_bytes(gzip.compress(b"other\n"))
    (folder / "sts/STSBenchmark/orig/sts-test.csv.gz").write_bytes(b"broken")
    statuses = {row.path.split("STSBenchmark/")[1]: row.status for row in verify(["STS-B"], folder)}
    assert statuses["orig/sts-dev.csv"] == statuses["orig/sts-test.csv"] == "different"
    assert statuses["orig/sts-train.csv"] == "fetched"
    folder = tmp_path / "data"
    fetch("STS13", folder, mirror)
    listed = {row.name: row for row in list_sets(folder)}
    assert (listed["STS13"].num_files, listed["STS13"].num_present, listed["STS13"].can_fetch) == (6, 6, True)
    assert (listed["wikitext2"].num_present, listed["wikitext2"].can_fetch) == (0, False)


def test_files_that_are_here_are_left_alone(mirror, tmp_path):
    folder = tmp_path / "data"
    (folder / "wiki" / "wiki1m").mkdir(parents=True)
    (folder / "wiki" / "wiki1m" / "wiki1m_for_simcse.txt").write_text("mine\n")
    rows = fetch("wiki1m", folder, mirror)
    assert [str(row) for row in rows] == ["wiki/wiki1m/wiki1m_for_simcse.txt: here already"]
    assert (folder / "wiki" / "wiki1m" / "wiki1m_for_simcse.txt").read_text() == "mine\n"
    assert [row.status for row in verify(["wiki1m"], folder)] == ["unmeasured"]


@cases(
    ("name", "below", "given", "said"),
    [
        (
            "wikitext2",
            "",
            "",
            r"wikitext2: has no known home. Put wiki/wikitext2/sentences.txt into .*data verify",
        ),
        ("STS-C", "", "", r"no such data set 'STS-C'. Did you mean 'STS-B'"),
        ("SUBJ", "", "mirror", r"senteval.tar: holds no SUBJ/subj.subjective"),
        ("wiki1m", "", "", r"wiki1m_for_simcse.txt: cannot be fetched .*Check the connection"),
        ("wiki1m", "file", "mirror", r"cannot be written .*Set RSE_STUDY_DATA to a folder of yours"),
        ("wiki1m", "", "empty", r"holds no wiki1m_for_simcse.txt"),
    ],
)
def test_what_cannot_be_fetched_says_why(mirror, tmp_path, name, below, given, said):
    (tmp_path / "file").write_text("")
    if given == "empty":
        (mirror / SIMCSE / "wiki1m_for_simcse.txt").unlink()
    with pytest.raises(InputError, match=said):
        fetch(name, tmp_path / (below or "data"), *([mirror] if given else []))


@cases("damage", [b"no archive" * 100, tarfile.TarInfo("./STS/x").tobuf(), None])
def test_a_damaged_archive_of_data_is_refused(mirror, tmp_path, damage):
    archive = mirror / SIMCSE / "senteval.tar"
    if damage is None:  # a header that asks for 4 GB of memory
        member = tarfile.TarInfo("./STS/x")
        member.type, member.size = tarfile.XHDTYPE, 4 * 10**9
        damage = member.tobuf() + bytes(1024)
    before = archive.read_bytes()
    archive.write_bytes(damage)
    with pytest.raises(InputError, match=f"{SIMCSE}: is damaged: .*by hand"):
        fetch("STS13", tmp_path / "data", mirror)
    archive.write_bytes(before)
