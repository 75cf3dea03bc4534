#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Limits of stages that are learnt from what the stages took, where the configured ones are ten minutes."""
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

FAST = "restart_delay = 20ms\nrestart_delay_max = 50ms\nkill_grace = 100ms\nquarantine_faults = 1000\nheartbeat_limit = 400ms\n"
LEARN = "learn_history = 8\nlearn_factor = 2\nlearn_floor = 600ms\n"
s = Service()
token = s.dir + "/token"


fresh = 0


def work(kind, sector=14):
    """A request that was never made before: results outlive the service."""
    global fresh
    fresh += 1
    return request(kind, "limits", b"%d" % fresh, sector=sector)


def history(c, kind, n):
    return all([c.prove(work(kind)).status == "COMPLETED" for _ in range(n)])


def deaths():
    return [int(ms) for ms in re.findall(r"died \(stuck\) .* the learnt limit is (\d+) ms", s.text())]


# frozen in one stage: found within the learnt limit, and the job completes
open(token, "w").close()
s.configure(engine=f"delay_ms = 24\npartitions_update = 1\nhang_sector = 13\nhang_stage = ntt\ntoken = {token}\n", settings=FAST + LEARN)
s.start()
c = s.client()
ok(history(c, "window-post", 8), "eight proofs make a history")
t = time.monotonic()
m = work("window-post", 13)
r = c.prove(m, wait=60)
took = time.monotonic() - t
equal((r.status, r.proof), ("COMPLETED", null_proof(m)), "an instance that freezes: the job completes")
ok(0.6 <= took < 10, f"after {took:.2f} s, for a floor of 0.6 s")
equal(deaths(), [600], "the instance was ended by the learnt limit")
s.stop()

# without a history of that circuit and stage the configured limit holds; a slow factor holds too
s.configure(engine="delay_ms = 24\npartitions_update = 1\nhang_sector = 13\nhang_stage = ntt\n",
            settings=FAST + LEARN + "stage_limit_ntt = 2s\nstage_limit = 2s\n")
s.restart()
c = s.client()
ok(history(c, "window-post", 8) and history(c, "update", 7), "histories of 8 and 7")
r = c.prove(work("update", 13), wait=60)
equal((r.status, deaths()), ("FAILED", []), "a history that is too short: the configured limit holds")
ok(s.text().count("the configured limit is 2000 ms") >= 2, "and is named")
s.stop()

# ended wrongly it would end again and again: the limit doubles
s.configure(engine="delay_ms = 24\npartitions_update = 1\nhang_sector = 13\nhang_stage = ntt\n", settings=FAST + LEARN + "poison_deaths = 3\n")
s.restart()
c = s.client()
history(c, "window-post", 8)
r = c.prove(work("window-post", 13), wait=60)
equal((r.status, deaths()), ("FAILED", [600, 1200, 2400]), "each time that it ends an instance the limit doubles")
ok(history(c, "window-post", 9), "good proofs follow")
c.prove(work("window-post", 13), wait=60)
equal(deaths()[3:], [600, 1200, 2400], "and it is the old one again")
s.stop()

# a partition that waits for another to leave the device is not stuck
s.configure(engine="delay_ms = 2400\nlanes = 2\nhang_sector = 13\nhang_stage = ntt\n",
            instances="[cpu]\nengine = null\ndepth = 2\n",
            settings=FAST + "learn_history = 1\nlearn_factor = 2\nlearn_floor = 100ms\nlearn_floor_params = 100ms\npoison_deaths = 1\n")
s.restart()
c = s.client()
history(c, "window-post", 2)
frozen = c.start_prove(work("window-post", 13))
time.sleep(0.8)
other = c.prove(work("window-post"), wait=60)
equal(other.status, "COMPLETED", "as long as anything moves in the instance it is left alone")
equal(result(parse(frozen.result())[1][0]).status, "FAILED", "then the frozen one is found")
ok("1 partition(s) in" in s.text().split("died (stuck)")[0].split("accepted")[-1], "in this order")
limits = deaths()
ok(len(limits) == 1 and 300 < limits[0] < 2000, f"by twice what the stage took: {limits} ms for stages of 200 ms")
s.stop()

# off
s.configure(engine="delay_ms = 24\npartitions_update = 1\nhang_sector = 13\n", settings=FAST + "learn_history = 0\nlearn_floor = 100ms\n")
s.restart()
c = s.client()
history(c, "window-post", 20)
call = c.start_prove(work("window-post", 13))
try:
    call.result(2)
    ok(False, "with learn_history = 0 nothing is learnt")
except TimeoutError:
    equal(deaths(), [], "with learn_history = 0 nothing is learnt")
s.kill()
done()
