# SPDX-License-Identifier: MIT OR Apache-2.0
"""Helpers of the service's tests: TAP, a service in a folder of its own, and a gRPC client.

The client speaks HTTP/2 by itself, with nothing but Python's standard library, so that what
the service answers is read by code that shares nothing with it.
"""
import array
import atexit
import hashlib
import json
import os
import queue
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

SRC = os.environ.get("CUZK_SRCDIR", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("CUZK_BUILDDIR", SRC)

# ---- TAP ----

_count = 0
_failed = 0


def ok(good, name):
    global _count, _failed
    _count += 1
    if not good:
        _failed += 1
    print(f"{'ok' if good else 'not ok'} {_count} - {name}", flush=True)
    return bool(good)


def equal(found, wanted, name):
    good = ok(found == wanted, name)
    if not good:
        diag(f"found  {found!r}"[:2000])
        diag(f"wanted {wanted!r}"[:2000])
    return good


def diag(text):
    for line in str(text).splitlines():
        print("#", line, flush=True)


def done():
    print(f"1..{_count}", flush=True)
    sys.exit(1 if _failed or not _count else 0)


def skip(what, why):
    """One test that cannot be made here."""
    if what in os.environ.get("CUZK_TEST_REQUIRE", ""):
        ok(False, f"{what} is required: {why}")
    else:
        ok(True, f"{what} # SKIP {why}")


def skip_all(what, why):
    if what in os.environ.get("CUZK_TEST_REQUIRE", ""):
        print(f"not ok 1 - {what} is required: {why}\n1..1", flush=True)
        sys.exit(1)
    print(f"1..0 # SKIP {what}: {why}", flush=True)
    sys.exit(0)


def npm_modules(folder, packages, *flags):
    """A folder with these packages, {name: version}, beside the tests that are built; the test is skipped without npm."""
    if not shutil.which("node") or not shutil.which("npm"):
        skip_all("npm", "node and npm are not installed")
    modules = BUILD + "/t/" + folder
    os.makedirs(modules, exist_ok=True)
    if not all(os.path.exists(f"{modules}/node_modules/{name}/package.json") for name in packages):
        with open(modules + "/package.json", "w") as f:
            json.dump({"name": "cuzk-test", "private": True, "dependencies": packages}, f)
        p = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--silent", *flags], cwd=modules,
                           capture_output=True, text=True, timeout=300)
        if p.returncode:
            skip_all("npm", "npm install failed, offline perhaps: " + (p.stderr.strip().splitlines() or ["no message"])[-1])
    return modules


# ---- protocol buffers, as much as is needed ----

def varint(n):
    out = bytearray()
    while True:
        out.append(n & 0x7f | (0x80 if n > 0x7f else 0))
        n >>= 7
        if not n:
            return bytes(out)


def field(number, value):
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, (bytes, bytearray)):
        return varint(number << 3 | 2) + varint(len(value)) + bytes(value)
    return varint(number << 3) + varint(value) if value else b""


def parse(data):
    """field number -> list of values."""
    out, pos = {}, 0

    def number():
        nonlocal pos
        n = shift = 0
        while True:
            b = data[pos]
            pos += 1
            n |= (b & 0x7f) << shift
            shift += 7
            if not b & 0x80:
                return n

    while pos < len(data):
        key = number()
        if key & 7 == 0:
            value = number()
        elif key & 7 == 2:
            n = number()
            value = bytes(data[pos:pos + n])
            pos += n
        else:
            raise ValueError(f"wire type {key & 7}")
        out.setdefault(key >> 3, []).append(value)
    return out


KIND = {"porep": 1, "update": 2, "window-post": 3, "winning-post": 4}
STATUS = {0: "UNKNOWN", 1: "COMPLETED", 2: "FAILED", 3: "CANCELLED", 4: "TIMEOUT"}


