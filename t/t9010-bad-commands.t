#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every command without a service, wrongly used: one line that says what, status 2 or 1, no output file."""
import base64
import json
import os
import random
import re
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

DATA = SRC + "/t/data"
REQUEST = DATA + "/requests/winning-2k.json"
WINNING = DATA + "/winning-2k/winning-2k"
SNARK = DATA + "/snarkjs/tiny"
CIRCOM = ("--r1cs", SNARK + ".r1cs", "--wtns", SNARK + ".wtns", "--zkey", SNARK + ".zkey")
TOXIC = "48577,22580,53332,5481,3673"
tmp = tempfile.TemporaryDirectory(prefix="t9010-", dir=BUILD)


def ctl(command, *argv, **kwargs):
    kwargs.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([BUILD + "/cuzkctl", command, "--engine", BUILD + "/.libs/groth16.so", *argv],
                          stderr=subprocess.PIPE, timeout=120, **kwargs)


def refused(status, *argv, says="", **kwargs):
    p = ctl(*argv, **kwargs)
    err = p.stderr.decode()
    return p.returncode == status and len(err.splitlines()) == 1 and says in err, \
        f"{' '.join(argv)}: {p.returncode} {err}"


def fails(name, status, *cases, **kwargs):
    """One test for a list of commands; what is not refused as it should be is shown."""
    bad = [text for good, text in (refused(status, *c, **kwargs) for c in cases) if not good]
    if not ok(not bad, name):
        for text in bad:
            diag(text)


def file(name, data):
    path = os.path.join(tmp.name, name)
    with open(path, "wb") as f:
        f.write(data)
    return path


def read(path):
    with open(path, "rb") as f:
        return f.read()


def verify(vk=WINNING + ".vk", proof=WINNING + ".proof", inputs=WINNING + ".inputs"):
    return "verify", "--vk", vk, "--proof", proof, "--inputs", inputs


out = os.path.join(tmp.name, "out")
folder = os.path.join(tmp.name, "folder")
os.mkdir(folder)

# ---- usage ----
fails("what is missing", 2, ["params", "make"], ["params", "make", "tiny-1"], ["params", "make", "--out", out],
      ["params", "make", "tiny-1", "--out"], ["circuit", "digest"], ["circuit"], ["witness"], ["check"], ["verify"],
      ["witness", "--request"], ["prove", "--offline"], ["prove", "--offline", "--request", REQUEST],
      ["prove", "--r1cs"], ["prove", "--zkey"], ["prove", "--r1cs", "a", "--out", "b"], ["verify", "--vk", "a"])
fails("what is too much", 2, ["circuit", "digest", "a", "b"], ["circuit", "list", "a"], ["check", REQUEST],
      ["params", "make", "tiny-1", "tiny-3", "--out", out], ["verify", "--big-endian=yes"], ["nonsense"])
fails("a second word that is missing or wrong", 2, ["params"], ["params", "list"], ["circuit"], ["circuit", "make"],
      says=": expected one of ")
fails("nothing to check", 1, ["params", "check", "--params", folder], says=folder)
fails("an option given twice", 2, ["check", "--request", REQUEST, "--request", REQUEST],
      ["params", "make", "tiny-1", "--out", out, "--out=" + out], ["prove", "--offline", "--offline"],
      ["check", "--threads", "1", "--threads", "1", "--request", REQUEST],
      ["status", "--json", "--json"], ["await", "--timeout", "1", "--timeout", "2", "x"], says=" is given twice")
for n in ("x", "-1", "", " 1", "1e3", "99999999999999999999"):
    fails(f"--threads and --partition '{n}'", 2, ["params", "make", "tiny-1", "--out", out, "--threads", n],
          ["prove", *CIRCOM, "--out", out, "--threads", n], ["witness", "--request", REQUEST, "--partition", n])

