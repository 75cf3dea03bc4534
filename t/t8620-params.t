#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fault class "parameters wrong or absent", on the service with the real engine."""
import base64
import hashlib
import json
import os
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

ENGINE = BUILD + "/.libs/groth16.so"
if not os.path.exists(ENGINE):
    skip_all("groth16", "the engine is not built")
with open(SRC + "/t/data/requests/winning-2k.json") as f:
    wanted = json.load(f)


def with_id(name):
    """The request again, and yet another job: results of the same content are kept."""
    return request("winning-post", name, sector=len(name), payload=[base64.b64decode(p) for p in wanted["vanillaProofs"]],
                   miner=int(wanted["minerId"]), sector_size=2048, randomness=base64.b64decode(wanted["randomness"]),
                   registered=int(wanted["registeredProof"]))


message = with_id("params")

s = Service()
params, cache = s.dir + "/params", s.dir + "/cache"
os.mkdir(params)
p = subprocess.run([BUILD + "/cuzkctl", "params", "make", "winning-2k", "--out", params, "--engine", ENGINE],
                   capture_output=True, text=True, timeout=600)
if not ok(p.returncode == 0, f"development parameters {p.stderr.strip()}"):
    done()
path = params + "/" + next(n for n in os.listdir(params) if n.endswith(".params"))
with open(path, "rb") as f:
    whole = f.read()


def configure(extra):
    with open(s.config, "w") as f:
        f.write(f"[global]\nlisten = {s.socket}\nstate_dir = {s.dir}/state\nruntime_dir = {s.dir}\n"
                f"params_dir = {params}\ninstance_program = {BUILD}/cuzk-instance\n"
                f"[engine groth16]\nlibrary = {ENGINE}\ncache_dir = {cache}\n{extra}\n[cpu]\nengine = groth16\n")


def write(data):
    with open(path + ".new", "wb") as f:
        f.write(data)
    os.rename(path + ".new", path)


def manifest(data):
    with open(s.dir + "/parameters.json", "w") as f:
        json.dump({os.path.basename(path): {"cid": "", "digest": hashlib.blake2b(data).hexdigest()[:32], "sector_size": 2048}}, f)


def refusal():
    """(gRPC code, message, what the best of many times is above that of a call that does nothing, in ms) of a submit."""
    best, idle, c, code, text = 1e9, 1e9, s.client(), "OK", ""
    for _ in range(30):
        t = time.monotonic()
        code_of(c.cancel, "none")
        idle = min(idle, time.monotonic() - t)
        t = time.monotonic()
        try:
            c.submit(message)
            return "OK", "", 0
        except RpcError as e:
            best = min(best, time.monotonic() - t)
            code, text = e.code, e.message
    return code, text, (best - idle) * 1000


def comes_back(what):
    limit = time.monotonic() + 40
    while "winning-post is served again" not in s.text() and time.monotonic() < limit:
        time.sleep(0.1)
    ok("winning-post is served again" in s.text(), f"{what} comes back")
    ok("is usable again" in s.text() and "died" not in s.text(), "without a new process")


def once(what, words):
    s.start(timeout=300) if s.proc is None else s.restart()
    code, text, ms = refusal()
    good = code == "FAILED_PRECONDITION" and all(w in text for w in words) and "winning-post is disabled" in s.text()
    if not ok(good and ms < 1, f"{what}: disabled at start, refused in {ms:.2f} ms: {text[-110:]}"):
        diag((code, text))
    equal(s.stop(), 0, "stop")


# edges of the sections, from the format: the verifying key, then five counts with their points
ic = struct.unpack_from(">I", whole, 96 * 3 + 192 * 3)[0]
edge = 96 * 3 + 192 * 3 + 4 + 96 * ic
edges = {"vk": edge}
for name, size in (("h", 96), ("l", 96), ("a", 96), ("b_g1", 96), ("b_g2", 192)):
    edge += 4 + size * struct.unpack_from(">I", whole, edge)[0]
    edges[name] = edge
equal(edge, len(whole), "the sections fill the file")
configure("")
for name, end in list(edges.items())[:-1]:
    write(whole[:end])
    once(f"cut at the end of section {name}", [os.path.basename(path)[:60], "section"])
write(whole[:-1])
once("the last byte missing", ["section b_g2"])
write(b"<html>404 not found</html>")
once("a page in place of the file", ["params"])
os.unlink(path)
once("no file", ["absent", "winning-2k"])

