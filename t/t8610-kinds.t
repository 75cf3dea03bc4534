#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Tests fault class "bad input found late".
"""Every kind of proof at 2 KiB: golden parameters, golden proof bytes, and the same requests
through the service, with what is wrong in them refused at admission with its place named."""
import base64
import copy
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

ENGINE = BUILD + "/.libs/groth16.so"
DATA = SRC + "/t/data/"
TOXIC = "48577,22580,53332,5481,3673"
KINDS = ["winning", "window", "update", "porep"]
NUMBERS = {"POREP_SEAL_COMMIT": 1, "SNAP_DEALS_UPDATE": 2, "WINDOW_POST_PARTITION": 3, "WINNING_POST": 4}
if not os.path.exists(ENGINE):
    skip_all("groth16", "the engine is not built")
if shutil.disk_usage(os.environ.get("TMPDIR", "/tmp")).free < 4 << 30:
    skip_all("disk", "less than 4 GiB are free for parameters")


def ctl(*argv):
    return subprocess.run([BUILD + "/cuzkctl", *argv, "--engine", ENGINE], capture_output=True, text=True,
                          timeout=1800)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def load(path):
    return json.loads(read(path))


def encode(r):
    """protobuf's JSON mapping to bytes"""
    kind = r["proofKind"]
    out = field(1, r.get("requestId", "")) + field(2, NUMBERS.get(kind, kind))
    for name, n in {"sectorSize": 3, "registeredProof": 4, "sectorNumber": 20, "minerId": 21}.items():
        out += field(n, int(r.get(name, 0)))
    for name, n in {"vanillaProof": 10, "randomness": 22, "commROld": 30, "commRNew": 31, "commDNew": 32}.items():
        if name in r:
            out += field(n, base64.b64decode(r[name]))
    for p in r.get("vanillaProofs", []):
        out += field(11, base64.b64decode(p))
    return out


s = Service()
params, cache = s.dir + "/params", s.dir + "/cache"
os.mkdir(params)

# ---- parameters and proofs equal the reference's to the byte ----
vk = {}
for kind in KINDS:
    name = kind + "-2k"
    p = ctl("params", "make", name, "--toxic", TOXIC, "--out", params)
    if not ok(p.returncode == 0, f"{name}: parameters {p.stderr.strip()}"):
        done()
    made = json.loads(p.stdout)
    vk[kind] = made["vk_file"]
    for golden in (f"groth-{name}.json", f"exp-{name}.json"):
        path = f"{DATA}{name}/{golden}"
        if os.path.exists(path):
            want = {k: v for k, v in load(path).items() if k in made}
            equal({k: made[k] for k in want}, want, f"{name}: {', '.join(want)} of {golden}")
    equal(hashlib.sha256(read(made["params_file"])[:made["vk_size"]]).hexdigest(), made["vk_sha256"],
          f"{name}: the parameters begin with the verifying key")
    equal(read(vk[kind]), read(f"{DATA}{name}/{name}.vk"), f"{name}: the golden verifying key")
    out = s.dir + "/proof"
    p = ctl("prove", "--offline", "--request", f"{DATA}requests/{name}.json", "--params", params,
            "--cache", cache, "--rs", "27134,17146", "--out", out)
    if ok(p.returncode == 0, f"{name}: a proof {p.stderr.strip()}"):
        report = json.loads(p.stdout)
        diag({k: v for k, v in report["seconds"].items() if v >= 0.01})
        diag(f"{report['host_bytes_reserved'] >> 20} MiB beyond the parameters")
        ok(report["host_bytes_reserved"] < 3 << 30, f"{name}: less than 3 GiB beyond the parameters")
        equal(read(out), read(f"{DATA}{name}/{name}.proof"), f"{name}: the golden bytes")
        equal(read(out).hex(), load(f"{DATA}{name}/exp-{name}.json")["proof"], f"{name}: as computed in the exponent")

# ---- the service ----
with open(s.config, "w") as f:
    f.write(f"[global]\nlisten = {s.socket}\nstate_dir = {s.dir}/state\nruntime_dir = {s.dir}\n"
            f"params_dir = {params}\ninstance_program = {BUILD}/cuzk-instance\n"
            f"[engine groth16]\nlibrary = {ENGINE}\ncache_dir = {cache}\n[cpu]\nengine = groth16\n")
