#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Tests fault class "GPU returns a wrong answer".
# Tests fault class "memory exhausted".
# Tests fault class "poisoned context, hang".
# Tests fault class "opaque errors and status".
"""What goes wrong in an engine or a device: the job completes, or fails with its class, and nobody else suffers."""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

FAST = "restart_delay = 20ms\nrestart_delay_max = 50ms\nkill_grace = 100ms\nquarantine_faults = 1000\n"


def service(engine, instances="[cpu]\nengine = null\n", settings=FAST):
    s.configure(engine=engine, instances=instances, settings=settings)
    s.restart()
    return s.client()


s = Service(settings=FAST).start()
s.stop()

# a partition that fails is tried again; the others are not
c = service("fail_every = 7")
m = request("porep", "p", b"fails once in seven")
r = c.prove(m)
equal((r.status, r.proof), ("COMPLETED", null_proof(m, 10)), "device error: the job completes")
equal(metric(c, "reproved_total"), 1, "one partition was proved again")
s.stop()

c = service("invalid_every = 7")
m = request("porep", "p", b"invalid once in seven")
r = c.prove(m)
equal((r.status, r.proof), ("COMPLETED", null_proof(m, 10)), "GPU returns a wrong answer: all proofs are right")
# the seventh proof of a process: the next one has only four to make
equal((metric(c, "invalid_total"), metric(c, "reproved_total")), (1, 1), "one invalid proof, one partition proved again")
text = c.call("GetMetrics")[1][0].decode()
ok('cuzk_instance_invalid_total{instance="cpu"} 1' in text, "charged to its instance")
ok('cuzk_instance_completed_total{instance="cpu"} 10' in text and 'cuzk_instance_failed_total{instance="cpu"} 1' in text,
   "11 partitions were proved for a job of 10 with one fault")
ok('cuzk_instance_starts_total{instance="cpu"} 2' in text, "and the instance was begun anew")
s.stop()

# class by class
for cls in ["input", "params", "device", "deadline", "internal"]:
    c = service(f"fail_every = 1\nfail_class = {cls}", settings=FAST + "retries = 1\n")
    r = c.prove(request(payload=cls.encode()))
    equal((r.status, r.error.split(":")[0]), ("FAILED", cls), f"an error of class {cls} says so")
    s.stop()
c = service("refuse_sector = 5")
r = c.prove(request(sector=5))
equal((r.status, r.error.split(":")[0]), ("FAILED", "input"), "a request refused at admission")
equal(r.proof, b"", "has no proof")
equal(c.prove(request(sector=6)).status, "COMPLETED", "the next one is fine")
equal(metric(c, "refused_input_total"), 1, "and it is counted")
s.stop()

# memory
c = service("oom_every = 3")
m = request("porep", "p", b"no memory once in three")
r = c.prove(m)
equal((r.status, r.proof), ("COMPLETED", null_proof(m, 10)), "no memory: the partition waits and comes again")
s.stop()

c = service("reserve = 256M", instances="[cpu]\nengine = null\nhost_budget = 128M\n")
t = time.monotonic()
r = c.prove(request(payload=b"too large"))
equal((r.status, r.error.split(":")[0]), ("FAILED", "resource"), f"what never fits is refused: {r.error}")
ok(time.monotonic() - t < 1, "at once")
s.stop()

# never more is promised than there is
for what, instances, settings, budget in (
        ("a small share", "[cpu]\nengine = null\n", "host_memory = 32M\n", "32.0"),
        ("nothing beside the others", "[gpu 0]\nengine = null\ndevice = 0000:01:00.0\nhost_budget = 40M\nkinds = update\n[cpu]\nengine = null\n",
         "host_memory = 40M\n", "0.0")):
    c = service("reserve = 48M", instances=instances, settings=FAST + settings)
    r = c.prove(request(payload=what.encode()))
    ok(r.status == "FAILED" and r.error.startswith("resource: ") and f"needs 48.0 MiB of host memory, the budget of cpu is {budget} MiB" in r.error
       and "raise host_memory" in r.error, f"{what}: {r.error}")
    s.stop()
c = service("", instances="[cpu]\nengine = null\nhost_budget = 60T\n")
ok("<4>memory: host_memory and host_budget promise 62914560 MiB, there are " in s.text(), "a host_budget of more than there is: the log warns")
s.stop()

# the memory of all instances: one that is out for good leaves its part to the others
s.configure(engine="reserve = 300M\n[engine broken]\nlibrary = " + BUILD + "/.libs/null.so\nfail_self_test = yes\n"
            "[engine mortal]\nlibrary = " + BUILD + "/.libs/null.so\ncrash_sector = 13\n",
            instances="[gpu 0]\nengine = broken\ndevice = 0000:01:00.0\n[gpu 1]\nengine = mortal\ndevice = 0000:02:00.0\n"
            "kinds = update\n[cpu]\nengine = null\nkinds = winning-post\n",
            settings=FAST.replace("1000", "1") + "host_memory = 513M\n")
