#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What cannot wait is proved beside the partition that an instance works at: at once, right, and through faults."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

FAST = "restart_delay = 20ms\nrestart_delay_max = 50ms\nkill_grace = 100ms\nquarantine_faults = 1000\n"
PART = 2.0	# seconds of a bulk partition
SLOW = f"delay_ms = {int(PART * 1000)}\nurgent_delay_ms = 100\npartitions_porep = 2\n"


def begin(engine, instances="[gpu 0]\nengine = null\ndevice = 0000:01:00.0\n"):
    s.configure(engine=engine, instances=instances, settings=FAST)
    s.start() if s.proc is None else s.restart()
    s.wait_log(": ready")
    return s.client()


s = Service(settings=FAST)
s.proc = None
c = begin(SLOW)
bulk = request("porep", "bulk", b"bulk")
job = c.submit(bulk)
time.sleep(0.5)
took = []
for i in range(5):
    m = request("winning-post", "block", b"winning %d" % i)
    t = time.monotonic()
    r = c.prove(m)
    took.append(time.monotonic() - t)
    if r.proof != null_proof(m):
        ok(False, f"WinningPoSt {i} is right: {r.status} {r.error}")
ok(max(took) < PART / 2, "WinningPoSt beside a PoRep, 100 ms each: done after at most "
   f"{max(took) * 1000:.0f} ms, a partition takes {PART * 1000:.0f} ms")
m = request("window-post", "near", b"near")
r = c.prove(m, timeout=30)
ok(r.proof == null_proof(m) and r.queue_wait_ms < PART * 500 and r.total_ms < PART * 500,
   f"a WindowPoSt with 30 s to its deadline too: {r.total_ms} ms")
equal(c.wait(job).proof, null_proof(bulk, 2), "and the PoRep is right")
job = c.submit(request("porep", "bulk", b"bulk 2"))
time.sleep(0.3)
r = c.prove(request("window-post", "far", b"far"), timeout=3600)
ok(r.status == "COMPLETED" and r.total_ms > PART * 500,
   f"a WindowPoSt with an hour left waits for its turn: {r.total_ms} ms")

# cancelled while both run
s.configure(engine=SLOW.replace("urgent_delay_ms = 100", "urgent_delay_ms = 30000"),
            instances="[gpu 0]\nengine = null\ndevice = 0000:01:00.0\n", settings=FAST)
c.cancel(job)
s.stop()
s.restart()
s.wait_log(": ready")
c = s.client()
job = c.submit(bulk)
time.sleep(0.3)
urgent = c.submit(request("winning-post", "gone", b"gone"))
time.sleep(0.5)
t = time.monotonic()
equal(c.cancel(urgent), True, "the urgent one is cancelled")
equal(c.wait(urgent).status, "CANCELLED", "and ends")
r = c.wait(job)
ok(r.status == "COMPLETED" and time.monotonic() - t < 3 * PART, "the PoRep goes on at once")
s.stop()

# a crash while both run: both are done again
token = s.dir + "/token"
open(token, "w").close()
c = begin(SLOW + f"crash_sector = 99\ntoken = {token}\n")
bulk = request("porep", "bulk", b"crash")
job = c.submit(bulk)
time.sleep(0.5)
m = request("winning-post", "crash", b"crash", sector=99)
r = c.prove(m)
equal((r.status, r.proof), ("COMPLETED", null_proof(m)), "an engine that crashes on an urgent partition: it is proved again")
equal(c.wait(job).proof, null_proof(bulk, 2), "and so is what it was beside")
ok("died (crashed) with 2 partition(s)" in s.text() or "died (crashed) with 3 partition(s)" in s.text(),
   "both were in flight")
s.stop()

# an engine that cannot do it now
c = begin(SLOW + "refuse_urgent = yes\n")
job = c.submit(request("porep", "bulk", b"refuse"))
time.sleep(0.3)
m = request("winning-post", "block", b"refuse")
r = c.prove(m)
ok(r.proof == null_proof(m) and r.total_ms < PART * 1000 + PART * 1500,
   f"where the engine refuses, it is the next: {r.total_ms} ms")
equal(c.wait(job).status, "COMPLETED", "before the PoRep's last partition")
s.stop()

# an idle instance comes before one that would be interrupted
c = begin("delay_ms = 1000\npartitions_porep = 1\n",
          "[gpu 0]\nengine = null\ndevice = 0000:01:00.0\ndepth = 1\n"
          "[gpu 1]\nengine = null\ndevice = 0000:02:00.0\ndepth = 1\n")
s.wait_log(": ready", count=2)
job = c.submit(request("porep", "bulk", b"idle"))
time.sleep(0.3)
t = time.monotonic()
r = c.prove(request("winning-post", "block", b"idle"))
ok(c.wait(job).total_ms < 1500 and r.status == "COMPLETED",
   "a WinningPoSt goes to the instance that is idle, and interrupts nobody")
s.stop()
done()
