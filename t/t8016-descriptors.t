#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Clients that take every descriptor that they can get: the service starts its instances all the same."""
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

FILES = 256


class Limited(Service):
    """A service that may have few files open."""

    def start(self, *args, **kwargs):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
        popen = subprocess.Popen
        subprocess.Popen = lambda *a, **k: popen(*a, preexec_fn=limit, **k)
        try:
            return super().start(*args, **kwargs)
        finally:
            subprocess.Popen = popen


port, metrics = free_port(), free_port()
s = Limited(engine="delay_ms = 1\n",
            settings=f"restart_delay = 10ms\nrestart_delay_max = 200ms\nlisten_tcp = 127.0.0.1:{port}\ninsecure = yes\nqueue_limit = 100000\n"
            f"metrics_listen = 127.0.0.1:{metrics}\n")
s.start()
c = s.client()


def child():
    p = subprocess.run(["pgrep", "-P", str(s.proc.pid)], capture_output=True, text=True)
    return int(p.stdout.split()[0]) if p.stdout else 0


def files():
    return len(os.listdir(f"/proc/{s.proc.pid}/fd"))


def idle(n, connect):
    """Connections that say nothing; how many of them were ended."""
    held = []
    for _ in range(n):
        try:
            held.append(connect())
        except OSError:
            break
    time.sleep(1)
    ended = 0
    for k in held:
        k.settimeout(0)
        try:
            # HTTP/2's settings come first
            while k.recv(65536):
                pass
            ended += 1
        except BlockingIOError:
            pass
        except OSError:
            ended += 1
    return held, ended


def unix():
    k = socket.socket(socket.AF_UNIX)
    k.settimeout(2)
    k.connect(s.socket)
    return k


def proves(client, name):
    try:
        return client.prove(request(payload=name.encode()), wait=20).status == "COMPLETED"
    except (OSError, RpcError) as e:
        diag(repr(e))
        return False


for what, connect in (("the unix socket", unix), ("TCP", lambda: socket.create_connection(("127.0.0.1", port), timeout=2))):
    held, ended = idle(300, connect)
    ok(ended >= 300 - FILES * 6 // 8 and files() <= FILES * 6 // 8 + 8, f"300 idle connections by {what}: {ended} are ended, {files()} files are open")
    ok(proves(c, what), "a client that was there before is served")
    before = child()
    os.kill(before, signal.SIGKILL)
    ok(proves(c, what + " again"), "and an instance that dies is started again")
    for k in held:
        k.close()
    limit = time.monotonic() + 10
    while files() > FILES // 2 and time.monotonic() < limit:
        time.sleep(0.05)
    ok(proves(s.client(), what + " new"), "when they are gone there is room for others")
n = len(re.findall("too many files are open", s.text()))
ok(1 <= n <= 10, f"it is said, {n} times and not 300")

# requests hold descriptors, too
s.stop()
s.configure(engine="delay_ms = 600000\n", settings="restart_delay = 10ms\nrestart_delay_max = 200ms\nqueue_limit = 100000\n")
s.restart()
c = s.client()
answers = []
for i in range(300):
    try:
        c.submit(request(payload=b"held %d" % i))
        answers.append("")
    except RpcError as e:
        answers.append(f"{e.code}: {e.message}")
taken = answers.count("")
ok(50 < taken < FILES and answers[-1].startswith("RESOURCE_EXHAUSTED") and "too many" in answers[-1].lower(), f"{taken} of 300 requests are taken: {answers[-1]}")
before = child()
os.kill(before, signal.SIGKILL)
limit = time.monotonic() + 20
while child() in (0, before) and time.monotonic() < limit:
    time.sleep(0.05)
ok(child() not in (0, before) and s.proc.poll() is None, "an instance that dies is started again")
s.kill()

# no descriptor for an instance is no fault of the instance
s = Limited(settings="restart_delay = 10ms\nrestart_delay_max = 50ms\nquarantine_faults = 2\n")
s.start()
resource.prlimit(s.proc.pid, resource.RLIMIT_NOFILE, (4, FILES))
os.kill(child(), signal.SIGKILL)
s.wait_log("cpu: failed: cannot start ")
time.sleep(1)
ok(s.proc.poll() is None and "quarantined" not in s.text(), "while none is free it is tried again, and not quarantined")
equal(s.text().count("cannot start"), 1, "without a line for each try")
resource.prlimit(s.proc.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
ok(proves(s.client(), "late"), "until there is one")
equal(s.stop(), 0, "stop")
done()
