#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The Debian packages under a real systemd: install, prove, upgrade while a job runs, remove, purge.

Building them takes minutes: it happens where CUZK_TEST_REQUIRE names `package`.  CUZK_DEBS=FOLDER
tests packages that are there already."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

DATA = "t/data/winning-2k/"
REQUEST = "t/data/requests/winning-2k.json"
NEWER = "99.0"


def run(*argv, timeout=300, **more):
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout, **more)


def must(*argv):
    p = run(*argv)
    if p.returncode:
        diag(p.stdout)
        raise RuntimeError(f"{' '.join(argv)}: status {p.returncode}")
    return p.stdout


def raise_version(deb, folder):
    """The same package under a higher version, and depending on its sisters of that version."""
    tree = folder + "/tree"
    must("dpkg-deb", "-R", deb, tree)
    with open(tree + "/DEBIAN/control") as f:
        control = f.read()
    old = re.search(r"^Version: (.*)$", control, re.M)[1]
    control = control.replace(f"Version: {old}\n", f"Version: {NEWER}\n").replace(f"(= {old})", f"(= {NEWER})")
    with open(tree + "/DEBIAN/control", "w") as f:
        f.write(control)
    must("dpkg-deb", "--root-owner-group", "-b", tree, f"{folder}/{os.path.basename(deb).split('_')[0]}_{NEWER}.deb")
    shutil.rmtree(tree)


def change_conffile(deb, out):
    """The same package with another default configuration."""
    tree = out + ".tree"
    must("dpkg-deb", "-R", deb, tree)
    with open(tree + "/etc/cuzk/cuzk.conf", "a") as f:
        f.write("# a default of later\n")
    must("dpkg-deb", "--root-owner-group", "-b", tree, out)
    shutil.rmtree(tree)


def outside():
    if os.geteuid():
        skip_all("package", "installing packages needs root")
    for program in ("dpkg-buildpackage", "dh", "lintian", "nsenter", "dbus-daemon"):
        if not shutil.which(program):
            skip_all("package", f"there is no {program}")
    debs = os.environ.get("CUZK_DEBS")
    if not debs:
        if "package" not in os.environ.get("CUZK_TEST_REQUIRE", ""):
            skip_all("package", "building packages takes minutes; ask for it by CUZK_TEST_REQUIRE=package")
        p = run("make", "-C", BUILD, "deb", timeout=3600)
        if p.returncode:
            ok(False, "make deb, and lintian finds no error")
            diag(p.stdout[-4000:])
            done()
        # the numbers are those of the tests inside
        diag("make deb: lintian finds no error")
        debs = BUILD + "/deb"
    # /tmp and /run are the namespace's own
    stage = tempfile.mkdtemp(prefix="t8700-", dir="/var/cache")
    try:
        os.chmod(stage, 0o755)
        os.makedirs(stage + "/newer")
        for deb in glob.glob(debs + "/cuzk*.deb"):
            if "-dbgsym_" not in deb:
                shutil.copy(deb, stage)
        for deb in glob.glob(stage + "/*.deb"):
            raise_version(deb, stage + "/newer")
        os.mkdir(stage + "/newest")
        change_conffile(glob.glob(stage + "/newer/cuzk_*.deb")[0], stage + "/newest/cuzk.deb")
        for name in ("cuzk.py", "t8700-package.t", "systemd-run-ns"):
            shutil.copy(os.path.join(SRC, "t", name), stage)
        for name in (DATA + "groth-winning-2k.json", DATA + "winning-2k.inputs", REQUEST):
            shutil.copy(os.path.join(SRC, name), stage)
        # what the packages' own tests look at in the source
        for name in ("debian/tests", "t/data/requests", "t/data/winning-2k"):
            shutil.copytree(os.path.join(SRC, name), f"{stage}/source/{name}")
        p = subprocess.run(["bash", stage + "/systemd-run-ns", "-t", "120", "--", sys.executable,
                            stage + "/t8700-package.t", "inside", stage], cwd="/")
        if p.returncode in (124, 125):
            skip_all("package", "a namespace with a systemd of its own could not be made here")
        sys.exit(p.returncode)
    finally:
        shutil.rmtree(stage, True)


def show(prop, unit="cuzkd.service"):
    return run("systemctl", "show", "-P", prop, unit).stdout.strip()


