#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""/metrics, /status and /healthz over HTTP; gRPC over TCP with TLS and client certificates."""
import base64
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

port = free_port()
s = Service(engine="probe_delay_ms = 500\nfail_sector = 5\ncrash_sector = 6\nhang_sector = 7\n", settings=f"retries = 1\nrestart_delay = 1ms\ndrain = 1s\nqueue_limit = 2000\nmetrics_listen = 127.0.0.1:{port}\n")
s.start(wait=False)
s.wait_log(f"listening on 127.0.0.1:{port}")
url = f"http://127.0.0.1:{port}"


def get(path, method="GET"):
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, method=method), timeout=10) as f:
            return f.status, f.headers.get("Content-Type"), f.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.headers.get("Content-Type"), e.read().decode()


equal(get("/healthz")[0], 503, "/healthz while it starts")
s.wait_log("<5>ready")
c = s.client()
c.prove(request())
equal(get("/healthz")[0], 200, "/healthz when ready")
code, kind, text = get("/metrics")
equal((code, kind.split(";")[0]), (200, "text/plain"), "/metrics")
names = set()
good = True
for line in text.splitlines():
    if line.startswith("# TYPE "):
        names.add(line.split()[2])
    elif not line.startswith("#"):
        name = line.split("{")[0].split(" ")[0]
        base = name
        for suffix in ("_bucket", "_sum", "_count"):
            if name.endswith(suffix) and name[:-len(suffix)] in names:
                base = name[:-len(suffix)]
        good &= base in names
        float(line.rsplit(" ", 1)[1])
ok(good and len(names) > 30, f"{len(names)} metrics, each with its type")
code, kind, text = get("/status?x=1")
st = json.loads(text)
equal((code, kind, st["ready"], st["completed"]), (200, "application/json", True, 1), "/status is JSON")
equal(st["instances"][0]["name"], "cpu", "with instances")
job = c.prove(request("porep", "trace", b"trace")).job
code, kind, text = get("/trace/" + job)
events = json.loads(text)["traceEvents"]
equal((code, sum(e["ph"] == "X" and e["cat"] == "partition" for e in events)), (200, 10),
      "/trace/JOB shows ten partitions")
ok(all(e["dur"] < 10e6 and e["tid"] <= 1 for e in events if e["ph"] == "X"), "on their instance, in sane times")
equal(get("/trace/none")[0], 404, "of a job that exists")


def trace(job):
    """What the trace shows of a job, by category."""
    events = json.loads(get("/trace/" + job)[2])["traceEvents"]
    return {cat: [e for e in events if e.get("cat") == cat] for cat in ("partition", "failed", "running")}


bad = c.prove(request("window-post", "fails", b"fails", sector=5), wait=30)
found = trace(bad.job)["failed"]
ok(bad.status == "FAILED" and [e["args"] for e in found] == [{"class": "device", "instance_died": False}] * 2 and all(e["dur"] < 10e6 for e in found),
   f"the trace of a job that failed shows both runs: {[e['name'] for e in found]}")
bad = c.prove(request("window-post", "crashes", b"crashes", sector=6), wait=30)
equal([e["args"]["instance_died"] for e in trace(bad.job)["failed"]], [True] * 2, "and those that took an instance with them")
job = c.submit(request("window-post", "hangs", b"hangs", sector=7))
limit = time.monotonic() + 10
while not trace(job)["running"] and time.monotonic() < limit:
    time.sleep(0.05)
ok([e["name"] for e in trace(job)["running"]] == ["partition 0, running"], "and what runs now")
many = [c.start("SubmitProof", request("update", "many", b"%d" % i, sector=7)) for i in range(1300)]
for x in many:
    x.result()
st = json.loads(get("/status")[2])
ok(len(st["jobs"]) == 1000 and st["jobs_left_out"] == st["queue"]["jobs"] - 1000 > 200, f"/status has the oldest thousand jobs, and says how many are left out: {st['jobs_left_out']}")
for j in [j["id"] for j in st["jobs"]]:
    c.cancel(j)
for j in [j["id"] for j in json.loads(get("/status")[2])["jobs"]]:
    c.cancel(j)