def request(kind="winning-post", request_id="r", payload=b"payload", sector=0, miner=1000,
            priority=0, partition=0, sector_size=0, registered=0, randomness=bytes(32)):
    """A SubmitProofRequest for the null engine, which looks at its bytes only."""
    out = field(1, request_id) + field(2, KIND[kind] if isinstance(kind, str) else kind)
    out += field(3, sector_size) + field(4, registered) + field(5, priority)
    if kind == "porep":
        out += field(10, payload)
    else:
        for p in payload if isinstance(payload, list) else [payload]:
            out += field(11, p)
    out += field(20, sector) + field(21, miner) + field(22, randomness) + field(23, partition)
    return out


def null_proof(message, partitions=1):
    """What the null engine answers to a request: the rule of engine/null/rule.h."""
    f = parse(message)

    def n(number):
        return struct.pack("<Q", f.get(number, [0])[-1])

    def blob(data):
        return struct.pack("<Q", len(data)) + data

    proofs = f.get(11, [])
    text = b"cuzk-null-1" + n(2) + n(23) + n(4) + n(3) + n(20) + n(21)
    text += blob(f.get(10, [b""])[-1]) + struct.pack("<Q", len(proofs))
    text += b"".join(blob(p) for p in proofs)
    text += b"".join(blob(f.get(k, [b""])[-1]) for k in (22, 30, 31, 32))
    digest = hashlib.sha256(text).digest()
    return b"".join(hashlib.sha256(digest + struct.pack("<II", p, i)).digest()
                    for p in range(partitions) for i in range(6))


# ---- HTTP/2 and gRPC ----

class RpcError(Exception):
    CODES = ["OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
             "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
             "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
             "UNAUTHENTICATED"]

    def __init__(self, code, message):
        self.code = self.CODES[code] if 0 <= code < len(self.CODES) else str(code)
        self.message = message
        super().__init__(f"{self.code}: {message}")


