import gzip

import pandas as pd
import pytest
from datasets import Dataset as HubTable
from pydantic import ValidationError

from rse_study.data import text_files
from rse_study.data.corpus import Corpus, read_corpus
from rse_study.errors import InputError
from tests.cases import cases

GOOD = "one fine day\n\n  two fine days \r\none fine day\nthree\u0085fine days\n"


@pytest.fixture
def write(tmp_path):
    def write(name: str, content: str | bytes):
        raw = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        return tmp_path

    return write


@pytest.mark.parametrize(
    ("stored", "asked"), [("a.txt", "a.txt"), ("a.txt.gz", "a.txt.gz"), ("a.txt.gz", "a.txt")]
)
def test_blank_lines_and_duplicates_are_dropped_and_counted(write, stored, asked):
    read = read_corpus(Corpus(source=asked), write(stored, GOOD))
    assert read.sentences == ["one fine day", "two fine days", "three\u0085fine days"]
    assert (read.num_blank, read.num_duplicates) == (1, 1)
    assert str(read) == "3 sentences (1 duplicates and 1 blank lines dropped)"


def test_several_files_are_one_corpus_limit_cuts_it_and_a_line_may_be_long(write):
    write("a.txt", GOOD)
    folder = write("b.txt", "\ufefffour\none fine day\nfive")
    assert read_corpus(Corpus(source=["a.txt", "b.txt"]), folder).sentences[3:] == ["four", "five"]
    few = Corpus(source=[str(folder / "b.txt")], limit=2)
    assert read_corpus(few, folder / "elsewhere").sentences == ["four", "one fine day"]
    assert (
        len(read_corpus(Corpus(source="a.txt"), write("a.txt", "é" * 100_000 + "\r\nb")).sentences[0])
        == 100_000
    )


def test_sentences_are_drawn_from_all_of_a_corpus_by_a_seed_and_stay_in_order(write):
    lines = [f"sentence {i}" for i in range(200)]
    folder = write("a.txt", "\n".join([*lines, lines[0]]))
    drawn = [read_corpus(Corpus(source="a.txt", limit=50, draw=seed), folder).sentences for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    for one in drawn:
        assert len(set(one)) == 50 and one == sorted(one, key=lines.index) and one != lines[:50]
    assert read_corpus(Corpus(source="a.txt", limit=500, draw=0), folder).sentences == lines
    with pytest.raises(ValidationError, match="draw needs a limit"):
        Corpus(source="a.txt", draw=0)
    with pytest.raises(ValidationError, match="integer"):
        Corpus(source="a.txt", limit=50, draw=True)
    assert "draw" not in Corpus(source="a.txt", limit=50).identity()


def test_the_builtin_corpus_needs_nothing_and_the_fingerprint_follows_the_sentences(tmp_path, write):
    source = {"kind": "builtin", "num_sentences": 50}
    assert len(read_corpus(Corpus(source=source), tmp_path / "nowhere").sentences) == 50
    assert Corpus(source="builtin") == Corpus()
    write("a.txt", GOOD)
    folder = write("b.txt", GOOD + "\n\n")
    one, other = (read_corpus(Corpus(source=name), folder).fingerprint for name in ("a.txt", "b.txt"))
    assert one == other != read_corpus(Corpus(source="a.txt", limit=2), folder).fingerprint


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"bad.txt: holds 0 distinct sentence\(s\): a corpus needs at least 2.*Use a larger corpus"),
        ("\n \n\t\n", r"holds 0 distinct"),
        ("same\nsame\n", r"holds 1 distinct"),
        (b"fine\nna\xefve\n", r"bad.txt:2: byte 3 is not UTF-8: text files must be UTF-8. Convert the file"),
        ("a\nb\n" + "x" * 100_001 + "\n", r"bad.txt:3: the line is too long.*100,000 characters. Split it"),
        (
            "one\rtwo\rthree\r",
            r"bad.txt:1: a carriage return in the line: LF or CRLF ends a line. Convert it: tr",
        ),
        ("one\x0ctwo\u2028three\x85four", r"holds 1 distinct.*one sentence a line, LF or CRLF after each"),
        ("one\ntw\0o\n", r"bad.txt:2: a NUL character: text has none"),
        ("one\ntwo\n".encode("utf-16"), r"bad.txt:1: the file is UTF-16: .*iconv -f UTF-16 -t UTF-8"),
        (
            "one\ntwo\n".encode("utf-16-le"),
            r"bad.txt:1: a NUL character: .* UTF-16. Save it as text in UTF-8",
        ),
        (
            gzip.compress(b"one\ntwo\n"),
            r"bad.txt:1: byte 2 is not UTF-8.* of packed files, .gz alone is read",
        ),
    ],
    ids=[
        *("empty", "blank", "one-distinct", "not-utf8", "huge-line", "only-cr"),
        *("other-separators", "nul", "utf-16", "utf-16-without-bom", "packed"),
    ],
)
def test_bad_text_is_refused(write, content, message):
    with pytest.raises(InputError, match=message):
        read_corpus(Corpus(source="bad.txt"), write("bad.txt", content))


