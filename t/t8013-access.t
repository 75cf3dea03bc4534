#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Who may reach the service: sockets of the manager and of the configuration before, certificates, quotas, and bad values."""
import os
import shutil
import socket
import stat
import subprocess
import sys
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *
import cuzk

s = Service()


def serve(sockets, wait=True):
    """Starts the service with listening sockets [(name, socket)], as the manager hands them over."""
    def place():
        for i, (_, k) in enumerate(sockets):
            os.dup2(k.fileno(), 3 + i)
    if os.path.exists(s.log):
        os.unlink(s.log)
    log = open(s.log, "ab")
    names = ":".join(n for n, _ in sockets)
    # the number of the process is known in it only
    s.proc = subprocess.Popen(["/bin/sh", "-c", f"LISTEN_PID=$$ LISTEN_FDS={len(sockets)} LISTEN_FDNAMES={names} exec {BUILD}/cuzkd --config {s.config}"],
                              stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=place, pass_fds=range(3, 3 + len(sockets)))
    log.close()
    cuzk._children.append(s.proc)
    if wait:
        s.wait_log("<5>ready")


def unix(path, mode=0o600):
    k = socket.socket(socket.AF_UNIX)
    k.bind(path)
    os.chmod(path, mode)
    k.listen(5)
    return k


def tcp():
    k = socket.socket()
    k.bind(("127.0.0.1", 0))
    k.listen(5)
    return k, "127.0.0.1:%d" % k.getsockname()[1]


def proves(address):
    try:
        return Client(address).prove(request(payload=address.encode()), wait=20).status == "COMPLETED"
    except (OSError, RpcError):
        return False


def mode(path):
    return oct(stat.S_IMODE(os.stat(path).st_mode))


# a TCP socket of the manager is clear text
k, address = tcp()
s.configure()
serve([("cuzkd.socket", k)], wait=False)
equal(s.wait(20), 2, "a TCP socket of the service manager without insecure = yes: it does not start")
ok("is served in clear: that wants insecure = yes" in s.text(), "and says why")
s.configure(settings="insecure = yes\n")
serve([("cuzkd.socket", k)])
ok(proves(address), "with it: served")
s.stop()
k.close()

# a socket that was kept over a restart is served as the configuration says now
kept = unix(s.socket, 0o666)
s.configure(settings="listen_mode = 0600\n")
serve([("cuzk-listen", kept)])
ok(proves(s.address) and mode(s.socket) == "0o600", f"a kept socket has the listen_mode of now: {mode(s.socket)}")
s.stop()
kept.close()
old = s.dir + "/old"
kept = unix(old)
serve([("cuzk-listen", kept)])
ok(not proves("unix:" + old) and not os.path.exists(old), "one that is not configured any more is not served")
ok(proves(s.address), "the one that is configured is")
s.stop()
kept.close()
given = unix(s.dir + "/given", 0o640)
serve([("cuzkd.socket", given)])
ok(proves("unix:" + s.dir + "/given") and mode(s.dir + "/given") == "0o640", "a socket of a socket unit is served as the unit made it")
s.stop()
given.close()

# the two kinds of socket are kept under one name
k, address = tcp()
rpc = unix(s.dir + "/rpc")
s.configure(settings=f"metrics_listen = {address}\n")
serve([("cuzk-listen", k)])
try:
    with urllib.request.urlopen(f"http://{address}/healthz", timeout=10) as r:
        equal(r.status, 200, "metrics_listen is HTTP after a restart too")
except OSError as e:
    ok(False, f"metrics_listen is HTTP after a restart too: {e}")
ok(not proves(address), "and proves nothing")
s.stop()

# a user who may not
if os.geteuid():
    skip("root", "another user is needed")
else:
    s.configure()
    s.restart()
    os.chmod(s.dir, 0o755)
    p = subprocess.run([BUILD + "/cuzkctl", "status", "--address", s.address], capture_output=True, text=True, user=65534, group=65534, extra_groups=[])
    ok(p.returncode == 1 and p.stderr.strip().endswith("permission denied: the socket is for members of the group root"), f"a user who may not hears who may: {p.stderr.strip()}")
    s.stop()
    s.configure(settings=f"metrics_listen = {address}\n")

