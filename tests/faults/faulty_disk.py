"""A disk that fails: system calls of a process below a folder are refused, torn, or forgotten with the power.

The kernel (seccomp, Linux 5.9 on x86-64) hands every call that may change a file to the parent process, which counts
it and lets it pass, answers it with an error, or kills the caller. So Python, SQLite, safetensors and tokenizers all
meet a fault where a disk would raise it, and nothing of them is replaced. No rights are needed.
"""

import ctypes
import errno
import fcntl
import os
import platform
import select
import shutil
import signal
import socket
import struct
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

WRITES = {1: "write", 18: "pwrite64", 20: "writev", 40: "sendfile", 296: "pwritev", 326: "copy_file_range"}
SYNCS = {74: "fsync", 75: "fdatasync"}
ON_FILES = WRITES | SYNCS | {77: "ftruncate", 285: "fallocate"}  # the first argument is a descriptor
# Calls by path: the places of the folder's descriptor (-1: none) and of the path among the arguments.
BY_PATH = {
    257: ("openat", 0, 1),
    83: ("mkdir", -1, 0),
    258: ("mkdirat", 0, 1),
    82: ("rename", -1, 1),
    264: ("renameat", 2, 3),
    316: ("renameat2", 2, 3),
    87: ("unlink", -1, 0),
    263: ("unlinkat", 0, 1),
    84: ("rmdir", -1, 0),
}
REMOVES = (87, 263, 84)
COPIES_TO = {326: 2}  # the target is another argument than the first
KINDS = ("ENOSPC", "EIO", "EROFS", "torn", "power")
Kind = Literal["ENOSPC", "EIO", "EROFS", "torn", "power"]
STAYS = ("ENOSPC", "EROFS")
HUNG_SECONDS = 60  # after which a child is ended by SIGALRM
RECEIVE, SEND, CONTINUE = 0xC0502100, 0xC0182101, 1


def is_available() -> bool:
    """Whether this kernel can hand calls to another process, by the numbers above."""
    path = Path("/proc/sys/kernel/seccomp/actions_avail")
    return platform.machine() == "x86_64" and path.exists() and "user_notif" in path.read_text()


@dataclass(frozen=True)
class Fault:
    """A fault at the call of this number, from 1.

    ENOSPC and EROFS stay until the process ends, EIO happens once. `torn`: half of a write, then the process is
    killed; killed before any other call. `power`: killed, and only synced bytes survive.
    """

    kind: Kind
    at: int


@dataclass
class Outcome:
    code: int | None
    """exit code; None: killed"""
    said: str
    calls: list[str] = field(default_factory=list)
    """names of the calls with the name of their file, in order"""


def run(work: Callable[[], int], root: Path, fault: Fault | None = None) -> Outcome:
    """Run `work` in a child process whose calls below `root` are counted, and suffer the fault."""
    here, there = socket.socketpair()
    with tempfile.TemporaryFile() as said:
        pid = os.fork()
        if pid == 0:
            code = 70
            try:
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
                signal.alarm(HUNG_SECONDS)
                listener = _hand_over()
                socket.send_fds(there, [b"."], [listener])
                os.close(listener)
                code = work()
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        there.close()
        _, (listener,), _, _ = socket.recv_fds(here, 1, 1)
        disk = _Disk(root, fault, pid)
        disk.serve(listener)
        _, status = os.waitpid(pid, 0)
        os.close(listener)
        here.close()
        if fault is not None and fault.kind == "power" and disk.is_over:
            disk.lose_what_is_not_synced()
        said.seek(0)
        is_killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        code = None if is_killed else os.waitstatus_to_exitcode(status)
        return Outcome(code, said.read().decode(), disk.calls)


def _hand_over() -> int:
    """Have the kernel ask whoever holds the returned descriptor, for this process and its children."""
    numbers = [*ON_FILES, *BY_PATH]

    def step(code: int, yes: int, no: int, value: int) -> bytes:
        return struct.pack("HBBI", code, yes, no, value)

    steps = [step(0x20, 0, 0, 0)]  # the number of the call
    steps += [step(0x15, len(numbers) - place, 0, number) for place, number in enumerate(numbers)]
    steps += [step(0x06, 0, 0, 0x7FFF0000), step(0x06, 0, 0, 0x7FC00000)]  # allow; ask
    program = ctypes.create_string_buffer(b"".join(steps))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program)))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)  # no new privileges, without which root alone may do this
    listener = int(libc.syscall(317, 1, 8, header))
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    return listener