def connect():
    """A client as soon as the socket takes one."""
    limit = time.monotonic() + 30
    while True:
        try:
            return Client("unix:/run/cuzk/cuzk.sock")
        except OSError:
            if time.monotonic() > limit:
                raise
            time.sleep(0.05)


def starts():
    """How often the service was started."""
    must("journalctl", "--sync")
    return must("journalctl", "--no-pager", "-o", "cat", "-u", "cuzkd").count(" starts with ")


def configure(text):
    with open("/etc/cuzk/conf.d/test.ini", "w") as f:
        f.write(text)
    check = run("runuser", "-u", "cuzk", "--", "cuzkd", "--check")
    if not ok(check.returncode == 0, "the configuration is valid"):
        diag(check.stdout)


def ours():
    """Every file and folder that is named after us."""
    found = set()
    for top in ("/etc", "/lib/systemd", "/usr", "/var", "/run"):
        for folder, folders, files in os.walk(top):
            folders[:] = [f for f in folders if not f.startswith(("t8700-", "cuzk-systemd-"))]  # tests that run beside
            found.update(os.path.join(folder, name) for name in folders + files if "cuzk" in name)
    return found


def inside(stage):
    try:
        os.remove("/usr/sbin/policy-rc.d")  # what keeps services down in a container
    except FileNotFoundError:
        pass
    must("systemctl", "start", "dbus")
    # what somebody installed by hand is not ours to judge
    for path in glob.glob("/usr/local/*bin/cuzk*") + glob.glob("/usr/*bin/cuzk*"):
        os.remove(path)
    run("dpkg", "-P", *[p.split()[0] for p in run("dpkg-query", "-W", "-f", "${Package} ${Version}\n", "cuzk*").stdout.splitlines()
                        if len(p.split()) == 2])
    before = ours()
    cuda = glob.glob(stage + "/cuzk-engine-groth16-cuda_*.deb")
    packages = sorted(set(glob.glob(stage + "/*.deb")) - set(cuda))

    # install
    p = run("dpkg", "-i", *packages)
    if not ok(p.returncode == 0, f"install {', '.join(os.path.basename(p) for p in packages)}"):
        diag(p.stdout)
    ok("cuzk" in must("getent", "passwd", "cuzk"), "the user is there")
    for unit in ("cuzkd.service", "cuzkd.socket"):
        equal((show("ActiveState", unit), show("UnitFileState", unit)), ("inactive", "disabled"), f"{unit} waits for a person")
    stat = os.stat("/run/cuzk")
    ok(stat.st_mode & 0o777 == 0o755 and stat.st_uid, "the folder of the socket is there, and is not root's")
    conffiles = must("dpkg-query", "-W", "-f", "${Conffiles}", "cuzk")
    ok("/etc/cuzk/cuzk.conf" in conffiles, "the configuration is a conffile")
    p = run("cuzkd", "--check")
    ok(p.returncode == 0, f"and is valid as it comes {p.stdout.strip()}")
    p = run("dpkg", "-V", "cuzk", "cuzk-engine-groth16", "cuzk-dev")
    equal(p.stdout, "", "dpkg finds every file as it was packed")
    for page in ("8 cuzkd", "1 cuzkctl", "1 cuzk-bench", "5 cuzk.conf", "3 cuzk_engine", "7 cuzk-foreign", "7 cuzk-groth16"):
        section, name = page.split()
        ok(os.path.exists(f"/usr/share/man/man{section}/{name}.{section}.gz"), f"{name}({section})")

    # the tests that come with the source package
    with open(stage + "/source/debian/tests/control") as f:
        tests = re.findall(r"^Tests: (.*)$", f.read(), re.M)
    ok(tests, f"tests of the source package: {' '.join(tests)}")
    for name in tests:
        tmp = tempfile.mkdtemp()
        p = run("debian/tests/" + name, cwd=stage + "/source", env=dict(os.environ, AUTOPKGTEST_TMP=tmp))
        if not ok(p.returncode == 0, f"debian/tests/{name}"):
            diag(p.stdout)
    library = os.path.dirname(glob.glob("/usr/lib/*/cuzk/groth16.so")[0])
    for engine in ("null", "groth16"):
        ok(run("cuzkctl", "modinfo", f"{library}/{engine}.so").returncode == 0, f"{engine}.so has its information after stripping")

    # the null engine
    configure("[engine null]\nlibrary = null\ndelay_ms = 2000\n[cpu]\nengine = null\n")
    p = run("systemctl", "enable", "--now", "cuzkd.socket", "cuzkd.service")
    if not ok(p.returncode == 0, "enable and start"):
        diag(run("journalctl", "--no-pager", "-n", "40").stdout)
    c = connect()
    m = request(payload=b"package")
    equal(c.prove(m).proof, null_proof(m), "a proof of the null engine")

    # upgrade while a job runs
    with open("/etc/cuzk/cuzk.conf", "a") as f:
        f.write("# the operator was here\n")
    m = request("porep", "porep-1000-7", b"upgrade", sector=7)
    job = c.submit(m)
    time.sleep(2.5)  # as long as the first partition takes, and some
    pid, started = show("MainPID"), starts()
    t = time.monotonic()
    p = run("dpkg", "-i", *glob.glob(stage + "/newer/cuzk_*.deb"), *glob.glob(stage + "/newer/cuzk-engine-groth16_*.deb"),
            *glob.glob(stage + "/newer/cuzk-dev_*.deb"), stdin=subprocess.DEVNULL)
    if not ok(p.returncode == 0, f"upgrade to {NEWER} in {time.monotonic() - t:.1f} s, without a question"):
        diag(p.stdout)
    equal(starts() - started, 1, "an upgrade of all packages restarts the service once")
    equal(must("dpkg-query", "-W", "-f", "${Version}", "cuzk"), NEWER, "is installed")
    ok(show("ActiveState") == "active" and show("MainPID") != pid, "another process of the service runs")
    equal(show("UnitFileState"), "enabled", "it is enabled as before")
    c = connect()
    equal(c.wait(job, wait=120).proof, null_proof(m, 10), "the job that ran goes on and completes")
    must("journalctl", "--sync")
    events = [json.loads(line) for line in
              run("journalctl", "--no-pager", "-o", "json", f"CUZK_JOB={job}", "CUZK_EVENT=partition-done").stdout.splitlines()]
    equal(sorted(int(e["CUZK_PARTITION"]) for e in events), list(range(10)), "each partition was proved once")
    by = [e["_PID"] for e in events]
    ok(len(set(by)) == 2 and by[0] == pid, f"by the old service and by the new one: {by}")
    with open("/etc/cuzk/cuzk.conf") as f:
        ok("the operator was here" in f.read(), "the operator's change is still there")

    # a configuration that both sides changed: whoever answers nothing keeps the service that runs
    pid = show("MainPID")
    p = run("dpkg", "-i", stage + "/newest/cuzk.deb", stdin=subprocess.DEVNULL)
    ok(p.returncode and "cuzk.conf" in p.stdout, "dpkg asks about a configuration that both sides changed")
    equal((show("ActiveState"), show("MainPID")), ("active", pid), "and the service goes on meanwhile")
    p = run("dpkg", "--force-confold", "--configure", "-a", stdin=subprocess.DEVNULL)
    if not ok(p.returncode == 0, "the answer completes the upgrade"):
        diag(p.stdout)
    ok(show("ActiveState") == "active" and show("MainPID") != pid, "and restarts the service")
    with open("/etc/cuzk/cuzk.conf") as f:
        ok("the operator was here" in f.read(), "with the operator's configuration")
    ok(os.path.exists("/etc/cuzk/cuzk.conf.dpkg-dist"), "beside which the new one lies")

    # an engine that is installed while the service runs is taken up
    pid = show("MainPID")
    must("dpkg", "-i", *glob.glob(stage + "/newer/cuzk-engine-groth16_*.deb"))
    ok(show("ActiveState") == "active" and show("MainPID") != pid, "an engine's installation restarts the service")
    for _ in range(6):
        must("/var/lib/dpkg/info/cuzk.postinst", "triggered", "cuzk-engines")
    equal(show("ActiveState"), "active", "however often it is done, more often than a service may fail to start")
    must("systemctl", "stop", "cuzkd.socket", "cuzkd.service")
    must("dpkg", "-i", *glob.glob(stage + "/newer/cuzk-engine-groth16_*.deb"))
    equal(show("ActiveState"), "inactive", "but does not start a stopped one")

    # the real engine
    with open(stage + "/groth-winning-2k.json") as f:
        golden = json.load(f)
    toxic = ",".join(str(golden[k]) for k in ("alpha", "beta", "gamma", "delta", "tau"))
    os.mkdir("/srv/params")
    p = subprocess.run(["cuzkctl", "params", "make", "winning-2k", "--toxic", toxic, "--out", "/srv/params"],
                       capture_output=True, text=True, timeout=600)
    ok(p.returncode == 0, f"development parameters {p.stderr.strip()}")
    made = json.loads(p.stdout)
    equal(made["params_sha256"], golden["params_sha256"], "equal the golden ones")
    run("chmod", "-R", "a+rX", "/srv/params")
    configure("[global]\nparams_dir = /srv/params\n")
    p = run("systemctl", "start", "cuzkd.socket", "cuzkd.service", timeout=600)
    if not ok(p.returncode == 0, "start with the real engine"):
        diag(run("journalctl", "--no-pager", "-n", "40", "-u", "cuzkd").stdout)
    p = run("cuzkctl", "prove", "--request", stage + "/winning-2k.json", "--out", "/tmp/proof", timeout=600)
    ok(p.returncode == 0, f"a WinningPoSt through the service: {' '.join(p.stdout.split())[:200]}")
    p = run("cuzkctl", "verify", "--vk", made["vk_file"], "--proof", "/tmp/proof", "--inputs", stage + "/winning-2k.inputs")
    ok(p.returncode == 0, f"verifies: {' '.join(p.stdout.split())[:100]}")
    ok(glob.glob("/var/cache/cuzk/*"), "the cache is in use")

    # an engine that goes and comes back
    must("dpkg", "-r", "cuzk-engine-groth16")
    ok(show("ActiveState") != "active", f"without its engine the service is {show('ActiveState')}")
    must("dpkg", "-i", *glob.glob(stage + "/newer/cuzk-engine-groth16_*.deb"))
    equal(show("ActiveState"), "active", "and is back with it")

    # the engine with kernels replaces the one without, while the service runs
    if cuda:
        pid = show("MainPID")
        p = run("dpkg", "-i", *glob.glob(stage + "/newer/cuzk-engine-groth16-cuda_*.deb"))
        if not ok(p.returncode == 0, "the engine for GPUs replaces the one for processors"):
            diag(p.stdout)
        ok(run("dpkg-query", "-W", "-f", "${db:Status-Status}", "cuzk-engine-groth16").stdout.strip() != "installed",
           "which is gone")
        ok(show("ActiveState") == "active" and show("MainPID") != pid, "the service restarts with it")
        equal((show("PrivateDevices"), show("MemoryDenyWriteExecute")), ("no", "no"), "under its drop-in")
        p = run("cuzkctl", "prove", "--request", stage + "/winning-2k.json", "--out", "/tmp/proof", timeout=600)
        ok(p.returncode == 0, "and proves on the processors as before")
        must("dpkg", "-P", "cuzk-engine-groth16-cuda")
        equal(show("PrivateDevices"), "yes", "the drop-in goes with it")

    # remove
    must("dpkg", "-r", *[p for p in ("cuzk-dev", "cuzk-engine-groth16", "cuzk")
                         if run("dpkg-query", "-W", "-f", "${db:Status-Status}", p).stdout.strip() == "installed"])
    equal(run("pgrep", "-u", "cuzk").stdout, "", "remove: no process is left")
    for path, there in {"/usr/sbin/cuzkd": False, "/lib/systemd/system/cuzkd.service": False, "/run/cuzk": False,
                        "/etc/cuzk/cuzk.conf": True, "/var/lib/cuzk/journal": True}.items():
        equal(os.path.exists(path), there, f"remove: {path} {'stays' if there else 'is gone'}")

    # purge
    must("dpkg", "-P", "cuzk")
    left = ours() - before
    equal(sorted(left), ["/etc/cuzk"], "purge: nothing is left but the folder of the operator's own file")
    equal(os.listdir("/etc/cuzk/conf.d"), ["test.ini"], "which is there")
    ok(os.path.exists("/srv/params"), "so are the parameters")
    ok("cuzk" in must("getent", "passwd", "cuzk"), "and the user, so that nobody gets its number")
    done()


if len(sys.argv) > 2 and sys.argv[1] == "inside":
    inside(sys.argv[2])
else:
    outside()
