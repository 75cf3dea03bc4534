#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Tests fault class "bad input found late".
"""The service with the real engine: a golden WinningPoSt in, a verified proof out, and what is wrong refused."""
import base64
import json
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

ENGINE = BUILD + "/.libs/groth16.so"
DATA = SRC + "/t/data/winning-2k/"
if not os.path.exists(ENGINE):
    skip_all("groth16", "the engine is not built")


def ctl(*argv):
    return subprocess.run([BUILD + "/cuzkctl", *argv], capture_output=True, text=True, timeout=600)


def preload():
    """As soon as there is an instance that can."""
    limit = time.monotonic() + 60
    while True:
        p = ctl("preload", *at, "--json", "winning-2k")
        if not p.returncode or time.monotonic() > limit:
            return p
        time.sleep(0.1)


s = Service()
params = s.dir + "/params"
cache = s.dir + "/cache"
os.mkdir(params)
with open(DATA + "groth-winning-2k.json") as f:
    golden = json.load(f)
toxic = ",".join(str(golden[k]) for k in ("alpha", "beta", "gamma", "delta", "tau"))
p = ctl("params", "make", "winning-2k", "--toxic", toxic, "--out", params, "--engine", ENGINE)
if not ok(p.returncode == 0, f"development parameters {p.stderr.strip()}"):
    done()
equal(json.loads(p.stdout)["params_sha256"], golden["params_sha256"], "equal the golden ones")
vk = json.loads(p.stdout)["vk_file"]

with open(s.config, "w") as f:
    f.write(f"[global]\nlisten = {s.socket}\nstate_dir = {s.dir}/state\nruntime_dir = {s.dir}\n"
            f"params_dir = {params}\ninstance_program = {BUILD}/cuzk-instance\n"
            f"[engine groth16]\nlibrary = {ENGINE}\ncache_dir = {cache}\n[cpu]\nengine = groth16\n")
s.start(timeout=300)
for kind, circuit in {"porep": "porep", "update": "update", "window-post": "window"}.items():
    names = ", ".join(f"{circuit}-{size}" for size in ("2k", "8m", "512m", "32g", "64g"))
    ok(f"{kind} is disabled: no parameters in {params}; looked for {names}" in s.text(), f"the log says what {kind} lacks")
ok(sorted(os.listdir(cache)) == ["winning-2k.cs"], "the constraint system is kept in the cache folder")
at = ("--address", s.address)
status = {c["circuit_id"]: c for c in json.loads(ctl("status", *at, "--json").stdout)["circuits"]}
equal({n: c["state"] for n, c in status.items()}, {n: "cold" if n == "winning-2k" else "absent" for n in status},
      f"status tells the state of each of {len(status)} circuits")
ok(params in status["porep-64g"]["reason"] and status["porep-64g"]["sector_size"] == 64 << 30, status["porep-64g"]["reason"])
p = ctl("status", *at)
ok("\nwinning-2k           cold" in p.stdout and "No parameters of: winning-8m, winning-512m" in p.stdout, "and in words")
out = s.dir + "/proof"
request_file = SRC + "/t/data/requests/winning-2k.json"
p = ctl("prove", *at, "--request", request_file, "--out", out, "--json")
if ok(p.returncode == 0, f"WinningPoSt through the service {p.stderr.strip()}"):
    diag(p.stdout)
p = ctl("verify", "--vk", vk, "--proof", out, "--inputs", DATA + "winning-2k.inputs", "--engine", ENGINE)
ok(p.returncode == 0 and json.loads(p.stdout)["valid"], f"the proof verifies {p.stderr.strip()}")

# a wrong byte anywhere is refused at admission
with open(request_file) as f:
    request_json = json.load(f)
vanilla = base64.b64decode(request_json["vanillaProofs"][0])
rng = random.Random(7)
refused = 0
for i in range(20):
    data = bytearray(vanilla)
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    changed = dict(request_json, vanillaProofs=[base64.b64encode(data).decode()])
    with open(s.dir + "/bad.json", "w") as f:
        json.dump(changed, f)
    p = ctl("prove", *at, "--request", s.dir + "/bad.json", "--out", out)
    refused += p.returncode == 1 and "FAILED: input:" in p.stderr
