#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Tests fault class "urgent proof behind bulk".
"""Urgent proof behind bulk, deadlines, aging, quotas, and sharing between instances."""
import os
import re
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

# What is checked is the order in which the service did things, which its log tells, not how long they took: a machine
# under load is slow, and in the right order all the same.


def events():
    """(job, what, instance) in order; what: accepted, goes, done, completed."""
    out = []
    for line in s.text().splitlines():
        m = re.match(r"<\d>job (\S+): (?:(accepted|completed),|partition \d+ (?:of \d+ (goes) to|(done) on) (gpu \d+|\w+))", line)
        if m:
            out.append((m[1], m[2] or m[3] or m[4], m[5]))
    return out


def between(job, first, last):
    """What other jobs did between two events of this one."""
    log = events()
    at = [next(i for i, e in enumerate(log) if e[0].startswith(job + ".") and e[1] == what) for what in (first, last)]
    return [e for e in log[at[0] + 1:at[1]] if not e[0].startswith(job + ".")]


def count(what, log):
    return sum(e[1] == what for e in log)


PART = 0.06	# seconds of a partition

s = Service(engine=f"delay_ms = {int(PART * 1000)}", level="debug").start()
c = s.client()

# 20 PoReps, 200 partitions, 12 s of work
bulk = [c.submit(request("porep", "bulk", b"bulk %d" % i)) for i in range(20)]
s.wait_log(": partition 1 done on")
r = c.prove(request("window-post", "urgent", b"window"))
n = count("done", between("urgent", "accepted", "goes"))
ok(r.status == "COMPLETED" and n <= 2, f"WindowPoSt behind 20 PoReps starts within a partition: {n} were done while it waited {r.queue_wait_ms} ms")
runs = [c.prove(request("winning-post", f"block-{i}", b"winning %d" % i)) for i in range(20)]
waits, totals = sorted(r.queue_wait_ms for r in runs), sorted(r.total_ms for r in runs)
diag(f"WinningPoSt under load: handed over after median {waits[10]} ms, most {waits[-1]} ms; "
     f"done after median {totals[10]} ms, most {totals[-1]} ms; a partition takes {PART * 1000:.0f} ms")
before = sorted(count("done", between(f"block-{i}", "accepted", "goes")) for i in range(20))
ok(before[10] == 0 and before[-1] <= 3, f"WinningPoSt is in the hands of an instance at once: partitions done meanwhile {before}")
beside = sorted(count("done", between(f"block-{i}", "goes", "completed")) for i in range(20))
ok(beside[-1] <= 2, f"and waits for one partition at most: others done until it was {beside}")
equal(count("completed", [e for e in events() if e[0].startswith("block-")]), 20, "all of them are made")
text = c.call("GetMetrics")[1][0].decode()
porep = parse(c.call("GetStatus")[3][0])
finished = int(next(l for l in text.splitlines() if 'kind="porep",result="completed"' in l).split()[-1])
equal(porep.get(2, [0])[0] + porep.get(3, [0])[0] + finished, 20, "the PoReps are counted, pending and in progress")
ok(finished < 15, f"and they were there all the time: {finished} are done")
for j in bulk:
    c.cancel(j)

# within a priority the earlier deadline goes first
order = []
lock = threading.Lock()
blocker = c.start_prove(request("porep", "blocker", b"blocker"))
s.wait_log("job blocker.")


def prove(name, timeout):
    c.prove(request("update", name, [name.encode()]), timeout=timeout, wait=300)
    with lock:
        order.append(name)


threads = []
for name, timeout in (("late", 900), ("none", None), ("early", 300), ("middle", 600)):
    threads.append(threading.Thread(target=prove, args=(name, timeout)))
    threads[-1].start()
    s.wait_log(f"job {name}.")
for t in threads:
    t.join()
equal(order, ["early", "middle", "late", "none"], "the earlier deadline goes first")
blocker.result(100)

# a low priority waits, but not for ever
s.configure(engine="delay_ms = 20", settings="aging = 1s\n")
s.stop()
s.restart()
c = s.client()
open_calls = [c.start_prove(request("window-post", "first", b"first %d" % i, priority=3)) for i in range(6)]
s.wait_log("job first.", count=6)
low = c.submit(request("window-post", "low", b"low", priority=1))
stop = time.monotonic() + 60
n = 0
done_low = []
watcher = threading.Thread(target=lambda: done_low.append(c.wait(low, wait=100).status))
watcher.start()
while time.monotonic() < stop and not done_low:
    open_calls.append(c.start_prove(request("window-post", "high", b"high %d" % n, priority=3)))
    n += 1
    while len(open_calls) > 6:
        open_calls.pop(0).result()
ok(done_low == ["COMPLETED"], f"a job of low priority is done under {n} jobs of high priority")
for x in open_calls:
    x.result()
