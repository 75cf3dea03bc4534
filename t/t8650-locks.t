#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fault class "locks and deadlocks": ten PoSts at a time on two threads, with all else that may
happen beside them, and two services on one folder.

And the same under ThreadSanitizer, with a build of its own in t/tsan of the build folder, which takes two minutes
(CUZK_TSAN_BUILD=FOLDER takes one that is there); a build made with --enable-tsan is one already.
"""
import atexit
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cuzk
from cuzk import *

POSTS = 10


def is_tsan(folder):
    with open(folder + "/cuzkd", "rb") as f:
        return b"__tsan_init" in f.read()


def load(name):
    with open(f"{SRC}/t/data/requests/{name}.json") as f:
        return json.load(f)


def post(i, small):
    """Ten of them are ten jobs: what tells them apart is nothing that the circuit knows."""
    if small:
        return request("winning-post" if i % 5 else "window-post", f"post-{i}", b"post %d" % i, sector=i, sector_size=4096)
    name = "window-2k" if i % 5 else "winning-2k"
    r = load(name)
    return request(name.rsplit("-", 1)[0] + "-post", f"post-{i}", [base64.b64decode(p) for p in r["vanillaProofs"]], sector=i,
                   miner=int(r["minerId"]), sector_size=2048, registered=int(r["registeredProof"]),
                   randomness=base64.b64decode(r["randomness"]))


def two_services(s):
    p = subprocess.run([cuzk.BUILD + "/cuzkd", "--config", s.config], capture_output=True, text=True, timeout=60)
    ok(p.returncode == 75 and f"process {s.proc.pid}" in p.stderr,
       f"a second service on the same folder refuses and names the first: {[x for x in p.stderr.splitlines() if 'process' in x]}")


def contention(what, params, seconds, small=False):
    """The service of cuzk.BUILD: the PoSts, and meanwhile status, preloads, evictions, cancels, attaching and a reload.

    small: the engine with a circuit of a hundred rows behind every request (t/small-vanilla.c), which
    ThreadSanitizer's tenfold cost leaves in seconds.
    """
    engine = cuzk.BUILD + ("/t/.libs/small.so" if small else "/.libs/groth16.so")
    s = Service()
    with open(s.config, "w") as f:
        f.write(f"[global]\nlisten = {s.socket}\nstate_dir = {s.dir}/state\nruntime_dir = {s.dir}\nparams_dir = {params}\n"
                f"instance_program = {cuzk.BUILD}/cuzk-instance\nstage_limit = 10min\nheartbeat_limit = 10min\nstart_limit = 10min\n"
                f"[engine groth16]\nlibrary = {engine}\ncache_dir = {s.dir}/cache\nscrub = 1\n[cpu]\nengine = groth16\nthreads = 2\ndepth = 2\n")
    s.start(timeout=600)
    stop = threading.Event()
    errors = []

    def pester():
        c, n = s.client(), 0
        while not stop.is_set():
            n += 1
            try:
                for method, message in (("GetStatus", b""), ("GetMetrics", b""), ("PreloadSRS", field(1, "window-2k")),
                                        ("EvictSRS", field(1, "winning-2k"))):
                    c.start(method, message).result(seconds)
                c.cancel(c.submit(post(100 + n, small)))
            except RpcError as e:
                if e.code not in ("FAILED_PRECONDITION", "ABORTED", "RESOURCE_EXHAUSTED", "UNAVAILABLE", "INTERNAL"):
                    errors.append(str(e))
            if n % 3 == 0:
                s.proc.send_signal(1)
            stop.wait(0.2)

    beside = threading.Thread(target=pester)
    beside.start()
    start = time.monotonic()
    clients = [s.client() for _ in range(POSTS)]
    calls = [c.start_prove(post(i, small)) for i, c in enumerate(clients)]
    calls += [clients[-1 - i].start_prove(post(i, small)) for i in range(POSTS)]	# each is asked for by two
    answers = []
    for x in calls:
        try:
            answers.append(result(parse(x.result(max(1, seconds - (time.monotonic() - start))))[1][0]))
        except (TimeoutError, ConnectionError, RpcError) as e:
            answers.append(None)
            errors.append(str(e))
    took = time.monotonic() - start
    stop.set()
    beside.join()
    good = [a and a.status == "COMPLETED" and len(a.proof) == 192 for a in answers]
    equal(good, [True] * (2 * POSTS), f"{what}: {POSTS} PoSts at a time on 2 threads, in {took:.1f} s")
    if not all(good):
        diag([a and (a.status, a.error) for a in answers])
    equal([a.proof for a in answers[:POSTS] if a], [a.proof for a in answers[POSTS:] if a], f"{what}: who asked twice has one answer")
    equal(errors, [], f"{what}: nothing was left without an answer")
    equal((metric(clients[0], "instance_deaths_total"), "stuck" in s.text()), (0, False), f"{what}: nothing died or was stuck")
    two_services(s)
    equal(s.stop(120), 0, f"{what}: stop")
    found = [x for x in s.text().splitlines() if "ThreadSanitizer" in x]
    if is_tsan(cuzk.BUILD):
        if not equal(found, [], f"{what}: ThreadSanitizer finds no race and no cycle of locks"):
            diag(s.text()[-6000:])


def tsan_runs():
    """Not where the runtime is missing, nor under kernels whose address space it does not know."""
    program = folder + "/tsan"
    return subprocess.run(os.environ.get("CC", "cc").split() + ["-fsanitize=thread", "-x", "c", "-", "-o", program],
                          input=b"int main(void) { return 0; }", capture_output=True).returncode == 0 and \
        subprocess.run([program], capture_output=True).returncode == 0


def tsan_build():
    """A folder with the service and the engine under ThreadSanitizer; None when it cannot be had."""
    folder = os.environ.get("CUZK_TSAN_BUILD") or BUILD + "/t/tsan"
    if not os.environ.get("CUZK_TSAN_BUILD"):
        os.makedirs(folder, exist_ok=True)
        for argv in ([SRC + "/configure", "-q", "--enable-tsan", "--with-cuda=no", "CFLAGS=-g -O1"],
                     ["make", "-s", "-j2", "cuzkd", "cuzk-instance", "cuzkctl", "null.la", "t/small.la"]):
            if argv[0] != "make" and os.path.exists(folder + "/config.status"):
                continue
            env = {k: v for k, v in os.environ.items() if not k.startswith("MAKE") and k != "MFLAGS"}
            p = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=3600, env=env)
            if p.returncode:
                diag(p.stderr[-2000:])
                return None
    return folder


if not os.path.exists(BUILD + "/.libs/groth16.so") or not os.path.exists(BUILD + "/t/.libs/small.so"):
    skip_all("groth16", "the engine is not built")
folder = tempfile.mkdtemp(prefix="cuzk-locks-", dir=os.environ.get("TMPDIR"))
atexit.register(shutil.rmtree, folder, True)
for circuit in ("window-2k", "winning-2k", "tiny-100"):
    p = subprocess.run([BUILD + "/cuzkctl", "params", "make", circuit, "--out", folder, "--engine", BUILD + "/.libs/groth16.so"],
                       capture_output=True, text=True, timeout=1200)
    ok(p.returncode == 0, f"parameters of {circuit} {p.stderr.strip()}")
if is_tsan(BUILD):
    contention("tsan", folder, 900, True)
else:
    contention("plain", folder, 900)
if not is_tsan(BUILD):
    if not tsan_runs():
        skip("tsan", "this compiler makes no ThreadSanitizer that runs here")
    elif os.path.exists(SRC + "/config.status") and not os.environ.get("CUZK_TSAN_BUILD"):
        skip("tsan", "there is no second build of a source folder that is configured itself")
    elif cuzk.__dict__.update(BUILD=tsan_build()) or not cuzk.BUILD:
        ok(False, "a build with --enable-tsan")
    else:
        contention("tsan", folder, 1800, True)
done()
