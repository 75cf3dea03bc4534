#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Tests fault class "locks and deadlocks".
# Tests fault class "poisoned context, hang".
# Tests fault class "lost, duplicated, mixed jobs".
"""Restart forgets nothing: kill -9 anywhere, a torn or damaged journal, one service per folder."""
import os
import random
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *
import hashlib

s = Service(engine="delay_ms = 150").start()
c = s.client()
small = request("porep", "porep-1000-1", b"x" * 1000, sector=1)
large = request("porep", "porep-1000-2", os.urandom(600000), sector=2)
js, jl = c.submit(small), c.submit(large)
done_before = c.prove(request("winning-post", "win", b"win"))
s.wait_log(" done on cpu", count=4)
partitions = metric_before = c.call("GetMetrics")[1][0].decode()
n = int(next(l for l in partitions.splitlines() if l.startswith('cuzk_partitions_total{kind="porep"}')).split()[-1])
ok(n >= 2, f"{n} partitions are done before the kill")
equal(s.kill(), -9, "kill -9")
s.restart()
c = s.client()
r = c.wait(js)
equal((r.status, r.proof), ("COMPLETED", null_proof(small, 10)), "a small job goes on under its id")
r = c.wait(jl)
equal((r.status, r.proof), ("COMPLETED", null_proof(large, 10)), "a job with a request file too")
text = c.call("GetMetrics")[1][0].decode()
again = int(next(l for l in text.splitlines() if l.startswith('cuzk_partitions_total{kind="porep"}')).split()[-1])
ok(again <= 20 - n + 1, f"finished partitions are not proved again: {n} before, {again} after")
r = c.wait(done_before.job)
equal((r.status, r.proof), ("COMPLETED", done_before.proof), "a result from before is still there")
equal(metric(c, "resumed_total"), 2, "two jobs were resumed")

# a job is on the disk before its client is told, and only then
slow = BUILD + "/t/.libs/slow-sync.so"
if os.path.exists(slow):
    held = s.dir + "/held"
    d = Service(engine="delay_ms = 20", env={"LD_PRELOAD": slow, "CUZK_TEST_SYNC": held, "ASAN_OPTIONS": "verify_asan_link_order=0"})
    d.start()
    e = d.client()
    open(held, "w").close()
    call = e.start("SubmitProof", request("porep", "slow disk", b"slow disk"))
    d.wait_log(": partition 9 done on")
    ok(not call.event.is_set(), "the disk is slow: the job is proved, and its client not told that it is accepted")
    os.unlink(held)
    equal(parse(call.result(30))[1][0].decode().split(".")[0], "slow-disk", "until the disk has it")
    equal(d.stop(), 0, "stop")

# one service per folder
p = subprocess.run([BUILD + "/cuzkd", "--config", s.config], capture_output=True, text=True, timeout=20)
equal(p.returncode, 75, "a second service on the same folder refuses")
ok(f"process {s.proc.pid}" in p.stderr, "and names the first")
equal(c.wait(js).status, "COMPLETED", "which goes on")

# results come back after an orderly stop; request files do not stay
equal(s.stop(), 0, "stop")
equal(os.listdir(s.dir + "/state/requests"), [], "no request file is left behind")
journal = s.dir + "/state/journal"
whole = open(journal, "rb").read()

# a torn tail, at every length of the last record's beginning
rng = random.Random(1)
for cut in [1, 7, 31, 33, 100, 229]:
    open(journal, "wb").write(whole[:-cut])
    s.restart()
    c = s.client()
    good = c.wait(js).proof == null_proof(small, 10)
    s.stop()
    ok(good and "torn" in s.text(), f"{cut} bytes cut off the end: the rest is read")

# damage inside costs a record, never the journal
for _ in range(5):
    data = bytearray(whole)
    at = rng.randrange(200, len(data))
    data[at] ^= 1 << rng.randrange(8)
    open(journal, "wb").write(data)
    s.restart()
    c = s.client()
    m = request("winning-post", "after", b"after %d" % at)
    equal(c.prove(m).proof, null_proof(m), f"a bit flipped at {at} of {len(data)}: it starts and proves")
    for job, message in (js, small), (jl, large):
        try:
            r = c.wait(job, wait=10)
            if r.status == "COMPLETED" and r.proof != null_proof(message, 10):
                ok(False, "a damaged record gave a wrong proof")
        except RpcError as e:
            if e.code != "NOT_FOUND":
                ok(False, f"a lost job is {e.code}")
    s.stop()

# the key of its records is there twice
def check(key, record, body):
    return hashlib.sha256(key + record[:32] + bytes(16) + body).digest()[:16]


