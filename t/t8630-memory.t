#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fault class "memory exhausted", fault class "freed memory not returned": the resident memory of real proofs in sequence.

CUZK_TEST_PROOFS says how many (20); 500 take some twenty minutes on a quiet machine.
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
COUNT = int(os.environ.get("CUZK_TEST_PROOFS", "20"))
WARM = 4	# proofs before the baseline: tables, arenas, the loader
if not os.path.exists(ENGINE):
    skip_all("groth16", "the engine is not built")
with open(SRC + "/t/data/requests/winning-2k.json") as f:
    wanted = json.load(f)


def message():
    return request("winning-post", "memory", [base64.b64decode(p) for p in wanted["vanillaProofs"]], miner=int(wanted["minerId"]),
                   sector_size=2048, randomness=base64.b64decode(wanted["randomness"]), registered=int(wanted["registeredProof"]))


def gauge(name):
    for line in c.call("GetMetrics")[1][0].decode().splitlines():
        if line.startswith(f"cuzk_{name}") and " " in line:
            return float(line.split()[-1])
    raise KeyError(name)


s = Service()
params = s.dir + "/params"
os.mkdir(params)
p = subprocess.run([BUILD + "/cuzkctl", "params", "make", "winning-2k", "--out", params, "--engine", ENGINE],
                   capture_output=True, text=True, timeout=600)
if not ok(p.returncode == 0, f"development parameters {p.stderr.strip()}"):
    done()


def configure(extra):
    with open(s.config, "w") as f:
        # no result is kept, so that the same request is proved each time, with other blinding
        f.write(f"[global]\nlisten = {s.socket}\nstate_dir = {s.dir}/state\nruntime_dir = {s.dir}\nresult_limit = 0\n"
                f"params_dir = {params}\ninstance_program = {BUILD}/cuzk-instance\n"
                f"[engine groth16]\nlibrary = {ENGINE}\ncache_dir = {s.dir}/cache\n[cpu]\nengine = groth16\n{extra}\n")


configure("")
s.start(timeout=300)
c = s.client()
GAUGES = {"instance": "instance_resident_bytes{", "service": "service_resident_bytes"}
base, last, worst, proofs = {}, {}, {}, set()


def measure():
    return {what: gauge(name) for what, name in GAUGES.items()}


def prove():
    """The same request at once after its end is still answered by the job that ended."""
    for attempt in range(100):
        r = c.prove(message(), wait=300)
        if r.status != "COMPLETED" or r.proof not in proofs:
            break
        time.sleep(0.1)
    return r


for i in range(WARM + COUNT):
    r = prove()
    if r.status != "COMPLETED":
        ok(False, f"proof {i}: {r.status} {r.error}")
        break
    proofs.add(r.proof)
    if i < WARM - 1:
        continue
    if not base:
        # what a service touches of its libraries and tables within its first hundreds of calls
        for k in range(300):
            c.prove(request("winning-post", "warm", [b"nonsense %d" % k], sector_size=2048))
            measure()
        time.sleep(5)	# two seconds without work, and what the heap has free goes back
        base = measure()
        continue
    # memory is told once a second
    limit = time.monotonic() + 10
    time.sleep(1)
    while True:
        last = measure()
        if all(last[x] <= 1.02 * base[x] for x in base) or time.monotonic() > limit:
            break
        time.sleep(0.2)
    worst = {x: max(worst.get(x, 0), last[x]) for x in last}
    if i % 50 == 0:
        diag(f"{i} proofs: " + ", ".join(f"{x} {last[x] / 2**20:.2f} MiB" for x in last))
equal(len(proofs), WARM + COUNT, "each is a proof of its own")
for what in GAUGES:
    ok(worst[what] <= 1.02 * base[what], f"{what}: {base[what] / 2**20:.2f} MiB after {WARM} proofs; after each of {COUNT} more it "
       f"returned to at most {(worst[what] / base[what] - 1) * 100:+.2f} %")
ok(gauge("instance_host_peak_bytes{") >= gauge("instance_host_reserved_bytes{") > 0, "reserved and peak are exported")
ok(gauge("instance_resident_peak_bytes{") > 0 and gauge("service_peak_bytes") > 0, "of every process")
equal(s.stop(), 0, "stop")

# what thousands of requests left in the heap of the service goes back once there is nothing to do, though
# something that was made after them is still there
JOBS = 8000
s.configure(engine="delay_ms = 600000", settings=f"result_limit = 1\nqueue_limit = {JOBS + 10}\n")
s.restart()
c = s.client()
small = gauge("service_resident_bytes")
calls, jobs = [], []
for i in range(JOBS):
    calls.append(c.start("SubmitProof", request("winning-post", "heap", b"%d" % i, priority=1)))
    while len(calls) > 50 or (i == JOBS - 1 and calls):
        jobs.append(parse(calls.pop(0).result())[1][0].decode())
for i, job in enumerate(jobs):
    calls.append(c.start("CancelProof", field(1, job)))
    if i == JOBS - 2:
        large = gauge("service_resident_bytes")
    while len(calls) > 50 or (i == JOBS - 1 and calls):
        calls.pop(0).result()
limit = time.monotonic() + 30
while (left := gauge("service_resident_bytes")) > small + (large - small) / 3 and time.monotonic() < limit:
    time.sleep(0.2)
ok(large > small + 8 * 2**20, f"the service: {small / 2**20:.1f} MiB, with {JOBS} jobs {large / 2**20:.1f} MiB")
ok(left <= small + (large - small) / 3, f"and {left / 2**20:.1f} MiB once they are gone")
equal(s.stop(), 0, "stop")
done()
