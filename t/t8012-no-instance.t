#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A job that no instance is left for fails and says why; one whose instance may come back waits."""
import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

LIBRARY = BUILD + "/.libs/null.so"
QUICK = "restart_delay = 20ms\nrestart_delay_max = 50ms\nkill_grace = 100ms\npoison_deaths = 100\n"
GPU = "[gpu 1]\nengine = mortal\ndevice = 0000:02:00.0\nkinds = update\n"
CPU = "[cpu]\nengine = null\nkinds = winning-post\n"


def mortal(more="", poison="crash_sector"):
    return f"[engine mortal]\nlibrary = {LIBRARY}\n{poison} = 13\npartitions_update = 1\n{more}\n"


def refused(c, message):
    try:
        c.submit(message)
    except RpcError as e:
        return e.code, e.message
    return "OK", ""


def names_all(text):
    return all(w in text for w in ("no instance is left for update", "gpu 1 is quarantined", "killed by signal"))


# the only instance of a kind goes for good
s = Service()
s.configure(engine=mortal("delay_ms = 100"), instances=GPU + CPU, settings=QUICK + "quarantine_faults = 1\n")
s.start()
s.wait_log("ready", count=3)
c = s.client()
poison = c.submit(request("update", "poison", b"poison", sector=13))
job = c.submit(request("update", "behind", b"behind"))
t = time.monotonic()
s.wait_log("gpu 1: quarantined")
r = c.wait(job, 20000)
equal(r.status, "FAILED", "a job of a kind that no instance is left for fails")
ok(r.error.startswith("device: scheduler: ") and names_all(r.error), f"with class and reason: {r.error}")
ok(time.monotonic() - t < 10, f"after {time.monotonic() - t:.1f} s")
equal(c.wait(poison, 20000).status, "FAILED", "so does the one that it died with")
code, text = refused(c, request("update", "late", b"late"))
ok(code == "FAILED_PRECONDITION" and text.startswith("device: scheduler: ") and names_all(text), f"a new one is refused: {code}: {text}")
ok("update is disabled: no instance is left" in s.text(), "the log says that the kind is disabled")
equal(c.prove(request()).status, "COMPLETED", "the other kinds are served")
equal(code_of(c.submit, request("porep", "p", b"p")), "FAILED_PRECONDITION", "a kind that none is configured for is refused as before")
s.kill()
s.restart()
c = s.client()
r = c.wait(job)
ok(r.status == "FAILED" and names_all(r.error), "the failure is in the journal")
ok(f"job {job}: resumed" not in s.text(), "and the job does not come again")
equal(c.prove(request("update", "anew", b"anew"), wait=20).status, "COMPLETED", "the restarted instance serves the kind")
s.stop()

# an instance that restarts comes back
s.configure(engine=mortal(), instances=GPU + CPU, settings=QUICK.replace("20ms", "1500ms").replace("50ms", "1500ms"))
s.restart()
s.wait_log("ready", count=3)
c = s.client()
poison = c.submit(request("update", "poison", b"poison again", sector=13))
s.wait_log("gpu 1: failed")
job = c.submit(request("update", "waits", b"waits"))
equal(c.wait(job, 300).status, "TIMEOUT", "while an instance restarts its jobs wait")
c.cancel(poison)
equal(c.wait(job, 30000).status, "COMPLETED", "and are made when it is back")

# so does one that takes its time to open, with jobs out of the journal
c.submit(request("update", "poison", b"poison three", sector=13))
s.wait_log("gpu 1: failed", count=2)
job = c.submit(request("update", "slow", b"slow"))
s.kill()
s.configure(engine=mortal("probe_delay_ms = 1500", "fail_sector"), instances=GPU + CPU, settings=QUICK + "retries = 0\n")
s.restart()
c = s.client()
ok(f"job {job}: resumed" in s.text(), "a job out of the journal")
equal(c.wait(job, 300).status, "TIMEOUT", "waits while its instance starts")
r = c.wait(job, 30000)
equal((r.status, r.error), ("COMPLETED", ""), "and is made when it is there")
s.stop()

