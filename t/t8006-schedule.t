#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Tests fault class "urgent proof behind bulk".
"""Urgent proof behind bulk, deadlines, aging, quotas, and sharing between instances."""
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

PART = 0.06	# seconds of a partition

s = Service(engine=f"delay_ms = {int(PART * 1000)}").start()
c = s.client()

# 20 PoReps, 200 partitions, 12 s of work
bulk = [c.submit(request("porep", "bulk", b"bulk %d" % i)) for i in range(20)]
time.sleep(3 * PART)
r = c.prove(request("window-post", "urgent", b"window"))
ok(r.status == "COMPLETED" and r.queue_wait_ms < 3 * PART * 1000,
   f"WindowPoSt behind 20 PoReps starts within a partition: it waited {r.queue_wait_ms} ms")
runs = [c.prove(request("winning-post", "block", b"winning %d" % i)) for i in range(20)]
waits, totals = sorted(r.queue_wait_ms for r in runs), sorted(r.total_ms for r in runs)
diag(f"WinningPoSt under load: handed over after median {waits[10]} ms, most {waits[-1]} ms; "
     f"done after median {totals[10]} ms, most {totals[-1]} ms; a partition takes {PART * 1000:.0f} ms")
ok(waits[-1] < PART * 1000, "WinningPoSt is in the hands of an instance at once")
ok(totals[-1] < 5 * PART * 1000, "and waits for one partition at most")
text = c.call("GetMetrics")[1][0].decode()
porep = parse(c.call("GetStatus")[3][0])
finished = int(next(l for l in text.splitlines() if 'kind="porep",result="completed"' in l).split()[-1])
equal(porep.get(2, [0])[0] + porep.get(3, [0])[0] + finished, 20, "the PoReps are counted, pending and in progress")
for j in bulk:
    c.cancel(j)

# within a priority the earlier deadline goes first
order = []
lock = threading.Lock()
blocker = c.start_prove(request("porep", "blocker", b"blocker"))
time.sleep(PART)


def prove(name, timeout):
    c.prove(request("update", name, [name.encode()]), timeout=timeout)
    with lock:
        order.append(name)


threads = []
for name, timeout in (("late", 500), ("none", None), ("early", 100), ("middle", 300)):
    threads.append(threading.Thread(target=prove, args=(name, timeout)))
    threads[-1].start()
    time.sleep(0.03)
for t in threads:
    t.join()
equal(order, ["early", "middle", "late", "none"], "the earlier deadline goes first")

# a low priority waits, but not for ever
s.configure(engine="delay_ms = 20", settings="aging = 1s\nclient_jobs = 30\n")
s.stop()
s.restart()
c = s.client()
low = c.submit(request("window-post", "low", b"low", priority=1))
stop = time.monotonic() + 8
n = 0
done_low = []
watcher = threading.Thread(target=lambda: done_low.append((c.wait(low).status, time.monotonic())))
watcher.start()
open_calls = []
while time.monotonic() < stop and not done_low:
    open_calls.append(c.start_prove(request("window-post", "high", b"high %d" % n, priority=3)))
    n += 1
    while len(open_calls) > 6:
        open_calls.pop(0).result()
watcher.join(20)
ok(done_low and done_low[0][0] == "COMPLETED" and done_low[0][1] < stop,
   f"a job of low priority is done under {n} jobs of high priority")
for x in open_calls:
    x.result()

# a client's quota
jobs = []
code = "OK"
for i in range(40):
    try:
        jobs.append(c.submit(request("porep", "quota", b"quota %d" % i)))
    except RpcError as e:
        code = e.code
        break
ok(code == "RESOURCE_EXHAUSTED" and 30 <= len(jobs) < 36,
   f"client_jobs = 30 bounds the unfinished jobs of one user: {code} after {len(jobs)}, some done meanwhile")
for j in jobs:
    c.cancel(j)
s.stop()

# two instances share the partitions of one job
s.configure(engine="delay_ms = 100\n[engine other]\nlibrary = " + BUILD + "/.libs/null.so\ndelay_ms = 100\n",
            instances="[gpu 0]\nengine = other\ndevice = 0000:01:00.0\ndepth = 1\n[cpu]\nengine = null\n")
s.restart()
s.wait_log(": ready", count=2)
c = s.client()
m = request("porep", "shared", b"shared")
t = time.monotonic()
equal(c.prove(m).proof, null_proof(m, 10), "one job on two instances")
took = time.monotonic() - t
ok(took < 0.85, f"takes half as long: {took * 1000:.0f} ms for 10 partitions of 100 ms")

# an instance that is kept free
s.configure(engine="delay_ms = 300", instances="[cpu]\nengine = null\n"
            "[gpu 0]\nengine = null\ndevice = 0000:01:00.0\nreserved_for = winning-post\n")
s.stop()
s.restart()
s.wait_log(": ready", count=2)
c = s.client()
jobs = [c.submit(request("porep", "bulk", b"reserved %d" % i)) for i in range(3)]
time.sleep(0.2)
r = c.prove(request("winning-post", "block", b"reserved"))
ok(r.queue_wait_ms < 100 and r.total_ms < 500,
   f"reserved_for: a WinningPoSt waits {r.queue_wait_ms} ms and is done in {r.total_ms} ms")
for j in jobs:
    c.cancel(j)
s.stop()

# keep-warm: an idle service proves the last WinningPoSt again, for nobody
s.configure(settings="keep_warm = 1s\n")
s.restart()
c = s.client()
c.prove(request("winning-post", "block", b"warm"))
limit = time.monotonic() + 10
warm = 0
while warm < 2 and time.monotonic() < limit:
    time.sleep(0.1)
    text = c.call("GetMetrics")[1][0].decode()
    warm = int(next(l for l in text.splitlines() if l.startswith("cuzk_keep_warm_seconds_count")).split()[-1])
ok(warm >= 2, f"keep_warm: proved {warm} times")
equal(c.call("GetStatus")[4][0], 1, "which no client's count shows")
s.stop()

# a job that nobody waits for any more
s.configure(engine="delay_ms = 500", settings="cancel_on_disconnect = yes\n")
s.restart()
c = s.client()
gone, kept = request("porep", "gone", b"gone"), request("porep", "kept", b"kept")
call = c.start_prove(gone)
job = c.submit(kept)
time.sleep(0.3)
call.cancel()
s.wait_log("the last client that waited for the job went away")
ok(True, "cancel_on_disconnect: the job of a client that went away ends")
equal(c.wait(job, timeout_ms=10).status, "TIMEOUT", "one that was submitted goes on")
equal(c.cancel(job), True, "until it is cancelled")
equal(s.stop(), 0, "stop")
done()