# ---- help ----
for command in ("await", "cancel", "check", "circuit", "evict", "metrics", "modinfo", "params", "preload", "prove",
                "status", "submit", "top", "verify", "witness"):
    p = ctl(command, "--help")
    text = p.stdout.decode()
    ok(p.returncode == 0 and not p.stderr and text.startswith(f"Usage: cuzkctl {command}"), f"{command} --help")
    # an option that the help names is one: a second time it is one too many, or it comes before what is missing
    ok(not re.search(r" $", text, re.M), "without a blank at the end of a line")
    for line in re.findall(r"^(?:Usage:|      ) cuzkctl (.*(?:\n {8,}\S.*)*)", text, re.M):
        words = [command] + ([line.split()[1]] if command in ("params", "circuit") else [])
        mode = [f for f in ("--offline", "--wtns") if f in line]
        mode = ["--zkey", "x"] if mode == ["--wtns"] else mode
        for option in set(re.findall(r"--[a-z0-9-]+", line)) - set(mode):
            p = ctl(*words, *mode, option, option, option)
            ok(p.returncode == 2 and b"unknown option" not in p.stderr, f"{line.split(' ')[0]} {option} {p.stderr}")
for command in ("circuit", "params"):
    said = set(re.search(r"expected one of (.*)", ctl(command).stderr.decode())[1].split())
    shown = set(re.findall(rf"cuzkctl {command} ([a-z]+)", ctl(command, "--help").stdout.decode()))
    equal(shown, said, f"{command}: the help has every second word")
fails("an option that there is not", 2, ["status", "--halp"], ["verify", "--halp"], says="unknown option")

# ---- files that are none of what they should be ----
for path in (file("empty", b""), file("text", b"hello\n"), file("noise", random.Random(1).randbytes(5000)), folder,
             tmp.name + "/none", "/dev/null", "/dev/zero", ""):
    fails(f"'{os.path.basename(path)}' as any input", 1, ["check", "--request", path], ["witness", "--request", path],
          ["prove", "--offline", "--request", path, "--params", folder, "--out", out],
          ["prove", "--wtns", SNARK + ".wtns", "--zkey", path, "--out", out],
          ["prove", "--r1cs", path, *CIRCOM[2:], "--out", out],
          ["prove", *CIRCOM[:2], "--wtns", path, *CIRCOM[4:], "--out", out],
          ["params", "convert", "--zkey", path, "--out", out + ".vk"],
          verify(vk=path), verify(proof=path), verify(inputs=path), says=path)

# ---- outputs that cannot be written: known before the work, and nothing is replaced ----
device = os.stat("/dev/full").st_rdev
fails("proofs to a folder, to no folder, to standard output, to a full device", 1,
      *(["prove", *CIRCOM, "--out", to] for to in (folder, tmp.name + "/none/out", "-", "/dev/full")),
      ["prove", *CIRCOM, "--out", out, "--public", folder], ["params", "make", "tiny-1", "--out", REQUEST])
st = os.stat("/dev/full")
ok(stat.S_ISCHR(st.st_mode) and st.st_rdev == device, "the device is still one")
p = ctl("prove", *CIRCOM, "--out", "/dev/stderr")
ok(p.returncode == 0 and json.loads(p.stderr)["curve"] == "bls12381", "a pipe is written to")
with open("/dev/full", "w") as full:
    fails("standard output that is full", 1, ["circuit", "list"], ["circuit", "digest", "tiny-1"],
          ["check", "--request", REQUEST], verify(), ["params", "make", "tiny-1", "--out", folder],
          says="stdout: No space left on device", stdout=full)
equal(sorted(f for f in os.listdir(tmp.name) if f.startswith("out")), [], "no output is left of those that failed")

# ---- numbers ----
r = "52435875175126190479447740508185965837690552500527637822603658699938581184513"
fails("--rs", 1, *(["prove", *CIRCOM, "--out", out, "--rs", rs] for rs in
                   ("", "1", "1,", ",1", "1,2,3", "x,y", "-1,2", "1," + r, r + ",1", "9" * 90 + ",1", "0x1,2")), says="--rs")
fails("--toxic", 1, *(["params", "make", "tiny-1", "--out", folder, "--toxic", t] for t in
                      ("", "1", "1,2,3,4", "1,2,3,4,5,6", "a,b,c,d,e", "1,2,3,4,-5", "1,2,3,4," + r, "0,2,3,4,5",
                       "1,0,3,4,5", "1,2,0,4,5", "1,2,3,0,5", "1,2,3,4,0", "1,2,3,4,1")), says="toxic waste")