equal(json.loads(get("/status")[2])["jobs_left_out"], 0, "or none")
c.cancel(job)
equal(get("/")[0], 404, "another path")
equal(get("/metrics", "POST")[0], 405, "another method")
code, _, body = get("/metrics", "HEAD")
equal((code, body), (200, ""), "HEAD")


def raw(data, more=b"", end=False):
    """What a connection that sends data, and more whatever the answer is, is answered: status, headers, body."""
    k = socket.create_connection(("127.0.0.1", port), timeout=5)
    got = b""
    try:
        k.sendall(data + more)
        if end:
            k.shutdown(socket.SHUT_WR)
        while True:
            part = k.recv(65536)
            if not part:
                break
            got += part
    except OSError as e:
        got += b"\r\n" + str(e).encode()
    k.close()
    head, _, body = got.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    return lines[0].split(" ")[1] if lines[0].startswith("HTTP/1.1 ") else lines[0], lines[1:], body


HOST = b"\r\nHost: x\r\n\r\n"
for what, data, status in (("garbage", b"\0\1\2\3\r\n\r\n", "400"), ("a NUL in a header", b"GET /healthz HTTP/1.1\r\nA: \0\r\n\r\n", "400"),
                           ("no version", b"GET /healthz\r\n\r\n", "400"), ("a word too many", b"GET /healthz x HTTP/1.1" + HOST, "400"),
                           ("no path", b"GET * HTTP/1.1" + HOST, "400"), ("no HTTP", b"GET /healthz GOPHER/1.1" + HOST, "400"),
                           ("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505"),
                           ("HTTP/1.0", b"GET /healthz HTTP/1.0\r\n\r\n", "200"), ("bare newlines", b"GET /healthz HTTP/1.1\nHost: x\n\n", "200"),
                           ("the absolute form", b"GET http://x:1/healthz HTTP/1.1" + HOST, "200"),
                           ("an absolute form without a path", b"GET http://x HTTP/1.1" + HOST, "400"),
                           ("an endless line", b"A" * 9000, "431"), ("an endless head", b"GET /healthz HTTP/1.1\r\n" + b"A: b\r\n" * 3000, "431"),
                           ("two requests in one", (b"GET /healthz HTTP/1.1" + HOST) * 2, "200"),
                           ("a body in chunks that smuggles another", b"POST /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n"
                            b"0\r\n\r\nGET /status HTTP/1.1" + HOST, "405")):
    found = raw(data)
    ok(found[0] == status and "Connection: close" in found[1] and found[2].count(b"HTTP/1.1") == 0, f"{what}: {found[0]}")
found = raw(b"POST /metrics HTTP/1.1\r\nContent-Length: 4000000\r\n\r\n", bytes(4000000))
ok(found[0] == "405" and "Allow: GET, HEAD" in found[1], f"a request with four megabytes behind it hears its answer: {found[0]}")
equal(raw(b"", end=True)[0], "", "nothing")
equal(raw(b"GET /healthz", end=True)[0], "", "half of a request")
held = [socket.create_connection(("127.0.0.1", port)) for _ in range(300)]
for k in held[::2]:
    k.sendall(b"GET /metrics HTTP/1.1\r\n")
equal(c.prove(request(payload=b"held")).status, "COMPLETED", "300 idle connections do not stop gRPC")
equal([get("/healthz")[0] for _ in range(3)], [200] * 3, "nor the collector of the metrics")
for k in held:
    k.close()
equal(s.stop(), 0, "stop")

# TLS
if not shutil.which("openssl"):
    diag("openssl is not installed: TLS is not tested")
    done()


def openssl(*argv):
    subprocess.run(["openssl", *argv], check=True, capture_output=True, cwd=s.dir)


for who in ("ca", "ca2"):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", f"/CN={who}", "-keyout", who + ".key", "-out", who + ".pem")
for who, ca in (("server", "ca"), ("client", "ca"), ("other", "ca"), ("stranger", "ca2")):
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={who}",
            "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", who + ".key", "-out", who + ".csr")
    openssl("x509", "-req", "-in", who + ".csr", "-CA", ca + ".pem", "-CAkey", ca + ".key", "-CAcreateserial",
            "-days", "2", "-copy_extensions", "copy", "-out", who + ".pem")
tls_port = free_port()
d = s.dir
s.configure(settings=f"listen_tcp = 127.0.0.1:{tls_port}\ntls_cert = {d}/server.pem\ntls_key = {d}/server.key\n"
            f"tls_client_ca = {d}/ca.pem\n")
