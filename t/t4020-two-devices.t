#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Two devices in one service: the real engine opens each by what is written on it, on emulated devices; a job's partitions go to both."""
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

FAKE = BUILD + "/t/fake"
ENGINE = BUILD + "/.libs/groth16.so"
UUID = ["GPU-" + "-".join(x * n for n in (4, 2, 2, 2, 6)) for x in ("a0", "a1")]
if not os.path.exists(FAKE + "/libcuda.so.1") or not os.path.exists(ENGINE):
    skip_all("cuda", "built without CUDA")

path = FAKE + (":" + os.environ["LD_LIBRARY_PATH"] if os.environ.get("LD_LIBRARY_PATH") else "")
s = Service(env={"LD_LIBRARY_PATH": path})
# an instance keeps little of its environment
program = s.dir + "/instance"
with open(program, "w") as f:
    f.write(f"#!/bin/sh\nFAKE_CUDA_DEVICES=2 exec '{BUILD}/cuzk-instance' \"$@\"\n")
os.chmod(program, 0o755)


def configure(devices):
    with open(s.config, "w") as f:
        f.write(f"[global]\nlisten = {s.socket}\nstate_dir = {s.dir}/state\nruntime_dir = {s.dir}\n"
                f"params_dir = {s.dir}\ninstance_program = {program}\nlog_level = debug\n"
                f"[engine groth16]\nlibrary = {ENGINE}\ncache_dir = {s.dir}/cache\n")
        for i, device in enumerate(devices):
            f.write(f"[gpu {i}]\nengine = groth16\ndevice = {device}\nthreads = 1\nvram_budget = 512M\n")


configure(UUID)
s.start(wait=False)
for i in range(2):
    s.wait_log(f"gpu {i}: ready", timeout=300)
ok(True, "two instances, each on a device found by its UUID, give the known answer")
ok("urgent proofs wait" not in s.text(), "each with a lane for urgent proofs")
equal(s.stop(), 0, "an orderly end")

# one of them is not there
configure([UUID[1], "0000:77:00.0"])
s.proc.wait()
os.truncate(s.log, 0)
s.start(wait=False)
s.wait_log("gpu 0: ready", timeout=300)
s.wait_log("no CUDA device is 0000:77:00.0", timeout=60)
ok(True, "where one is missing the other serves, and the log names the missing one")
s.stop()

# partitions of one job, each 100 ms, on the null engine with the same two devices
s.configure(engine="delay_ms = 100\nurgent_delay_ms = 10\n",
            instances="".join(f"[gpu {i}]\nengine = null\ndevice = {UUID[i]}\ndepth = 2\n" for i in range(2)))
os.truncate(s.log, 0)
s.start()
s.wait_log(": ready", count=2)
c = s.client()
m = request("porep", "shared", b"two devices")
t = time.monotonic()
r = c.prove(m)
took = time.monotonic() - t
equal(r.proof, null_proof(m, 10), "ten partitions on two devices, in order")
text = c.call("GetMetrics")[1][0].decode()
counts = [int(l.split()[-1]) for l in text.splitlines() if l.startswith("cuzk_instance_completed_total")]
ok(len(counts) == 2 and sum(counts) == 10 and min(counts) >= 4,
   f"both prove about as many: {counts}, {took * 1000:.0f} ms for 10 of 100 ms")
s.stop()
done()
