#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzkctl top in a terminal: sizes, keys, signals, a service that is silent, gone and back."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *


class Terminal:
    """As much of a terminal as the view needs; it notes what a person would see flicker."""

    def __init__(self, rows, columns, argv, term="xterm"):
        self.rows, self.columns = rows, columns
        self.clear()
        self.scrolled = self.wrapped = 0
        self.cursor, self.unknown, self.raw = True, [], b""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            if term is None:
                os.environ.pop("TERM", None)
            else:
                os.environ["TERM"] = term
            os.execv(argv[0], argv)
        self.resize(rows, columns)

    def clear(self):
        self.lines = [""] * self.rows
        self.row = self.column = 0

    def resize(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.clear()
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def put(self, ch):
        if self.column == self.columns:
            self.wrapped += 1
            self.newline()
            self.column = 0
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[:self.column] + ch + line[self.column + 1:]
        self.column += 1

    def newline(self):
        if self.row + 1 == self.rows:
            self.scrolled += 1
            self.lines = self.lines[1:] + [""]
        else:
            self.row += 1

    def feed(self, data):
        self.raw += data
        pos, text = 0, data.decode(errors="replace")
        while pos < len(text):
            ch = text[pos]
            m = re.compile(r"\033\[(\??[0-9;]*)([A-Za-z])").match(text, pos)
            if m:
                pos = m.end()
                what = m.group(1) + m.group(2)
                if what == "H":
                    self.row = self.column = 0
                elif what == "K":
                    self.lines[self.row] = self.lines[self.row][:self.column]
                elif what == "J":
                    self.lines[self.row] = self.lines[self.row][:self.column]
                    self.lines[self.row + 1:] = [""] * (self.rows - self.row - 1)
                elif what in ("?25l", "?25h"):
                    self.cursor = what == "?25h"
                else:
                    self.unknown.append(what)
                continue
            pos += 1
            if ch == "\r":
                self.column = 0
            elif ch == "\n":
                self.newline()
            elif ch >= " ":
                self.put(ch)
            else:
                self.unknown.append(ch)

    def pump(self, seconds=0.0):
        """Takes what comes within the time; False: the end."""
        limit = time.monotonic() + seconds
        while True:
            left = limit - time.monotonic()
            if not select.select([self.fd], [], [], max(left, 0))[0]:
                return True
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                data = b""
            if not data:
                return False
            self.feed(data)

    def until(self, what, seconds=10):
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            alive = self.pump(0.05)
            if what():
                return True
            if not alive:
                break
        diag("\n".join(self.lines))
        return False

    def shows(self, words):
        return any(words in line for line in self.lines)

    def type(self, text):
        os.write(self.fd, text)

    def end(self, seconds=10):
        """The exit status; None: it did not end."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            self.pump(0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pump()
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return None

    def cooked(self):
        flags = termios.tcgetattr(self.fd)[3]
        return bool(flags & termios.ECHO) and bool(flags & termios.ICANON)


s = Service(engine="delay_ms = 5\n", instances="[cpu]\nengine = null\n[gpu broken]\nengine = none\ndevice = 0000:01:00.0\n")
with open(s.config, "a") as f:
    f.write(f"[engine none]\nlibrary = {s.dir}/none.so\n")
s.start()
s.wait_log("gpu broken: quarantined")
TOP = [BUILD + "/cuzkctl", "top", "--address", s.address]


def top(*more, rows=30, columns=120, term="xterm"):
    return Terminal(rows, columns, TOP + list(more), term)


# sizes: the view is as large as the terminal, at once when that changes
t = top("--interval", "1h")
ok(t.until(lambda: t.shows("q: quit")), "a view")
ok(t.lines[0].startswith("cuzk at unix:") and t.shows("winning-post"), "with its head and its queues")
ok(t.shows("gpu broken       quarantined") and t.shows("none.so"), "and an instance that is down, and why")
ok(not t.cooked() and not t.cursor, "keys are taken, the cursor is hidden")
for rows, columns in ((12, 40), (40, 200), (3, 10), (1, 1), (2, 80), (24, 80)):
    t.resize(rows, columns)
    seen = t.until(lambda: t.lines[-1 if rows < 20 else 0] != "")
    t.pump(0.2)
    ok(seen and not t.scrolled and not t.wrapped and max(len(line) for line in t.lines) <= columns,
       f"{columns} by {rows}: {t.lines[0][:40]!r} to {t.lines[-1]!r}, scrolled {t.scrolled}, wrapped {t.wrapped}")
equal(t.unknown, [], "nothing but what any terminal understands")
t.type(b"x")
time.sleep(0.2)
t.type(b"q")
equal((t.end(), t.cooked(), t.cursor), (0, True, True), "q ends it, and the terminal is as it was")

# signals
for sig, what in ((signal.SIGINT, "^C"), (signal.SIGTERM, "SIGTERM"), (signal.SIGHUP, "SIGHUP"), (signal.SIGQUIT, "SIGQUIT")):
    t = top()
    t.until(lambda: t.shows("q: quit"))
    if sig == signal.SIGINT:
        t.type(b"\x03")
    else:
        os.kill(t.pid, sig)
    equal((t.end(), t.cooked(), t.cursor), (0, True, True), f"{what} ends it, and the terminal is as it was")
t = top()
t.until(lambda: t.shows("q: quit"))
os.kill(t.pid, signal.SIGTSTP)
_, status = os.waitpid(t.pid, os.WUNTRACED)
ok(os.WIFSTOPPED(status) and t.cooked(), "^Z stops it and gives the terminal back")
os.kill(t.pid, signal.SIGCONT)
ok(t.until(lambda: not t.cooked()), "and it takes keys again when it goes on")

# a service that is silent
s.proc.send_signal(signal.SIGSTOP)
time.sleep(1.5)
begin = time.monotonic()
t.type(b"q")
equal(t.end(5), 0, "q ends it while the service is silent")
ok(time.monotonic() - begin < 2, f"after {time.monotonic() - begin:.1f} s")
s.proc.send_signal(signal.SIGCONT)

# speed: by the time that has passed, whatever is typed; and a service that was restarted begins anew
t = top("--interval", "200ms")
t.until(lambda: t.shows("q: quit"))
c = s.client()
rates, made, begin = [], 0, time.monotonic()
while time.monotonic() - begin < 3:
    made += 1
    c.prove(request(payload=b"%d" % made))
    if made % 20 == 0:
        t.type(b" ")
    t.pump()
    rates += [float(line.split()[2]) for line in t.lines if line.startswith("cpu ")]
real = made / (time.monotonic() - begin)
ok(0 < max(rates) < 4 * real and min(rates) >= 0, f"up to {max(rates)} proofs a second are shown, where {real:.0f} are made")
s.kill()
ok(t.until(lambda: t.shows("no answer, trying again")) and t.shows("INSTANCE"), "a service that is gone is asked again, and the last view stays")
s.start()
ok(t.until(lambda: not t.shows("no answer") and t.shows("up ")), "and its views go on when it is back")
t.pump(0.5)
ok(not any("-" in line.split()[2] for line in t.lines if line.startswith("cpu ")), "with no negative speed")
t.type(b"q")
equal(t.end(), 0, "q")

# other terminals
for term in ("dumb", None, ""):
    t = top(term=term)
    status = t.end()
    ok(status == 0 and b"\033" not in t.raw and b"INSTANCE" in t.raw and t.raw.count(b"INSTANCE") == 1, f"TERM={term}: once and plain")
t = Terminal(24, 80, [BUILD + "/cuzkctl", "top", "--address", "unix:/nowhere"])
equal((t.end(), t.cooked(), t.cursor), (1, True, True), "no service at all: an error, and the terminal is as it was")
ok(t.shows("cuzkctl top: unix:/nowhere: unavailable"), "which is said")
for command in ("top", "metrics"):
    t = Terminal(24, 80, [BUILD + "/cuzkctl", command, "--address", s.address, "--json"])
    ok(t.end() == 2 and t.shows("--json"), f"{command} --json is refused")
equal(s.stop(), 0, "stop")
done()
