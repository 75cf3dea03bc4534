#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Tests fault class "opaque errors and status".
"""The calls of cuzk.v1.ProvingEngine, on the null engine."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

s = Service(engine="delay_ms = 0").start()
c = s.client()

# prove, submit, await
m = request("winning-post", "winpost-1", b"one")
r = c.prove(m)
equal((r.status, r.proof, r.error), ("COMPLETED", null_proof(m), ""), "Prove returns the proof")
m = request("porep", "porep-1000-7", b"x" * 100000, sector=7)
job = c.submit(m)
r = c.wait(job)
equal((r.status, r.proof), ("COMPLETED", null_proof(m, 10)), "a PoRep's ten proofs are in partition order")
equal(r.job, job, "the result names its job")
equal(c.wait(job).proof, r.proof, "a result can be had again")
equal(c.submit(m), job, "the same work has the same job id")
r = c.prove(request("update", "snap-1", [b"%d" % i for i in range(16)]))
equal(len(r.proof), 16 * 192, "SnapDeals: 16 proofs")
m = request("window-post", "wdpost-1000-0-[1 2 3 4 5 6 7 8]", [b"s%d" % i for i in range(2349)])
r = c.prove(m)
equal(r.proof, null_proof(m), "WindowPoSt of 2349 sectors")
ok(" " not in r.job and "[" not in r.job, f"job ids are safe in a shell: {r.job}")

# what the client got wrong
equal(code_of(c.submit, request(0)), "INVALID_ARGUMENT", "kind 0")
equal(code_of(c.submit, request(5)), "INVALID_ARGUMENT", "kind 5")
equal(code_of(c.prove, request(9)), "INVALID_ARGUMENT", "Prove of kind 9")
equal(code_of(c.call, "Prove", b""), "INVALID_ARGUMENT", "Prove without submit")
equal(code_of(c.submit, request(priority=5)), "INVALID_ARGUMENT", "priority 5")
equal(code_of(c.call, "SubmitProof", b"\x52\x7f"), "INVALID_ARGUMENT", "a field longer than its message")
equal(code_of(c.call, "SubmitProof", b"\x08" + b"\xff" * 11), "INVALID_ARGUMENT", "an endless varint")
equal(code_of(c.call, "AwaitProof", b"\x0a\x7f"), "INVALID_ARGUMENT", "AwaitProof that is no message")
equal(code_of(c.wait, "nothing"), "NOT_FOUND", "await of an unknown job")
equal(code_of(c.cancel, "nothing"), "NOT_FOUND", "cancel of an unknown job")
equal(code_of(c.call, "PreloadSRS", field(1, "nothing")), "NOT_FOUND", "preload of an unknown circuit")
equal(code_of(c.call, "Nothing"), "UNIMPLEMENTED", "an unknown method")
equal(c.prove(request(payload=b"unknown field") + field(99, b"x") + field(98, 7)).status, "COMPLETED",
      "unknown fields are skipped")

# status, metrics, parameters, health
st = c.call("GetStatus")
equal(st[4][0], 5, "total_proofs_completed")
equal([parse(q)[1][0] for q in st[3]], [b"porep", b"update", b"window-post", b"winning-post"], "a queue per kind")
ok(b"null-porep" in [parse(p)[1][0] for p in st[2]], "loaded_srs names the circuits")
text = c.call("GetMetrics")[1][0].decode()
ok('cuzk_jobs_total{kind="porep",result="completed"} 1' in text, "metrics count finished jobs by kind")
bad = [l for l in text.splitlines() if not l.startswith("#") and len(l.rsplit(" ", 1)) != 2]
equal(bad, [], "every line of the metrics is a comment or a name and a value")
p = c.call("PreloadSRS", field(1, "null-porep"))
equal(p.get(1, [0]), [0], "preload: it was not loaded")
equal(c.call("PreloadSRS", field(1, "null-porep")).get(1), [1], "preload again: it was")
tiers = {parse(x)[1][0].decode(): parse(x).get(2, [0])[0] for x in c.call("GetStatus")[2]}
equal(tiers["null-porep"], 0, "a preloaded circuit is hot")
e = c.call("EvictSRS", field(1, "null-porep"))
equal((e.get(1), e.get(2)), ([1], [1 << 20]), "evict frees its memory")
equal(c.call("/grpc.health.v1.Health/Check"), {1: [1]}, "health: serving")
equal(code_of(c.call, "/grpc.health.v1.Health/Check", field(1, "other")), "NOT_FOUND", "health of another service")
watch = c.start("/grpc.health.v1.Health/Watch", b"")
equal(watch.messages.get(timeout=5), b"\x08\x01", "health watch: serving")

# reflection
for version in ("v1", "v1alpha"):
    path = f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo"
    f = c.call(path, field(7, ""))
    equal([parse(x)[1][0] for x in parse(f[6][0])[1]], [b"cuzk.v1.ProvingEngine", b"grpc.health.v1.Health"],
          f"reflection {version} lists the services")
for symbol, name in (("cuzk.v1.ProvingEngine", b"cuzk.proto"), ("cuzk.v1.ProvingEngine.Prove", b"cuzk.proto"),
                     ("cuzk.v1.AwaitProofResponse.Status", b"cuzk.proto"), ("cuzk.v1.ProofKind", b"cuzk.proto"),
                     ("grpc.health.v1.HealthCheckResponse", b"health.proto")):
    f = c.call(path, field(4, symbol))
    equal(parse(parse(f[4][0])[1][0])[1][0], name, f"reflection finds {symbol}")
for symbol in ("cuzk.v1", "cuzk.v1.Nothing", "cuzk", "", "cuzk.v1.ProvingEngine.", "cuzk.v1.ProvingEngineX"):
    equal(parse(c.call(path, field(4, symbol))[7][0])[1], [5], f"and does not find '{symbol}'")
f = c.call(path, field(3, "cuzk.proto"))
ok(b"SubmitProofRequest" in parse(f[4][0])[1][0], "reflection gives a file by its name")
equal(parse(c.call(path, field(3, "none.proto"))[7][0])[1], [5], "that exists")

# deadlines, timeouts, cancel
s.stop()
s.configure(engine="delay_ms = 600", settings="message_limit = 1M")
s.restart()
c = s.client()
equal(code_of(c.prove, request(payload=bytes(2 << 20))), "RESOURCE_EXHAUSTED", "a message above message_limit")
slow = request("winning-post", "slow", b"slow")
job = c.submit(slow)
t = time.monotonic()
r = c.wait(job, timeout_ms=100)
took = time.monotonic() - t
equal(r.status, "TIMEOUT", "AwaitProof honours timeout_ms")
ok(0.08 < took < 0.5, f"after {took * 1000:.0f} ms")
equal(c.wait(job).status, "COMPLETED", "the job goes on and completes")
other = request("winning-post", "other", b"other")
equal(code_of(c.prove, other, 0.15), "DEADLINE_EXCEEDED", "Prove honours grpc-timeout")
equal(c.prove(other).status, "COMPLETED", "and the client that comes back gets the proof")
a, b = request("porep", "a", b"a"), request("porep", "b", b"b")
ja, jb = c.submit(a), c.submit(b)
waiting = c.start("AwaitProof", field(1, jb))
equal(c.cancel(jb), True, "cancel of a job that waits")
equal(result(waiting.result()).status, "CANCELLED", "who waits for it hears so")
equal(c.cancel(jb), False, "cancel again: it did not run")
equal(c.wait(jb).status, "CANCELLED", "and await says the same")
time.sleep(0.3)
equal(c.cancel(ja), True, "cancel of a job that runs")
equal(c.wait(ja).status, "CANCELLED", "is cancelled too")
equal(c.prove(slow).status, "COMPLETED", "the instance takes other work")
t = time.monotonic()
equal(c.prove(request("winning-post", "next", b"next")).status, "COMPLETED", "at once")
ok(time.monotonic() - t < 3, "a cancelled job keeps nobody waiting")
equal(s.stop(), 0, "it stops with status 0")
done()