STATIC = [None, (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"),
          (":path", "/index.html"), (":scheme", "http"), (":scheme", "https"), (":status", "200"),
          (":status", "204"), (":status", "206"), (":status", "304"), (":status", "400"),
          (":status", "404"), (":status", "500")] + [(n, "") for n in """accept-charset
          accept-encoding accept-language accept-ranges accept access-control-allow-origin age allow
          authorization cache-control content-disposition content-encoding content-language
          content-length content-location content-range content-type cookie date etag expect expires
          from host if-match if-modified-since if-none-match if-range if-unmodified-since
          last-modified link location max-forwards proxy-authenticate proxy-authorization range
          referer refresh retry-after server set-cookie strict-transport-security transfer-encoding
          user-agent vary via www-authenticate""".split()]


class Hpack:
    """Reads header blocks without Huffman codes, which the service's library does not send."""

    def __init__(self):
        self.table = []

    def read(self, data):
        pos, out = 0, []

        def integer(bits):
            nonlocal pos
            mask = (1 << bits) - 1
            n = data[pos] & mask
            pos += 1
            if n < mask:
                return n
            shift = 0
            while True:
                b = data[pos]
                pos += 1
                n += (b & 0x7f) << shift
                shift += 7
                if not b & 0x80:
                    return n

        def text():
            nonlocal pos
            if data[pos] & 0x80:
                raise ValueError("Huffman code")
            n = integer(7)
            s = data[pos:pos + n].decode("latin-1")
            pos += n
            return s

        def entry(i):
            return STATIC[i] if i < len(STATIC) else self.table[i - len(STATIC)]

        while pos < len(data):
            b = data[pos]
            if b & 0x80:
                out.append(entry(integer(7)))
            elif b & 0xe0 == 0x20:
                integer(5)
            else:
                indexed = b & 0x40
                i = integer(6 if indexed else 4)
                name = entry(i)[0] if i else text()
                out.append((name, text()))
                if indexed:
                    self.table.insert(0, out[-1])
        return dict(out)


class Call:
    def __init__(self, client, stream):
        self.client, self.stream = client, stream
        self.data, self.headers = bytearray(), {}
        self.window = client.initial_window
        self.event = threading.Event()
        self.messages = queue.Queue()
        self.error = None
        self.sent = time.monotonic()
        self.ended = None

    def result(self, timeout=60):
        if not self.event.wait(timeout):
            raise TimeoutError(f"no answer in {timeout} s")
        if self.error:
            raise self.error
        code = int(self.headers.get("grpc-status", -1))
        if code:
            raise RpcError(code, self.headers.get("grpc-message", ""))
        n = struct.unpack(">I", self.data[1:5])[0]
        return bytes(self.data[5:5 + n])

    def cancel(self):
        self.client.frame(3, 0, self.stream, struct.pack(">I", 8))


class Client:
    """One connection; any number of calls at a time from any thread."""

    def __init__(self, address):
        if address.startswith("unix:"):
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.connect(address[5:])
        else:
            host, port = address.rsplit(":", 1)
            self.sock = socket.create_connection((host, int(port)))
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.lock = threading.Lock()
        self.room = threading.Condition(threading.Lock())
        self.calls, self.next_stream = {}, 1
        self.window, self.initial_window, self.max_frame = 65535, 65535, 16384
        self.hpack = Hpack()
        self.block = b""
        self.dead = None
        self.sock.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        self.frame(4, 0, 0, struct.pack(">HIHIHI", 1, 0, 4, 1 << 30, 5, 1 << 20))
        self.frame(8, 0, 0, struct.pack(">I", (1 << 30) - 65535))
        threading.Thread(target=self.reader, daemon=True).start()

    def frame(self, kind, flags, stream, payload=b""):
        head = struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream)
        with self.lock:
            self.sock.sendall(head + payload)

    def close(self):
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.sock.close()

    def exactly(self, n):
        out = bytearray()
        while len(out) < n:
            part = self.sock.recv(n - len(out))
            if not part:
                raise ConnectionError("the service closed the connection")
            out += part
        return bytes(out)

    def reader(self):
        try:
            while True:
                head = self.exactly(9)
                n = int.from_bytes(head[:3], "big")
                self.on_frame(head[3], head[4], struct.unpack(">I", head[5:])[0], self.exactly(n))
        except (OSError, ConnectionError, ValueError) as e:
            with self.room:
                self.dead = e
                calls, self.calls = list(self.calls.values()), {}
                self.room.notify_all()
            for call in calls:
                call.error = ConnectionError(str(e))
                call.event.set()

    def on_frame(self, kind, flags, stream, payload):
        call = self.calls.get(stream)
        if kind == 0 and call:
            call.data += payload
            if len(payload):
                self.frame(8, 0, 0, struct.pack(">I", len(payload)))
            if call.messages is not None and len(call.data) >= 5:
                n = struct.unpack(">I", call.data[1:5])[0]
                if len(call.data) >= 5 + n:
                    call.messages.put(bytes(call.data[5:5 + n]))
        elif kind in (1, 9):
            if kind == 1 and flags & 8:
                payload = payload[1:len(payload) - payload[0]]
            self.block += payload
            if not flags & 4:
                return
            headers, self.block = self.hpack.read(self.block), b""
            if call:
                call.headers.update(headers)
        elif kind == 3 and call:
            call.headers.setdefault("grpc-status", "1")
            call.headers.setdefault("grpc-message", f"reset {payload.hex()}")
            flags = 1
        elif kind == 4 and not flags & 1:
            with self.room:
                for i in range(0, len(payload), 6):
                    key, value = struct.unpack(">HI", payload[i:i + 6])
                    if key == 4:
                        for c in self.calls.values():
                            c.window += value - self.initial_window
                        self.initial_window = value
                    elif key == 5:
                        self.max_frame = value
                # before anything that makes use of them: who sends a longer frame than the service
                # knows to be allowed is in error, and is cut off
                self.frame(4, 1, 0)
                self.room.notify_all()
            return
        elif kind == 6 and not flags & 1:
            self.frame(6, 1, 0, payload)
            return
        elif kind == 8:
            with self.room:
                n = struct.unpack(">I", payload)[0]
                if stream:
                    if call:
                        call.window += n
                else:
                    self.window += n
                self.room.notify_all()
            return
        if call and flags & 1 and kind in (0, 1, 3):
            call.ended = time.monotonic()
            self.calls.pop(stream, None)
            call.event.set()

    def start(self, method, message, timeout=None):
        path = method if method.startswith("/") else "/cuzk.v1.ProvingEngine/" + method
        headers = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "cuzk"),
                   ("content-type", "application/grpc"), ("te", "trailers")]
        if timeout is not None:
            headers.append(("grpc-timeout", f"{int(timeout * 1000)}m"))
        block = b"".join(b"\x00" + bytes([len(k)]) + k.encode() + self.length(len(v)) + v.encode()
                         for k, v in headers)
        with self.room:
            if self.dead:
                raise ConnectionError(str(self.dead))
            stream = self.next_stream
            self.next_stream += 2
            call = self.calls[stream] = Call(self, stream)
            # in the order of the stream numbers, which HTTP/2 demands
            self.frame(1, 4, stream, block)
        self.send_data(call, b"\x00" + struct.pack(">I", len(message)) + message)
        return call

    @staticmethod
    def length(n):
        if n < 127:
            return bytes([n])
        return b"\x7f" + varint(n - 127)

    def send_data(self, call, data):
        data = memoryview(data)
        while True:
            with self.room:
                while not self.dead and len(data) and min(self.window, call.window) <= 0:
                    self.room.wait()
                if self.dead:
                    raise ConnectionError(str(self.dead))
                n = min(len(data), self.window, call.window, self.max_frame)
                self.window -= n
                call.window -= n
            part, data = data[:n], data[n:]
            self.frame(0, 0 if len(data) else 1, call.stream, bytes(part))
            if not len(data):
                return

    def call(self, method, message=b"", timeout=None, wait=60):
        return parse(self.start(method, message, timeout).result(wait))

    def submit(self, message):
        return self.call("SubmitProof", message)[1][0].decode()

    def start_prove(self, message, timeout=None):
        return self.start("Prove", field(1, message), timeout)

    def prove(self, message, timeout=None, wait=60):
        return result(parse(self.start_prove(message, timeout).result(wait))[1][0])

    def wait(self, job, timeout_ms=0, wait=60):
        return result(self.start("AwaitProof", field(1, job) + field(2, timeout_ms)).result(wait))

    def cancel(self, job):
        return bool(self.call("CancelProof", field(1, job)).get(1, [0])[0])


