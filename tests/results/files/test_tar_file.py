"""Archives of every format are read as tarfile reads them; damage is an error, and headers take no memory."""

import gzip
import io
import lzma
import tarfile
from io import BufferedReader, BytesIO
from random import Random

import pytest

from rse_study.results.archive import CHUNK, DAMAGE, read_tar
from tests.cases import cases

CONTENTS = {
    "study/": None,
    "study/plain.json": b"{}",
    "study/empty": b"",
    "study/block": bytes(range(256)) * 2,
    "study/chunks": b"abc" * CHUNK,
    "./study/dot": b"1",
    f"study/{'long' * 30}": b"2",
    f"{'folder/' * 30}name": b"3",
    "study/größe": b"4",
    "study/last": b"x" * 511,
}
FORMATS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
PACKERS = (
    bytes,
    gzip.compress,
    lzma.compress,
    lambda content: gzip.compress(content[:999]) + gzip.compress(content[999:]),
)


def packed(contents, kind=tarfile.PAX_FORMAT, **given):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=kind, **given) as archive:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.mtime = 1.5 if kind == tarfile.PAX_FORMAT else 1
            member.type, member.size = (
                (tarfile.DIRTYPE, 0) if content is None else (tarfile.REGTYPE, len(content))
            )
            archive.addfile(member, io.BytesIO(content or b""))
    return stream.getvalue()


def taken(archive: bytes, wanted=lambda name: True):
    members = read_tar(BufferedReader(BytesIO(archive)))
    return {one.name: b"".join(content) for one, content in members if wanted(one.name) and one.isreg()}


def files_of(contents):
    return {name: content for name, content in contents.items() if content is not None}


@cases(("kind", "pack"), [(kind, pack) for kind in FORMATS for pack in PACKERS])
def test_what_tarfile_writes_is_read_in_every_format_and_compression(kind, pack):
    contents = {name: content for name, content in CONTENTS.items() if kind != FORMATS[0] or len(name) < 100}
    assert taken(pack(packed(contents, kind))) == files_of(contents)


ONE = packed({"study/a.json": b"{}" * 300, "study/b.json": b"{}"})


@cases("length", range(0, len(ONE.rstrip(b"\0")) + 512, 64))
def test_an_archive_that_is_cut_off_is_damaged(length):
    with pytest.raises(DAMAGE):
        taken(ONE[:length])


@cases("pack", [gzip.compress, lzma.compress])
def test_a_flipped_bit_of_a_compressed_archive_is_damage_or_in_nothing_that_is_read(pack):
    content = Random(0).randbytes(200)
    whole = pack(packed({"study/a.json": content}))
    num_damaged = 0
    for at in range(len(whole)):
        try:
            found = taken(whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :])
        except DAMAGE:
            num_damaged += 1
        else:
            assert found == {"study/a.json": content}
    assert num_damaged > 0.9 * len(whole)  # others are gzip's date, or another way to write the same bytes


def header(kind: bytes, size: int, content: bytes = b"", name: str = "study/a.json") -> bytes:
    member = tarfile.TarInfo(name)
    member.type, member.size = kind, size
    return member.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % 512)


def pax(**records: str) -> bytes:
    lines = b"".join(
        f"{len(key) + len(value) + 5} {key}={value}\n".encode() for key, value in records.items()
    )
    return header(b"x", len(lines), lines)


FILE = header(b"0", 2, b"{}")
SPARSE = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "9"}


@cases(
    ("damage", "said"),
    [
        (header(b"L", 2**33), "headers have more than"),
        (header(b"K", 4096, b"x" * 4096), "headers have more than"),
        (header(b"x", 5000, b"10 path=a\n" * 500), "headers have more than"),
        (header(b"g", 5000, b"10 path=a\n" * 500), "headers have more than"),
        (header(b"x", 0) * 9, "headers have more than"),
        (header(b"L", -1), "headers have more than"),
        (header(b"0", -512), "does not define"),
        (pax(size="-512"), "does not define"),
        (pax(size="1e3"), "does not define"),
        (pax(**SPARSE), "sparse"),
        (pax(**{"GNU.sparse.map": "0,1,2,3"}), "sparse"),
        (header(b"S", 2, b"{}"), "sparse"),
        (header(b"Z", 0), "does not define"),
        (header(b"M", 2, b"{}"), "does not define"),
        (b"no header" * 60, "header|checksum"),
        (lzma.compress(FILE, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 2**30}]), "emory"),
    ],
)
def test_a_header_that_asks_for_memory_or_that_no_reader_agrees_on_is_damage(damage, said):
    with pytest.raises(DAMAGE, match=said):
        taken(damage + (FILE + bytes(1024) if damage[:1] != b"\xfd" else b""))


def test_pax_and_long_names_are_of_one_member_only():
    assert taken(pax(path="study/x") + FILE + FILE + bytes(1024)) == {"study/x": b"{}", "study/a.json": b"{}"}
    assert taken(header(b"L", 8, b"study/x\0") + FILE + FILE + bytes(1024)) == {
        "study/x": b"{}",
        "study/a.json": b"{}",
    }
    assert taken(pax(size="1") + header(b"0", 0, b"{}") + bytes(1024)) == {"study/a.json": b"{"}
