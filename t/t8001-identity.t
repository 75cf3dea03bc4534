#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Tests fault class "lost, duplicated, mixed jobs".
"""Lost, duplicated, mixed jobs: identity is the content, never the request_id."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

s = Service(engine="delay_ms = 50").start()
clients = [s.client() for _ in range(4)]
c = clients[0]

same = request("porep", "porep-1000-1", b"the same", sector=1)
calls = [clients[i % 4].start_prove(same) for i in range(100)]
results = [result(parse(x.result())[1][0]) for x in calls]
equal({(r.status, r.proof) for r in results}, {("COMPLETED", null_proof(same, 10))},
      "100 identical submits get 100 equal answers")
equal(metric(c, "accepted_total"), 1, "out of one job")
equal(metric(c, "attached_total"), 99, "that 99 joined")
text = c.call("GetMetrics")[1][0].decode()
ok('cuzk_partitions_total{kind="porep"} 10' in text, "its ten partitions were proved once")

messages = [request("window-post", "wdpost-1000-0-[0 0 0 0 0 0 0 0]", b"partition %d" % i) for i in range(20)]
calls = [clients[i % 4].start_prove(m) for i, m in enumerate(messages)]
results = [result(parse(x.result())[1][0]) for x in calls]
equal([r.proof for r in results], [null_proof(m) for m in messages],
      "20 jobs with one request_id get their own proofs")
equal(len({r.job for r in results}), 20, "and have ids of their own")

a = request("winning-post", "winpost", b"a", randomness=b"\1" * 32)
variants = {
    "randomness": request("winning-post", "winpost", b"a", randomness=b"\2" * 32),
    "miner": request("winning-post", "winpost", b"a", miner=1001, randomness=b"\1" * 32),
    "registered proof": request("winning-post", "winpost", b"a", registered=3, randomness=b"\1" * 32),
    "partition": request("winning-post", "winpost", b"a", partition=1, randomness=b"\1" * 32),
    "payload": request("winning-post", "winpost", b"b", randomness=b"\1" * 32),
    "split of the payload": request("winning-post", "winpost", [b"a", b""], randomness=b"\1" * 32),
    "sector": request("winning-post", "winpost", b"a", sector=1, randomness=b"\1" * 32),
    "sector size": request("winning-post", "winpost", b"a", sector_size=2048, randomness=b"\1" * 32),
    "comm_r_old": a + field(30, b"\1" * 32),
    "comm_r_new": a + field(31, b"\1" * 32),
    "comm_d_new": a + field(32, b"\1" * 32),
    "kind": request("window-post", "winpost", b"a", randomness=b"\1" * 32),
}
job = c.submit(a)
known = {job}
for what, m in variants.items():
    other = c.submit(m)
    ok(other not in known, f"another {what} is another job")
    known.add(other)
equal(c.submit(request("winning-post", "another name", b"a", priority=1, randomness=b"\1" * 32)), job,
      "another name and priority are the same job")
equal(c.wait(job).proof, null_proof(a), "which has its own proof")

# a request in many pieces, each so short that the network library keeps it beside its length: what is
# proved is what was sent
c.max_frame = 11
good = 0
for k in range(20):
    m = request("porep", "pieces", os.urandom(20000))
    good += c.prove(m).proof == null_proof(m, 10)
equal(good, 20, "requests in pieces of eleven bytes are proved as they were sent")
equal(s.stop(), 0, "it stops")
done()
