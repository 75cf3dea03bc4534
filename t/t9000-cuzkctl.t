#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzkctl: commands, output, exit status."""
import json
import os
import pty
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

CTL = BUILD + "/cuzkctl"
REQUEST = SRC + "/t/data/requests/winning-2k.json"


def ctl(*argv, **kwargs):
    return subprocess.run([CTL, *argv], capture_output=True, text=True, timeout=60, **kwargs)


s = Service(engine="refuse_sector = 5").start()
at = ("--address", s.address)
out = s.dir + "/proof"

p = ctl("prove", *at, "--request", REQUEST, "--out", out)
equal((p.returncode, p.stdout), (0, ""), "prove")
equal(os.path.getsize(out), 192, "writes the proof")
proof = open(out, "rb").read()
p = ctl("prove", *at, "--request", REQUEST, "--out", out, "--json")
j = json.loads(p.stdout)
equal((p.returncode, j["status"], j["proof_bytes"]), (0, "COMPLETED", 192), "prove --json")
p = subprocess.run([CTL, "prove", *at, "--request", "-", "--out", "-"], input=open(REQUEST, "rb").read(),
                   capture_output=True, timeout=60)
equal((p.returncode, p.stdout), (0, proof), "from standard input to standard output")
p = ctl("submit", *at, "--request", SRC + "/t/data/requests/porep-2k.json")
job = p.stdout.strip()
ok(p.returncode == 0 and job.startswith("porep-488-1."), f"submit prints the job's id {job}")
p = ctl("await", *at, job, "--out", out, "--timeout", "30s")
equal((p.returncode, os.path.getsize(out)), (0, 1920), "await")
p = ctl("cancel", *at, "--json", job)
equal((p.returncode, json.loads(p.stdout)), (0, {"was_running": False}), "cancel of what has ended")
p = ctl("status", *at, "--json")
j = json.loads(p.stdout)
equal((p.returncode, j["total_proofs_completed"], j["gpus"][0]["name"]), (0, 2, "cpu"), "status --json")
p = ctl("status", *at)
ok(p.returncode == 0 and "INSTANCE" in p.stdout and "null-porep" in p.stdout, "status")
p = ctl("top", *at)
ok(p.returncode == 0 and "PROOFS/S" in p.stdout and "winning-post" in p.stdout and "\033" not in p.stdout,
   "top, once and plain where there is no terminal")
p = ctl("metrics", *at)
ok(p.returncode == 0 and "cuzk_ready 1" in p.stdout, "metrics")
equal(json.loads(ctl("preload", *at, "--json", "null-porep").stdout)["already_loaded"], False, "preload")
equal(json.loads(ctl("evict", *at, "--json", "null-porep").stdout), {"was_loaded": True, "freed_bytes": 1 << 20}, "evict")

# failures: a message on stderr, nothing on stdout, status 1
request = json.load(open(REQUEST))
bad = s.dir + "/bad.json"
os.unlink(out)


def fails(name, status, *argv, **kwargs):
    p = ctl(*argv, **kwargs)
    good = p.returncode == status and not p.stdout and len(p.stderr.strip().splitlines()) == 1
    if not ok(good, f"{name}: {p.stderr.strip()}"):
        diag(f"status {p.returncode}, stdout {p.stdout!r}, stderr {p.stderr!r}")


json.dump(dict(request, sectorNumber="5"), open(bad, "w"))
fails("a request that is refused", 1, "prove", *at, "--request", bad, "--out", out)
ok(not os.path.exists(out), "leaves no proof behind")
json.dump(dict(request, proofKind="NONSENSE"), open(bad, "w"))
fails("an unknown kind", 1, "prove", *at, "--request", bad, "--out", out)
open(bad, "w").write("{")
fails("half a JSON text", 1, "submit", *at, "--request", bad)
fails("a missing request", 1, "prove", *at, "--request", s.dir + "/none", "--out", out)
fails("an output that cannot be written", 1, "prove", *at, "--request", REQUEST, "--out", s.dir + "/none/out")
fails("nobody listens", 1, "status", "--address", s.address + "x", "--timeout", "5")
fails("an unknown job", 1, "await", *at, "none")
for address in ("nowhere", "127.0.0.1:", "127.0.0.1:http", "127.0.0.1:99999", "127.0.0.1:0", ":1", "unix:", ""):
    p = ctl("status", "--address", address)
    ok(p.returncode == 1 and "neither unix:PATH nor HOST:PORT" in p.stderr, f"an address without a port: '{address}'")
