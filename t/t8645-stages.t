#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fault class "lost, duplicated, mixed jobs": kill -9 of the service, and of the instance, in every
stage of a partition, on the null engine and on the real one."""
import base64
import json
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

STAGES = ["idle", "params", "witness", "upload", "evaluate", "ntt", "msm_h", "msm_l", "msm_a", "msm_b1", "msm_b2", "finish",
          "verify"]
PLACES = {"admission": 100} | {name: i for i, name in enumerate(STAGES) if i} | {"proved": 101, "told": 102}
SETTINGS = "restart_delay = 20ms\nrestart_delay_max = 50ms\nquarantine_faults = 1000\npoison_deaths = 10\n"
print('# fault class "lost, duplicated, mixed jobs"')

s = Service()
folder, token = s.dir + "/engine", s.dir + "/token"
os.mkdir(folder)
shutil.copy(BUILD + "/t/.libs/stage.so", folder)


def configure(inner, engine):
    shutil.copy(inner, folder + "/inner.so")
    with open(s.config, "w") as f:
        f.write(f"[global]\nlisten = {s.socket}\nstate_dir = {s.dir}/state\nruntime_dir = {s.dir}\nresult_limit = 1000\n"
                f"instance_program = {BUILD}/cuzk-instance\n{SETTINGS}\n[engine e]\nlibrary = {folder}/stage.so\n{engine}\n"
                f"[cpu]\nengine = e\n")


def start():
    if os.path.exists(s.log):
        os.rename(s.log, s.log + ".old")
    s.start(timeout=300)
    return s.client()


def arm(place, partition, whom):
    with open(folder + "/stage", "w") as f:
        f.write(f"{PLACES[place]} {partition} {whom} {token}\n")
    open(token, "w").close()


def partitions(c, kind):
    text = c.call("GetMetrics")[1][0].decode()
    return int(next(x for x in text.splitlines() if x.startswith(f'cuzk_partitions_total{{kind="{kind}"}}')).split()[-1])


def kill_service(place, message, kind, partition, n, good):
    """The service dies there; the next one finishes the job under its name; of what was done at most one
    partition is done again, whose record was on its way to the disk."""
    c = start()
    arm(place, partition, "service")
    try:
        job = c.submit(message)
    except ConnectionError:
        job = None	# it died before it had answered: the client asks again
    died = s.wait(200)
    c = start()
    job = job or c.submit(message)
    r = c.wait(job, wait=300)
    numbers = metric(c, "resumed_total"), metric(c, "accepted_total")
    # told: perhaps the journal had it before the end, and then there is nothing to do
    wanted = {"told": ((1, 0), (0, 0)), "admission": ((1, 0), (0, 1))}.get(place, ((1, 0),))
    fine = died == -9 and r.status == "COMPLETED" and good(r.proof) and numbers in wanted
    same = c.submit(message) == job
    made = partitions(c, kind)
    if not ok(fine and same and made <= n - max(partition - 1, 0), f"service killed in {place}: {made} of {n} partitions after it"):
        diag((died, r.status, r.error, numbers, same))
        diag(s.text()[-1500:])
    s.stop()


def kill_instance(c, place, message, partition, good):
    deaths = metric(c, "instance_deaths_total")
    arm(place, partition, "instance")
    r = c.prove(message, wait=300)
    deaths = metric(c, "instance_deaths_total") - deaths
    if not ok(r.status == "COMPLETED" and good(r.proof) and deaths == 1 or place == "told" and r.status == "COMPLETED",
              f"instance killed in {place}: the same job completes"):
        diag((r.status, r.error, deaths))


# ---- the null engine: in the sixth of ten partitions, those before are not made again ----
configure(BUILD + "/.libs/null.so", "delay_ms = 26")
for i, place in enumerate(PLACES):
    m = request("porep", f"s{i}", b"service %d" % i)
    kill_service(place, m, "porep", -1 if place == "admission" else 5, 10, lambda proof: proof == null_proof(m, 10))
c = start()
for i, place in enumerate(PLACES):
    m = request("porep", f"i{i}", b"instance %d" % i)
    kill_instance(c, place, m, -1 if place == "admission" else 5, lambda proof: proof == null_proof(m, 10))
equal(s.stop(), 0, "stop")

# ---- the real one ----
ENGINE = BUILD + "/.libs/groth16.so"
if not os.path.exists(ENGINE):
    skip("groth16", "the engine is not built")
    done()
params, data = s.dir + "/params", SRC + "/t/data/winning-2k/"
os.mkdir(params)
p = subprocess.run([BUILD + "/cuzkctl", "params", "make", "winning-2k", "--out", params, "--engine", ENGINE],
                   capture_output=True, text=True, timeout=600)
if not ok(p.returncode == 0, f"development parameters {p.stderr.strip()}"):
    done()
vk = json.loads(p.stdout)["vk_file"]
with open(SRC + "/t/data/requests/winning-2k.json") as f:
    wanted = json.load(f)


def winning(i):
    # whatever differs makes it another job; the circuit knows no sector number
    return request("winning-post", f"w{i}", [base64.b64decode(p) for p in wanted["vanillaProofs"]], miner=int(wanted["minerId"]), sector=i,
                   sector_size=2048, randomness=base64.b64decode(wanted["randomness"]), registered=int(wanted["registeredProof"]))


def verifies(proof):
    with open(s.dir + "/proof", "wb") as f:
        f.write(proof)
    p = subprocess.run([BUILD + "/cuzkctl", "verify", "--vk", vk, "--proof", s.dir + "/proof", "--inputs", data + "winning-2k.inputs",
                        "--engine", ENGINE], capture_output=True, text=True, timeout=100)
    return p.returncode == 0 and json.loads(p.stdout)["valid"]


configure(ENGINE, f"params_dir = {params}\ncache_dir = {s.dir}/cache")
for i, place in enumerate(PLACES):
    if place != "upload":	# the host's backend moves nothing
        kill_service(place, winning(i), "winning-post", -1, 1, verifies)
c = start()
for i, place in enumerate(PLACES):
    if place != "upload":
        kill_instance(c, place, winning(100 + i), -1, verifies)
equal(s.stop(), 0, "stop")
done()