class Result:
    pass


def result(data):
    f, r = parse(data), Result()
    r.job = f.get(1, [b""])[0].decode()
    r.status = STATUS[f.get(2, [0])[0]]
    r.proof = f.get(3, [b""])[0]
    r.error = f.get(4, [b""])[0].decode()
    r.queue_wait_ms = f.get(10, [0])[0]
    r.total_ms = f.get(14, [0])[0]
    return r


def code_of(fn, *args, **kwargs):
    """The gRPC status that a call ends with."""
    try:
        fn(*args, **kwargs)
    except RpcError as e:
        return e.code
    return "OK"


# ---- a service ----

_children = []


def _cleanup():
    for p in _children:
        if p.poll() is None:
            p.kill()
            p.wait()


atexit.register(_cleanup)

# found in libraries that are not ours, when a sanitizer looks
os.environ.setdefault("TSAN_OPTIONS", "ignore_noninstrumented_modules=1")
os.environ.setdefault("LSAN_OPTIONS", f"suppressions={SRC}/t/lsan.supp:print_suppressions=0")

_services = []


def _explain(kind, value, trace):
    """A test that breaks off shows what its service said last."""
    for s in _services:
        if os.path.exists(s.log):
            diag(s.text()[-3000:])
    sys.__excepthook__(kind, value, trace)


sys.excepthook = _explain


