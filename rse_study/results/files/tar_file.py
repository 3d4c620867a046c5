"""Tar archives of strangers, read member by member in little memory.

Python's tarfile reads names, pax records and maps of sparse files of any size into memory, follows headers of headers
by recursion, and takes a damaged header for the archive's end. Its `data` filter came with Python 3.11.4.
"""

import lzma
import re
import tarfile
import zlib
from collections.abc import Iterator
from gzip import BadGzipFile, GzipFile
from io import BufferedReader

CHUNK = 2**16
# Bytes of a member's headers before its own: long name, pax records. Ours have 0.6 KB, and 0.8 KB with a long name.
MOST_HEADER = 2**12
# Bytes of memory that an .xz file may ask for: `xz -9` asks for 65 MiB, the format allows 4 GiB.
MOST_DICTIONARY = 2**27
RECORD = re.compile(r"\n\d+ (path|size)=([^\n\0]*)")
# What `read_tar` raises, and the contents that it yields.
DAMAGE = (tarfile.TarError, lzma.LZMAError, zlib.error, BadGzipFile, EOFError)


def read_tar(packed: BufferedReader) -> Iterator[tuple[tarfile.TarInfo, Iterator[bytes]]]:
    """Yield each member of a plain, .gz or .xz tar, and its content to take or leave."""
    chunks, buffer, header = _unpacked(packed), bytearray(), ""

    def read(size: int) -> bytes:
        while len(buffer) < size:
            if (chunk := next(chunks, None)) is None:
                raise EOFError("it is cut off")
            buffer.extend(chunk)
        content = bytes(buffer[:size])
        del buffer[:size]
        return content

    while any(block := read(tarfile.BLOCKSIZE)):
        member = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        if member.type in b"xgLK":
            if not 0 <= member.size < MOST_HEADER - len(header):
                raise tarfile.ReadError(f"a member's headers have more than {MOST_HEADER:,} bytes")
            record = read(member.size + -member.size % tarfile.BLOCKSIZE)
            block += (b"\n0 path=" if member.type == b"L" else b"\n") + record
            header += block.decode("utf-8", "surrogateescape")
            continue
        records = dict(RECORD.findall(header))
        member.name, size = records.get("path", member.name), str(records.get("size", member.size))
        if member.type not in b"\x0001234567" or not size.isdecimal() or "GNU.sparse" in header:
            raise tarfile.ReadError(f"{member.name[:99]!r} is sparse, or of a type that tar does not define")
        member.size = int(size) if member.isreg() else 0
        content = (read(min(CHUNK, member.size - start)) for start in range(0, member.size, CHUNK))
        yield member, content
        for _ in content:
            pass
        read(-member.size % tarfile.BLOCKSIZE)
        header = ""
    next(chunks, b"")  # up to the checksum that comes after the last member


def _unpacked(packed: BufferedReader) -> Iterator[bytes]:
    start = packed.peek(6)
    if start.startswith(b"\xfd7zXZ\0"):
        xz = lzma.LZMADecompressor(memlimit=MOST_DICTIONARY)
        while not xz.eof and (not xz.needs_input or packed.peek(1)):
            yield xz.decompress(packed.read(CHUNK) if xz.needs_input else b"", CHUNK)
    else:
        stream = GzipFile(fileobj=packed) if start.startswith(b"\x1f\x8b") else packed
        yield from iter(lambda: stream.read(CHUNK), b"")
