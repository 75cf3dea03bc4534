#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Tests fault class "lost, duplicated, mixed jobs".
"""A disk that is full, slow or fails, and a clock that jumps, cost no job and no result."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

ASAN = {"ASAN_OPTIONS": "verify_asan_link_order=0"}


def limit(size):
    """No file of the service grows beyond that; None: as it likes."""
    subprocess.run(["prlimit", f"--fsize={'unlimited' if size is None else size}:", "--pid", str(s.proc.pid)], check=True)


def journal_size():
    return os.path.getsize(s.dir + "/state/journal")


def until(what, timeout=20):
    end = time.monotonic() + timeout
    while not what() and time.monotonic() < end:
        time.sleep(0.02)
    return what()


def preload(name):
    return BUILD + f"/t/.libs/{name}.so"


s = Service(engine="delay_ms = 50").start()
c = s.client()
# a journal of a size that a request file, which is in memory, stays below
while journal_size() < 120000:
    c.submit(request("winning-post", "fill", os.urandom(20000)))

# a job that could not be written down is written when it is submitted again
limit(journal_size() + 1000)
m, done_m = request("porep", "again", b"a" * 5000), request("winning-post", "done", b"d" * 5000)
equal([code_of(c.submit, x) for x in (m, done_m)], ["UNAVAILABLE"] * 2, "a full disk: two clients hear that their jobs would not survive a restart")
equal(code_of(c.submit, m), "UNAVAILABLE", "so does one that submits the same again")
equal(c.prove(done_m).status, "COMPLETED", "one of the jobs is completed meanwhile")
limit(None)
t = time.monotonic()
jobs = [c.submit(x) for x in (m, done_m)]
ok(time.monotonic() - t < 5, "with room again both are accepted, be they done or not")
s.kill()
s.restart()
c = s.client()
equal([c.wait(j).proof for j in jobs], [null_proof(m, 10), null_proof(done_m)], "and survive a kill -9")
ok(f"job {jobs[1]}: resumed" not in s.text(), "the one that was done is not proved again")
equal([c.submit(x) for x in (m, done_m)], jobs, "each is there once")

# results that could not be written are when there is room
job, m = None, request("porep", "result", b"r" * 300)
s.stop()
s.configure(engine="delay_ms = 200")
s.restart()
c = s.client()
job = c.submit(m)
limit(journal_size() + 100)
equal(c.wait(job).status, "COMPLETED", "a job is done while the disk is full")
until(lambda: "journal: cannot write" in s.text())
limit(None)
ok(until(lambda: "journal: can be written again" in s.text()), "what was not written is written when there is room")
s.kill()
s.restart()
c = s.client()
r = c.wait(job)
equal((r.status, r.proof), ("COMPLETED", null_proof(m, 10)), "and is there after a kill -9")
ok(f"job {job}: resumed" not in s.text(), "in order, its end behind its partitions")
s.stop()

# a disk that loses what was written: the same
if os.path.exists(preload("slow-sync")):
    fails = s.dir + "/fails"
    s.env = dict(ASAN, LD_PRELOAD=preload("slow-sync"), CUZK_TEST_SYNC_FAILS=fails)
    s.restart()
    c = s.client()
    m = request("porep", "lost", b"l" * 300)
    job = c.submit(m)
    s.wait_log(" done on cpu", count=2)
    open(fails, "w").close()
    equal(c.wait(job).status, "COMPLETED", "a job is done while the disk fails")
    late = request("winning-post", "late", b"late")
    equal(code_of(c.submit, late), "UNAVAILABLE", "and another is not accepted")
    os.unlink(fails)
    ok(until(lambda: "journal: can be written again" in s.text()), "what was lost is written again")
    late_job = c.submit(late)
    s.kill()
    s.restart()
    c = s.client()
    r = c.wait(job)
    equal((r.status, r.proof), ("COMPLETED", null_proof(m, 10)), "the result is there after a kill -9")
    equal(c.wait(late_job).proof, null_proof(late), "so is the other job")
    equal(metric(c, "resumed_total"), 0, "none is proved again")
    s.stop()

    # the request of a job stays until it is on the disk that it is not needed
    held = s.dir + "/held"
    s.env = dict(ASAN, LD_PRELOAD=preload("slow-sync"), CUZK_TEST_SYNC=held)
    s.restart()
    c = s.client()
    job = c.submit(request("porep", "large", os.urandom(600000)))
    requests = s.dir + "/state/requests"
    equal(len(os.listdir(requests)), 1, "a large request is a file")
    open(held, "w").close()
    equal(c.wait(job).status, "COMPLETED", "its job is done, and the disk is slow")
    time.sleep(0.3)
    equal(len(os.listdir(requests)), 1, "the file stays while the end of the job is not on the disk")
    os.unlink(held)
    ok(until(lambda: not os.listdir(requests)), "and goes after that")
    s.env = {}
    s.stop()
else:
    skip("a disk that fails", "shared objects are not built")

# the clock jumps
if os.path.exists(preload("jump-clock")):
    clock = s.dir + "/clock"

    def jump(seconds):
        with open(clock + ".new", "w") as f:
            f.write(str(seconds))
        os.rename(clock + ".new", clock)

    s.env = dict(ASAN, LD_PRELOAD=preload("jump-clock"), CUZK_TEST_CLOCK=clock)
    s.configure(settings="result_ttl = 1h\n")
    s.restart()
    c = s.client()
    job = c.submit(request(payload=b"clock"))
    equal(c.wait(job).status, "COMPLETED", "a job is done")
    jump(86400)
    time.sleep(2.2)
    equal(code_of(c.wait, job), "OK", "its result stays when the clock jumps a day ahead")
    s.stop()
    s.configure(settings="result_ttl = 2s\n", engine="delay_ms = 300")
    s.restart()
    c = s.client()
    m = request("porep", "back", b"back")
    job = c.submit(m)
    jump(-86400)
    s.wait_log(" done on cpu")
    r = c.wait(job)
    equal((r.status, r.proof), ("COMPLETED", null_proof(m, 10)), "a job goes on when the clock jumps back")
    ok(r.total_ms < 60000, f"and took {r.total_ms} ms")
    ok(until(lambda: code_of(c.wait, job) == "NOT_FOUND", 6), "its result goes when its time is over, not a day later")
    s.configure(settings="result_ttl = 1h\n", engine="delay_ms = 300")
    job = c.submit(m)
    s.kill()
    jump(86400)
    s.restart()
    c = s.client()
    r = c.wait(job)
    equal((r.status, r.proof), ("COMPLETED", null_proof(m, 10)), "so does one out of a journal of another day")
    jump(-86400)
    s.stop()
    s.restart()
    r = s.client().wait(job)
    ok(r.status == "COMPLETED" and r.total_ms < 60000, f"whose result is there after one more jump and restart: it took {r.total_ms} ms")
    s.env = {}
    s.stop()
else:
    skip("a clock that jumps", "shared objects are not built")

# a disk without a byte: what was accepted is proved, and given out
folder = tempfile.mkdtemp(prefix="cuzk-disk-")
if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1M", "none", folder], capture_output=True).returncode:
    skip("mount", "a small disk of its own cannot be mounted")
    os.rmdir(folder)
    done()
try:
    s.configure(engine="delay_ms = 50")
    with open(s.config) as f:
        text = f.read().replace(s.dir + "/state", folder + "/state")
    with open(s.config, "w") as f:
        f.write(text)
    s.restart()
    c = s.client()
    m = request("porep", "full", b"full")
    job = c.submit(m)
    s.kill()
    # nothing is left, the place of the lock's number included
    os.truncate(folder + "/state/lock", 0)
    with open(folder + "/filler", "wb", 0) as f:
        try:
            while True:
                f.write(bytes(4096))
        except OSError:
            pass
    s.restart()
    c = s.client()
    r = c.wait(job)
    equal((r.status, r.proof), ("COMPLETED", null_proof(m, 10)), "a start on a full disk: what was accepted is proved and given out")
    other = request("winning-post", "other", b"o" * 5000)
    equal(code_of(c.submit, other), "UNAVAILABLE", "nothing more is accepted")
    equal(c.prove(other).proof, null_proof(other), "but proved for who waits")
    os.unlink(folder + "/filler")
    equal(code_of(c.submit, other), "OK", "with room all is as before")
    ok(until(lambda: "journal: can be written again" in s.text()), "and the results are written")
    s.kill()
    s.restart()
    equal(s.client().wait(job).proof, null_proof(m, 10), "which are there after a kill -9")
    s.stop()
finally:
    s.kill() if s.proc.poll() is None else None
    subprocess.run(["umount", folder])
    shutil.rmtree(folder, True)
done()
