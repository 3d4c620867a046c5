"""A process that asks the hub in one thread starts others in another."""

import subprocess
import sys

STARTS_A_PROCESS_WHILE_THE_HUB_IS_ASKED = """
import subprocess, threading
from huggingface_hub import close_session
from huggingface_hub.utils import get_session
from rse_study.data.hub_client import leave_client_to_its_process

leave_client_to_its_process()
client = get_session()
lock, held, done = client._transport._pool._optional_thread_lock, threading.Event(), threading.Event()

def ask():
    with lock:
        held.set()
        done.wait()

asking = threading.Thread(target=ask)
asking.start()
held.wait()
child = subprocess.Popen(["true"], preexec_fn=lambda: None)  # as Ray starts its own
done.set()
asking.join()
assert child.wait() == 0
assert get_session() is client and not client.is_closed
close_session()
assert client.is_closed
"""


def test_a_fork_while_another_thread_asks_the_hub_does_not_hang():
    command = [sys.executable, "-c", STARTS_A_PROCESS_WHILE_THE_HUB_IS_ASKED]
    subprocess.run(command, timeout=60, check=True)
