#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A client made of npm's @grpc/grpc-js and the installed .proto works unchanged."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

PACKAGES = {"@grpc/grpc-js": "1.12.6", "@grpc/proto-loader": "0.7.13"}

modules = npm_modules("node", PACKAGES)

port = free_port()
s = Service(settings=f"listen_tcp = 127.0.0.1:{port}\ninsecure = yes\n").start()
for address in ("unix:" + s.socket, f"127.0.0.1:{port}"):
    for name, partitions in (("winning-2k", 1), ("porep-2k", 10), ("update-2k", 16)):
        out = s.dir + "/proof"
        p = subprocess.run(["node", SRC + "/t/client.mjs", modules, SRC + "/lib/proto/cuzk.proto", address,
                            f"{SRC}/t/data/requests/{name}.json", out], capture_output=True, text=True, timeout=120)
        if not ok(p.returncode == 0, f"{name} over {address.split(':')[0]}: {p.stderr.strip()[:300]}"):
            continue
        r = json.loads(p.stdout)
        equal((r["status"], r["bytes"], r["error"]), ("COMPLETED", 192 * partitions, ""), f"{r['job']}")
        equal((r["again"], r["same"], r["unknown"]), (r["job"], True, 5), "submit again, await, unknown job")
equal(s.stop(), 0, "stop")
done()
