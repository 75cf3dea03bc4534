#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fault class "life cycle": loaded parameters outlive a restart of the service, in systemd's descriptor store."""
import json
import os
import re
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *
from systemd_ns import *

CIRCUIT = "winning-2k"


def configure(stage, extra=""):
    with open("/etc/cuzk/cuzk.conf", "w") as f:
        f.write(f"[global]\nlisten = /run/cuzk/cuzk.sock\ninstance_program = {stage}/cuzk-instance\n"
                f"params_dir = /var/lib/params\nmetrics_listen = /run/cuzk/metrics\n"
                f"[engine groth16]\nlibrary = {stage}/groth16.so\ncache_dir = /var/cache/cuzk\n{extra}\n"
                f"[cpu]\nengine = groth16\n")


def ctl(stage, *argv):
    return run(stage + "/cuzkctl", *argv)


def healthz():
    """The first line of what metrics_listen answers."""
    with socket.socket(socket.AF_UNIX) as k:
        k.settimeout(10)
        k.connect("/run/cuzk/metrics")
        k.sendall(b"GET /healthz HTTP/1.1\r\nHost: cuzk\r\n\r\n")
        return k.recv(100).split(b"\r\n")[0].decode("latin-1")


def restart(what):
    t = time.monotonic()
    equal(begin("restart").returncode, 0, f"restart {what}")
    took = time.monotonic() - t
    diag(f"stop to READY: {took * 1000:.0f} ms")
    return took


def inside(stage):
    install(stage)
    os.makedirs("/var/lib/params")
    p = ctl(stage, "params", "make", CIRCUIT, "--out", "/var/lib/params", "--engine", stage + "/groth16.so")
    ok(p.returncode == 0, f"parameters of {CIRCUIT} {p.stderr.strip()}")
    configure(stage)
    equal(run("systemctl", "start", "cuzkd").returncode, 0, "start")
    p = ctl(stage, "preload", CIRCUIT, "--json")
    ok(p.returncode == 0 and not json.loads(p.stdout)["already_loaded"], f"preload decodes {p.stdout.strip()}{p.stderr.strip()}")
    ok(until(lambda: int(show("NFileDescriptorStore")) == 3), f"{show('NFileDescriptorStore')} descriptors are in the store")

    # READY with its parameters, again and again
    for i in range(3):
        took = restart(f"{i + 1}")
        p = ctl(stage, "preload", CIRCUIT, "--json")
        ok(p.returncode == 0 and json.loads(p.stdout)["already_loaded"], f"the parameters are there {p.stdout.strip()}{p.stderr.strip()}")
    lines = journal("-n", "200").splitlines()
    ready, begin = [], None
    for x in run("journalctl", "--no-pager", "-u", "cuzkd", "-o", "short-unix").stdout.splitlines():
        if re.search(r": cuzkd \S+ starts with", x):
            begin = float(x.split()[0])
        elif x.endswith(": ready") and "cpu" not in x and begin:
            ready.append(float(x.split()[0]) - begin)
            begin = None
    ok("200" in healthz(), f"metrics_listen, a socket in the store, is HTTP still: {healthz()}")
    diag("start to READY, seconds: " + " ".join(f"{x:.3f}" for x in ready))
    equal(len(ready), 4, "READY four times")
    ok(min(ready[1:]) <= 1.0, f"READY {min(ready[1:]):.2f} s after the start, with loaded parameters")
    ok(sum("were kept" in x for x in lines) == 3, "said in the journal")

    # a job under way, asked for twice, survives
    request_file = stage + "/winning-2k.json"
    outs, procs = [], []
    for i in range(2):
        with open(request_file) as f:
            message = json.load(f)
        message["requestId"] = f"restart-{i}"
        with open(f"{stage}/r{i}.json", "w") as f:
            json.dump(message, f)
        p = run(stage + "/cuzkctl", "submit", "--request", f"{stage}/r{i}.json", "--json")
        if not ok(p.returncode == 0, f"job {i} submitted {p.stderr.strip()}"):
            done()
        outs.append(json.loads(p.stdout)["job_id"])
    restart("with jobs")
    for job in outs:
        p = run(stage + "/cuzkctl", "await", job, "--json")
        ok(p.returncode == 0 and json.loads(p.stdout)["status"] == "COMPLETED", f"{job} is not lost {p.stdout.strip()}{p.stderr.strip()}")
    equal(sum("params.winning-2k is kept" in x for x in journal().splitlines()), 1, "decoded once in all that time")

    # what is given back leaves the store
    before = int(show("NFileDescriptorStore"))
    p = ctl(stage, "evict", CIRCUIT, "--json")
    ok(p.returncode == 0 and json.loads(p.stdout)["was_loaded"], f"evict {p.stdout.strip()}{p.stderr.strip()}")
    ok(until(lambda: int(show("NFileDescriptorStore")) == before - 1), "takes the memory out of the store")
    restart("without")
    p = ctl(stage, "preload", CIRCUIT, "--json")
    ok(p.returncode == 0 and not json.loads(p.stdout)["already_loaded"], "nothing is loaded after an evict")

    # another file is noticed
    path = next("/var/lib/params/" + n for n in os.listdir("/var/lib/params") if n.endswith(".params"))
    os.utime(path, ns=(0, 4711))
    restart("with another file")
    ok("were kept and are not taken" in journal(), "memory of a file that changed is not taken")
    ok(until(lambda: int(show("NFileDescriptorStore")) == 2), "and leaves the store")
    ctl(stage, "preload", CIRCUIT)

    # an engine that keeps nothing
    configure(stage, "keep = no")
    restart("with keep = no")
    p = ctl(stage, "preload", CIRCUIT, "--json")
    ok(p.returncode == 0 and until(lambda: int(show("NFileDescriptorStore")) == 2), "keep = no stores nothing")
    run("systemctl", "stop", "cuzkd")
    done()


if len(sys.argv) > 2 and sys.argv[1] == "inside":
    inside(sys.argv[2])
elif not os.path.exists(BUILD + "/.libs/groth16.so"):
    skip_all("groth16", "the engine is not built")
else:
    outside(__file__, [SRC + "/t/data/requests/winning-2k.json"])