s.restart()


def ctl(*argv):
    return subprocess.run([BUILD + "/cuzkctl", "status", "--json", "--timeout", "5", "--address",
                           f"localhost:{tls_port}", *argv], capture_output=True, text=True, timeout=30, cwd=d)


p = ctl("--tls-ca", "ca.pem", "--tls-cert", "client.pem", "--tls-key", "client.key")
ok(p.returncode == 0 and '"name":"cpu"' in p.stdout, f"TLS with a client certificate {p.stderr}")
ok(f"listening on 127.0.0.1:{tls_port}, TLS with client certificates" in s.text(), "the log says so")
p = ctl("--tls-ca", "ca.pem")
ok(p.returncode == 1 and "it may want a client certificate: --tls-cert" in p.stderr, f"without a client certificate: refused: {p.stderr.strip()}")
equal(ctl("--tls-ca", "ca.pem", "--tls-cert", "stranger.pem", "--tls-key", "stranger.key").returncode, 1,
      "with one of another authority: refused")
equal(ctl("--tls-ca", "ca2.pem", "--tls-cert", "client.pem", "--tls-key", "client.key").returncode, 1,
      "a server of another authority: refused by the client")
p = ctl()
ok(p.returncode == 1 and "it may want TLS: --tls-ca" in p.stderr, f"clear text: refused: {p.stderr.strip()}")


def sign(who, days, ca="ca", name=None):
    """Another certificate of who's, with that name if any; it takes the place of the one before."""
    if name:
        openssl("req", "-new", "-key", who + ".key", "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-out", who + ".csr")
    openssl("x509", "-req", "-in", who + ".csr", "-CA", ca + ".pem", "-CAkey", ca + ".key", "-CAcreateserial",
            "-days", str(days), "-copy_extensions", "copy", "-out", who + ".pem")


def talks(who, ca="ca"):
    return ctl("--tls-ca", ca + ".pem", "--tls-cert", who + ".pem", "--tls-key", who + ".key").returncode == 0


def serial():
    context = ssl.create_default_context(cafile=d + "/ca.pem")
    context.load_cert_chain(d + "/client.pem", d + "/client.key")
    context.set_alpn_protocols(["h2"])
    with socket.create_connection(("127.0.0.1", tls_port), timeout=10) as k, context.wrap_socket(k, server_hostname="localhost") as t:
        return t.getpeercert()["serialNumber"]


def expiry():
    return metric(s.client(), "tls_expiry_seconds")


def reload(words):
    n = s.text().count(words)
    s.proc.send_signal(signal.SIGHUP)
    s.wait_log(words, count=n + 1)


sign("other", -1)
ok(not talks("other"), "a client certificate that has expired: refused")
sign("other", 2)
ok(talks("other"), "one that has not: served")
warnings.simplefilter("ignore", DeprecationWarning)
for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.minimum_version = context.maximum_version = version
    context.set_ciphers("ALL:@SECLEVEL=0")
    try:
        with socket.create_connection(("127.0.0.1", tls_port), timeout=10) as k, context.wrap_socket(k):
            ok(False, f"{version.name}: refused")
    except OSError as e:
        ok(True, f"{version.name}: refused ({e.__class__.__name__})")

# certificates are renewed by a reload, and what is no good changes nothing
before = serial()
ok(0 < expiry() - time.time() < 3 * 86400, "the metrics say when the certificate expires")
sign("server", 30)
equal(serial(), before, "a new certificate in the file is not taken by itself")
reload("reload: done")
ok(serial() != before, "but by a reload")
ok(29 * 86400 < expiry() - time.time() < 31 * 86400, "so the metrics say")
before = serial()
shutil.copy(d + "/server.key", d + "/kept.key")
shutil.copy(d + "/client.key", d + "/server.key")
reload("the certificates stay as they were")
ok(f"tls_key: {d}/server.key: not the key of the first certificate" in s.text(), "a key of another certificate is refused")
equal((serial(), talks("client")), (before, True), "and the old ones are served on")
shutil.copy(d + "/kept.key", d + "/server.key")
shutil.copy(d + "/ca.pem", d + "/kept.pem")
shutil.copy(d + "/ca2.pem", d + "/ca.pem")
reload("reload: done")
equal((talks("stranger", "kept"), talks("client", "kept")), (True, False), "other authorities: their clients are served, those of the old ones are not")
shutil.copy(d + "/kept.pem", d + "/ca.pem")
reload("reload: done")
ok(talks("client"), "and back")