class _Disk:
    """The answers to a child's calls, and what would survive a power loss now."""

    def __init__(self, root: Path, fault: Fault | None, pid: int) -> None:
        self._root, self._fault, self._pid = root, fault, pid
        self.calls: list[str] = []
        self.is_over = False
        self._bytes: dict[int, bytes] = {}  # of files, by inode, as they were last synced
        self._entries: dict[int, dict[str, tuple[int, bool]]] = {}  # of folders: inode, and whether a folder
        if fault is not None and fault.kind == "power":
            for path in (root, *root.rglob("*")):
                self._note(path)

    def serve(self, listener: int) -> None:
        waiting = select.poll()
        waiting.register(listener, select.POLLIN)
        while not any(event & select.POLLHUP for _, event in waiting.poll()):
            asked = bytearray(80)
            try:
                fcntl.ioctl(listener, RECEIVE, asked)
            except OSError:
                continue  # whoever asked has ended
            identity, task, _, number, _, _, *arguments = struct.unpack("QIIiIQ6Q", asked)
            refusal = self._refusal(task, number, arguments)
            if self.is_over:
                os.kill(self._pid, signal.SIGKILL)
                continue
            answer = struct.pack("QqiI", identity, 0, -refusal, 0 if refusal else CONTINUE)
            try:
                fcntl.ioctl(listener, SEND, bytearray(answer))
            except OSError:
                continue

    def _refusal(self, task: int, number: int, arguments: list[int]) -> int:
        """Return the error that answers a call, 0 to let it pass."""
        found = self._path(task, number, arguments)
        if found is None or not (found == self._root or self._root in found.parents):
            return 0
        if number == 257 and (not arguments[2] & os.O_CREAT or found.exists()) and self._is("ENOSPC", "torn"):
            return 0  # takes no room
        name = (ON_FILES.get(number) or BY_PATH[number][0]).rstrip("64")
        self.calls.append(f"{name} {found.relative_to(self._root)}")
        fault = self._fault
        if fault is None or len(self.calls) < fault.at:
            if number in SYNCS:
                self._note(Path(f"/proc/{task}/fd/{arguments[0]}"))
            return 0
        if fault.kind in ("torn", "power"):
            self.is_over = True
            if fault.kind == "torn" and number in (1, 18):
                self._tear(task, number, arguments)
            return 0
        if len(self.calls) > fault.at and fault.kind not in STAYS:
            return 0
        if fault.kind == "ENOSPC" and number in (*REMOVES, *SYNCS):
            return 0
        return int(getattr(errno, fault.kind))

    def _is(self, *kinds: str) -> bool:
        return self._fault is not None and self._fault.kind in kinds

    def _path(self, task: int, number: int, arguments: list[int]) -> Path | None:
        """Return the file or folder that a call is about; None for one that changes nothing."""
        try:
            if number in ON_FILES:
                descriptor = arguments[COPIES_TO.get(number, 0)]
                return Path(os.readlink(f"/proc/{task}/fd/{descriptor}").removesuffix(" (deleted)"))
            if number == 257 and not arguments[2] & (os.O_CREAT | os.O_TRUNC):
                return None
            _, folder, place = BY_PATH[number]
            named = self._memory(task, arguments[place], 4096).split(b"\0")[0].decode()
            at = arguments[folder] & 0xFFFFFFFF if folder >= 0 else 0xFFFFFF9C
            start = f"/proc/{task}/cwd" if at == 0xFFFFFF9C else f"/proc/{task}/fd/{at}"
            return Path(named) if named.startswith("/") else Path(os.readlink(start)) / named
        except OSError:
            return None

    def _memory(self, task: int, address: int, size: int) -> bytes:
        with open(f"/proc/{task}/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            try:
                return memory.read(size)
            except OSError:  # its page ends before
                memory.seek(address)
                return memory.read(-address % 4096 or 4096)

    def _tear(self, task: int, number: int, arguments: list[int]) -> None:
        """Write the first half of what a call would have written, where it would have."""
        descriptor, address, size, offset = arguments[:4]
        half = self._memory(task, address, size)[: size // 2]
        facts = Path(f"/proc/{task}/fdinfo/{descriptor}").read_text().split()
        position = offset if number == 18 else int(facts[1])
        opened = os.open(f"/proc/{task}/fd/{descriptor}", os.O_WRONLY)
        os.pwrite(opened, half, position)
        os.close(opened)

    def _note(self, path: Path) -> None:
        """Remember a file's bytes, or a folder's entries, as synced."""
        inode = path.stat().st_ino
        if path.is_dir():
            found = {one.name: (one.inode(), one.is_dir()) for one in os.scandir(path)}
            self._entries[inode] = found
        else:
            self._bytes[inode] = path.read_bytes()

    def lose_what_is_not_synced(self) -> None:
        """Leave below the root what was synced: bytes of files, and entries of folders, each by its own fsync."""
        top = self._root.stat().st_ino
        for path in self._root.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self._restore(self._root, top)

    def _restore(self, folder: Path, inode: int) -> None:
        for name, (entry, is_folder) in self._entries.get(inode, {}).items():
            if is_folder:
                (folder / name).mkdir()
                self._restore(folder / name, entry)
            else:
                (folder / name).write_bytes(self._bytes.get(entry, b""))
