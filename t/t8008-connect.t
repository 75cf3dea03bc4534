#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Connections made before, at and after the start, while instances die and start: none is closed by the service.

Each sends a request of several frames at once, without waiting for anything that the service says first.
"""
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

FAST = "restart_delay = 1ms\nrestart_delay_max = 1ms\nkill_grace = 100ms\nquarantine_faults = 1000\npoison_deaths = 100\n"
THREADS, CALLS = 4, 60
port = free_port()
s = Service(engine="crash_every = 40\n", instances="[cpu]\nengine = null\n[gpu 0]\nengine = null\ndevice = 0000:01:00.0\n",
            settings=FAST + f"listen_tcp = 127.0.0.1:{port}\ninsecure = yes\nqueue_limit = 1000000\n")


def first(address, early):
    """A connection, once somebody listens."""
    limit = time.monotonic() + 60
    while True:
        try:
            return Client(address)
        except (FileNotFoundError, ConnectionRefusedError):
            if time.monotonic() > limit:
                raise
            early.append(address)
            time.sleep(0.001)


def connect(address, early, found, n, when):
    for i in range(CALLS):
        try:
            c = first(address, early)
        except OSError as e:
            found.append(f"{address}: {e!r}")
            continue
        try:
            c.submit(request("winning-post", "connect", (when.encode() + b"%d %d" % (n, i)) * 10000, sector=n * 1000 + i))
            found.append("OK")
        except RpcError as e:
            found.append(e.code)
        except OSError as e:
            found.append(f"{address}: call {i} of thread {n}: {e!r}")
        c.close()


def crowd(when):
    early, found = [], []
    threads = [threading.Thread(target=connect, args=(s.address if n % 2 else f"127.0.0.1:{port}", early, found, n, when))
               for n in range(THREADS)]
    for t in threads:
        t.start()
    if when == "as it starts":
        s.start(wait=False)
    for t in threads:
        t.join()
    bad = [f for f in found if f != "OK"]
    if not ok(found and not bad, f"{when}: {len(found)} connections ({len(early)} came too early), all served"):
        diag("\n".join(bad[:10]))
    diag(f"{when}: {s.text().count('died (crashed)')} instances have died")


crowd("as it starts")
s.wait_log("<5>ready")
crowd("at ready")
limit = time.monotonic() + 20
while "died (crashed)" not in s.text() and time.monotonic() < limit:
    time.sleep(0.05)
ok("died (crashed)" in s.text(), "instances die meanwhile")
crowd("while instances die")
s.proc.send_signal(1)
crowd("and over a reload")
ok("reload: done" in s.text(), "which was done")
equal(s.stop(), 0, "it ends as it should")
done()
