#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""/metrics as a strict collector reads it, whatever happens and whatever engines say; what it tells an operator."""
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *
import exposition

GOOD = """# HELP a_total x
# TYPE a_total counter
a_total{k="b \\\\ \\" \\n }"} 1e+06
# HELP h x
# TYPE h histogram
h_bucket{le="0.1"} 1
h_bucket{le="+Inf"} 2
h_sum 3
h_count 2
"""
equal(exposition.read(GOOD)[2], [], "the reader takes what is right")
for old, new in (('a_total{', 'a_total{k="b",'), ("counter", "gauge"), ("# HELP a_total x\n", ""), ("1e+06", "1_0"), ("1e+06", "-1"),
                 ('le="0.1"} 1', 'le="0.1"} 3'), ('"+Inf"', '"7"'), ("h_sum 3\n", ""), ("\\n", "\\t"), ("h_count 2\n", "h_count 2"),
                 ("h_sum 3", "h_sum 3 4"), ("h_sum 3\n", "h_sum 3\na_total 7\n"), ("h_sum 3", "h_sum 3\nh_sum 3"),
                 ("# HELP h x", "# HELP h x\n# HELP h x"), (" x\n# TYPE h ", "\n# TYPE h "), ("\\n", "\xe9\udc80")):
    assert old in GOOD
    ok(exposition.read(GOOD.replace(old, new, 1))[2], f"and refuses {new!r} for {old!r}")

port = free_port()
s = Service(engine="delay_ms = 1\ninvalid_every = 17\ncrash_every = 40\nabsent = update\n",
            instances="[cpu]\nengine = named\n[gpu a.B-c_1]\nengine = null\ndevice = 0000:01:00.0\n[gpu dead]\nengine = broken\ndevice = 0000:02:00.0\n",
            settings=f"metrics_listen = 127.0.0.1:{port}\nrestart_delay = 1ms\nrestart_delay_max = 1ms\nquarantine_faults = 1000\npoison_deaths = 100\n")
shutil.copy(BUILD + "/t/.libs/stage.so", s.dir)
shutil.copy(BUILD + "/.libs/null.so", s.dir + "/inner.so")
with open(s.config, "a") as f:
    f.write(f"[engine named]\nlibrary = {s.dir}/stage.so\nabsent = update\n[engine broken]\nlibrary = {s.dir}/none.so\n")
# what engines call their memory: alike after cleaning, alike when cut, a list that runs over, and nothing that a label may hold
names = [b'q"\\', b"q__", b"line\n", b"line", b"line ", b"\xe9", b"\xff", b"x" * 40 + b"1", b"x" * 40 + b"2", b"other", b"", b"}"]
names += [b"n%d" % i for i in range(40)]
with open(s.dir + "/names", "wb") as f:
    f.write(b"\0".join(names) + b"\0")
s.start()
c = s.client()


def scrape():
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as f:
        data = f.read()
    samples, types, bad = exposition.read(data)
    return samples, types, bad


samples, types, bad = scrape()
equal(bad, [], f"{len(samples)} samples of {len(types)} metrics at the start")
before = samples
number = 0
for turn in range(3):
    for kind in "porep", "window-post", "winning-post":
        for i in range(4):
            number += 1
            c.prove(request(kind, 'label"\\\n', b"%d" % number, sector=number), wait=30)
    code_of(c.submit, b"\xff")
    job = c.submit(request("porep", "cancelled", b"c%d" % turn))
    c.cancel(job)
    samples, types, bad = scrape()
    equal(bad, [], f"{len(samples)} samples of {len(types)} metrics after {number} jobs")
    equal(exposition.went_back(before, samples, types), [], "no counter went back")
    before = samples


def sample(name, **labels):
    return samples.get(("cuzk_" + name, tuple(sorted(labels.items()))))


limit = time.monotonic() + 20
while sum(k[0] == "cuzk_memory_reserved_bytes" and dict(k[1])["instance"] == "cpu" for k in samples) < 20 and time.monotonic() < limit:
    time.sleep(0.2)
    samples, types, bad = scrape()
uses = {dict(k[1])["use"]: v for k, v in samples.items() if k[0] == "cuzk_memory_reserved_bytes" and dict(k[1])["instance"] == "cpu"}
equal(bad, [], f"with {len(uses)} names of memory")
equal((uses.get('q"\\'), uses.get("line"), uses.get("?")), (1000, 3000, 2000), "a name is shown as it is; what looks alike is one")
equal(sum(uses.values()), 1000 * len(names), "and nothing of it is lost")
equal(sum(v for k, v in samples.items() if k[0] == "cuzk_jobs_total"), 3 * 13 + 0.0, "every job is counted")
equal([sample("kind_served", kind=k) for k in ("porep", "update", "window-post", "winning-post")], [1, 0, 1, 1], "which kinds are served")
equal(sample("build_info", version=json.loads(urllib.request.urlopen(f"http://127.0.0.1:{port}/status").read())["version"]), 1, "the version")
ok(abs(sample("start_time_seconds") - time.time()) < 120, "the time of the start")
equal((sample("instance_up", instance="gpu dead"), sample("instance_up", instance="gpu a.B-c_1") in (0, 1)), (0, True), "what is down")
text = c.call("GetMetrics")[1][0]
equal(exposition.read(text)[2], [], "GetMetrics gives the same")

# why it is down
s.wait_log("gpu dead: quarantined")
gpus = {parse(g)[2][0].decode(): parse(g) for g in c.call("GetStatus")[1]}
equal(gpus["gpu dead"][16][0], b"quarantined", "GetStatus has the state of an instance")
ok(b"none.so: " in gpus["gpu dead"][17][0], f"and the reason: {gpus['gpu dead'][17][0].decode()}")
ok(17 not in gpus["cpu"], "one that works has none")
p = subprocess.run([BUILD + "/cuzkctl", "status", "--address", s.address], capture_output=True, text=True)
ok(any(line.split()[:3] == ["gpu", "dead", "quarantined"] for line in p.stdout.splitlines()) and "none.so: " in p.stdout, "so has cuzkctl status")
j = json.loads(subprocess.run([BUILD + "/cuzkctl", "status", "--json", "--address", s.address], capture_output=True, text=True).stdout)
ok([g["state"] for g in j["gpus"] if g["name"] == "gpu dead"] == ["quarantined"] and all("reason" in g for g in j["gpus"]), "and its JSON")
with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz") as f:
    line = f.read().decode()
ok("disabled: update" in line, f"the line for people names the kinds that are disabled: {line.strip()}")
equal(s.stop(), 0, "stop")
done()