n = struct.unpack_from("<I", whole, 112 + 16)[0]
equal(whole[112 + 32:112 + 48], check(whole[16:48], whole[112:160], whole[160:160 + n]),
      "a record has the first bytes of SHA-256 of key, head and body")
data = bytearray(whole)
data[30] ^= 4
open(journal, "wb").write(data)
s.restart()
ok(s.client().wait(js).proof == null_proof(small, 10), "a bit of the key flipped: all is read")
s.stop()
data[16 + 48 + 30] ^= 4
open(journal, "wb").write(data)
p = subprocess.run([BUILD + "/cuzkd", "--config", s.config], capture_output=True, text=True, timeout=20)
equal((p.returncode, "its head is damaged" in p.stderr), (1, True), "both keys damaged: it refuses and says why")

open(journal, "wb").write(b"cuzk journal 03\n" + whole[16:])
p = subprocess.run([BUILD + "/cuzkd", "--config", s.config], capture_output=True, text=True, timeout=20)
equal((p.returncode, f"{journal}: of format 03, this version reads 01 and 02" in p.stderr, "move it away" in p.stderr), (1, True, True),
      f"a journal of a later version is refused: {p.stderr.splitlines()[0]}")

open(journal, "wb").write(b"something else entirely, and longer than a head")
p = subprocess.run([BUILD + "/cuzkd", "--config", s.config], capture_output=True, text=True, timeout=20)
equal((p.returncode, "not a journal" in p.stderr), (1, True), "a file that is no journal is refused, not overwritten")
ok(open(journal, "rb").read().startswith(b"something"), "and left as it is")
os.unlink(journal)

# format 01 is converted: the same but for a shorter head and a CRC-32C that stands for the check
def crc32c(data):
    crc = 0xffffffff
    for b in data:
        crc ^= b
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def record_01(kind, seq, body, payload=b""):
    head = struct.pack("<IHHQIIQ", 0x6a7a7563, kind, 0, seq, len(body), 0, len(payload))
    out = head[:20] + struct.pack("<I", crc32c(head + body)) + head[24:] + body + payload
    return out + bytes(-len(out) % 8)


def format_01(data):
    """A journal of today's in format 01, record by record."""
    out, at = [b"cuzk journal 01\n"], 112
    while at < len(data):
        magic, kind, version, seq, body_len, reserved, payload_len = struct.unpack_from("<IHHQIIQ", data, at)
        body = data[at + 48:at + 48 + body_len]
        payload = data[at + 48 + body_len:at + 48 + body_len + payload_len]
        out.append(record_01(kind, seq, body, payload))
        at += (48 + body_len + payload_len + 7) & ~7
    return out


s.configure(engine="delay_ms = 20\nhang_sector = 5")
s.restart()
c = s.client()
finished, inline, spooled = (request("porep", "finished", b"before the upgrade"), request("porep", "inline", b"accepted" * 100, sector=5),
                             request("porep", "spooled", b"and large " * 60000, sector=5))
jobs = [c.submit(m) for m in (finished, inline, spooled)]
equal(c.wait(jobs[0]).status, "COMPLETED", "before an upgrade: a job is done, two are accepted")
s.kill()
old = format_01(open(journal, "rb").read())
s.configure()
for what, data, known in (("whole", b"".join(old), jobs), ("empty", old[0], []), ("torn", b"".join(old)[:-9], jobs),
                          ("damaged", b"".join(old[:3]) + b"\0" * 8 + b"".join(old[3:]), [])):
    open(journal, "wb").write(data)
    kept = {n: open(f"{s.dir}/state/requests/{n}", "rb").read() for n in os.listdir(s.dir + "/state/requests")}
    s.restart()
    c = s.client()
    if known:
        equal([c.wait(j, wait=60).proof for j in known], [null_proof(m, 10) for m in (finished, inline, spooled)],
              f"format 01, {what}: results are there, accepted jobs go on")
    m = request(payload=b"after " + what.encode())
    equal(c.prove(m).proof, null_proof(m), f"{what}: it proves")
    ok(f"{journal} was of format 01 and is converted" in s.text(), f"{what}: the log says so")
    equal("are not taken; jobs in them are lost" in s.text(), what in ("torn", "damaged"), f"{what}: and what could not be read")
    equal(open(journal + ".01", "rb").read(), data, f"{what}: the old file is kept aside")
    s.stop()
    s.restart()
    ok("format 01" not in s.text() and s.client().prove(m).proof == null_proof(m), f"{what}: once only")
    s.stop()
    for n, content in kept.items():
        with open(f"{s.dir}/state/requests/{n}", "wb") as f:
            f.write(content)
os.unlink(journal)