# ---- proofs, inputs and keys that are not quite right ----
proof, inputs, vk = read(WINNING + ".proof"), read(WINNING + ".inputs"), read(WINNING + ".vk")


def changed(data, at, bit=1):
    return data[:at] + bytes([data[at] ^ bit]) + data[at + 1:]


fails("a proof of another length", 1, *(verify(proof=file(f"p{n}", (proof * 2)[:n])) for n in (1, 191, 193, 384)))
fails("a changed byte in a proof", 1, *(verify(proof=file(f"p{i}", changed(proof, i))) for i in (0, 47, 48, 100, 144, 191)),
      says=tmp.name)
fails("inputs of another length", 1, *(verify(inputs=file(f"i{n}", (inputs * 2)[:n])) for n in (1, 31, 33, 4192, 4256)))
fails("a changed byte in the inputs", 1, *(verify(inputs=file(f"i{i}", changed(inputs, i))) for i in (0, 31, 3203)))
fails("a changed byte in a key", 1, *(verify(vk=file(f"v{i}", changed(vk, i, 16))) for i in
                                     (0, 95, 96, 191, 192, 384, 576, 767, 863, 864, 867, 868, len(vk) - 1)))
fails("a key cut off", 1, *(verify(vk=file(f"v{n}", (vk + b"x")[:n])) for n in (95, 96, 863, 864, 867, 868, len(vk) - 1, len(vk) + 1)))
for first in (b"[", b"\0[", b"\n[", b"{"):
    p = ctl(*verify(inputs=file("json", first.ljust(32, b"\0") + inputs[32:])))
    ok(p.returncode == 1 and json.loads(p.stdout)["valid"] is False, f"binary inputs that begin with {first} are no JSON")

# ---- requests ----
request = json.load(open(REQUEST))
vanilla = base64.b64decode(request["vanillaProofs"][0])
counter = iter(range(10000))


def check(**members):
    j = {k: v for k, v in dict(request, **members).items() if v != "drop"}
    return "check", "--request", file(f"r{next(counter)}", json.dumps(j).encode())


def with_vanilla(data):
    return check(vanillaProofs=[base64.b64encode(data).decode()])


fails("members of another type or out of range", 1,
      *(check(proofKind=v) for v in (None, 5, -1, "X", [], True, 1 << 60)), *(check(sectorSize=v) for v in ("x", -1, 1.5, 1 << 60)),
      *(check(registeredProof=v) for v in (1 << 60, "18446744073709551616", {})), *(check(minerId=v) for v in ("x", [], -1)),
      *(check(vanillaProofs=v) for v in ("AA==", [], [1], ["AA=="], [None], ["!!"], "drop", request["vanillaProofs"] * 2, ["AA=="] * 70000)),
      *(check(randomness=v) for v in ("AA==", "drop", 5)), check(partitionIndex=1 << 32), check(surplus=1))
fails("texts that are no request", 1, *(("check", "--request", file(f"t{next(counter)}", t.encode())) for t in (
    "null", "[]", '"x"', "{", "{}", '{"a":', "\ufeff{}", '{"proofKind":1,"proofKind":1}', "[" * 1000, '{"requestId":"\\u0000"}')))
fails("a vanilla proof cut off, or with counts of 2^60", 1, *(with_vanilla(vanilla[:n]) for n in (0, 1, 8, 40, 72, len(vanilla) // 2, len(vanilla) - 1)),
      with_vanilla(vanilla + b"\0"), *(with_vanilla(vanilla[:i] + (1 << 60).to_bytes(8, "little") + vanilla[i + 8:]) for i in range(0, 200, 8)))
rng = random.Random(7)
fails("a flipped bit anywhere in a vanilla proof", 1, *(with_vanilla(changed(vanilla, rng.randrange(len(vanilla)), 1 << rng.randrange(8))) for _ in range(40)))
done()
