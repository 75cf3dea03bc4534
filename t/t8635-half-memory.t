#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fault class "memory exhausted": with half the memory the work is done with fewer partitions in flight.

The limit is a control group's where one can be made, so that the kernel enforces it; what the
service then plans with follows from it.  Where none can be made, host_budget is the limit.
"""
import base64
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

ENGINE = BUILD + "/.libs/groth16.so"
MIB = 1 << 20
FAST = "restart_delay = 20ms\nrestart_delay_max = 50ms\n"
print('# fault class "memory exhausted"')


class Group:
    """A control group with a limit of memory, of either version; None where none can be made."""

    def __init__(self, limit):
        self.path = None
        with open("/proc/self/cgroup") as f:
            lines = [x.rstrip("\n").split(":", 2) for x in f]
        for _, controllers, path in lines:
            v1 = "memory" in controllers.split(",")
            if controllers and not v1:
                continue
            root = "/sys/fs/cgroup" + ("/memory" if v1 else "")
            name = "memory.limit_in_bytes" if v1 else "memory.max"
            for parent in (root + path, root):
                new = f"{parent}/cuzk-test-{os.getpid()}"
                try:
                    os.mkdir(new)
                except OSError:
                    continue
                try:
                    with open(new + "/" + name, "w") as f:
                        f.write(str(limit))
                    self.path = new
                    return
                except OSError:
                    os.rmdir(new)

    def enter(self):
        """In the child, before it becomes the service."""
        with open(self.path + "/cgroup.procs", "w") as f:
            f.write(str(os.getpid()))

    def remove(self):
        limit = time.monotonic() + 10
        while time.monotonic() < limit:
            try:
                os.rmdir(self.path)
                return
            except OSError:
                time.sleep(0.1)


def gauge(c, name):
    for line in c.call("GetMetrics")[1][0].decode().splitlines():
        if line.startswith(f"cuzk_{name}{{") and " " in line:
            return float(line.split()[-1])
    raise KeyError(name)


def start(group=None):
    if os.path.exists(s.log):
        os.rename(s.log, s.log + ".old")
    if not group:
        s.start(timeout=300)
        return s.client()
    log = open(s.log, "ab")
    s.proc = subprocess.Popen([BUILD + "/cuzkd", "--config", s.config], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                              preexec_fn=group.enter)
    cuzk._children.append(s.proc)
    s.wait_log("<5>ready", 300)
    return s.client()


import cuzk

# ---- the null engine: each partition reserves 100 MiB, four may run ----
s = Service()
for what, budget, most in (("enough", 450, 4), ("half", 250, 2), ("hardly any", 150, 1)):
    s.configure(engine="delay_ms = 200\nlanes = 4\nreserve = 100M",
                instances=f"[cpu]\nengine = null\ndepth = 4\nhost_budget = {budget}M\n", settings=FAST)
    c = start()
    jobs = [(m, c.start_prove(m)) for m in (request("porep", f"m{i}", b"%s %d" % (what.encode(), i)) for i in range(3))]
    results = [(m, result(parse(call.result(120))[1][0])) for m, call in jobs]
    equal([r.status == "COMPLETED" and r.proof == null_proof(m, 10) for m, r in results], [True] * 3,
          f"{what}, {budget} MiB: 30 partitions are proved {results[0][1].error}")
    time.sleep(1.2)	# memory is told once a second
    equal(gauge(c, "instance_host_peak_bytes") / MIB, 100 * most, f"{what}: {most} in flight at most")
    ok(metric(c, "reproved_total") == 0, "and a partition that waits for others is no failure")
    equal(s.stop(), 0, "stop")

# ---- what follows from a group ----
def budget_in(limit, read):
    """The budget in a group whose page cache holds a file of so many bytes, which nobody uses; None without a group."""
    group = Group(limit)
    if not group.path:
        return None
    try:
        if read:
            big = s.dir + "/big"
            with open(big, "wb") as f:
                f.write(os.urandom(read))
                f.flush()
                os.fsync(f.fileno())
                os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            subprocess.run(["cat", big], stdout=subprocess.DEVNULL, preexec_fn=group.enter, check=True)
        s.configure(instances="[cpu]\nengine = null\n", settings=FAST)
        budget = gauge(start(group), "instance_host_budget_bytes")
        equal(s.stop(), 0, "stop")
        return budget
    finally:
        if s.proc.poll() is None:
            s.proc.kill()
            s.proc.wait()
        group.remove()


small, plain, cached = budget_in(40 * MIB, 0), budget_in(200 * MIB, 0), budget_in(200 * MIB, 150 * MIB)
if small is None:
    skip("cgroup", "no control group with a memory limit can be made here")
else:
    ok(0 < small < 40 * MIB, f"in a group of 40 MiB the budget is {small / MIB:.1f} MiB")
    ok(0.75 * plain < cached <= 200 * MIB, f"a file in the page cache takes nothing away: {cached / MIB:.1f} MiB of {plain / MIB:.1f}")

# ---- the real one ----
if not os.path.exists(ENGINE):
    skip("groth16", "the engine is not built")
    done()
params = s.dir + "/params"
os.mkdir(params)
p = subprocess.run([BUILD + "/cuzkctl", "params", "make", "winning-2k", "--out", params, "--engine", ENGINE],
                   capture_output=True, text=True, timeout=600)
if not ok(p.returncode == 0, f"development parameters {p.stderr.strip()}"):
    done()
with open(SRC + "/t/data/requests/winning-2k.json") as f:
    wanted = json.load(f)


def winning(i):
    return request("winning-post", f"w{i}", [base64.b64decode(p) for p in wanted["vanillaProofs"]], miner=int(wanted["minerId"]), sector=i,
                   sector_size=2048, randomness=base64.b64decode(wanted["randomness"]), registered=int(wanted["registeredProof"]),
                   priority=1)


def configure(extra=""):
    with open(s.config, "w") as f:
        f.write(f"[global]\nlisten = {s.socket}\nstate_dir = {s.dir}/state\nruntime_dir = {s.dir}\nresult_limit = 0\nparams_dir = {params}\n"
                f"instance_program = {BUILD}/cuzk-instance\n{FAST}\n[engine groth16]\nlibrary = {ENGINE}\ncache_dir = {s.dir}/cache\n"
                f"[cpu]\nengine = groth16\ndepth = 2\n{extra}\n")


def work(c, what, first):
    calls = [c.start_prove(winning(first + i)) for i in range(6)]
    equal([result(parse(x.result(300))[1][0]).status for x in calls], ["COMPLETED"] * 6, f"{what}: six proofs")
    time.sleep(1.2)
    return gauge(c, "instance_host_peak_bytes"), gauge(c, "instance_resident_peak_bytes")


configure()
c = start()
whole, resident = work(c, "all memory", 0)
with open("/proc/%d/status" % s.proc.pid) as f:
    own = int(next(x for x in f if x.startswith("VmHWM")).split()[1]) << 10
equal(s.stop(), 0, "stop")
diag(f"reserved {whole / MIB:.1f} MiB, resident {resident / MIB:.1f} MiB, the service {own / MIB:.1f} MiB")
one = os.path.getsize(params + "/" + next(n for n in os.listdir(params) if n.endswith(".params")))
ok(whole > one, "two proofs in flight and the parameters are more than the parameters")

# room for the parameters and one proof, not for two
configure(f"host_budget = {int(whole) - MIB}\n")
c = start()
peak, _ = work(c, "a little less", 10)
ok(peak <= whole - MIB, f"reserved at most {peak / MIB:.1f} MiB, {whole / MIB:.1f} MiB with two in flight")
equal(gauge(c, "instance_starts_total"), 1, "nothing died of it")
equal(s.stop(), 0, "stop")

# enforced by the kernel: what follows from the group's limit is too little for two, and then for one
for what, limit, enough in (("fewer in flight", int((whole / 0.9 + own) * 0.75), True), ("hardly any", 48 * MIB, False)):
    group = Group(limit)
    if not group.path:
        skip("cgroup", "no control group with a memory limit can be made here")
        break
    try:
        configure()
        c = start(group)
        budget = gauge(c, "instance_host_budget_bytes")
        ok(budget < whole, f"a group of {limit / MIB:.1f} MiB: the budget is {budget / MIB:.1f} MiB")
        calls = [c.start_prove(winning(20 + i)) for i in range(6)]
        answers = [result(parse(x.result(300))[1][0]) for x in calls]
        if enough:
            equal([r.status for r in answers], ["COMPLETED"] * 6, f"{what}: six proofs {answers[0].error}")
            time.sleep(1.2)
            peak = gauge(c, "instance_host_peak_bytes")
            ok(one < peak <= budget, f"{what}: reserved at most {peak / MIB:.1f} MiB")
        else:
            ok(all(r.status == "FAILED" and r.error.startswith("resource:") and r.total_ms < 1000 for r in answers),
               f"{what}: refused at once: {answers[0].error}")
        equal((gauge(c, "instance_starts_total"), metric(c, "reproved_total")), (1, 0), "the kernel has killed nobody")
        equal(s.stop(), 0, "stop")
    finally:
        if s.proc.poll() is None:
            s.proc.kill()
            s.proc.wait()
        group.remove()
done()