# what another engine proved, or the same with other parameters, is no result of today's
tried = Service(engine="delay_ms = 100").start()
client = tried.client()
m, long = request("winning-post", "tried", b"tried"), request("porep", "tried long", b"tried long")
won, job = client.prove(m).job, client.submit(long)
tried.wait_log(" done on cpu", count=4)
tried.stop()
other = tried.dir + "/other.so"
shutil.copy(BUILD + "/.libs/null.so", other)
for what, more in (("another engine", {"instances": f"[engine other]\nlibrary = {other}\n[cpu]\nengine = other\n"}),
                   ("another folder of parameters", {"settings": "params_dir = /nowhere"})):
    whole = open(tried.dir + "/state/journal", "rb").read()
    tried.configure(engine="delay_ms = 0" if "settings" in more else "", **more)
    tried.restart()
    client = tried.client()
    r = client.wait(won)
    equal((r.status, "submit it again" in r.error), ("FAILED", True), f"{what}: a kept result is not given out: {r.error}")
    equal(tried.text().count("1 result(s) are not given out"), 1, "which the log says once")
    equal((client.prove(m).status, metric(client, "attached_total")), ("COMPLETED", 0), "who submits it again gets another proof")
    equal(client.wait(job).status, "COMPLETED", "a job that was under way is proved")
    parts = next(l for l in client.call("GetMetrics")[1][0].decode().splitlines() if l.startswith('cuzk_partitions_total{kind="porep"}'))
    equal(parts.split()[-1], "10", "from its first partition on")
    tried.stop()
    open(tried.dir + "/state/journal", "wb").write(whole)
tried.configure()
tried.restart()
client = tried.client()
equal(client.wait(won).status, "COMPLETED", "who goes back finds the result again")
tried.stop()

# a client may send what looks like records: they are never taken for some, whatever is damaged before them
def shaped(seq):
    """Records that would end and forget a job: with the checksum of the format's first version, and with a guessed key."""
    end = struct.pack("<IIIIQ", 3, 1, 0, 0, 1)
    out = b""
    for kind, body in (3, end), (4, b""):
        out += record_01(kind, seq, body)
        head = struct.pack("<IHHQIIQ", 0x6a7a7563, kind, 0, seq, len(body), 0, 0)
        out += head + check(bytes(32), head, body) + body
    return out


s.configure(engine="delay_ms = 20000")
s.restart()
c = s.client()
victim = request("porep", "victim", b"victim", sector=3)
jv = c.submit(victim)
forged = b"".join(shaped(seq) for seq in range(1, 5))
attack = c.submit(request("porep", "attack", b"marker!!" + b"".join(b" " * (i + 1) + forged for i in range(8)), sector=4))
torn = c.submit(request("porep", "torn", b"inline payload" * 100, sector=5))
spooled = c.submit(request("porep", "spooled", b"spooled payload " * 40000, sector=6))
s.kill()
data = bytearray(open(journal, "rb").read())
at = data.index(b"attack" + data[data.index(b"attack") + 6:][:1])
data[at - 8] ^= 1		# in its record, before the payload
data[data.index(b"inline payload" * 50)] ^= 1
open(journal, "wb").write(data)
for name in os.listdir(s.dir + "/state/requests"):
    with open(f"{s.dir}/state/requests/{name}", "r+b") as f:
        f.seek(300000)
        f.write(b"X")
s.configure(engine="delay_ms = 20")
s.restart()
c = s.client()
equal(code_of(c.wait, attack), "NOT_FOUND", "a job whose record is damaged is gone")
try:
    r = c.wait(jv)
    equal((r.status, r.proof), ("COMPLETED", null_proof(victim, 10)), "what its payload pretends to be did nothing to another's job")
except RpcError as e:
    ok(False, f"what its payload pretends to be did nothing to another's job: {e}")
equal([code_of(c.wait, j) for j in (torn, spooled)], ["NOT_FOUND"] * 2, "jobs whose payload is damaged are not proved")
equal(s.text().count("is lost"), 2, "which is said of each")
equal(metric(c, "journal_damaged_total"), 1, "one record was damaged")
s.stop()

# a full disk: the client hears that its job would not survive, and proofs are made all the same
s.restart()
c = s.client()
subprocess.run(["prlimit", "--fsize=200000:", "--pid", str(s.proc.pid)], check=True)
codes = [code_of(c.submit, request("winning-post", "full", bytes([i]) * 60000)) for i in range(6)]
ok(codes[0] == "OK" and codes[-1] == "UNAVAILABLE", f"submits while the disk fills up: {codes}")
m = request("winning-post", "full", b"7" * 60000)
equal(c.prove(m).proof, null_proof(m), "Prove goes on")
subprocess.run(["prlimit", "--fsize=unlimited:", "--pid", str(s.proc.pid)], check=True)
m = request("porep", "room", b"8" * 60000)
job = c.submit(m)
ok(True, "with room again jobs are accepted")
s.kill()
s.restart()
c = s.client()
equal(c.wait(job).proof, null_proof(m, 10), "and kept")
s.stop()