class Service:
    """cuzkd with the null engine in a temporary folder."""

    def __init__(self, engine="", instances="[cpu]\nengine = null\n", settings="", level="info",
                 folder=None, env=None):
        self.dir = folder or tempfile.mkdtemp(prefix="cuzk-test-", dir=os.environ.get("TMPDIR"))
        if not folder:
            atexit.register(shutil.rmtree, self.dir, True)
        self.socket = self.dir + "/sock"
        self.address = "unix:" + self.socket
        self.config = self.dir + "/cuzk.conf"
        self.log = self.dir + "/log"
        self.env = env or {}
        self.level = level
        self.proc = None
        _services.append(self)
        self.configure(engine, instances, settings)

    def configure(self, engine="", instances="[cpu]\nengine = null\n", settings=""):
        library = BUILD + "/.libs/null.so"
        program = BUILD + "/cuzk-instance"
        with open(self.config, "w") as f:
            f.write(f"[global]\nlisten = {self.socket}\nstate_dir = {self.dir}/state\n"
                    f"runtime_dir = {self.dir}\nlog_level = {self.level}\n"
                    f"instance_program = {program}\n{settings}\n"
                    f"[engine null]\nlibrary = {library}\n{engine}\n{instances}\n")

    def start(self, wait=True, timeout=20):
        log = open(self.log, "ab")
        env = dict(os.environ, **self.env)
        env.pop("NOTIFY_SOCKET", None)
        self.proc = subprocess.Popen([BUILD + "/cuzkd", "--config", self.config], stdin=subprocess.DEVNULL,
                                     stdout=log, stderr=log, env=env)
        log.close()
        _children.append(self.proc)
        if wait:
            self.wait_log("<5>ready", timeout)
        return self

    def text(self):
        with open(self.log, errors="replace") as f:
            return f.read()

    def wait_log(self, what, timeout=20, count=1):
        limit = time.monotonic() + timeout
        while self.text().count(what) < count:
            if self.proc.poll() is not None:
                raise RuntimeError(f"cuzkd ended with {self.proc.returncode}:\n{self.text()[-4000:]}")
            if time.monotonic() > limit:
                raise TimeoutError(f"no {what!r} in the log:\n{self.text()[-4000:]}")
            time.sleep(0.01)

    def client(self):
        return Client(self.address)

    def kill(self, sig=signal.SIGKILL):
        self.proc.send_signal(sig)
        return self.wait()

    def wait(self, timeout=30):
        return self.proc.wait(timeout)

    def stop(self, timeout=30):
        if self.proc.poll() is None:
            self.proc.terminate()
        return self.wait(timeout)

    def restart(self):
        """Starts again after it ended; the log goes on in a new file."""
        os.rename(self.log, self.log + ".old")
        return self.start()


class Manager:
    """The service manager's end of NOTIFY_SOCKET."""

    def __init__(self, path):
        self.path = path
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sock.bind(path)
        self.lines, self.fds = [], 0
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            data, anc, _, _ = self.sock.recvmsg(65536, 4096)
            now = time.monotonic()
            for _, _, fd in anc:
                a = array.array("i")
                a.frombytes(fd[:len(fd) - len(fd) % a.itemsize])
                for x in a:
                    os.close(x)
                self.fds += len(a)
            self.lines += [(now, line) for line in data.decode().splitlines()]

    def wait(self, what, timeout=10):
        limit = time.monotonic() + timeout
        while time.monotonic() < limit:
            found = [x for x in self.lines if re.match(what, x[1])]
            if found:
                return found[0]
            time.sleep(0.01)
        return None


class Managed(Service):
    """A service that a manager has started: to be set as its manager before start()."""

    def start(self, wait=True, timeout=20):
        log = open(self.log, "ab")
        self.proc = subprocess.Popen([BUILD + "/cuzkd", "--config", self.config], stdin=subprocess.DEVNULL,
                                     stdout=log, stderr=log, env=dict(os.environ, NOTIFY_SOCKET=self.manager.path, **self.env))
        log.close()
        _children.append(self.proc)
        if wait:
            self.wait_log("<5>ready", timeout)
        return self


def free_port():
    """A TCP port that nobody uses now."""
    with socket.socket() as k:
        k.bind(("127.0.0.1", 0))
        return k.getsockname()[1]


def metric(client, name):
    text = client.call("GetMetrics")[1][0].decode()
    for line in text.splitlines():
        if line.startswith("cuzk_" + name + " "):
            return float(line.split()[-1])
    raise KeyError(name)


def sha256(data):
    return hashlib.sha256(data).digest()