# who shows no certificate holds a connection for a while only
held = [socket.create_connection(("127.0.0.1", tls_port)) for _ in range(200)]
ok(talks("client"), "200 connections that begin no handshake do not keep a client out")
begin = time.monotonic()
for k in held:
    k.settimeout(30)
    try:
        k.recv(1)
    except ConnectionResetError:
        pass
    k.close()
ok(5 < time.monotonic() - begin < 20, f"and are ended after {time.monotonic() - begin:.0f} s")
lines = s.text().count("grpc: ")
for _ in range(200):
    with socket.create_connection(("127.0.0.1", tls_port)) as k:
        k.sendall(b"GET / HTTP/1.1\r\n\r\n")
        k.settimeout(10)
        try:
            k.recv(100)
        except ConnectionResetError:
            pass
ok(s.text().count("grpc: ") - lines <= 25, f"200 that speak no TLS cost {s.text().count('grpc: ') - lines} lines of the log")

# each certificate's subject has its own quota
s.stop()
s.configure(engine="delay_ms = 20000", settings=f"listen_tcp = 127.0.0.1:{tls_port}\ntls_cert = {d}/server.pem\n"
            f"tls_key = {d}/server.key\ntls_client_ca = {d}/ca.pem\nclient_jobs = 2\n")
s.restart()


def submit(who, number):
    with open(d + "/q.json", "w") as f:
        json.dump({"proofKind": "SNAP_DEALS_UPDATE", "requestId": f"q{number}", "minerId": number,
                   "vanillaProofs": [base64.b64encode(b"%d" % number).decode()], "randomness": base64.b64encode(bytes(32)).decode()}, f)
    return subprocess.run([BUILD + "/cuzkctl", "submit", "--request", "q.json", "--address", f"localhost:{tls_port}",
                           "--tls-ca", "ca.pem", "--tls-cert", who + ".pem", "--tls-key", who + ".key"],
                          capture_output=True, text=True, timeout=30, cwd=d)


answers = [submit("client", i) for i in range(3)]
equal([p.returncode for p in answers], [0, 0, 1], "client_jobs = 2: the third submit of one certificate is refused")
ok("the client of this certificate has 2" in answers[2].stderr, answers[2].stderr.strip())
answers.append(submit("other", 7))
equal(answers[3].returncode, 0, "another certificate has its own")
equal(submit("client", 0).returncode, 0, "what is known already costs nothing")
# none was to end while the quota was asked for, on a slow machine either
for job in (p.stdout.strip() for p in answers if p.returncode == 0):
    s.client().cancel(job)
second = Service(settings=f"listen_tcp = 127.0.0.1:{tls_port}\ntls_cert = {d}/server.pem\n"
                 f"tls_key = {d}/server.key\ntls_client_ca = {d}/ca.pem\n")
second.start(wait=False)
equal(second.wait(20), 75, "a second service cannot take the same port")
ok(f"listen: 127.0.0.1:{tls_port}: Address already in use" in second.text(), "and says so")
equal(s.client().prove(request(payload=b"unix")).status, "COMPLETED", "the unix socket works beside it")
s.stop()
for what, settings in {
    "TCP without TLS and without insecure": f"listen_tcp = 127.0.0.1:{tls_port}\n",
    "a key that is missing": f"listen_tcp = 127.0.0.1:{tls_port}\ntls_cert = {d}/server.pem\ntls_key = {d}/none\n"
    f"tls_client_ca = {d}/ca.pem\n",
    "a certificate that is none": f"listen_tcp = 127.0.0.1:{tls_port}\ntls_cert = {d}/cuzk.conf\ntls_key = {d}/server.key\n"
    f"tls_client_ca = {d}/ca.pem\n",
}.items():
    s.configure(settings=settings)
    p = subprocess.run([BUILD + "/cuzkd", "-c", s.config], capture_output=True, text=True, timeout=20)
    equal(p.returncode, 75 if "tls_" in settings else 2, f"{what}: {p.stderr.strip().splitlines()[-1] if p.stderr else ''}")
done()