s.restart()
s.wait_log("gpu 0: quarantined")
c = s.client()


def budget(name):
    line = f'cuzk_instance_host_budget_bytes{{instance="{name}"}} '
    return float(c.call("GetMetrics")[1][0].decode().split(line)[1].split()[0]) / 2**20


ok("171 MiB for each instance" in s.text(), "three instances share 513 MiB")
equal([int(budget(n)) for n in ("gpu 1", "cpu")], [256, 256], "two that are left have half each")
r = c.prove(request(payload=b"larger than half"))
equal((r.status, r.error.split(":")[0]), ("FAILED", "resource"), "which is too little for a partition of 300 MiB")
c.submit(request("update", "poison", b"poison", sector=13))
s.wait_log("gpu 1: quarantined")
equal(budget("cpu"), 513, "the last one has all of it")
equal(c.prove(request(payload=b"less than all")).status, "COMPLETED", "which is enough")
s.stop()

# parameters
c = service("absent = update\nbad = window-post")
equal(code_of(c.prove, request("update")), "FAILED_PRECONDITION", "a kind without parameters is refused")
t = time.monotonic()
try:
    c.submit(request("window-post"))
    ok(False, "a kind with damaged parameters is refused")
except RpcError as e:
    ok(e.code == "FAILED_PRECONDITION" and "null-window-post" in e.message, f"damaged parameters: {e.message}")
ok("update is disabled" in s.text() and "window-post is disabled" in s.text(), "the log says so at start")
equal(c.prove(request()).status, "COMPLETED", "the other kinds are served")
s.stop()

# crash, hang, device lost: the same job completes on the next child
token = s.dir + "/token"
for what, engine in {"crash": "crash_every = 1", "exit": "exit_every = 1", "device lost": "sticky_every = 1",
                     "hang": "hang_every = 1\nhang_stage = ntt"}.items():
    open(token, "w").close()
    c = service(engine + f"\ntoken = {token}", settings=FAST + "stage_limit = 300ms\nstage_limit_ntt = 300ms\n"
                "heartbeat_limit = 200ms\n")
    m = request("porep", "p", what.encode())
    t = time.monotonic()
    r = c.prove(m, wait=30)
    equal((r.status, r.proof), ("COMPLETED", null_proof(m, 10)), f"{what}: the job completes")
    ok(time.monotonic() - t < 10, f"after {time.monotonic() - t:.1f} s")
    equal(metric(c, "instance_deaths_total"), 1, "one child died")
    s.stop()

# and by default too, where no test says how soon
open(token, "w").close()
c = service(f"crash_every = 1\ntoken = {token}", settings="")
t = time.monotonic()
equal(c.prove(request("winning-post", "p", b"default"), wait=30).status, "COMPLETED", "with the default delays the job completes as well")
ok(time.monotonic() - t < 5, f"a new child is there in 5 s: {time.monotonic() - t:.1f} s")
s.stop()

# two partitions of one job at work: one death is one
open(token, "w").close()
c = service(f"crash_every = 4\nlanes = 2\ndelay_ms = 100\ntoken = {token}", instances="[cpu]\nengine = null\ndepth = 2\n",
            settings=FAST + "poison_deaths = 2\n")
m = request("porep", "p", b"two at work")
r = c.prove(m, wait=30)
equal((r.status, r.proof), ("COMPLETED", null_proof(m, 10)), f"a crash with two partitions of one job: it completes {r.error}")
equal((metric(c, "instance_deaths_total"), metric(c, "reproved_total")), (1, 1), "one death, counted once")
s.stop()

# poison: a job that kills children fails, the service and the others go on
c = service("crash_sector = 13", settings=FAST + "poison_deaths = 2\n")
calls = [c.start_prove(request("winning-post", "good", b"%d" % i, sector=i)) for i in range(5)]
bad = c.prove(request("winning-post", "bad", b"bad", sector=13), wait=30)
equal((bad.status, "2 instances died" in bad.error), ("FAILED", True), f"poison: {bad.error}")
equal([result(parse(x.result())[1][0]).status for x in calls], ["COMPLETED"] * 5, "the other jobs complete")
equal(metric(c, "instance_deaths_total"), 2, "two children died, not more")
s.stop()
c = service("crash_admit_sector = 13", settings=FAST + "poison_deaths = 2\n")
bad = c.prove(request("winning-post", "bad", b"bad", sector=13), wait=30)
equal(bad.status, "FAILED", "poison in admission")
equal(c.prove(request("winning-post", "good", b"good")).status, "COMPLETED", "and the next one completes")
s.stop()