# nobody could ask
with open(s.config) as f:
    text = f.read()
with open(s.config, "w") as f:
    f.write(text.replace(f"listen = {s.socket}", "listen =").replace(f"metrics_listen = {address}", ""))
p = subprocess.run([BUILD + "/cuzkd", "-c", s.config], capture_output=True, text=True, timeout=20)
ok(p.returncode == 2 and "nobody could ask for a proof" in p.stderr, f"no socket at all: {p.stderr.splitlines()[0]}")
k.close()

# clear TCP has one quota for all
address = "127.0.0.1:%d" % free_port()
s.configure(engine="delay_ms = 600000", settings=f"listen_tcp = {address}\ninsecure = yes\nclient_jobs = 2\n")
s.restart()
answers = []
for i in range(3):
    try:
        Client(address).submit(request("update", payload=b"%d" % i))
        answers.append("OK")
    except RpcError as e:
        answers.append(e.message)
ok(answers[:2] == ["OK"] * 2 and "whoever comes by clear TCP has 2 unfinished jobs, client_jobs allows 2" in answers[2], f"client_jobs holds for clear TCP: {answers[2]}")
ok(s.client().submit(request(payload=b"by the unix socket")), "and a user of this machine has one of his own")
s.kill()

# files for TLS
if not shutil.which("openssl"):
    skip("openssl", "openssl is not installed")
    done()


def openssl(*argv):
    subprocess.run(["openssl", *argv], check=True, capture_output=True, cwd=s.dir)


for who, days in (("good", "2"), ("other", "2"), ("expired", "-1")):
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={who}",
            "-keyout", who + ".key", "-out", who + ".csr")
    openssl("x509", "-req", "-in", who + ".csr", "-signkey", who + ".key", "-days", days, "-out", who + ".pem")
openssl("pkey", "-in", "good.key", "-aes256", "-passout", "pass:x", "-out", "secret.key")
with open(s.dir + "/good.pem") as f:
    good = f.read()
with open(s.dir + "/cut.pem", "w") as f:
    f.write(good + good[:200])
with open(s.dir + "/text.pem", "w") as f:
    f.write("-----BEGIN NOTHING-----\n")
base = {"tls_cert": "good.pem", "tls_key": "good.key", "tls_client_ca": "good.pem"}
lines = {"tls_cert": 8, "tls_key": 9, "tls_client_ca": 10}


def check(files, *argv):
    s.configure(settings=f"listen_tcp = {address}\n" + "".join(f"{k} = {s.dir}/{v}\n" for k, v in dict(base, **files).items()))
    return subprocess.run([BUILD + "/cuzkd", *argv, "-c", s.config], capture_output=True, text=True, timeout=20)


for option, name, words in (("tls_cert", "none.pem", "No such file"), ("tls_cert", "text.pem", "no certificate in PEM form"),
                            ("tls_cert", "cut.pem", "a certificate is damaged"), ("tls_key", "none.key", "No such file"),
                            ("tls_key", "other.key", "not the key of the first certificate"), ("tls_key", "good.pem", "no private key in PEM form"),
                            ("tls_key", "secret.key", "without a password"), ("tls_client_ca", "good.key", "no certificate in PEM form"),
                            ("tls_client_ca", "none.pem", "No such file")):
    for argv in ["--check"], []:
        p = check({option: name}, *argv)
        wanted = f"{s.config}:{lines[option]}: {option}: {s.dir}/{name}: "
        ok(p.returncode == 75 and wanted in p.stderr and words in p.stderr,
           f"{' '.join(argv) or 'start'}: {option} = {name}: {p.stderr.strip().splitlines()[-1] if p.stderr else p.returncode}")
p = check({}, "--check")
equal((p.returncode, p.stderr), (0, ""), "good files are good")
p = check({"tls_cert": "expired.pem", "tls_key": "expired.key"}, "--check")
ok(p.returncode == 0 and f"{s.config}:8: tls_cert: {s.dir}/expired.pem: a certificate has expired" in p.stderr,
   "one that has expired is said, and does not keep the unix socket from being served")
done()
