"""Reads the transaction log of a wandb run: LevelDB's log format around wandb's own records."""

import struct

from wandb.proto.wandb_internal_pb2 import Record

FILE_HEADER, BLOCK, FRAME = 7, 32768, 7
FULL, FIRST, LAST = 1, 2, 4


def records_of(path):
    """Every whole record of a file."""
    content, position, parts, records = path.read_bytes(), FILE_HEADER, b"", []
    while position + FRAME <= len(content):
        left = BLOCK - position % BLOCK
        if left < FRAME:
            position += left
            continue
        _, length, kind = struct.unpack("<IHB", content[position : position + FRAME])
        chunk = content[position + FRAME : position + FRAME + length]
        position += FRAME + length
        parts = chunk if kind in (FULL, FIRST) else parts + chunk
        if kind in (FULL, LAST) and len(chunk) == length:
            records.append(Record.FromString(parts))
    return records
