#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Tests fault class "GPU returns a wrong answer".
# Tests fault class "lost, duplicated, mixed jobs".
"""500 jobs under random kills of instances and of the service: none lost, none duplicated, none wrong."""
import os
import random
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

JOBS = 500
SECONDS = 60
seed = int(os.environ.get("CUZK_TEST_SEED", time.time_ns() % 1000000))
rng = random.Random(seed)
diag(f"CUZK_TEST_SEED={seed}")

s = Service(engine="delay_ms = 5\nfail_every = 23\ninvalid_every = 61\noom_every = 47\nlanes = 2", level="notice",
            instances="[cpu]\nengine = null\ndepth = 2\n[gpu 0]\nengine = null\ndevice = 0000:01:00.0\n",
            settings="restart_delay = 10ms\nrestart_delay_max = 20ms\nquarantine_faults = 1000\npoison_deaths = 100\n"
            "retries = 20\nkill_grace = 50ms\n")
s.start()
kinds = [("porep", 10), ("update", 16), ("window-post", 1), ("winning-post", 1)]
messages = []
for i in range(JOBS):
    kind, n = kinds[i % 4]
    messages.append((request(kind, f"chaos {i % 50}", os.urandom(rng.choice([100, 3000, 300000 if i % 40 == 0 else 50]))), n))
answers = {}
doubles = []
lock = threading.Lock()
todo = list(range(JOBS))
stop = threading.Event()


def work():
    client = None
    while True:
        with lock:
            if not todo:
                return
            i = todo.pop()
        while not stop.is_set():
            try:
                client = client or s.client()
                r = client.prove(messages[i][0], wait=30)
                with lock:
                    if i in answers:
                        doubles.append(i)
                    answers[i] = r
                break
            except (OSError, ConnectionError, TimeoutError, RpcError):
                client = None
                time.sleep(0.02)


threads = [threading.Thread(target=work) for _ in range(8)]
limit = time.monotonic() + SECONDS
for t in threads:
    t.start()
kills = {"service": 0, "instance": 0, "stop": 0}
while any(t.is_alive() for t in threads) and time.monotonic() < limit:
    time.sleep(rng.random() * 0.4)
    what = rng.choice(["instance", "instance", "service", "stop"])
    if kills["service"] + kills["stop"] >= 12 and what != "instance":
        continue
    if what == "instance":
        found = subprocess.run(["pgrep", "-P", str(s.proc.pid)], capture_output=True, text=True).stdout.split()
        if found:
            try:
                os.kill(int(rng.choice(found)), signal.SIGKILL)
            except ProcessLookupError:
                continue
    elif what == "service":
        s.kill()
        s.restart()
    else:
        s.stop()
        s.restart()
    kills[what] += 1
stop.set()
for t in threads:
    t.join()
diag(f"killed: {kills}")
ok(kills["instance"] >= 3 and kills["service"] >= 1, "instances and the service were killed")
equal(len(answers), JOBS, f"{JOBS} jobs were answered")
equal([i for i, r in answers.items() if r.status != "COMPLETED"], [], "all are completed")
wrong = [i for i, r in answers.items() if r.proof != null_proof(*messages[i])]
equal(wrong, [], "each with its own proof, in order, none of an invalid one")
equal(doubles, [], "none was answered twice")
c = s.client()
again = [c.prove(messages[i][0]).proof == answers[i].proof for i in range(0, JOBS, 10)]
ok(all(again), "asked again, the same proofs come from the store")
equal(c.call("GetMetrics")[1][0].decode().count('cuzk_instance_up{instance="cpu"} 1'), 1, "the service is well")
equal(s.stop(), 0, "stop")
done()
