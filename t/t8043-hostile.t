#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Tests fault class "bad input found late".
# Tests fault class "freed memory not returned".
"""Clients that send garbage, little that becomes much, halves, or go away: nobody else notices, and nothing stays."""
import gzip
import os
import random
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

seed = int(os.environ.get("CUZK_TEST_SEED", time.time_ns() % 1000000))
rng = random.Random(seed)
diag(f"CUZK_TEST_SEED={seed}")
METHODS = ["SubmitProof", "Prove", "AwaitProof", "CancelProof", "GetStatus", "GetMetrics", "PreloadSRS", "EvictSRS",
           "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"]


def raw(client, method, data, end=True, headers=()):
    """A call whose bytes are the test's own; data None: none at all."""
    path = method if method.startswith("/") else "/cuzk.v1.ProvingEngine/" + method
    fields = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "cuzk"), ("content-type", "application/grpc"),
              ("te", "trailers"), *headers]
    block = b"".join(b"\x00" + bytes([len(k)]) + k.encode() + client.length(len(v)) + v.encode() for k, v in fields)
    with client.room:
        stream = client.next_stream
        client.next_stream += 2
        call = client.calls[stream] = Call(client, stream)
        client.frame(1, 4, stream, block)
    if data is not None and end:
        client.send_data(call, data)
    elif data is not None:
        client.frame(0, 0, stream, data)
    return call


def message(data, compressed=0):
    return bytes([compressed]) + struct.pack(">I", len(data)) + data


def memory(what="VmRSS"):
    with open(f"/proc/{s.proc.pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(what)) >> 10


def descriptors():
    return len(os.listdir(f"/proc/{s.proc.pid}/fd"))


def well(what):
    t = time.monotonic()
    m = request(payload=what.encode())
    other = s.client()
    good = other.prove(m, wait=20).proof == null_proof(m)
    other.close()
    return ok(good and time.monotonic() - t < 5, f"{what}: others are served, in {(time.monotonic() - t) * 1000:.0f} ms")


def until(what, timeout=15):
    end = time.monotonic() + timeout
    while not what() and time.monotonic() < end:
        time.sleep(0.05)
    return what()


# the sanitizers have their own idea of memory
plain = not os.environ.get("CUZK_TEST_SANITIZED") and b"__asan_init" not in open(BUILD + "/cuzkd", "rb").read() \
    and b"__tsan_init" not in open(BUILD + "/cuzkd", "rb").read()
s = Service(engine="delay_ms = 3", settings="message_limit = 64M\nresult_ttl = 1s\ncancel_on_disconnect = yes\n").start()
well("before")
time.sleep(1)
fds = descriptors()

# a small message that is a large one once it is decompressed
c = s.client()
bomb = gzip.compress(field(2, 1) + field(10, bytes(48 << 20)), 9)
codes = []
for data in (bomb, bomb, gzip.compress(bytes(400 << 20), 1), bomb[:1000], b""):
    try:
        raw(c, "SubmitProof", message(data, 1), headers=[("grpc-encoding", "gzip")]).result(20)
        codes.append("OK")
    except RpcError as e:
        codes.append(e.code)
c.close()
equal(codes, ["UNIMPLEMENTED"] * 5, "a compressed message is refused")
if plain:
    ok(memory("VmHWM") < 150, f"before it takes memory: {memory('VmHWM')} MiB at most")
well("compressed")

# garbage
for i in range(200):
    c = s.client()
    n = rng.choice([0, 1, 5, 100, 70000])
    data = rng.choice([message(os.urandom(n), rng.choice([0, 0, 1, 7])), os.urandom(n), b"\0" + struct.pack(">I", 0xffffffff) + os.urandom(n),
                       message(request(payload=os.urandom(n)))[:rng.randrange(1, n + 40)], None])
    headers = rng.choice([[], [("grpc-timeout", "0n")], [("grpc-timeout", "99999999H")], [("grpc-timeout", "x")], [("grpc-encoding", "gzip")],
                          [("grpc-encoding", "none")], [("content-length", "3")]])
    try:
        call = raw(c, rng.choice(METHODS), data, headers=headers)
        if rng.random() < 0.2:
            call.result(0.2)
        if rng.random() < 0.3:
            c.sock.sendall(os.urandom(200))
    except (OSError, ConnectionError, RpcError, TimeoutError, IndexError, KeyError, ValueError, struct.error):
        pass
    c.close()
well("garbage")
lines = s.text().count("<4>grpc: ")
ok(lines <= 20, f"the log is not filled by them: {lines} lines")

# half of a message, and then nothing; calls without one
clients = [s.client() for _ in range(100)]
for c in clients:
    raw(c, "SubmitProof", message(bytes(8 << 20))[:16000], end=False)
for i in range(3000):
    raw(clients[0], "Prove", None)
well("halves")
for c in clients:
    c.close()

# large ones that are refused: their memory goes back, without another job that would see to it
bad = field(2, 9) + field(10, os.urandom(1 << 20) * 30)


def refused():
    other = s.client()
    code_of(other.call, "SubmitProof", bad)
    other.close()


for again in ("", " again"):
    threads = [threading.Thread(target=refused) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if plain:
        ok(until(lambda: memory() < 80), f"the memory of refused messages is given back{again}: {memory()} MiB")

# clients that go away in every state of their jobs
threads = []


def come_and_go(n):
    for j in range(25):
        c = s.client()
        calls = []
        for i in range(20):
            calls.append(c.start_prove(request(rng.choice(["winning-post", "porep", "window-post"]), "go", b"%d %d %d" % (n, j, i)),
                                       timeout=rng.choice([None, None, 0.01, 5])))
            if rng.random() < 0.3:
                c.start("AwaitProof", field(1, "nothing") + field(2, rng.choice([0, 1])))
        time.sleep(rng.random() * 0.03)
        for call in calls:
            if rng.random() < 0.5:
                call.cancel()
        c.close()


for n in range(4):
    threads.append(threading.Thread(target=come_and_go, args=(n,)))
    threads[-1].start()
for t in threads:
    t.join()
c = s.client()


def waiting():
    queues = [parse(q) for q in c.call("GetStatus").get(3, [])]
    return sum(q.get(2, [0])[0] + q.get(3, [0])[0] for q in queues)


ok(until(lambda: waiting() == 0, 30), f"2000 jobs whose clients went away: {waiting()} are left")
c.close()
ok(until(lambda: descriptors() <= fds + 2), f"{descriptors()} descriptors are open, {fds} were before")
if plain:
    ok(until(lambda: memory() < 80), f"and {memory()} MiB are resident")
well("gone")
equal(s.stop(), 0, "stop")
done()