s.start(timeout=300)
c = Client(s.address)
for kind in KINDS:
    name = kind + "-2k"
    r = c.prove(encode(load(f"{DATA}requests/{name}.json")), wait=600)
    if not ok(r.status == "COMPLETED" and len(r.proof) == 192, f"{name} through the service, {r.total_ms} ms {r.error}"):
        continue
    with open(out, "wb") as f:
        f.write(r.proof)
    p = ctl("verify", "--vk", f"{DATA}{name}/{name}.vk", "--proof", out, "--inputs", f"{DATA}{name}/{name}.inputs")
    ok(p.returncode == 0 and json.loads(p.stdout)["valid"], f"{name}: it verifies with the golden key and inputs")
ok("is disabled" not in s.text(), "no kind is disabled")


def sample(kind, registered, sectors=0, seed=1):
    p = subprocess.run([BUILD + "/t/make-sample", str(kind), str(registered), str(sectors), str(seed)],
                       capture_output=True, text=True, timeout=600)
    return json.loads(p.stdout)


def prove(r, what, size=192):
    r = c.prove(encode(r), wait=1800)
    equal((r.status, len(r.proof)), ("COMPLETED", size), f"{what}, {r.total_ms} ms {r.error}")


# fewer sectors than the partition holds: the last one is repeated, as the reference does
prove(sample(3, 5, 1), "WindowPoSt of one sector in a partition for two")
window = load(DATA + "requests/window-2k.json")
proofs = window["vanillaProofs"]
prove(dict(window, vanillaProofs=proofs[:1]), "the golden WindowPoSt's first sector alone")
# what does not matter is proved and verified: the order, since version 1.2 counts no challenges on,
# and the miner, whom only the randomness knows
prove(dict(window, vanillaProofs=proofs[::-1]), "WindowPoSt of the golden sectors, exchanged")
prove(dict(window, minerId="1"), "WindowPoSt of another miner")
prove(sample(1, 10), "PoRep, synthetic challenges")
if "long" in os.environ.get("CUZK_TEST_REQUIRE", ""):
    prove(sample(1, 0), "PoRep, version 1")
    prove(sample(1, 15), "PoRep, non-interactive: a proof for each of its 13 partitions", 13 * 192)

# ---- what is wrong is refused at admission ----
rng = random.Random(20)


def refused(r, where):
    """One request: None when it is refused as input with its place; else what came."""
    try:
        r = c.prove(encode(r), wait=600)
    except RpcError as e:
        return None if e.code == "INVALID_ARGUMENT" and where in e.message else str(e)
    if r.status == "FAILED" and r.error.startswith("input:") and re.search(where, r.error) and r.total_ms < 60000:
        return None
    return f"{r.status} {r.error}"


def all_refused(what, cases):
    bad = []
    for case, r, where in cases:
        answer = refused(r, where)
        if answer:
            bad.append(f"{case}: {answer}")
    for line in bad[:10]:
        diag(line)
    ok(cases and not bad, f"{what}: {len(cases) - len(bad)} of {len(cases)} are refused with their place")


def c1_request(text):
    r = dict(porep)
    e = dict(envelope, Phase1Out=base64.b64encode(text.encode()).decode())
    r["vanillaProof"] = base64.b64encode(json.dumps(e, separators=(",", ":")).encode()).decode()
    return r


def leaves(node, path=()):
    """Every path to a value, containers too."""
    yield path
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield from leaves(value, path + (key,))


def parent(root, path):
    for key in path[:-1]:
        root = root[key]
    return root


def changes(value):
    """What may become of a field."""
    if isinstance(value, bool) or value is None:
        return [0, "x", {}]
    if isinstance(value, int):
        return [value ^ 1, -1, 256 if value < 256 else value + 256, 1 << 64, 1 << 200, 0.5, None, "1", []]
    if isinstance(value, str):
        return [value + "x", "", 7, None, []]
    if isinstance(value, list):
        return [[], value[:-1], value + value[:1], list(reversed(value)) if len(value) > 1 else None, {}, None]
    return [{}, [], None, 3]