# the engine plans otherwise than before the restart
s.configure(engine="delay_ms = 100")
s.restart()
c = s.client()
m = request("porep", "plan", b"plan")
job = c.submit(m)
s.wait_log("job plan.", count=8)
s.kill()
s.configure(engine="delay_ms = 20\npartitions_porep = 4")
s.restart()
r = s.client().wait(job, wait=20)
equal((r.status, r.proof), ("COMPLETED", null_proof(m, 4)), f"a job whose plan is another one now is proved anew: {r.error}")
s.stop()

# kills at random moments: nothing lost, nothing mixed
s.configure(engine="delay_ms = 20\nlanes = 2", instances="[cpu]\nengine = null\ndepth = 2\n")
s.restart()
messages = [request("porep" if i % 3 == 0 else "winning-post", "r", b"random %d" % i) for i in range(60)]
jobs = {}
todo = list(range(60))
kills = 0
limit = time.monotonic() + 60
while todo and time.monotonic() < limit:
    try:
        c = s.client()
        for i in todo[:10]:
            jobs[i] = c.submit(messages[i])
        todo = todo[10:]
    except (ConnectionError, OSError, RpcError):
        pass
    time.sleep(rng.random() * 0.2)
    if kills < 6:
        s.kill()
        kills += 1
        s.restart()
equal(todo, [], f"60 jobs were accepted across {kills} kills")
c = s.client()
good = 0
for i, m in enumerate(messages):
    r = c.wait(jobs[i])
    good += r.status == "COMPLETED" and r.proof == null_proof(m, 10 if i % 3 == 0 else 1)
equal(good, 60, "all are completed, each with its own proof")
equal(s.stop(), 0, "stop")

# class: poisoned context. The deaths under a job count on after the service itself was killed
s.configure(engine="delay_ms = 50\ncrash_sector = 13", settings="poison_deaths = 3\nrestart_delay = 2s\nquarantine_faults = 100\n")
s.restart()
c = s.client()
job = c.submit(request("window-post", "poison", b"kills its instance", sector=13))
s.wait_log("died with it (1 of 3)")
s.kill()
s.restart()
s.wait_log("died with it (2 of 3)")
s.kill()
s.restart()
r = s.client().wait(job)
ok(r.status == "FAILED" and "3 instances died with this job" in r.error, f"three deaths in three services are three: {r.error}")
equal(s.stop(), 0, "stop")

# class: lost, duplicated, mixed jobs. The journal is written anew while jobs come and end
s.configure(engine="lanes = 4", instances="[cpu]\nengine = null\ndepth = 4\n",
            settings="journal_slack = 64K\nresult_limit = 20\nresult_ttl = 1h\n")
s.restart()
c = s.client()
for i in range(400):
    m = request("winning-post", f"c{i}", (b"compact %d " % i) * 100)
    if c.prove(m).proof != null_proof(m):
        ok(False, f"job {i} got another's proof")
time.sleep(1.5)	# results go once a second
for i in range(5):
    c.prove(request("winning-post", "last", b"last %d" % i))
compacted = metric(c, "journal_compactions_total")
ok(compacted >= 3, f"the journal was written anew {compacted:.0f} times")
ok(os.path.getsize(journal) < 400000, f"and has {os.path.getsize(journal)} bytes after 400 jobs of 1.2 kB")
s.configure(engine="delay_ms = 200\nlanes = 4", instances="[cpu]\nengine = null\ndepth = 4\n",
            settings="journal_slack = 64K\nresult_limit = 20\nresult_ttl = 1h\n")
s.stop()
s.restart()
c = s.client()
waiting = [request("porep", f"w{i}", b"waits %d" % i, sector=100 + i) for i in range(10)]	# of ten partitions each: 5 s
jobs = [c.submit(m) for m in waiting]
time.sleep(0.5)
for i in range(4):	# dead weight, so that it is written anew with jobs half done
    c.wait(c.submit(request("winning-post", f"d{i}", b"%d" % i * 20000, priority=0)))
s.kill()
s.restart()
c = s.client()
resumed = metric(c, "resumed_total")
# the end of the last one may have been on its way to the disk
ok(1 <= resumed <= len(waiting) + 1, f"{resumed:.0f} of {len(waiting)} jobs are resumed, the others had ended")
good = sum(c.wait(j).proof == null_proof(m, 10) for j, m in zip(jobs, waiting))
equal(good, len(waiting), "and completed with their proofs")
equal([c.submit(m) for m in waiting], jobs, "the same requests are the same jobs")
equal(metric(c, "accepted_total"), 0, "none is accepted a second time")
equal(s.stop(), 0, "stop")
done()
