#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A foreign library that hangs, exits, closes descriptors, forks, and answers garbage: its job fails, the service goes on."""
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

DEEDS = ("latin1 stdout grandchild close_all exit_0 deaf quit_0 huge_size endless close_stdio thread_exit stop talk "
         "fill_room no_files half_word check_words").split()
HOSTILE = f"""[engine hostile]
type = foreign
library = {os.path.abspath(BUILD)}/t/.libs/hostile.so
check = int hostile_check(uint64_t sector_number, char *error, size_t error_size)
prove = int hostile_prove(uint64_t sector_number, uint8_t *proof_out, size_t *proof_size_out,
prove_2 = char *error, size_t error_size)
verify = bool hostile_verify(uint64_t sector_number, const uint8_t *proof)
last_error = const char *hostile_error(void)
"""
port = free_port()
s = Service(engine=HOSTILE, instances="[cpu]\nengine = hostile\n",
            settings=f"metrics_listen = 127.0.0.1:{port}\nrestart_delay = 1ms\nrestart_delay_max = 1ms\nkill_grace = 100ms\nstage_limit = 1s\n"
            "heartbeat_limit = 300ms\nquarantine_faults = 1000\nretries = 0\npoison_deaths = 2\nlearn_history = 0\n")
s.start()
c = s.client()
pid = s.proc.pid


def good(sector):
    r = c.prove(request("window-post", "good", b"good", sector=sector), wait=30)
    return r.status == "COMPLETED" and r.proof == bytes([sector & 255]) * 192


def deed(name):
    sector = 100 + DEEDS.index(name)
    return c.prove(request("window-post", name, b"deed", sector=sector), wait=30), sector


def status():
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=10) as f:
        return json.loads(f.read().decode())


def group(child):
    p = subprocess.run(["pgrep", "-g", str(child)], capture_output=True, text=True)
    return [int(x) for x in p.stdout.split()]


ok(good(1), "it can prove")
number = 1
for name, ending, words in (
        ("latin1", "FAILED", "foreign hostile_prove: ?chec  [31m \U0001f600 ???"), ("stdout", "COMPLETED", ""),
        ("close_all", "FAILED", "ended with status 1"), ("exit_0", "FAILED", "ended with status 0"),
        ("quit_0", "FAILED", "ended with status 0"), ("deaf", "FAILED", "limit"), ("huge_size", "FAILED", "proof of 18446744073709551615 bytes"),
        ("endless", "FAILED", "e" * 100), ("close_stdio", "COMPLETED", ""), ("thread_exit", "FAILED", "limit"), ("stop", "FAILED", "limit"),
        ("talk", "FAILED", "instances died"), ("fill_room", "FAILED", "f" * 100), ("no_files", "COMPLETED", ""),
        ("half_word", "FAILED", "h" * 100 + "?"), ("check_words", "FAILED", "foreign hostile_check: non \u00e9  [31m??")):
    try:
        r, sector = deed(name)
    except UnicodeDecodeError as e:
        ok(False, f"{name}: the answer is no text: {e}")
        continue
    said = r.error[-700:] if len(r.error) > 700 else r.error
    ok(r.status == ending and (ending == "COMPLETED" or words.replace("h" * 100, "hhhh") in r.error), f"{name}: {r.status} {said}")
    number += 1
    ok(good(number), "and the next is proved")
try:
    st = status()
    ok(st["ready"] and s.proc.pid == pid and s.proc.poll() is None, "the service is the same, and its status is JSON")
except (ValueError, UnicodeDecodeError) as e:
    ok(False, f"the status is JSON: {e}")
ok(s.text().isprintable() or not any(ch < " " and ch != "\n" for line in s.text().splitlines() if line.startswith("<") for ch in line),
   "no line of the log has a control character")

# what it started goes with it
child = status()["instances"][0]["pid"]
equal(deed("grandchild")[0].status, "COMPLETED", "grandchild")
equal(len(group(child)), 2, "a process of the library's own")
os.kill(child, signal.SIGKILL)
limit = time.monotonic() + 10
while group(child) and time.monotonic() < limit:
    time.sleep(0.05)
equal(group(child), [], "is ended with the instance")
ok(good(200), "which comes back")
child = status()["instances"][0]["pid"]
equal(c.prove(request("window-post", "again", b"again", sector=100 + DEEDS.index("grandchild")), wait=30).status, "COMPLETED", "once more")
equal(len(group(child)), 2, "a process of the library's own")
equal(s.stop(), 0, "the service ends")
limit = time.monotonic() + 5
while group(child) and time.monotonic() < limit:
    time.sleep(0.05)
equal(group(child), [], "and nothing is left of it")
for p in group(child):
    os.kill(p, signal.SIGKILL)
done()
