#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Tests fault class "poisoned context, hang".
# Tests fault class "life cycle".
"""The shipped units under a real systemd: start, socket, watchdog, hung instance, restart, drain, journal."""
import os
import shutil
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from systemd_ns import *


def configure(stage, engine):
    with open("/etc/cuzk/cuzk.conf", "w") as f:
        f.write(f"[global]\nlisten = /run/cuzk/cuzk.sock\ninstance_program = {stage}/cuzk-instance\n"
                f"stage_limit = 3s\nstage_limit_ntt = 1s\nheartbeat_limit = 3s\nparams_dir =\n"
                f"[engine null]\nlibrary = {stage}/null.so\n{engine}\n[cpu]\nengine = null\n")


def works(client, kind):
    """Is a job of the kind begun and not ended?"""
    queues = [parse(q) for q in client.call("GetStatus")[3]]
    return any(q[1][0].decode() == kind and q.get(3, [0])[0] for q in queues)


def inside(stage):
    install(stage, "WatchdogSec=60\n")
    configure(stage, "delay_ms = 100\nhang_sector = 13")

    # start to READY, through the socket
    p = run("systemctl", "start", "cuzkd.socket")
    equal(p.returncode, 0, f"the socket unit starts {p.stderr}")
    early = connect()
    call = early.start_prove(request(payload=b"early"))
    if not equal(result(parse(call.result())[1][0]).status, "COMPLETED", "a client's call starts the service"):
        diag(run("systemctl", "status", "cuzkd").stdout)
        diag(run("journalctl", "--no-pager", "-n", "50").stdout)
    equal(show("ActiveState"), "active", "which is active")
    ok("1 of 1 instances ready" in show("StatusText"), f"StatusText: {show('StatusText')}")
    t = time.monotonic()
    equal(begin("restart").returncode, 0, "restart")
    diag(f"restart to READY: {(time.monotonic() - t) * 1000:.0f} ms")
    c = connect()
    equal(c.prove(request(payload=b"early")).status, "COMPLETED", "a result from before the restart is there")
    p = run(stage + "/cuzkctl", "status", "--json")
    ok(p.returncode == 0 and '"name":"cpu"' in p.stdout, f"cuzkctl status {p.stderr}")

    # a job's life in the journal, by one field
    m = request("porep", "porep-1000-77", b"journal", sector=77)
    job = c.submit(m)
    equal(c.wait(job).proof, null_proof(m, 10), "a PoRep")
    run("journalctl", "--sync")
    lines = run("journalctl", "--no-pager", "-o", "cat", f"CUZK_JOB={job}").stdout.splitlines()
    ok(len(lines) >= 12 and "accepted" in lines[0] and "completed" in lines[-1],
       f"journalctl CUZK_JOB= tells its life in {len(lines)} lines")
    events = run("journalctl", "--no-pager", "-o", "export", f"CUZK_JOB={job}").stdout
    for name in ("CUZK_KIND=porep", "CUZK_EVENT=accepted", "CUZK_EVENT=completed", "CUZK_PARTITION=9", "CUZK_GPU=0",
                 "CUZK_REQUEST=porep-1000-77", "SYSLOG_IDENTIFIER=cuzkd"):
        ok(name in events, name)

    # a hung instance is replaced
    before = children()
    poison = c.start_prove(request("window-post", "bad", b"hangs", sector=13))
    good = c.start_prove(request("window-post", "good", b"works", sector=14))
    bad = result(parse(poison.result(60))[1][0])
    equal(bad.status, "FAILED", f"a job that hangs its instance twice fails: {bad.error}")
    equal(result(parse(good.result(60))[1][0]).status, "COMPLETED", "the next job completes")
    if not ok(until(lambda: len(children()) == 1 and children() != before), "in another child process"):
        diag(f"children before {before}, after {children()}")
    equal(show("NRestarts"), "0", "the service itself went on")

    # a hung main loop is restarted by the watchdog, and loses nothing
    configure_unit("WatchdogSec=3\n")
    equal(begin("restart").returncode, 0, "restart")
    c = connect()
    m = request("porep", "porep-1000-78", b"watchdog", sector=78)
    job = c.submit(m)
    until(lambda: works(c, "porep"))
    pid, restarts = show("MainPID"), int(show("NRestarts"))
    os.kill(int(pid), signal.SIGSTOP)
    t = time.monotonic()
    ok(until(lambda: int(show("NRestarts")) > restarts and show("ActiveState") == "active", 60),
       "a stopped main loop is restarted by the watchdog")
    diag(f"stop to restarted and READY: {time.monotonic() - t:.1f} s, WatchdogSec=3")
    configure_unit("WatchdogSec=60\n")
    ok(show("MainPID") != pid, "another process")
    c = connect()
    equal(c.wait(job).proof, null_proof(m, 10), "its job goes on and completes")
    ok(f"job {job}: resumed" in journal(), "out of the journal of jobs")
    equal(begin("restart").returncode, 0, "restart")

    # reload
    configure(stage, "delay_ms = 1000")
    equal(run("systemctl", "reload", "cuzkd").returncode, 0, "reload")
    equal(show("ActiveState"), "active", "leaves it active")
    pid = show("MainPID")
    with open("/etc/cuzk/cuzk.conf", "a") as f:
        f.write("nonsense = 1\n")
    ok(run("systemctl", "reload", "cuzkd").returncode != 0, "a reload of a configuration with errors fails")
    ok("unknown key nonsense" in journal("-n", "20", "-p", "err"), "and the journal says why, as an error")
    equal((show("ActiveState"), show("MainPID")), ("active", pid), "the service goes on as it was")

    # without the socket unit the service makes its socket, and the manager keeps it over a restart
    configure(stage, "delay_ms = 10")
    run("systemctl", "stop", "cuzkd.service", "cuzkd.socket")
    equal(begin("start").returncode, 0, "start without the socket unit")
    c = connect()
    equal(c.prove(request(payload=b"own socket")).status, "COMPLETED", "it makes its own socket")
    inode = os.stat("/run/cuzk/cuzk.sock").st_ino
    equal(begin("restart").returncode, 0, "restart")
    equal(os.stat("/run/cuzk/cuzk.sock").st_ino, inode, "which is the same after a restart")
    c = connect()
    equal(c.prove(request(payload=b"kept socket")).status, "COMPLETED", "and is served")
    ok("cuzk.sock, a socket of the service manager" in journal("_PID=" + show("MainPID")),
       "out of the descriptor store")
    run("systemctl", "stop", "cuzkd.service")
    run("systemctl", "start", "cuzkd.socket", check=True)
    configure(stage, "delay_ms = 1000")

    # a stop drains
    equal(begin("restart").returncode, 0, "restart")
    c = connect()
    m = request("window-post", "drain", b"drain")
    call = c.start_prove(m)
    ok(until(lambda: works(c, "window-post")), "a partition runs")
    equal(run("systemctl", "stop", "cuzkd").returncode, 0, "stop")
    equal(result(parse(call.result())[1][0]).proof, null_proof(m), "the proof that ran was finished and sent")
    equal(show("Result"), "success", "an orderly end")
    equal(show("ActiveState"), "inactive", "and it is down")

    # a configuration with errors is not tried again
    with open("/etc/cuzk/cuzk.conf", "a") as f:
        f.write("nonsense = 1\n")
    ok(begin("start").returncode != 0, "a configuration with errors does not start")
    equal(show("ExecMainStatus"), "2", "status 2")

    # nor does it cost the socket, however many clients come
    run("systemctl", "start", "cuzkd.socket", check=True)
    turned_away = 0
    for i in range(30):
        k = socket.socket(socket.AF_UNIX)
        k.settimeout(10)
        try:
            k.connect("/run/cuzk/cuzk.sock")
            turned_away += k.recv(1) == b""
        except ConnectionResetError:
            turned_away += 1
        except OSError as e:
            diag(f"client {i}: {e}")
        k.close()
    equal(turned_away, 30, "clients of a service that cannot start are turned away")
    equal((show("ActiveState", "cuzkd.socket"), show("Result", "cuzkd.socket")), ("active", "success"), "the socket waits")
    ok(show("NRestarts") < "3", f"the service was started for clients only: {show('NRestarts')} restarts")
    configure(stage, "delay_ms = 10")
    equal(connect().prove(request(payload=b"repaired")).status, "COMPLETED", "for the first client after the repair, for whom the service starts")
    equal(show("ActiveState"), "active", "without a person")

    # an address that the unit does not allow
    run("systemctl", "stop", "cuzkd.service")
    with open("/etc/cuzk/cuzk.conf") as f:
        text = f.read().replace("[global]\n", "[global]\nmetrics_listen = 127.0.0.1:9821\n")
    with open("/etc/cuzk/cuzk.conf", "w") as f:
        f.write(text)
    run("systemctl", "start", "cuzkd.service")
    ok("listen: 127.0.0.1:9821: Address family not supported by protocol (the unit allows none without the drop-in tcp.conf)" in journal("-n", "20"),
       "TCP without the drop-in: the journal names it")
    run("systemctl", "stop", "cuzkd.service")

    # a folder that the unit does not show
    os.makedirs("/home/fil/params")
    with open("/etc/cuzk/cuzk.conf") as f:
        text = f.read().replace("metrics_listen = 127.0.0.1:9821\n", "").replace("params_dir =\n", "params_dir = /home/fil/params\n")
    with open("/etc/cuzk/cuzk.conf", "w") as f:
        f.write(text)
    begin("start")
    ok("params_dir /home/fil/params: Permission denied (the unit hides home folders: see its drop-in params.conf)" in journal("-n", "20"),
       "parameters in a home folder: the journal says why they are not seen")
    with open(stage + "/params.conf") as f:
        configure_unit(f.read().split("[Service]\n")[1].replace("/home/USER/filecoin-proof-parameters", "/home/fil/params"))
    begin("restart")
    ok("params_dir" not in journal("_PID=" + show("MainPID")), "with the drop-in they are")
    run("systemctl", "stop", "cuzkd.service")
    configure_unit("WatchdogSec=60\n")

    # so with what is no error of the configuration: tried again and again
    run("systemctl", "stop", "cuzkd.service")
    configure(stage, "delay_ms = 10")
    with open("/etc/cuzk/cuzk.conf") as f:
        text = f.read().replace("[global]\n", "[global]\nmetrics_listen = /run/cuzk/later/metrics\n")
    with open("/etc/cuzk/cuzk.conf", "w") as f:
        f.write(text)
    run("systemctl", "start", "--no-block", "cuzkd.service")
    ok(until(lambda: int(show("NRestarts")) >= 6, 60), "what does not start is tried more often than five times")
    equal(show("ActiveState", "cuzkd.socket"), "active", "and the socket waits")
    os.makedirs("/run/cuzk/later")
    shutil.chown("/run/cuzk/later", "cuzk", "cuzk")
    ok(until(lambda: show("ActiveState") == "active" and show("SubState") == "running"), "until it starts")
    run("systemctl", "stop", "cuzkd.service", "cuzkd.socket")
    p = run("systemd-analyze", "security", "cuzkd.service", "--no-pager")
    diag((p.stdout.strip().splitlines() or ["systemd-analyze security: no answer"])[-1])
    done()


if len(sys.argv) > 2 and sys.argv[1] == "inside":
    inside(sys.argv[2])
else:
    outside(__file__)