def test_missing_and_broken_files_are_refused_with_a_near_name(write):
    folder = write("wiki_sentences.txt", GOOD)
    whole = gzip.compress(b"hello\nworld\n" * 100)
    for name, content in (("a.gz", whole[:-12]), ("b.gz", b"no gzip at all")):
        (folder / name).write_bytes(content)
    (folder / "void").mkdir()
    for source, below, said in [
        ("wiki_sentence.txt", "", r"sentence.txt: no such file: .*\. Did you mean 'wiki_sentences.txt'"),
        ("deep/down/nowhere.txt", "", r"Known: .*wiki_sentences\.txt"),
        (".", "", "is a folder: a text file is expected"),
        ("x.txt", "void", r"void is empty\. Set RSE_STUDY_DATA"),
        ("x.txt", "nowhere", r"There is no .*nowhere. Set RSE_STUDY_DATA to your data folder"),
        ("a.gz", "", "broken gzip file"),
        ("b.gz", "", "broken gzip file"),
    ]:
        with pytest.raises(InputError, match=said):
            read_corpus(Corpus(source=source), folder / below)


TABLE = {"text": ["a b", "null", "NA", "None", "nan", "c, d", None, "1"], "number": range(8)}
WRITERS = {
    "csv": lambda table, path: table.to_csv(path, index=False),
    "tsv": lambda table, path: table.to_csv(path, index=False, sep="\t"),
    "jsonl": lambda table, path: table.to_json(path, orient="records", lines=True),
    "ndjson": lambda table, path: table.to_json(path, orient="records", lines=True),
    "json": lambda table, path: table.to_json(path, orient="records"),
    "parquet": lambda table, path: table.to_parquet(path),
    "arrow": lambda table, path: table.to_feather(path),
}


@cases(
    ("kind", "name"),
    [*((kind, f"test.{kind}") for kind in WRITERS), ("csv", "T.CSV"), ("jsonl", "t.jsonl.gz")],
)
def test_a_table_is_no_text_and_its_refusal_says_how_its_column_is_read(tmp_path, no_hub, kind, name):
    WRITERS[kind](pd.DataFrame(TABLE), tmp_path / name.removesuffix(".gz"))
    if name.endswith(".gz"):
        plain = tmp_path / name.removesuffix(".gz")
        (tmp_path / name).write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
    with pytest.raises(InputError) as caught:
        read_corpus(Corpus(source=name), tmp_path)
    verb = "Unpack" if name.endswith(".gz") else "Put"
    assert str(caught.value) == (
        f"{tmp_path / name}: .{kind} is no plain text: a corpus is one sentence a line, or a column of a dataset. "
        f"{verb} it into a folder of its own, as train.{kind}, and write {{dataset: FOLDER, column: NAME}}"
    )
    (tmp_path / "FOLDER").mkdir()
    WRITERS[kind](pd.DataFrame(TABLE), tmp_path / f"FOLDER/train.{kind}")
    read = read_corpus(Corpus(source={"dataset": "FOLDER", "column": "text"}), tmp_path)
    assert read.sentences == [text for text in TABLE["text"] if text]  # what pandas takes for missing is text
    assert read.num_blank == 1