fails("a missing certificate", 1, "status", *at, "--tls-ca", s.dir + "/none")

# wrong usage: status 2
fails("no request", 2, "prove", *at, "--out", out)
fails("an unknown option", 2, "status", "--nonsense")
fails("an option without its value", 2, "status", "--address")
fails("a surplus argument", 2, "status", "surplus")
fails("no job", 2, "await", *at)
fails("a timeout that is none", 2, "status", *at, "--timeout", "soon")
equal(ctl().returncode, 2, "no command")
p = ctl("--help")
ok(p.returncode == 0 and "Usage:" in p.stdout, "--help")
ok(ctl("--version").stdout.startswith("cuzkctl "), "--version")

# engines
null = BUILD + "/.libs/null.so"
p = ctl("modinfo", null)
ok(p.returncode == 0 and "proves nothing" in p.stdout, "modinfo")
j = json.loads(ctl("modinfo", "--json", null).stdout)
ok(j["name"] == "null" and j["abi"].startswith("1.") and len(j["params"]) > 10, "modinfo --json")
fails("modinfo of a text", 1, "modinfo", s.config)
fails("an engine without commands", 1, "circuit", "list", "--engine", null)
fails("an engine that is none", 1, "circuit", "list", "--engine", s.config)
fails("an engine that is not there", 1, "circuit", "list", "--engine-dir", s.dir)
equal(s.stop(), 0, "stop")

# a peer that takes the connection and says nothing, or says something else
def silent(family, address, answer):
    listener = socket.socket(family)
    listener.bind(address)
    listener.listen(8)
    held = []

    def serve():
        while True:
            try:
                held.append(listener.accept()[0])
                held[-1].sendall(answer)
            except OSError:
                return

    threading.Thread(target=serve, daemon=True).start()
    return listener


port = free_port()
listeners = [silent(socket.AF_INET, ("127.0.0.1", port), b""), silent(socket.AF_UNIX, s.dir + "/silent", b"")]
t = time.monotonic()
calls = [subprocess.Popen([CTL, "status", "--address", a, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
         for a, more in ((f"127.0.0.1:{port}", ()), (f"unix:{s.dir}/silent", ()), (f"127.0.0.1:{port}", ("--timeout", "1500ms")))]
for what, p, least, most in zip(("TCP", "unix", "TCP, with --timeout 1500ms"), (calls[0], calls[1], calls[2]), (9, 9, 1), (30, 30, 30)):
    try:
        err = p.communicate(timeout=40)[1].strip()
    except subprocess.TimeoutExpired:
        p.kill()
        err = "waits and waits"
    ok(p.returncode == 1 and "no connection in" in err and "does not answer" in err and err.count("\n") == 0 and
       least < time.monotonic() - t < most, f"a silent peer, {what}: {err}")
for k in listeners:
    k.close()

# what takes longer than two seconds shows that it goes on
s.configure(engine="delay_ms = 3000")
s.restart()
main, terminal = pty.openpty()
p = subprocess.Popen([CTL, "prove", *at, "--request", SRC + "/t/data/requests/window-2k.json", "--out", out],
                     stderr=terminal, stdout=subprocess.DEVNULL)
os.close(terminal)
seen = b""
while True:
    try:
        part = os.read(main, 1000)
    except OSError:
        break
    if not part:
        break
    seen += part
equal(p.wait(), 0, "prove on a terminal")
ok(b"proving, 2 s" in seen and seen.rstrip().endswith(b")"), "shows progress, and clears it")
s.stop()
done()