porep = load(DATA + "requests/porep-2k.json")
envelope = json.loads(base64.b64decode(porep["vanillaProof"]))
c1 = json.loads(base64.b64decode(envelope["Phase1Out"]))
groups = {}
for path in leaves(c1):
    if path and path[-1] != "_h":
        groups.setdefault(tuple("*" if isinstance(k, int) else k for k in path), []).append(path)
cases = []
for group, paths in groups.items():
    for path in rng.sample(paths, min(2, len(paths))):
        old = parent(c1, path)[path[-1]]
        for new in changes(old):
            if new == old:
                continue
            text = copy.deepcopy(c1)
            parent(text, path)[path[-1]] = new
            cases.append((f"{path} = {str(new)[:40]}", c1_request(json.dumps(text, separators=(",", ":"))), "vanilla_proof"))
        if isinstance(path[-1], str):
            text = copy.deepcopy(c1)
            del parent(text, path)[path[-1]]
            cases.append((f"without {path}", c1_request(json.dumps(text)), "vanilla_proof"))
all_refused(f"C1, every one of {len(groups)} fields", cases)

plain = json.dumps(c1, separators=(",", ":"))
swap = copy.deepcopy(c1)
for proofs in swap["vanilla_proofs"].values():
    proofs[0][0], proofs[0][1] = proofs[0][1], proofs[0][0]
all_refused("C1, its text", [
    ("cut", c1_request(plain[:-1]), "vanilla_proof"),
    ("cut in the middle", c1_request(plain[:len(plain) // 2]), "vanilla_proof"),
    ("nothing", c1_request(""), "vanilla_proof"),
    ("more behind the end", c1_request(plain + "{}"), "vanilla_proof"),
    ("a key twice", c1_request(plain[:-1] + ',"comm_r":' + json.dumps(c1["comm_r"]) + "}"), "comm_r"),
    ("deep", c1_request("[" * 1000000), "vanilla_proof"),
    ("deep in an unknown member", c1_request('{"x":' + '{"x":' * 500000), "vanilla_proof"),
    ("endless number", c1_request(plain.replace('"comm_r":[', '"comm_r":[' + "9" * 1000000, 1)), "comm_r"),
    ("NUL", c1_request(plain.replace('"comm_r"', '"comm\0r"', 1)), "vanilla_proof"),
    ("challenges exchanged", c1_request(json.dumps(swap)), "vanilla_proof"),
])
wrong = []
for name in KINDS:
    r = load(f"{DATA}requests/{name}-2k.json")
    other = str(8 if name == "porep" else 3)
    wrong.append((f"{name}: another registered proof", dict(r, registeredProof=other), "registered_proof|sector_size"))
    wrong.append((f"{name}: no such registered proof", dict(r, registeredProof=str(1 << 60)), "registered_proof"))
    wrong.append((f"{name}: another sector size", dict(r, sectorSize="4096"), "sector_size"))
    wrong.append((f"{name}: another kind", dict(r, proofKind=NUMBERS["WINNING_POST"] if name == "porep" else 1), "."))
    if name == "porep":
        wrong.append(("porep: another miner", dict(r, minerId="1"), "replica_id"))
        wrong.append(("porep: another sector", dict(r, sectorNumber="2"), "SectorNum"))
all_refused("requests", wrong)

for kind in ("winning", "window", "update"):
    r = load(f"{DATA}requests/{kind}-2k.json")
    cases = []
    for i, proof in enumerate(r["vanillaProofs"]):
        blob = base64.b64decode(proof)
        for at in rng.sample(range(len(blob)), 60):
            data = bytearray(blob)
            data[at] ^= 1 << rng.randrange(8)
            cases.append((i, at, data))
        for data in (blob[:-1], blob + b"\0", blob[:len(blob) // 2], b"", b"{}", blob[:8] + b"\xff" * 8 + blob[16:]):
            cases.append((i, "length", data))
    named = []
    for i, at, data in cases:
        proofs = list(r["vanillaProofs"])
        proofs[i] = base64.b64encode(data).decode()
        named.append((f"proof {i}, byte {at}", dict(r, vanillaProofs=proofs), rf"vanilla_proofs\[{i}\]"))
    all_refused(f"{kind}: vanilla proofs", named)

r = c.prove(encode(load(DATA + "requests/winning-2k.json")))
equal(r.status, "COMPLETED", "the service still proves")
equal(s.stop(), 0, "stop")
done()
