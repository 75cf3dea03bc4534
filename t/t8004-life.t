#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Tests fault class "life cycle".
"""Life cycle: drain on SIGTERM, second signal at once, what the service manager is told, reload, sockets."""
import os
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cuzk
from cuzk import *


s = Managed(engine="probe_delay_ms = 300\ndelay_ms = 800")
s.manager = Manager(s.dir + "/notify")
s.env = {"WATCHDOG_USEC": "1000000"}
started = time.monotonic()
s.start(wait=False)
s.manager.wait("STATUS=starting")
s.proc.send_signal(signal.SIGHUP)
s.wait_log("reload: done")
ready = s.manager.wait("READY=1")
ok(ready and ready[0] - started >= 0.3, "READY=1 comes after the instance passed its self-test, a reload before it or not")
ok(s.manager.wait("STATUS=starting"), "STATUS= says what it does meanwhile")
ok(s.manager.wait("EXTEND_TIMEOUT_USEC"), "progress extends the start")
ok(s.manager.fds >= 1 and s.manager.wait("FDSTORE=1") and s.manager.wait("FDNAME=cuzk-listen"),
   "the listening socket goes to the descriptor store")
time.sleep(2.3)
pings = [t for t, line in s.manager.lines if line == "WATCHDOG=1"]
gaps = [b - a for a, b in zip(pings, pings[1:])]
ok(len(gaps) >= 3 and max(gaps) < 1 and min(gaps) > 0.3, f"the watchdog is pinged at half period: {['%.2f' % g for g in gaps]}")

# a main loop that hangs pings no more
s.proc.send_signal(signal.SIGSTOP)
time.sleep(0.1)
n = len([1 for t, line in s.manager.lines if line == "WATCHDOG=1"])
time.sleep(1.2)
equal(len([1 for t, line in s.manager.lines if line == "WATCHDOG=1"]), n, "a stopped main loop sends no ping")
s.proc.send_signal(signal.SIGCONT)

# nor one that turns and yet does not act on the limit of an instance: its timer is lost, its child says nothing
lost = BUILD + "/t/.libs/lost-timer.so"
if os.path.exists(lost):
    stages = "".join(f"stage_limit{x} = 200ms\n" for x in ("", "_params", "_witness", "_upload", "_evaluate", "_ntt"))
    d = Managed(engine="hang_every = 1\nhang_stage = ntt", settings=stages + "heartbeat_limit = 200ms\n", level="debug")
    d.manager = Manager(d.dir + "/notify")
    d.env = {"WATCHDOG_USEC": "1000000", "LD_PRELOAD": lost, "CUZK_TEST_TIMER": d.dir + "/lost", "ASAN_OPTIONS": "verify_asan_link_order=0"}
    d.start()
    open(d.dir + "/lost", "w").close()
    d.client().submit(request("winning-post", "lost", b"lost"))
    d.wait_log("goes to cpu")
    child = int(subprocess.run(["pgrep", "-P", str(d.proc.pid)], capture_output=True, text=True, check=True).stdout)
    os.kill(child, signal.SIGSTOP)
    asked = d.manager.wait("WATCHDOG=trigger", 30)
    ok(asked, "an instance that is past its limit and not dealt with: the watchdog is asked to act")
    ok(d.manager.wait("STATUS=cpu is stuck and could not be ended"), "and STATUS= says why")
    time.sleep(1.2)
    late = [line for at, line in d.manager.lines if asked and at > asked[0] and line == "WATCHDOG=1"]
    equal((late, d.proc.poll()), ([], None), "no ping comes after that, though the loop turns")
    os.unlink(d.dir + "/lost")
    d.kill()
else:
    skip("watchdog and a lost timer", "shared objects are not built")

# reload
c = s.client()
s.configure(engine="probe_delay_ms = 300\ndelay_ms = 800", settings="queue_limit = 2\nclient_jobs = 7")
s.manager.lines.clear()
s.proc.send_signal(signal.SIGHUP)
ok(s.manager.wait("RELOADING=1") and s.manager.wait(r"MONOTONIC_USEC=\d+"), "SIGHUP: RELOADING=1 with its time")
ok(s.manager.wait("READY=1"), "and READY=1 after it")
jobs = [c.submit(request("winning-post", "q", b"%d" % i)) for i in range(2)]
try:
    c.submit(request("porep", "q", b"3"))
    ok(False, "queue_limit is in force")
