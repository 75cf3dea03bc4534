#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""How fast the service takes and hands out work, on the null engine. Figures; no limits but generous ones."""
import multiprocessing
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))]


s = Service(settings="queue_limit = 20000\nresult_limit = 50000", level="warning",
            instances="[cpu]\nengine = null\ndepth = 4\n", engine="lanes = 2")
s.start(wait=False)
for _ in range(500):
    try:
        c = s.client()
        break
    except OSError:
        time.sleep(0.02)
c.prove(request(payload=b"warm"))

# one after another
times = []
for i in range(300):
    t = time.monotonic()
    c.prove(request(payload=b"one %d" % i))
    times.append((time.monotonic() - t) * 1000)
diag(f"prove, one at a time: median {quantile(times, .5):.2f} ms, p99 {quantile(times, .99):.2f} ms")

# submit to dispatch, as the service measures it
text = c.call("GetMetrics")[1][0].decode()
n = int(next(l for l in text.splitlines() if l.startswith("cuzk_dispatch_seconds_count")).split()[-1])
for line in text.splitlines():
    if line.startswith("cuzk_dispatch_seconds_bucket"):
        bound, count = line.split('le="')[1].split('"} ')
        if int(count) >= n / 2:
            break
diag(f"submit to dispatch: median at most {float(bound) * 1000:g} ms over {n} jobs")
ok(float(bound) <= 0.1, "the median from submit to dispatch is far below a second")

# submit, durable, one after another
times = []
for i in range(200):
    t = time.monotonic()
    c.submit(request(payload=b"durable %d" % i))
    times.append((time.monotonic() - t) * 1000)
diag(f"submit, journalled, one at a time: median {quantile(times, .5):.2f} ms, p99 {quantile(times, .99):.2f} ms")

# submit, durable: as many as go
N, THREADS = 2000, 4
per = N // THREADS
sent = [[] for _ in range(THREADS)]
start = time.monotonic()


def work(k):
    cl = s.client()
    # a window of 64 open calls, as a busy client has
    window = []
    for i in range(per):
        window.append(cl.start("SubmitProof", request(payload=b"rate %d %d" % (k, i))))
        if len(window) >= 64:
            call = window.pop(0)
            call.result()
            sent[k].append((call.ended - call.sent) * 1000)
    for call in window:
        call.result()
        sent[k].append((call.ended - call.sent) * 1000)


def processor_seconds():
    """Of the service alone, so that it holds on a busy machine too; in steps of 10 ms."""
    with open(f"/proc/{s.proc.pid}/stat") as f:
        user, system = f.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


used = processor_seconds()
threads = [threading.Thread(target=work, args=(k,)) for k in range(THREADS)]
for t in threads:
    t.start()
for t in threads:
    t.join()
took = time.monotonic() - start
times = [x for part in sent for x in part]
diag(f"submit, journalled, 256 calls open: {N / took:.0f} jobs/s, median {quantile(times, .5):.1f} ms, "
     f"p99 {quantile(times, .99):.1f} ms (the client here is Python)")
used = processor_seconds() - used
equal(len(times), N, f"{N} submits were answered")
ok(used / N < 1e-3, f"the service took {used / N * 1e6:.0f} us of processor time for each, its proving and journal included: "
   f"{2 * N / used:.0f} jobs/s on two cores")
limit = time.monotonic() + 60
while True:
    text = c.call("GetMetrics")[1][0].decode()
    done_jobs = int(next(l for l in text.splitlines()
                         if l.startswith('cuzk_jobs_total{kind="winning-post",result="completed"}')).split()[-1])
    if done_jobs >= N + 501 or time.monotonic() > limit:
        break
    time.sleep(0.05)
equal(done_jobs, N + 501, "and all were proved")
diag(f"submit to proof: {N / (time.monotonic() - start):.0f} jobs/s")

# a large request: bytes to proof
big = request("porep", "big", os.urandom(51 << 20))
t = time.monotonic()
r = c.prove(big)
diag(f"51 MiB request, 10 partitions: {(time.monotonic() - t) * 1000:.0f} ms")
equal(r.proof, null_proof(big, 10), "a 51 MiB request is proved")
with open(f"/proc/{s.proc.pid}/status") as f:
    rss = next(l for l in f if l.startswith("VmRSS")).split()[1]
diag(f"resident memory of the service: {int(rss) // 1024} MiB")
# submit, durable, at a rate: 2,000 a second for two seconds, by four processes
RATE, SENDERS, EACH = 2000, 4, 1000


def send(k, start, out):
    sender, took = s.client(), []
    for i in range(EACH):
        while (wait := start + i * SENDERS / RATE - time.monotonic()) > 0:
            time.sleep(min(0.0005, wait))
        t = time.monotonic()
        sender.submit(request(payload=b"rate %d %d" % (k, i)))
        took.append((time.monotonic() - t) * 1000)
    out.put(took)


out, start = multiprocessing.Queue(), time.monotonic() + 0.5
senders = [multiprocessing.Process(target=send, args=(k, start, out)) for k in range(SENDERS)]
for x in senders:
    x.start()
times = sum((out.get() for _ in senders), [])
took = time.monotonic() - start
for x in senders:
    x.join()
diag(f"submit, journalled, asked for {RATE} a second: {len(times) / took:.0f} jobs/s, median {quantile(times, .5):.2f} ms, "
     f"p99 {quantile(times, .99):.2f} ms")
equal(len(times), SENDERS * EACH, "and all were answered")

equal(s.stop(), 0, "stop")
done()
