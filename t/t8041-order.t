#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Tests fault class "urgent proof behind bulk".
# Tests fault class "poisoned context, hang".
"""What must not wait does not, and what waits does not for ever: bulk that aged, admissions, full queues, suspects, deadlines."""
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

# as in t8006-schedule.t the order is checked, out of the log


def went(name, what="completed"):
    """Jobs whose name begins so, in the order in which that happened to them."""
    pattern = {"completed": r"<\d>job (\S+)\.\w+: completed,", "goes": r"<\d>job (\S+)\.\w+: partition \d+ of \d+ goes to"}[what]
    return [m[1] for m in re.finditer(pattern, s.text()) if m[1].startswith(name)]


def start(**how):
    s.configure(**how)
    if s.proc:
        s.restart()
    else:
        s.start()
    return s.client()


s = Service(level="debug")

# PoReps that have waited for long are as high as a WindowPoSt, and nobody said when that is due
c = start(engine="delay_ms = 50", settings="aging = 1s\n")
bulk = [c.submit(request("porep", f"bulk-{i}", b"%d" % i)) for i in range(12)]
time.sleep(2.5)
job = c.submit(request("window-post", "window", b"window"))
before = len(went("", "goes"))
equal(c.wait(job).status, "COMPLETED", "a WindowPoSt without a deadline is made while PoReps that have aged wait")
ok(went("", "goes").index("window") <= before + 2, f"it is the next: after {went('', 'goes').index('window') - before} partitions")
for j in bulk:
    c.cancel(j)
s.stop()

# other parameters than those that are loaded: a job is not passed by for ever, however many come for those
c = start(engine="delay_ms = 20\npartitions_porep = 2", settings="aging = 1s\n")
n = 0
jobs = []
for _ in range(100):
    jobs.append(c.submit(request("porep", f"warm-{n}", b"warm %d" % n)))
    n += 1
cold = c.submit(request("update", "cold", [b"cold"]))
limit = time.monotonic() + 40
while "cold" not in went("cold") and time.monotonic() < limit:
    # what is loaded always has something to do
    while len(jobs) - len(went("warm")) < 100:
        jobs.append(c.submit(request("porep", f"warm-{n}", b"warm %d" % n)))
        n += 1
    time.sleep(0.02)
ok("cold" in went("cold"), f"a job for parameters that are not loaded is made, after {len(went('warm'))} for those that are")
for j in jobs:
    c.cancel(j)
s.stop()

# checking requests takes a while: what is urgent is checked first
c = start(engine="admit_delay_ms = 100\ndelay_ms = 10")
bulk = [c.submit(request("porep", f"bulk-{i}", b"admission %d" % i)) for i in range(40)]
window = c.submit(request("window-post", "window", b"admission"))
winning = c.submit(request("winning-post", "block", b"admission"))
equal([c.wait(j).status for j in (winning, window)], ["COMPLETED"] * 2, "a WinningPoSt and a WindowPoSt behind 40 requests that are to be checked")
n = s.text().count("partition 0 of 10 goes to")
ok(n <= 12, f"{n} of them were checked and begun before")
for j in bulk:
    c.cancel(j)
s.stop()

# requests lie in memory that the instances have not been promised
with open("/proc/meminfo") as f:
    available = next(int(line.split()[1]) << 10 for line in f if line.startswith("MemAvailable"))
c = start(settings="queue_bytes = 16T\nmessage_limit = 1M\n")
most = metric(c, "queue_limit_bytes")
ok(1 << 20 <= most <= available / 18, f"queue_bytes = 16T: {most / 2**20:.0f} MiB of the {available / 2**20:.0f} that are free")
s.stop()
c = start(settings="queue_bytes = 16T\nhost_memory = 64M\n")
equal(metric(c, "queue_limit_bytes"), 16 << 40, "who sets host_memory has to leave room himself")
s.stop()

# a queue that is full of bulk work still takes them
c = start(engine="delay_ms = 600000\nurgent_delay_ms = 10", settings="queue_bytes = 1M\nqueue_limit = 4\nclient_jobs = 4\n")
kept = [c.submit(request("porep", "large", os.urandom(1000000)))]
try:
    c.submit(request("porep", "bulk", b"b" * 60000))
    ok(False, "queue_bytes is in force")
except RpcError as e:
    ok(e.code == "RESOURCE_EXHAUSTED" and "0 of 1 MiB of requests" in e.message, f"queue_bytes is in force: {e.message}")