equal(refused, 20, "20 requests with one wrong bit each are refused as wrong input")
p = ctl("prove", *at, "--request", SRC + "/t/data/requests/porep-2k.json", "--out", out)
ok(p.returncode == 1 and "params" in p.stderr and "absent" in p.stderr, f"a kind without parameters: {p.stderr.strip()[:160]}")
p = ctl("evict", *at, "--json", "winning-2k")
ok(p.returncode == 0 and json.loads(p.stdout)["was_loaded"], f"evict frees the parameters {p.stdout.strip()}{p.stderr.strip()}")
p = ctl("preload", *at, "--json", "winning-2k")
ok(p.returncode == 0 and not json.loads(p.stdout)["already_loaded"], f"preload loads them {p.stdout.strip()}{p.stderr.strip()}")

# class: life cycle; poisoned context. Loaded parameters outlive the instance's process
pid = int(subprocess.run(["pgrep", "-P", str(s.proc.pid)], capture_output=True, text=True).stdout)
os.kill(pid, signal.SIGKILL)
s.wait_log("the parameters of winning-2k were kept")
p = preload()
ok(p.returncode == 0 and json.loads(p.stdout)["already_loaded"], f"a new process has them at once {p.stdout.strip()}{p.stderr.strip()}")
p = ctl("prove", *at, "--request", request_file, "--out", out, "--json")
ok(p.returncode == 0, f"and proves with them {p.stderr.strip()}")
p = ctl("verify", "--vk", vk, "--proof", out, "--inputs", DATA + "winning-2k.inputs", "--engine", ENGINE)
ok(p.returncode == 0 and json.loads(p.stdout)["valid"], f"the proof verifies {p.stderr.strip()}")

# those of a file that was changed meanwhile are not taken
os.utime(next(params + "/" + n for n in os.listdir(params) if n.endswith(".params")), ns=(0, 12345))
pid = int(subprocess.run(["pgrep", "-P", str(s.proc.pid)], capture_output=True, text=True).stdout)
os.kill(pid, signal.SIGKILL)
s.wait_log("the parameters of winning-2k were kept and are not taken")
p = preload()
ok(p.returncode == 0 and not json.loads(p.stdout)["already_loaded"], f"a changed file is decoded again {p.stdout.strip()}{p.stderr.strip()}")
equal(s.stop(), 0, "stop")

# class: parameters. A file that is replaced while the service runs has its digest checked before it is loaded
name = next(n for n in os.listdir(params) if n.endswith(".params"))
p = ctl("params", "check", "--params", params, "--engine", ENGINE, "winning-2k")
with open(s.dir + "/manifest.json", "w") as f:
    json.dump({name: {"cid": "x", "digest": json.loads(p.stdout)[0]["blake2b"], "sector_size": 2048}}, f)
with open(s.config) as f:
    config = f.read()
with open(s.config, "w") as f:
    f.write(config.replace("cache_dir =", f"manifest = {s.dir}/manifest.json\ncache_dir ="))
p = ctl("params", "make", "winning-2k", "--toxic", "2,3,5,7,11", "--out", s.dir + "/others", "--engine", ENGINE)
equal(os.path.getsize(f"{s.dir}/others/{name}"), os.path.getsize(f"{params}/{name}"), f"another file of the same size {p.stderr}")
os.rename(s.log, s.log + ".before")
s.start(timeout=300)
p = ctl("prove", *at, "--request", SRC + "/t/data/requests/winning-2k.json", "--out", out)
ok(p.returncode == 0, f"with the file of the manifest a proof is made {p.stderr.strip()}")
p = ctl("evict", *at, "winning-2k")
os.rename(f"{s.dir}/others/{name}", f"{params}/{name}")
p = ctl("preload", *at, "winning-2k")
ok(p.returncode == 1 and "its BLAKE2b digest is" in p.stderr, f"the replaced one is refused: {p.stderr.strip()[-200:]}")
equal(s.stop(), 0, "stop")
done()