@cases("content", [b"\n" * 10, b"same\n" * 10, b"".join(b"%d\n" % i for i in range(10))])
def test_a_file_is_read_up_to_so_many_lines_and_bytes(tmp_path, monkeypatch, content):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"one\ntwo\n" + content))
    for limit, most, unit in (("MAX_BYTES", 17, "bytes"), ("MAX_LINES", 11, "lines")):
        monkeypatch.setattr(text_files, limit, most)
        with pytest.raises(
            InputError, match=rf"a.txt.gz: holds more than .*\b{most} {unit}.*: blank and repeated"
        ):
            read_corpus(Corpus(source="a.txt"), tmp_path)
        monkeypatch.undo()
    monkeypatch.setattr(text_files, "MAX_LINES", 12)
    assert read_corpus(Corpus(source="a.txt", limit=2), tmp_path).sentences == ["one", "two"]


@cases("source", [{"kind": "texts"}, [], [""], {"dataset": "x", "colum": "y"}, 3])
def test_malformed_sources_are_refused(source):
    with pytest.raises(ValidationError):
        Corpus(source=source)


@pytest.fixture
def hub_folder(tmp_path, no_hub):
    """A data folder with a dataset in the hub's layout."""
    (tmp_path / "toy" / "data").mkdir(parents=True)
    table = HubTable.from_dict({"sentence": ["a b", None, "c d", "a b"], "label": [0, 1, 0, 1]})
    table.to_parquet(str(tmp_path / "toy" / "data" / "train-00000-of-00001.parquet"))
    for name, rows in (("shifted", "a,b\nc,d,e\nf,g,h\n"), ("ragged", "a,b\nc,d\ne,f,g\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.csv").write_text(rows, encoding="utf-8")
    return tmp_path


def test_a_folder_in_the_hubs_layout_is_read(hub_folder, tmp_path):
    corpus = Corpus(source={"dataset": "toy", "column": "sentence"})
    assert read_corpus(corpus, hub_folder).sentences == ["a b", "c d"]
    # Looked for like a file.
    (tmp_path / "study").mkdir()
    (hub_folder / "toy").rename(tmp_path / "study" / "toy")
    assert read_corpus(corpus, tmp_path / "data", tmp_path / "study").sentences == ["a b", "c d"]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"dataset": "toy"}, "dataset toy: no column 'text'. Known: label, sentence"),
        ({"dataset": "toy", "column": "sentense"}, "Did you mean 'sentence'"),
        ({"dataset": "toy", "column": "label"}, "must hold strings"),
        ({"dataset": "toy", "column": "sentence", "split": "dev"}, "cannot be .*dev.*Check split and config"),
        ({"dataset": "toy", "column": "sentence", "config": "large"}, "cannot be loaded.*large"),
        (
            {"dataset": "toy/data/train-00000-of-00001.parquet"},
            "is a file: .* as train.parquet, and give that folder",
        ),
        (
            {"dataset": "shifted", "column": "b"},
            "shifted: rows have more cells than the header: a text with a",
        ),
        (
            {"dataset": "ragged", "column": "b"},
            "cannot be loaded .*Expected 2 fields in line 3, saw 3.*tables of",
        ),
        ({"dataset": "nobody/nothing"}, "nobody/nothing: cannot be loaded.*Check name and connection"),
    ],
)
def test_bad_datasets_are_refused(hub_folder, source, message):
    with pytest.raises(InputError, match=message):
        read_corpus(Corpus(source=source), hub_folder)


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """The three folders in which a corpus may lie; we work in the second one."""
    found = [tmp_path / name for name in ("study", "working", "data")]
    for folder in found:
        folder.mkdir()
    monkeypatch.chdir(found[1])
    return found


@pytest.mark.parametrize("path", ["own.txt", "deep/own.txt", "./own.txt"])
def test_a_relative_path_leads_beside_the_file_that_names_it_then_here_then_into_the_data(folders, path):
    study, _, data = folders
    for folder in reversed(folders):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(f"one in {folder.name}\ntwo\n", encoding="utf-8")
        assert read_corpus(Corpus(source=path), data, study).sentences[0] == f"one in {folder.name}"


def test_a_missing_corpus_names_the_places_that_were_tried(folders):
    study, here, data = folders
    (here / "owns.txt").write_text("one\ntwo\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_corpus(Corpus(source="own.txt"), data, study)
    assert str(caught.value) == (
        f"own.txt: no such file: looked for in {study}, {here} and {data}. Did you mean 'owns.txt'? (in {here})"
    )