equal(c.prove(request("winning-post", "block", b"w" * 60000)).status, "COMPLETED", "and a WinningPoSt is proved all the same")
window = request("window-post", "window", b"w" * 60000)
equal(code_of(c.submit, window), "OK", "a WindowPoSt is taken too")
kept.append(c.submit(window))
kept += [c.submit(request("porep", "small", b"%d" % i)) for i in range(2)]
equal(code_of(c.submit, request("porep", "small", b"one more")), "RESOURCE_EXHAUSTED", "queue_limit and client_jobs are in force")
equal(c.prove(request("winning-post", "block", b"beyond")).status, "COMPLETED", "and a WinningPoSt is proved all the same")
codes = [code_of(c.submit, request("window-post", "window", b"beyond %d" % i)) for i in range(40)]
ok(codes[0] == "OK" and codes[-1] == "RESOURCE_EXHAUSTED" and 8 <= codes.count("OK") < 40, f"{codes.count('OK')} WindowPoSts beyond the limits are taken")
equal(c.prove(request("winning-post", "block", b"far beyond")).status, "COMPLETED", "which do not keep a WinningPoSt out")
codes = [code_of(c.submit, request("winning-post", "low", b"low %d" % i, priority=1)) for i in range(2)]
equal(codes, ["RESOURCE_EXHAUSTED"] * 2, "one of low priority has no such place")
s.kill()

# one under which an instance died runs alone: others do not keep the instance busy when its turn has come
token = s.dir + "/token"
open(token, "w").close()
os.rename(s.dir + "/state", s.dir + "/state.old")
c = start(engine=f"delay_ms = 60\nlanes = 2\ncrash_every = 1\ntoken = {token}", instances="[cpu]\nengine = null\ndepth = 3\n",
          settings="restart_delay = 20ms\n")
suspect = c.submit(request("porep", "suspect", b"suspect"))
s.wait_log("cpu died with it (1 of 2)")
bulk = [c.submit(request("porep", f"bulk-{i}", b"suspect %d" % i)) for i in range(5)]
high = c.submit(request("update", "high", [b"high"], priority=3))
equal(c.wait(suspect).status, "COMPLETED", "a job under which an instance died is made")
ok(went("bulk") == [] and went("high") == ["high"], f"after what is more urgent, before what came later: {went('bulk')}")
for j in bulk:
    c.cancel(j)
s.stop()

# no memory to check a request is no fault of it
c = start(engine="oom_admit = 12")
r = c.prove(request(payload=b"no memory"), wait=60)
equal((r.status, r.error), ("COMPLETED", ""), "a request for which there was no memory is checked when there is")
s.stop()

# what an engine says to have cancelled, though nobody asked, is a failure and not tried for ever
c = start(engine="fail_every = 1\nfail_class = cancelled", settings="retries = 2\n")
r = c.prove(request(payload=b"cancelled"), wait=20)
ok(r.status == "FAILED" and r.error.startswith("internal: "), f"a cancellation that nobody asked for: {r.status} {r.error}")
s.stop()

# a client in a hurry does not cost the others their job
c = start(engine="delay_ms = 2500\nrefuse_urgent = yes")
blocker = c.submit(request("porep", "blocker", b"blocker"))
s.wait_log("job blocker.")
m = request("porep", "wanted", b"wanted")
job = c.submit(m)
equal(code_of(c.prove, m, timeout=1), "DEADLINE_EXCEEDED", "a job was submitted, and another client wants it within a second")
hasty = request("porep", "hasty", b"hasty")
equal(code_of(c.prove, hasty, timeout=1), "DEADLINE_EXCEEDED", "and a job that only such a client wants")
s.wait_log("job hasty.", count=2)
time.sleep(2.2)
ok("the deadline passed before the job could start" in next((x for x in s.text().splitlines() if "job hasty" in x and "failed" in x), ""), "which fails when nobody waits any more")
c.cancel(blocker)
equal(c.wait(job, timeout_ms=100).status, "TIMEOUT", "the other one goes on")
equal(c.cancel(job), True, "until it is cancelled")
s.stop()

# the configured deadline holds over a restart
c = start(engine="delay_ms = 600000\nrefuse_urgent = yes", settings="deadline = 3s\n")
blocker = c.submit(request("porep", "blocker", b"deadline"))
s.wait_log("job blocker.")
job = c.submit(request("porep", "late", b"late"))
t = time.monotonic()
s.kill()
s.restart()
s.wait_log("job late.", timeout=1)
limit = time.monotonic() + 20
while "deadline passed" not in s.text() and time.monotonic() < limit:
    time.sleep(0.05)
r = s.client().wait(job, 1000)
ok(r.status == "FAILED" and r.error.startswith("deadline: "), f"a job out of the journal has its deadline: {r.status} {r.error}")
s.kill()
done()
