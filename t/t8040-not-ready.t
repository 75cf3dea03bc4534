#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Tests fault class "life cycle".
"""A start that fails: status 2 when the configuration is wrong, 75 when what it names is not there yet."""
import os
import shutil
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

s = Service()


def configure(settings="", **changes):
    """The configuration of a test, with some of its lines changed; None: without the line."""
    s.configure(settings=settings)
    lines = open(s.config).read().splitlines()
    for name, value in changes.items():
        lines = [line for line in lines if line.split(" = ")[0] != name]
        if value is not None:
            lines.insert(1, f"{name} = {value}")
    with open(s.config, "w") as f:
        f.write("\n".join(lines) + "\n")


def alone(*argv):
    """A start without a service manager."""
    env = {k: v for k, v in os.environ.items() if k != "NOTIFY_SOCKET"}
    t = time.monotonic()
    p = subprocess.run([BUILD + "/cuzkd", *argv, "-c", s.config], capture_output=True, text=True, timeout=30, env=env)
    return p.returncode, p.stderr, time.monotonic() - t


def listen(kind, address):
    k = socket.socket(kind)
    k.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    k.bind(address)
    k.listen(4)
    return k


tls = shutil.which("openssl")
if tls:
    for who in ("good", "other"):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={who}",
                        "-keyout", f"{s.dir}/{who}.key", "-out", f"{s.dir}/{who}.pem"], check=True, capture_output=True)
else:
    skip("openssl", "openssl is not installed")


def with_tls(cert="good.pem", key="good.key", ca="good.pem", at=None):
    return (f"listen_tcp = {at or '127.0.0.1:%d' % free_port()}\ntls_cert = {s.dir}/{cert}\ntls_key = {s.dir}/{key}\n"
            f"tls_client_ca = {s.dir}/{ca}\n")


open(s.dir + "/file", "w").close()
used = listen(socket.AF_UNIX, s.dir + "/used")
port = listen(socket.AF_INET, ("127.0.0.1", 0))
taken = "127.0.0.1:%d" % port.getsockname()[1]

# what is wrong by itself
for what, settings, changes in (
        ("an option that there is not", "nonsense = 1\n", {}),
        ("TCP with neither TLS nor insecure", f"listen_tcp = {taken}\n", {}),
        ("a certificate without its key", f"listen_tcp = {taken}\ntls_cert = /none\n", {}),
        ("a group that there is not", "listen_group = no.such.group\n", {}),
        ("nowhere to listen", "", {"listen": ""})):
    configure(settings, **changes)
    status, text, took = alone()
    ok(status == 2 and text, f"{what}: status {status}: {text.splitlines()[-1] if text else ''}")

# what is not there, or not free
cases = [
    ("state_dir in a folder that is absent", "", {"state_dir": s.dir + "/none/state"}),
    ("state_dir is a file", "", {"state_dir": s.dir + "/file"}),
    ("listen in a folder that is absent", "", {"listen": s.dir + "/none/sock"}),
    ("listen where a file is", "", {"listen": s.dir + "/file"}),
    ("listen where another serves", "", {"listen": s.dir + "/used"}),
    ("listen_tcp on a port that is taken", f"insecure = yes\nlisten_tcp = {taken}\n", {}),
    ("listen_tcp on an address of another machine", "insecure = yes\nlisten_tcp = 192.0.2.1:1\n", {}),
    ("metrics_listen on a port that is taken", f"metrics_listen = {taken}\n", {}),
    ("metrics_listen in a folder that is absent", f"metrics_listen = {s.dir}/none/metrics\n", {}),
]
if tls:
    cases += [
        ("tls_cert is absent", with_tls(cert="none"), {}),
        ("tls_key is absent", with_tls(key="none"), {}),
        ("tls_client_ca is absent", with_tls(ca="none"), {}),
        ("tls_key is that of another certificate", with_tls(key="other.key"), {}),
        ("TLS on a port that is taken", with_tls(at=taken), {}),
    ]
for what, settings, changes in cases:
    configure(settings, **changes)
    status, text, took = alone()
    lines = text.splitlines()
    ok(status == 75 and [line for line in lines if line.startswith("<3>")] and took < 10,
       f"{what}: status {status}: {next((x for x in lines if x.startswith('<3>')), '')}")
    if settings.count("tls_"):
        checked = alone("--check")[0]
        equal(checked, 0 if taken in settings else 75, "--check tells the files beforehand")


# and it starts when that is there
def mended(what, mend):
    status = alone()[0]
    mend()
    s.restart() if os.path.exists(s.log) else s.start()
    equal((status, s.client().prove(request(payload=what.encode())).status, s.stop()), (75, "COMPLETED", 0), f"{what}: it starts when that is there")


if tls:
    configure(with_tls(cert="late.pem"))
    mended("a certificate that is late", lambda: shutil.copy(s.dir + "/good.pem", s.dir + "/late.pem"))
    shutil.copy(s.dir + "/other.key", s.dir + "/late.key")
    configure(with_tls(key="late.key"))
    mended("a key that is renewed after its certificate", lambda: shutil.copy(s.dir + "/good.key", s.dir + "/late.key"))
configure(state_dir=s.dir + "/late/state")
mended("a state_dir whose mount is late", lambda: os.mkdir(s.dir + "/late"))
configure(f"metrics_listen = {taken}\n")
mended("a port that another has for a while", port.close)

# a socket that the manager keeps is not lost by that
configure(state_dir=s.dir + "/none/state")
listening = listen(socket.AF_UNIX, s.dir + "/given")
p = subprocess.run(["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$0" "$@"', BUILD + "/cuzkd", "-c", s.config],
                   preexec_fn=lambda: os.dup2(listening.fileno(), 3), pass_fds=[3], timeout=30, capture_output=True,
                   env=dict({k: v for k, v in os.environ.items() if k != "NOTIFY_SOCKET"}, LISTEN_FDS="1", LISTEN_FDNAMES="cuzk-listen"))
equal((p.returncode, os.path.exists(s.dir + "/given")), (75, True), "a kept socket stays where it is when the start fails")
done()
