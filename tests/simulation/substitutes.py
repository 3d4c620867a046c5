"""Puts the simulated parts in place of the real ones."""

import os
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import ray

from rse_study.on_ray import driver, runtime, scoring, searcher, stored, tuner
from rse_study.on_ray.nodes import cluster_watch, elastic
from rse_study.on_ray.stored import ledger_copy
from rse_study.on_ray.workers import coordinator, evaluations, worker, workplace
from rse_study.results.files import connect, ledger, queries
from rse_study.search import budget
from rse_study.storage import folders, storage
from rse_study.study import record
from rse_study.training import loop
from tests.simulation import training
from tests.simulation.world import World


class Proxy:
    """A module of which some functions are others."""

    def __init__(self, module: Any, **others: Any) -> None:
        self.__dict__.update(others)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


@contextmanager
def substituted(world: World) -> Iterator[None]:
    """Put the simulated parts in place of the real ones, for as long as a schedule runs."""
    scheduler = world.scheduler

    def pid() -> int:
        return scheduler.pid_of(world.process)

    def lives(pid: int) -> bool:
        return pid in scheduler.pids and not scheduler.pids[pid].is_dead

    with_pid = Proxy(os, getpid=pid)
    processes = Proxy(psutil, pid_exists=lives)
    network = Proxy(socket, gethostname=lambda: world.process.machine)
    threads = SimpleNamespace(Event=scheduler.event, Thread=scheduler.thread)
    held: dict[Path, Any] = {}
    timed = (
        searcher, elastic, cluster_watch, runtime, tuner, coordinator, ledger_copy, storage, connect, loop
    )  # fmt: skip
    substitutes: list[tuple[Any, str, Any]] = [
        *((module, "time", scheduler) for module in timed),
        *((module, "now", scheduler.iso_now) for module in (queries, connect, budget, ledger)),
        *((module, "Event", scheduler.event) for module in (runtime, scoring, ledger_copy)),
        *((module, "Thread", scheduler.thread) for module in (driver, scoring, ledger_copy)),
        (cluster_watch, "threading", threads),
        (cluster_watch, "PERIOD_SECONDS", 10.0),
        (ledger_copy, "Lock", scheduler.lock),
        (ledger_copy, "os", with_pid), (ledger_copy, "psutil", processes), (ledger_copy, "socket", network),
        (workplace, "os", with_pid), (workplace, "psutil", processes), (workplace, "socket", network),
        (workplace, "Event", scheduler.event), (workplace, "Thread", scheduler.thread),
        (workplace, "cache_dir", lambda: world.root / "caches" / world.process.machine),
        (workplace, "storage_cache", lambda: world.root / "caches" / world.process.machine / "storage"),
        (stored, "storage_cache", lambda: world.root / "caches" / world.process.machine / "storage"),
        (vars(workplace.Workplace)["materials"], "lock", nullcontext()),  # cached_property's, until Python 3.12
        (folders, "locked", lambda path: held.setdefault(path, scheduler.lock())),
        (coordinator, "os", with_pid),
        (connect, "take_lock", world.take_lock),
        (driver, "graceful_interrupt", world.graceful_interrupt),
        (runtime, "ray_session", world.ray_session),
        (runtime, "dashboard_url", str),
        (runtime, "ray_output_in_file", lambda folder: nullcontext(Path("ray.txt"))),
        (runtime, "OwnRay", world.probe), (runtime, "JoinedRay", world.probe),
        (runtime, "with_parameters", partial), (runtime, "_exit", world.exit),
        (runtime, "print", lambda text, **options: scheduler.say(text)),
        (elastic, "autoscaler_requests", lambda name: Proxy(None, request_resources=nothing, cancel_request=nothing)),
        (tuner, "run", world.run_tune), (tuner, "_kill", world.kill_pid), (tuner, "ray", world.ray),
        (coordinator, "ray", world.ray), (worker, "ray", world.ray), (scoring, "ray", world.ray),
        (evaluations, "ray", world.ray), (ray, "init", nothing_real),
        (worker, "give_back_free_memory", nothing),
        (loop, "open_session", world.open_session),
        (evaluations, "score_model", training.simulated_scores),
        (evaluations, "_scored_model", training.simulated_model),
        (storage, "open_objects", world.open_objects),
        (record, "_code_revision", lambda: "simulated"),  # `git describe` takes longer than a study here
        (sqlite3, "connect", world.disk.connect),
    ]  # fmt: skip
    missing = object()
    before = [(module, name, getattr(module, name, missing)) for module, name, _ in substitutes]
    for module, name, value in substitutes:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in before:
            delattr(module, name) if value is missing else setattr(module, name, value)


def nothing_real(*arguments: Any, **named: Any) -> None:
    """Refuse to start a real Ray."""
    raise AssertionError("a real Ray is started in a simulation")


def nothing(*arguments: Any, **named: Any) -> None:
    """Do nothing."""
