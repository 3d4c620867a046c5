"""The hub's HTTP client, in a process that has threads and forks."""

import os
from typing import Any


def leave_client_to_its_process() -> None:
    """Let forked children drop the hub's client without closing it.

    To be called before other threads ask the hub. huggingface_hub closes its client in every forked child. To close it
    takes the lock of its connections, and where another thread held that at the fork nobody ever lets go of it: the
    child hangs, and with it whoever started it.
    """
    from huggingface_hub import set_client_factory
    from huggingface_hub.utils._http import default_client_factory

    def make() -> Any:
        client, owner = default_client_factory(), os.getpid()
        close = client.close
        client.close = lambda: close() if os.getpid() == owner else None  # type: ignore[method-assign]
        return client

    set_client_factory(make)
