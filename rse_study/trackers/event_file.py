"""TensorBoard event files that can be read, repaired and extended."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rse_study.trackers.packages import import_extra

FRAME = 16  # bytes around a record: length and two checksums


class EventFile:
    """An event file that only grows, so that its readers can continue where they were."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._event = import_extra("tensorboard.compat.proto.event_pb2", "tensorboard").Event
        self._loader = import_extra(
            "tensorboard.backend.event_processing.event_file_loader", "tensorboard"
        ).RawEventFileLoader
        self._writer = import_extra("tensorboard.summary.writer.record_writer", "tensorboard").RecordWriter

    def read(self) -> list[Any]:
        """Return its events; truncate a last one that is incomplete."""
        if not self.path.is_file() or not self.path.stat().st_size:
            return []
        records = list(self._loader(str(self.path)).Load())
        whole = sum(len(record) + FRAME for record in records)
        if whole < self.path.stat().st_size:
            with self.path.open("r+b") as stream:
                stream.truncate(whole)
        return [self._event.FromString(record) for record in records]

    def add(self, events: Iterable[dict[str, Any]]) -> None:
        """Write events, each given by its fields; a new file begins with its version."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        listed = list(events)
        with self.path.open("ab") as stream:
            writer = self._writer(stream)
            if not stream.tell():
                writer.write(self._event(file_version="brain.Event:2").SerializeToString())
            for event in listed:
                writer.write(self._event(**event).SerializeToString())