# it goes, and the one that is left never had the parameters
s.configure(engine="absent = update\n" + mortal("delay_ms = 100"), instances=GPU + "[cpu]\nengine = null\n",
            settings=QUICK + "quarantine_faults = 1\n")
s.restart()
s.wait_log("ready", count=3)
c = s.client()
c.submit(request("update", "poison", b"poison four", sector=13))
job = c.submit(request("update", "two", b"two instances"))
r = c.wait(job, 20000)
ok(r.status == "FAILED" and r.error.startswith("device: ") and names_all(r.error) and "cpu: parameters of null-update are absent" in r.error,
   f"one is out, the other never had the parameters: {r.error}")
s.stop()

# or has too little memory
s.configure(engine=mortal("reserve = 256M"), instances=GPU + "[cpu]\nengine = mortal\nhost_budget = 128M\n",
            settings=QUICK + "quarantine_faults = 1\n")
s.restart()
s.wait_log("ready", count=3)
r = s.client().prove(request("update", "large", b"large", sector=13), wait=20)
ok(r.status == "FAILED" and r.error.startswith("resource: ") and "raise host_budget" in r.error and names_all(r.error), f"or has too little memory: {r.error}")
s.stop()

# every instance goes: the service ends, and its jobs are kept for the next one
s.configure(engine=mortal("delay_ms = 200"), instances=GPU, settings=QUICK + "quarantine_faults = 1\n")
s.restart()
c = s.client()
job = c.submit(request("update", "kept", b"kept"))
c.start("SubmitProof", request("update", "poison", b"poison six", sector=13))
again = c.submit(request("update", "kept too", b"kept too"))
equal(s.wait(20), 1, "no instance at all: the service ends with status 1")
equal(s.text().count("no instance is left that could prove"), 1, "it says so once")
ok(": failed (" not in s.text(), "and fails no job")
s.configure(engine=mortal("", "fail_sector"), instances=GPU, settings=QUICK + "retries = 0\n")
s.restart()
equal([s.client().wait(j, 20000).status for j in (job, again)], ["COMPLETED"] * 2, "which the next one makes")

# a kind that nobody is configured for any more
s.client().submit(request("update", "hangs", b"hangs", sector=7))
s.kill()
s.configure(engine=mortal("hang_sector = 7"), instances=GPU, settings=QUICK)
s.restart()
job = s.client().submit(request("update", "left", b"left over", sector=7))
s.kill()
s.configure(instances=CPU, settings=QUICK)
s.restart()
r = s.client().wait(job, 20000)
ok(r.status == "FAILED" and r.error == "params: scheduler: no instance is configured for update", f"a job of a kind that none is configured for any more: {r.error}")
s.stop()

# nor after a reload
s.configure(engine=mortal("hang_sector = 7"), instances=GPU + "depth = 1\n" + CPU, settings=QUICK)
s.restart()
s.wait_log("ready", count=3)
c = s.client()
runs = c.submit(request("update", "runs", b"it runs", sector=7))
waits = c.submit(request("update", "waits", b"it waits", sector=8))
limit = time.monotonic() + 20
while parse(c.call("GetStatus")[3][1]).get(3, [0])[0] != 1 and time.monotonic() < limit:
    time.sleep(0.05)
s.configure(engine=mortal("hang_sector = 7"), instances=GPU.replace("= update", "= porep") + "depth = 1\n" + CPU, settings=QUICK)
s.proc.send_signal(signal.SIGHUP)
s.wait_log("update is disabled: no instance is configured for update")
ok(True, "a reload that takes a kind away: the log says so")
r = c.wait(waits, 20000)
ok(r.status == "FAILED" and r.error.endswith("no instance is configured for update"), f"its jobs fail: {r.error}")
equal(c.wait(runs, 300).status, "TIMEOUT", "but for those that run")
s.kill()
done()
