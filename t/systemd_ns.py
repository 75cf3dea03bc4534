# SPDX-License-Identifier: MIT OR Apache-2.0
"""Helpers of tests under a systemd of their own: staging, the shipped units, systemctl."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from cuzk import *


def outside(script, extra=(), limit=120):
    """Stages what was built where the namespace sees it, and runs the script in there."""
    if os.geteuid():
        skip_all("systemd", "a system of its own needs root")
    for program in ("/lib/systemd/systemd", "/usr/bin/dbus-daemon", "/usr/bin/nsenter"):
        if not os.path.exists(program):
            skip_all("systemd", f"there is no {program}")
    # /tmp and /run are the namespace's own
    stage = tempfile.mkdtemp(prefix="cuzk-systemd-", dir="/var/cache")
    try:
        for name in ("cuzkd", "cuzk-instance", "cuzkctl", ".libs/null.so", ".libs/groth16.so"):
            if os.path.exists(os.path.join(BUILD, name)):
                shutil.copy(os.path.join(BUILD, name), stage)
        shutil.copy(os.path.join(BUILD, "systemd", "cuzkd.service"), stage)
        shutil.copy(os.path.join(SRC, "systemd", "cuzkd.service.d", "params.conf"), stage)
        for name in ("cuzkd.socket", "sysusers.conf", "tmpfiles.conf"):
            shutil.copy(os.path.join(SRC, "systemd", name), stage)
        for name in ("cuzk.py", "systemd_ns.py", "systemd-run-ns", os.path.basename(script)):
            shutil.copy(os.path.join(SRC, "t", name), stage)
        for name in extra:
            shutil.copy(name, stage)
        p = subprocess.run(["bash", stage + "/systemd-run-ns", "-t", str(limit), "--", sys.executable,
                            f"{stage}/{os.path.basename(script)}", "inside", stage], cwd="/")
        if p.returncode in (124, 125):
            skip_all("systemd", "a namespace with a systemd of its own could not be made here")
        sys.exit(p.returncode)
    finally:
        shutil.rmtree(stage, True)


def run(*argv, check=False, timeout=300):
    return subprocess.run(argv, capture_output=True, text=True, check=check, timeout=timeout)


def show(prop, unit="cuzkd.service"):
    return run("systemctl", "show", "-P", prop, unit).stdout.strip()


def until(what, timeout=20):
    limit = time.monotonic() + timeout
    while time.monotonic() < limit:
        if what():
            return True
        time.sleep(0.05)
    return False


def connect():
    """A client as soon as the socket takes one."""
    limit = time.monotonic() + 20
    while True:
        try:
            return Client("unix:/run/cuzk/cuzk.sock")
        except OSError:
            if time.monotonic() > limit:
                raise
            time.sleep(0.05)


def children():
    return run("pgrep", "-P", show("MainPID")).stdout.split()


def journal(*argv):
    run("journalctl", "--sync")
    return run("journalctl", "--no-pager", "-u", "cuzkd", "-o", "cat", *argv).stdout


def begin(verb, unit="cuzkd.service"):
    """Starts or restarts."""
    return run("systemctl", verb, unit)


def configure_unit(dropin):
    """What the unit has beside the shipped file."""
    os.makedirs("/etc/systemd/system/cuzkd.service.d", exist_ok=True)
    with open("/etc/systemd/system/cuzkd.service.d/test.conf", "w") as f:
        f.write("[Service]\n" + dropin)
    run("systemctl", "daemon-reload", check=True)


def install(stage, dropin=""):
    """The units as the package has them, started from the stage."""
    os.chmod(stage, 0o755)
    for src, dst in (("sysusers.conf", "/etc/sysusers.d"), ("tmpfiles.conf", "/etc/tmpfiles.d")):
        os.makedirs(dst, exist_ok=True)
        shutil.copy(f"{stage}/{src}", dst + "/cuzk.conf")
    run("systemd-sysusers", check=True)
    run("systemd-tmpfiles", "--create", check=True)
    with open(stage + "/cuzkd.service") as f:
        unit = re.sub(r"=\S*/cuzkd (.*)--config \S+", rf"={stage}/cuzkd \1--config /etc/cuzk/cuzk.conf", f.read())
    with open("/etc/systemd/system/cuzkd.service", "w") as f:
        f.write(unit)
    shutil.copy(stage + "/cuzkd.socket", "/etc/systemd/system")
    os.makedirs("/etc/cuzk", exist_ok=True)
    configure_unit(dropin)
