#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A generic client finds out by server reflection what there is, and watches the health of the service to its end."""
import json
import os
import queue
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

PACKAGES = {"@grpc/grpc-js": "1.14.4", "grpc-js-reflection-client": "1.4.2"}

modules = npm_modules("node-reflection", PACKAGES, "--ignore-scripts")

s = Service(engine="delay_ms = 500\n").start()
p = subprocess.Popen(["node", SRC + "/t/reflect.mjs", modules, s.address], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
lines = queue.Queue()


def read():
    for line in p.stdout:
        lines.put(line.strip())
    lines.put(None)


threading.Thread(target=read, daemon=True).start()


def line():
    try:
        return lines.get(timeout=60)
    except queue.Empty:
        return None


first = line()
if not ok(first, "the client finds its way"):
    diag(p.communicate()[1])
    done()
r = json.loads(first)
equal(r["services"], ["cuzk.v1.ProvingEngine", "grpc.health.v1.Health"], "the services")
equal(sorted(r["methods"]["cuzk.v1.ProvingEngine"]),
      ["AwaitProof", "CancelProof", "EvictSRS", "GetMetrics", "GetStatus", "PreloadSRS", "Prove", "SubmitProof"], "the methods of one")
equal(sorted(r["methods"]["grpc.health.v1.Health"]), ["Check", "Watch"], "and of the other")
equal((r["unknown"], r["instance"], r["check"], r["other"]), ("not found", "cpu", "SERVING", 5),
      "calls by what it learnt: status, health, health of a service that there is not")
equal(sorted([line(), line()]), ["SERVING", "other SERVICE_UNKNOWN"], "it watches the health")
c = s.client()
call = c.start_prove(request("window-post", "drain", b"drain"))
limit = time.monotonic() + 10
while parse(c.call("GetStatus")[1][0]).get(5, [b""])[0] == b"" and time.monotonic() < limit:
    time.sleep(0.01)	# until the partition runs
s.proc.terminate()
# of the other service it may say once more that it does not know it
equal(next(x for x in iter(line, None) if not x.startswith("other")), "NOT_SERVING", "a service that drains says so")
equal(result(parse(call.result())[1][0]).status, "COMPLETED", "while it proves to the end")
rest = [x for x in iter(line, None)]
equal([x for x in rest if not x.startswith("other")], ["end 14"], "and then ends the watch")
equal((p.wait(20), s.wait()), (0, 0), "both end")
done()