except RpcError as e:
    ok(e.code == "RESOURCE_EXHAUSTED" and "estimated wait" in e.message, f"queue_limit is in force: {e.message}")
open(s.config, "a").write("nonsense = 1\n")
s.proc.send_signal(signal.SIGHUP)
s.wait_log("the configuration stays as it was")
ok(True, "a file with errors changes nothing")
for j in jobs:
    c.wait(j)

# drain: what runs is finished, what waits is kept
s.configure(engine="probe_delay_ms = 0\ndelay_ms = 800", settings="")
s.stop()
s.restart()
c = s.client()
a, b = request("window-post", "a", b"drain a"), request("window-post", "b", b"drain b")
call_a = c.start_prove(a)
time.sleep(0.2)
call_b = c.start_prove(b)
time.sleep(0.2)
s.manager.lines.clear()
t = time.monotonic()
s.proc.terminate()
ok(s.manager.wait("STOPPING=1"), "SIGTERM: STOPPING=1")
ok(s.manager.wait("EXTEND_TIMEOUT_USEC"), "with EXTEND_TIMEOUT_USEC")
reloads = s.text().count("reload: done")
s.proc.send_signal(signal.SIGHUP)
s.wait_log("reload: done", count=reloads + 1)
equal(result(parse(call_a.result())[1][0]).proof, null_proof(a), "the proof that runs is finished and sent")
try:
    call_b.result()
    ok(False, "who waits for the others hears UNAVAILABLE")
except RpcError as e:
    ok(e.code == "UNAVAILABLE" and "kept" in e.message, f"who waits for the others: {e}")
equal(s.wait(), 0, "status 0")
ok(time.monotonic() - t < 3, f"after {time.monotonic() - t:.1f} s")
ok(not s.manager.wait("READY=1|RELOADING=1", 0.2), "a reload on the way does not call the service ready again")
os.unlink(s.socket) if os.path.exists(s.socket) else None
s.restart()
c = s.client()
t = time.monotonic()
equal(c.prove(b).proof, null_proof(b), "the job that was kept completes after the restart")
equal(metric(c, "resumed_total"), 1, "resumed, not submitted anew")

# the second signal ends it at once
s.configure(engine="delay_ms = 20000")
s.stop()
s.restart()
c = s.client()
c.start_prove(request("winning-post", "long", b"long"))
time.sleep(0.3)
s.proc.terminate()
time.sleep(0.3)
ok(s.proc.poll() is None, "a long partition is waited for")
t = time.monotonic()
s.proc.terminate()
equal(s.wait(10), 0, "the second SIGTERM ends it at once")
ok(time.monotonic() - t < 3, f"after {time.monotonic() - t:.1f} s")

# without a service manager
plain = Service()
open(plain.socket, "w").close()
p = subprocess.run([BUILD + "/cuzkd", "-c", plain.config], capture_output=True, text=True, timeout=20)
equal((p.returncode, os.path.isfile(plain.socket)), (75, True), "a file where the socket should be is left alone")
os.unlink(plain.socket)
stale = socket.socket(socket.AF_UNIX)
stale.bind(plain.socket)
stale.close()
plain.start()
ok(True, "a socket that nobody serves any more is replaced")
equal(oct(os.stat(plain.socket).st_mode & 0o777), "0o660", "mode of the socket")
equal(plain.stop(), 0, "stop")
ok(not os.path.exists(plain.socket), "the socket is removed at the end")

# socket activation
listening = socket.socket(socket.AF_UNIX)
listening.bind(plain.socket)
listening.listen(16)


early = Client(plain.address)	# connects before the service exists
call = early.start_prove(request(payload=b"early"))
plain.proc = subprocess.Popen(["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$0" "$@"', BUILD + "/cuzkd", "-c", plain.config],
                              preexec_fn=lambda: os.dup2(listening.fileno(), 3), pass_fds=[3],
                              env=dict(os.environ, LISTEN_FDS="1", LISTEN_FDNAMES="cuzkd.socket"),
                              stdout=open(plain.log, "ab"), stderr=subprocess.STDOUT)
cuzk._children.append(plain.proc)
equal(result(parse(call.result())[1][0]).status, "COMPLETED", "socket activation: a client from before is served")
equal(plain.stop(), 0, "stop")
ok(os.path.exists(plain.socket), "a socket of the manager's is not removed")
done()