# a byte in each section, against the manifest's digest; the verdict is kept in the cache folder
manifest(whole)
configure(f"manifest = {s.dir}/parameters.json")
for name, end in edges.items():
    bad = bytearray(whole)
    bad[end - 5] ^= 4
    write(bytes(bad))
    # the verifying key is decoded before anything is hashed
    once(f"a bit of section {name}", ["verifying key" if name == "vk" else "digest"])
write(whole)
s.restart()
ok(os.path.getsize(cache + "/verdicts") > 0, "verdicts are kept in the cache folder by default")
equal(s.stop(), 0, "stop")
with open(cache + "/verdicts") as f:
    verdicts = f.read()
ok(hashlib.blake2b(whole).hexdigest()[:32] in verdicts, "with the digest of the file")

# without a manifest a wrong bit off the curve is found when the points are loaded, and named
bad = bytearray(whole)
bad[edges["h"] + 4 + 50] ^= 4
write(bytes(bad))
configure("")
s.restart()
r = s.client().prove(message, wait=300)
ok(r.status == "FAILED" and "params" in r.error and "section l: point 0" in r.error, f"{r.status}: {r.error}")
equal(s.stop(), 0, "stop")

# idle scrub: a file that changes under a running service disables the kind, and the journal says so
write(whole)
configure("scrub = 1")
s.restart()
equal(s.client().prove(message, wait=300).status, "COMPLETED", "good parameters prove")
time.sleep(2.5)
ok("is disabled" not in s.text().split("ready")[-1], "the scrubber leaves a good file alone")
stamp = os.stat(path).st_mtime_ns
with open(path, "r+b") as f:
    f.seek(edges["l"] - 5)
    byte = f.read(1)[0]
    f.seek(edges["l"] - 5)
    f.write(bytes([byte ^ 4]))
os.utime(path, ns=(stamp, stamp))
s.wait_log("has another digest than before", 30)
ok(True, "a bit that rots, with size and time as before, is found by the scrubber")
limit = time.monotonic() + 15
other = request("winning-post", "again", b"anything", sector_size=2048)
while (code := code_of(s.client().submit, other)) == "OK" and time.monotonic() < limit:
    time.sleep(0.5)
equal(code, "FAILED_PRECONDITION", "and new requests are refused")
s.proc.send_signal(signal.SIGHUP)
s.wait_log("and was", 30)
equal(code_of(s.client().submit, other), "FAILED_PRECONDITION", "after a reload too, which has it read in full")
with open(path, "r+b") as f:
    f.seek(edges["l"] - 5)
    f.write(bytes([byte]))
os.utime(path, ns=(stamp, stamp))
s.proc.send_signal(signal.SIGHUP)
comes_back("the block is repaired, with size and time as before: after a reload the kind")
equal(s.stop(), 0, "stop")

# what was not usable at the start comes back by itself when the file is another
for what, damage in {"cut off": whole[:-1], "a page in place of the file": b"<html>404 not found</html>", "absent": None}.items():
    if damage:
        write(damage)
    else:
        os.unlink(path)
    s.restart()
    equal(code_of(s.client().submit, other), "FAILED_PRECONDITION", f"{what}: refused")
    if damage:
        with open(path, "ab") as f:	# one that is being fetched is left alone
            for i in range(12):
                f.write(b"more")
                f.flush()
                time.sleep(0.2)
        ok(s.text().count("section") + s.text().count("verifying key") <= 3, "while it grows it is not looked at")
    write(whole)
    comes_back(f"{what}, then fetched again: the kind")
    equal(s.client().prove(with_id("back " + what), wait=300).status, "COMPLETED", "and proves")
    equal(s.stop(), 0, "stop")

# a bad point is found when the points are loaded; after the repair the reload has it looked at without a wait
configure("scrub = 0")
write(bytes(bad))
s.restart()
equal(s.client().prove(with_id("bad point"), wait=300).status, "FAILED", "a bad point fails the first job")
s.wait_log("winning-post is disabled", 30)
write(whole)
s.proc.send_signal(signal.SIGHUP)
comes_back("repaired: after a reload the kind")
equal(s.client().prove(with_id("good point"), wait=300).status, "COMPLETED", "and proves")
equal(s.stop(), 0, "stop")

configure("scrub = 1")
s.restart()
os.truncate(path, len(whole) // 2)
s.wait_log("changed since it was checked", 30)
ok(True, "a file that is cut off is noticed")
ok(s.client().call("GetStatus") is not None and "died" not in s.text(), "and kills nobody")
equal(s.stop(), 0, "stop")
done()