watcher.join(100)
after = count("goes", between("low", "accepted", "goes"))
ok(after >= 3, f"after {after} that had gone first")

# the same work, submitted again as more urgent, is more urgent
s.configure(engine="delay_ms = 30")
s.stop()
s.restart()
c = s.client()
ahead = c.submit(request("porep", "ahead", b"ahead"))
others = [c.submit(request("update", "other", b"other %d" % i)) for i in range(3)]
slow = c.submit(request("update", "slow", b"attached", priority=1))
equal(c.submit(request("update", "again", b"attached", priority=3)), slow, "the same work as a more urgent request is the same job")
equal(c.wait(slow).status, "COMPLETED", "and is done")
log = events()[:[e[:2] for e in events()].index((slow, "completed"))]
ok(not [e for e in log if e[0].startswith("other.") and e[1] == "goes"], "before others of its first priority")
for j in others + [ahead]:
    c.cancel(j)

# a client's quota
s.configure(engine="delay_ms = 600000", settings="client_jobs = 30\n")
s.stop()
s.restart()
c = s.client()
jobs = []
code = "OK"
for i in range(40):
    try:
        jobs.append(c.submit(request("porep", "quota", b"quota %d" % i)))
    except RpcError as e:
        code = e.code
        break
equal((code, len(jobs)), ("RESOURCE_EXHAUSTED", 30), "client_jobs = 30 bounds the unfinished jobs of one user")
equal(c.submit(request("porep", "quota", b"quota 0")), jobs[0], "the same work again is none more")
c.cancel(jobs.pop())
jobs.append(c.submit(request("porep", "quota", b"one more")))
ok(True, "and one that is over makes room")
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
diag(f"10 partitions of 100 ms: {(time.monotonic() - t) * 1000:.0f} ms")
running, idle, left, last = {"gpu 0": 0, "cpu": 0}, 0, 10, ""
for job, what, instance in events():
    if what == "done":
        # two that end at once are one turn of the service, which gives out more after it
        if last == "goes" and left and left < 7:
            idle += min(running.values()) == 0
        running[instance] -= 1
    elif what == "goes":
        running[instance] += 1
        left -= 1
    last = what
share = count("goes", [e for e in events() if e[2] == "gpu 0"])
ok(2 <= share <= 8, f"which share it: {share} partitions of 10 went to one")
equal(idle, 0, "neither is idle while there is more")
s.stop()

# an instance that is kept free
s.configure(engine="delay_ms = 600000\nurgent_delay_ms = 10", instances="[cpu]\nengine = null\n"
            "[gpu 0]\nengine = null\ndevice = 0000:01:00.0\nreserved_for = winning-post\n")
s.restart()
s.wait_log(": ready", count=2)
c = s.client()
jobs = [c.submit(request("porep", "bulk", b"reserved %d" % i)) for i in range(3)]
s.wait_log("goes to cpu")
equal(c.prove(request("winning-post", "block", b"reserved")).status, "COMPLETED", "reserved_for: a WinningPoSt is made beside bulk work")
log = [e for e in events() if e[1] == "goes"]
equal([e[2] for e in log if e[0].startswith("block.")], ["gpu 0"], "on the instance that is kept free")
equal({e[2] for e in log if e[0].startswith("bulk.")}, {"cpu"}, "which bulk work never gets")
for j in jobs:
    c.cancel(j)
s.stop()

# keep-warm: an idle service proves the last WinningPoSt again, for nobody
s.configure(settings="keep_warm = 1s\n")
s.restart()
c = s.client()
c.prove(request("winning-post", "block", b"warm"))
limit = time.monotonic() + 60
warm = 0
while warm < 2 and time.monotonic() < limit:
    time.sleep(0.1)
    text = c.call("GetMetrics")[1][0].decode()
    warm = int(next(l for l in text.splitlines() if l.startswith("cuzk_keep_warm_seconds_count")).split()[-1])
ok(warm >= 2, f"keep_warm: proved {warm} times")
equal(c.call("GetStatus")[4][0], 1, "which no client's count shows")
s.stop()

# a job that nobody waits for any more
s.configure(engine="delay_ms = 600000", settings="cancel_on_disconnect = yes\n")
s.restart()
c = s.client()
gone, kept = request("porep", "gone", b"gone"), request("porep", "kept", b"kept")
call = c.start_prove(gone)
job = c.submit(kept)
s.wait_log("job gone.")
call.cancel()
s.wait_log("the last client that waited for the job went away")
ok(True, "cancel_on_disconnect: the job of a client that went away ends")
equal(c.wait(job, timeout_ms=10).status, "TIMEOUT", "one that was submitted goes on")
equal(c.cancel(job), True, "until it is cancelled")
equal(s.stop(), 0, "stop")
done()