# the kernel takes an instance when there is no memory: the job comes again, and says so if that is always so
for kills, wanted in ((1, "COMPLETED"), (2, "FAILED")):
    c = service("delay_ms = 1000", settings=FAST + "poison_deaths = 2\n")
    call = c.start_prove(request("winning-post", "oom", b"%d kills" % kills))
    for i in range(kills):
        until = time.monotonic() + 20
        while not any(parse(g).get(6) for g in c.call("GetStatus").get(1, [])) and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.2)
        subprocess.run(["pkill", "-KILL", "-P", str(s.proc.pid)], check=True)
        s.wait_log("cpu: died (killed)", count=i + 1)
        time.sleep(0.2)
    r = result(parse(call.result(30))[1][0])
    ok(r.status == wanted and (wanted == "COMPLETED" or r.error.startswith("resource: ") and "no memory" in r.error),
       f"killed {kills} time(s) from outside: {r.status} {r.error}")
    s.stop()

# an instance under which everything dies costs no job while another is well
SICK = "\n[engine sick]\nlibrary = " + BUILD + "/.libs/null.so\n"
for what, sick in (("proves", "crash_every = 1"), ("checks", "crash_admit_sector = 13")):
    s.configure(engine=SICK + sick + "\n", instances="[gpu 0]\nengine = sick\ndevice = 0000:01:00.0\n[cpu]\nengine = null\n",
                settings=FAST + "poison_deaths = 2\n")
    s.restart()
    s.wait_log(": ready", count=2)
    c = s.client()
    m = request("porep", "sick", b"sick " + what.encode(), sector=13)
    r = c.prove(m, wait=30)
    ok(r.status == "COMPLETED" and r.proof == null_proof(m, 10), f"an instance that dies whenever it {what}: another makes the job {r.error}")
    m = request("winning-post", "sick", b"urgent " + what.encode(), sector=13)
    equal(c.prove(m, wait=30).proof, null_proof(m), "so with one that is urgent")
    s.stop()

# but a job that kills what it is given to fails: the second instance too tells
s.configure(engine=f"crash_sector = 13\n{SICK}crash_sector = 13\n", settings=FAST + "poison_deaths = 2\n",
            instances="[gpu 0]\nengine = sick\ndevice = 0000:01:00.0\n[cpu]\nengine = null\n")
s.restart()
s.wait_log(": ready", count=2)
c = s.client()
bad = c.prove(request("winning-post", "bad", b"everywhere", sector=13), wait=30)
ok(bad.status == "FAILED" and " instances died" in bad.error, f"poison for two instances: {bad.error}")
ok(metric(c, "instance_deaths_total") <= 3, f"{metric(c, 'instance_deaths_total'):.0f} children died")
s.stop()

# the way of a partition: the same instance once, another, the CPU
s.configure(engine="fail_sector = 9\n[engine good]\nlibrary = " + BUILD + "/.libs/null.so\n",
            instances="[gpu 0]\nengine = null\ndevice = 0000:01:00.0\n[cpu]\nengine = good\n", settings=FAST)
s.restart()
s.wait_log("ready", count=3)
c = s.client()
m = request("winning-post", "p", b"nine", sector=9)
r = c.prove(m, wait=30)
equal((r.status, r.proof), ("COMPLETED", null_proof(m)), "an instance that always fails: another proves it")
s.stop()

BAD = "fail_sector = 9\n[engine good]\nlibrary = " + BUILD + "/.libs/null.so\n"
s.level = "debug"
s.configure(engine=BAD, instances="[gpu 0]\nengine = null\ndevice = 0000:01:00.0\n[gpu 1]\nengine = null\ndevice = 0000:02:00.0\n"
            "[gpu 2]\nengine = null\ndevice = 0000:03:00.0\n[cpu]\nengine = good\n", settings=FAST)
s.restart()
s.wait_log("ready", count=5)
m = request("window-post", "way", b"nine again", sector=9)
r = s.client().prove(m, wait=30)
equal((r.status, r.proof), ("COMPLETED", null_proof(m)), "three instances that always fail, and a CPU")
way = [line.split(" goes to ")[1] for line in s.text().splitlines() if " goes to " in line]
# whichever of the two others admits it first
equal([w.replace("gpu 2", "gpu 1") for w in way], ["gpu 0", "gpu 0", "gpu 1", "cpu"], "the way of a partition: the same instance once, another, then the CPU")
s.stop()

# no instance left
s.configure(engine="fail_self_test = yes", settings="restart_delay = 1ms\nrestart_delay_max = 1ms\nquarantine_faults = 2\n")
os.rename(s.log, s.log + ".old")
s.start(wait=False)
equal(s.wait(20), 1, "no instance left: it ends with status 1")
ok("no instance is left" in s.text(), "and says why")
ok("<5>ready" not in s.text(), "it never said that it was ready")
done()
