#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Clients that break HTTP/2's rules or stretch them: floods, resets, streams without an end, messages that unfold."""
import os
import socket
import struct
import sys
import threading
import time
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

DATA, HEADERS, RST, SETTINGS, PING, GOAWAY, UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
# the sanitizers have their own idea of memory, and of time
with open(BUILD + "/cuzkd", "rb") as f:
    program = f.read()
SLACK = 4 if b"__asan_init" in program or b"__tsan_init" in program else 1
s = Service(engine="delay_ms = 1\n").start()


def memory(what):
    """VmRSS or VmHWM in MiB."""
    with open(f"/proc/{s.proc.pid}/status") as f:
        return next(int(line.split()[1]) >> 10 for line in f if line.startswith(what))


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def literal(name, value):
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def headers(method, *more):
    pairs = [(":method", "POST"), (":scheme", "http"), (":path", "/cuzk.v1.ProvingEngine/" + method), (":authority", "x"),
             ("te", "trailers"), ("content-type", "application/grpc"), *more]
    return b"".join(literal(k, v) for k, v in pairs)


class Raw:
    """A connection on which anything is sent; all that comes is kept."""

    def __init__(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(s.socket)
        self.got = b""
        self.over = threading.Event()
        self.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0))
        threading.Thread(target=self.reader, daemon=True).start()

    def reader(self):
        try:
            while True:
                part = self.sock.recv(1 << 20)
                if not part:
                    break
                self.got = (self.got + part)[-65536:]
        except OSError:
            pass
        self.over.set()

    def send(self, data):
        """False: the service has had enough."""
        try:
            self.sock.sendall(data)
            return True
        except OSError:
            return False

    def until(self, words, seconds=20):
        limit = time.monotonic() + seconds
        while words not in self.got and time.monotonic() < limit:
            time.sleep(0.02)
        return words in self.got


count = 0


def well(what, most):
    """The service works for others, and has not grown beyond most MiB."""
    global count
    count += 1
    most *= SLACK
    t = time.monotonic()
    try:
        good = s.client().prove(request(payload=b"well %d" % count), wait=20).status == "COMPLETED"
    except (OSError, RpcError) as e:
        diag(repr(e))
        good = False
    took = time.monotonic() - t
    ok(good and s.proc.poll() is None and memory("VmHWM") <= most,
       f"{what}: others are served in {took * 1000:.0f} ms, at most {memory('VmHWM')} MiB were resident, {most} may be")


# a message that is a thousand times as long as it seems
packed = zlib.compressobj(9, zlib.DEFLATED, 31)
body = b"".join(packed.compress(bytes(1 << 20)) for _ in range(1024)) + packed.flush()
r = Raw()
r.send(frame(HEADERS, 4, 1, headers("SubmitProof", ("grpc-encoding", "gzip"))))
message = b"\1" + struct.pack(">I", len(body)) + body
for i in range(0, len(message), 16000):
    r.send(frame(DATA, 0, 1, message[i:i + 16000]))
    time.sleep(0.001)
r.send(frame(DATA, 1, 1))
ok(r.until(b"grpc-status\x0212"), "a compressed message is not taken: UNIMPLEMENTED")
time.sleep(0.5)
well(f"{len(body) >> 10} KiB that unfold to a gigabyte", 150)

# what has no end
r = Raw()
r.send(frame(HEADERS, 1, 1, headers("GetStatus")))
# the library keeps all of them before 1.53.2 (cuzkd(8)), so not more than some
for _ in range(20):
    r.send(frame(CONTINUATION, 0, 1, literal("a", "b" * 100) * 100) * 100)
well("20 MiB of headers", 150)
for what, data in (("settings", frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 65535)) * 1000), ("pings", frame(PING, 0, 0, b"12345678") * 1000),
                   ("frames of no stream and no kind", frame(DATA, 0, 99, b"x" * 1000) * 50 + frame(20, 0, 0, b"z" * 1000) * 50),
                   ("windows that run over", frame(UPDATE, 0, 0, struct.pack(">I", 0x7fffffff)) * 100),
                   ("goodbyes", frame(GOAWAY, 0, 0, bytes(8)) * 1000), ("noise", bytes(range(256)) * 1000)):
    r = Raw()
    for _ in range(100):
        if not r.send(data):
            break
    well(what, 200)

# calls that are begun and ended, begun and never ended
r = Raw()
number = 1
for _ in range(20):
    out = b""
    for _ in range(1000):
        out += frame(HEADERS, 5, number, headers("GetStatus")) + frame(RST, 0, number, struct.pack(">I", 8))
        number += 2
    if not r.send(out):
        break
well("20,000 calls that are reset at once", 500)
r = Raw()
for i in range(8):
    if not r.send(b"".join(frame(HEADERS, 4, 2 * (1000 * i + k) + 1, headers("Prove")) for k in range(1000))):
        break
well("8,000 calls without a message", 700)
held = [Raw() for _ in range(100)]
for k in held:
    k.send(frame(HEADERS, 4, 1, headers("SubmitProof")) + frame(DATA, 0, 1, b"\0\x0f\xff\xff\xff" + b"x" * 16000))
well("100 messages of 256 MiB that are begun", 700)


class Deaf(Raw):
    """Reads nothing of what it is sent."""

    def reader(self):
        pass


for _ in range(20):
    r = Deaf()
    r.sock.settimeout(1)
    held.append(r)
    r.send(frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0x7fffffff)) + frame(UPDATE, 0, 0, struct.pack(">I", 0x7fffffff - 65535)))
    r.send(b"".join(frame(HEADERS, 4, 2 * k + 1, headers("GetMetrics")) + frame(DATA, 1, 2 * k + 1, bytes(5)) for k in range(100)))
well("2,000 answers that nobody reads", 900)
t = time.monotonic()
equal(s.stop(), 0, "it ends as it should, with all of them there")
ok(time.monotonic() - t < 10 * SLACK, f"after {time.monotonic() - t:.1f} s")
done()
