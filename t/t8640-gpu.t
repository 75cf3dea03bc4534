#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fault classes of a GPU, through the service: the real engine on an emulated CUDA driver.

The driver is t/fake-libcuda.cc, told by a file what to do wrong; the engine is t/small.la,
the real one with a circuit of a hundred rows behind every request.
"""
import json
import os
import struct
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

ENGINE = BUILD + "/t/.libs/small.so"
DRIVER = BUILD + "/t/fake/libcuda.so.1"
if not os.path.exists(DRIVER):
    skip_all("cuda", "built without CUDA")
MODULUS = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001
GPU = ["GPU-" + "-".join(b * n for n in (4, 2, 2, 2, 6)) for b in ("a0", "a1")]
STAGES = ("", "_params", "_witness", "_upload", "_evaluate", "_ntt", "_msm_h", "_msm_l", "_msm_a", "_msm_b1", "_msm_b2", "_finish",
          "_verify")
FAST = "restart_delay = 20ms\nrestart_delay_max = 50ms\nkill_grace = 200ms\nquarantine_faults = 100\n"
# an emulated device is slow, on a busy machine even slower
HANG = FAST + "heartbeat_limit = 45s\n" + "".join(f"stage_limit{x} = 45s\n" for x in STAGES)
BOTH = f"[gpu 0]\nengine = small\ndevice = {GPU[0]}\n[gpu 1]\nengine = small\ndevice = {GPU[1]}\n"
ONE = f"[gpu 0]\nengine = small\ndevice = {GPU[0]}\n"
PARTITIONS = 3	# of a PoRep of t/small-vanilla.c

s = Service()
params, fake = s.dir + "/params", s.dir + "/fake"
token, count = s.dir + "/token", s.dir + "/count"
os.mkdir(params)
os.mkdir(fake)
os.symlink(DRIVER, fake + "/libcuda.so.1")
p = subprocess.run([BUILD + "/cuzkctl", "params", "make", "tiny-100", "--out", params, "--engine", ENGINE],
                   capture_output=True, text=True, timeout=600)
if not ok(p.returncode == 0, f"parameters {p.stderr.strip()}"):
    done()


def service(instances, driver="", settings=FAST, wait=True, folder=fake):
    if os.path.exists(s.log):
        os.rename(s.log, s.log + ".old")
    with open(fake + "/settings", "w") as f:
        f.write(f"FAKE_CUDA_DEVICES=2\nFAKE_CUDA_COUNT={count}\n{driver}\n")
    s.env = {"LD_LIBRARY_PATH": folder}
    with open(s.config, "w") as f:
        f.write(f"[global]\nlisten = {s.socket}\nstate_dir = {s.dir}/state\nruntime_dir = {s.dir}\nparams_dir = {params}\n"
                f"instance_program = {BUILD}/cuzk-instance\n{settings}\n"
                f"[engine small]\nlibrary = {ENGINE}\ncache_dir = {s.dir}/cache\n{instances}")
    s.start(wait=wait, timeout=120)
    return s.client() if wait else None


def ready(n):
    s.wait_log(": ready", 120, count=n)


def message(kind, payload):
    # a size that no circuit of the network has: admission decides
    return request(kind, payload.decode(), payload, sector_size=4096)


def verifies(payload, proof, n):
    """By the verifying key and public inputs of our own computing."""
    inputs = b""
    for i in range(n):
        x = z = struct.unpack("<Q", sha256(payload)[:8])[0] + i
        for _ in range(100):
            z = (z * z + 3) % MODULUS
        inputs += x.to_bytes(32, "little") + z.to_bytes(32, "little")
    for name, data in (("proof", proof), ("inputs", inputs)):
        with open(f"{s.dir}/{name}", "wb") as f:
            f.write(data)
    p = subprocess.run([BUILD + "/cuzkctl", "verify", "--vk", params + "/tiny-100.vk", "--proof", s.dir + "/proof", "--inputs",
                        s.dir + "/inputs", "--engine", ENGINE], capture_output=True, text=True, timeout=100)
    return len(proof) == 192 * n and p.returncode == 0


def gauge(c, name):
    for line in c.call("GetMetrics")[1][0].decode().splitlines():
        if line.startswith(f"cuzk_{name} "):
            return float(line.split()[-1])
    raise KeyError(name)


def counts(device):
    """pid, devices that it sees, bytes up, bytes down: of the process that opened the device"""
    with open(f"{count}.{device}") as f:
        return [int(x) for x in f.read().split()]


def pids():
    return subprocess.run(["pgrep", "-P", str(s.proc.pid), "-a"], capture_output=True, text=True).stdout


print('# fault class "wrong GPU": listed in two orders, each process opens the one that it was given and sees no other')
for order in ("forward", "reverse"):
    c = service(BOTH, f"FAKE_CUDA_ORDER={order}")
    ready(2)
    lines = pids().splitlines()
    for i in range(2):
        seen = counts(i)
        ok(f"{seen[0]} cuzk-instance gpu {i}" in lines and seen[1] == 1,
           f"listed {order}: [gpu {i}] has opened device {i} and sees {seen[1]}")
    equal(s.stop(), 0, "stop")

print('# fault class "silent CPU fallback, GPU unused": the service starts with the others and says why')
c = service("[gpu gone]\nengine = small\ndevice = GPU-00000000-dead-beef-0000-000000000000\n"
            f"[gpu broken]\nengine = small\ndevice = {GPU[1]}\n" + ONE,
            f"FAKE_CUDA_FAIL=cuLaunchKernel:9:700\nFAKE_CUDA_FAIL_DEVICE=1", FAST.replace("faults = 100", "faults = 2"))
s.wait_log("gpu gone: quarantined", 60)
s.wait_log("gpu broken: quarantined", 60)
text = s.text()
ok("<5>ready" in text, "one of three GPUs is good: it is ready")
line = next(x for x in text.splitlines() if "gpu gone: quarantined" in x)
ok("GPU-00000000-dead" in line, f"a wrong UUID is named: {line}")
line = next(x for x in text.splitlines() if "gpu broken: quarantined" in x)
ok("self-test" in line, f"a failed self-test is named: {line}")
payload = b"on the good one"
r = c.prove(message("winning-post", payload), wait=100)
ok(r.status == "COMPLETED" and verifies(payload, r.proof, 1), f"it proves {r.error}")
equal([gauge(c, f'instance_up{{instance="gpu {n}"}}') for n in ("0", "gone", "broken")], [1, 0, 0], "the metrics say which serve")
equal(s.stop(), 0, "stop")

nothing = s.dir + "/nothing"
os.mkdir(nothing)
if not os.path.exists("/dev/nvidiactl"):
    c = service(ONE + "[cpu]\nengine = small\n", settings=FAST.replace("faults = 100", "faults = 2"), folder=nothing)
    s.wait_log("gpu 0: quarantined", 60)
    ok("no CUDA driver: libcuda.so.1" in s.text(), "without a driver the [cpu] that was asked for serves, and the log says why not the GPU")
    equal(c.prove(message("winning-post", b"on the CPU"), wait=100).status, "COMPLETED", "it proves")
    equal(s.stop(), 0, "stop")
    service(ONE, settings=FAST.replace("faults = 100", "faults = 2"), folder=nothing, wait=False)
    equal(s.wait(60), 1, "without a driver and without [cpu] it ends with status 1: nothing falls back by itself")
    ok("<5>ready" not in s.text() and "no instance is left" in s.text(), "never having said that it is ready")
else:
    skip("driver", "this machine has a CUDA driver")
for what, driver, words in (("no device", "FAKE_CUDA_DEVICES=0", f"no CUDA device is {GPU[0]} (0 seen"),
                            ("an old driver", "FAKE_CUDA_VERSION=11080", "speaks CUDA 11.8, need 12.0")):
    service(ONE, driver + "\nFAKE_CUDA_NOTHING=", FAST.replace("faults = 100", "faults = 2"), wait=False)
    equal(s.wait(60), 1, f"{what}: status 1")
    ok(words in s.text(), f"{what}: the log says so")

# one fault at a time, in the first of two GPUs while both are at work


def one_fault(what, payload):
    """A job of several partitions with the fault, and others beside it; None when a proof is wrong."""
    kinds = {payload: "porep", payload + b" beside": "winning-post"}
    open(token, "w").close()
    calls = {k: c.start_prove(message(kind, k)) for k, kind in kinds.items()}
    for k, call in calls.items():
        r = result(parse(call.result(300))[1][0])
        n = PARTITIONS if kinds[k] == "porep" else 1
        if not (r.status == "COMPLETED" and verifies(k, r.proof, n)):
            return ok(False, f"{what}: {k}: {r.status} {r.error}")
    return ok(not os.path.exists(token), f"{what}: the same job completes, another too, and all proofs verify")


print('# fault class "GPU returns a wrong answer": one bit of one sum, on its way from the device')
# a job before it loads the parameters: then the copies are of sums, or of counts, which are small
POINT = 96
c = service(BOTH, f"FAKE_CUDA_FAIL=cuMemcpyDtoHAsync_v2:1:flip\nFAKE_CUDA_SMALL={POINT}\nFAKE_CUDA_TOKEN={token}\nFAKE_CUDA_FAIL_DEVICE=0")
ready(2)
c.prove(message("porep", b"before"), wait=200)
done_before = sum(gauge(c, f'instance_{n}_total{{instance="gpu {i}"}}') for i in range(2) for n in ("completed", "failed"))
one_fault("a wrong bit", b"flip")
equal((metric(c, "invalid_total"), metric(c, "reproved_total")), (1, 1), "one invalid proof, one partition proved again")
equal(sum(gauge(c, f'instance_{n}_total{{instance="gpu {i}"}}') for i in range(2) for n in ("completed", "failed")), done_before + PARTITIONS + 2,
      f"{PARTITIONS + 1} partitions were proved for the job of {PARTITIONS}, and 1 for the other")
equal(gauge(c, 'instance_invalid_total{instance="gpu 0"}'), 1, "and the fault is charged to its GPU")
ok("made a proof that does not verify" in s.text(), "whose process was begun anew")
equal(s.stop(), 0, "stop")

# while the parameters are loaded: the file is not to blame
c = service(BOTH, f"FAKE_CUDA_FAIL=cuMemcpyDtoHAsync_v2:1:flip\nFAKE_CUDA_TOKEN={token}\nFAKE_CUDA_FAIL_DEVICE=0")
ready(2)
one_fault("a wrong bit while it loads", b"flip in a load")
ok("it computes wrongly" in s.text(), "the file's points are looked at again before the file is blamed")
ok("gpu 0: died (sticky)" in s.text(), "and the process that errs is replaced")
equal(s.stop(), 0, "stop")

print('# fault class "poisoned context, hang": the job goes on in another process, the other GPU is not touched')
for what, fail in (("error 700", "cuLaunchKernel:40:700"), ("a hang inside a kernel", "cuLaunchKernel:40:hang"),
                   ("a crash", "cuLaunchKernel:40:crash"), ("ECC", "cuStreamSynchronize:3:214"),
                   ("error 700 while it loads", "cuMemcpyHtoDAsync_v2:2:700")):
    c = service(BOTH, f"FAKE_CUDA_FAIL={fail}\nFAKE_CUDA_TOKEN={token}\nFAKE_CUDA_FAIL_DEVICE=0",
                HANG if "hang" in what else FAST)
    ready(2)
    one_fault(what, what.encode())
    limit = time.monotonic() + 60
    while not gauge(c, 'instance_up{instance="gpu 0"}') and time.monotonic() < limit:
        time.sleep(0.1)
    equal([gauge(c, f'instance_{n}_total{{instance="gpu {i}"}}') for i in range(2) for n in ("starts", "faults")], [2, 1, 1, 0],
          f"{what}: one process died and another took its place")
    equal(s.stop(), 0, "stop")

print('# fault class "slow transfers": bytes moved by each partition and the rate that was reached')
port = free_port()
c = service(ONE, f"FAKE_CUDA_COPY_KBPS=50\nFAKE_CUDA_TOKEN={token}", FAST + f"metrics_listen = 127.0.0.1:{port}\n")
c.prove(message("winning-post", b"loads the parameters"), wait=100)
open(token, "w").close()
before, up, down = counts(0), gauge(c, 'instance_bytes_up_total{instance="gpu 0"}'), gauge(c, 'instance_bytes_down_total{instance="gpu 0"}')
seconds = gauge(c, 'instance_up_seconds_total{instance="gpu 0"}')
r = c.prove(message("porep", b"moves"), wait=200)
ok(verifies(b"moves", r.proof, PARTITIONS), f"a job {r.error}")
after = counts(0)
up, down = gauge(c, 'instance_bytes_up_total{instance="gpu 0"}') - up, gauge(c, 'instance_bytes_down_total{instance="gpu 0"}') - down
seconds = gauge(c, 'instance_up_seconds_total{instance="gpu 0"}') - seconds
equal((up, down), (after[2] - before[2], after[3] - before[3]), "the bytes reported are those that the driver moved")
os.unlink(token)
ok(up > 0 and 10 < up / seconds / 1e3 <= 50.05, f"{up:.0f} bytes up in {seconds:.4f} s, {up / seconds / 1e3:.1f} KB/s of a bus that gives 50")
with urllib.request.urlopen(f"http://127.0.0.1:{port}/trace/{r.job}", timeout=10) as f:
    events = [e for e in json.load(f)["traceEvents"] if e.get("cat") == "partition"]
equal((len(events), sum(e["args"]["bytes_up"] for e in events)), (PARTITIONS, up), "the trace has them by partition")
ok(events and all(0 < e["args"]["up_gb_per_s"] <= 51e-6 for e in events), "with the rate")
ok(s.text().count(" KiB up at ") >= PARTITIONS, "and the log")

print('# fault class "memory exhausted": the device\'s memory is flat')
peaks = []
for i in range(5):
    c.prove(message("winning-post", b"flat %d" % i), wait=100)
    peaks.append(gauge(c, 'instance_device_peak_bytes{instance="gpu 0"}'))
ok(peaks[0] > 0 and len(set(peaks)) == 1, f"high-water mark after each of 5 proofs: {set(peaks)}")
equal(s.stop(), 0, "stop")

print('# fault class "opaque errors and status": each fault in the device with its class')
for what, instances, driver, settings, cls in (
        ("the device fails each time", ONE, f"FAKE_CUDA_FAIL=cuLaunchKernel:0:1\nFAKE_CUDA_TOKEN={token}",
         "retries = 0\n", "device"),
        ("memory of the device is gone", ONE.replace("[gpu 0]\n", "[gpu 0]\nvram_budget = 2M\n"), "", "", "resource")):
    service(instances, driver, FAST + settings, wait=False)
    limit = time.monotonic() + 60
    while "<5>ready" not in s.text() and "self-test" not in s.text() and time.monotonic() < limit:
        time.sleep(0.05)
    if "<5>ready" in s.text():
        open(token, "w").close()
        r = s.client().prove(message("winning-post", what.encode()), wait=200)
        ok(r.status == "FAILED" and r.error.startswith(cls + ":"), f"{what}: {r.status} {r.error}")
    else:
        ok("Cannot allocate memory" in s.text() or "no room" in s.text(), f"{what}: said at its start")
    if os.path.exists(token):
        os.unlink(token)
    s.proc.kill()
    s.wait()
done()
