#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""cuzk-bench: each command on small input; what it prints and writes is parsed."""
import csv
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

BENCH = BUILD + "/cuzk-bench"
ENGINE = BUILD + "/.libs/groth16.so"
s = Service()
tmp = s.dir


def bench(*argv):
    return subprocess.run([BENCH, *argv], capture_output=True, text=True, timeout=300)


def ctl(*argv):
    return subprocess.run([BUILD + "/cuzkctl", *argv, "--engine", ENGINE], capture_output=True, text=True, timeout=300)


def good(p, name):
    if not ok(p.returncode == 0 and not p.stderr, name):
        diag(f"status {p.returncode}: {p.stderr.strip()}\n{p.stdout[-2000:]}")
    return p.stdout


def fails(name, status, *argv):
    p = bench(*argv)
    if not ok(p.returncode == status and len(p.stderr.strip().splitlines()) == 1, f"{name}: {p.stderr.strip()}"):
        diag(f"status {p.returncode}, stderr {p.stderr!r}")


def read_csv(path):
    with open(path) as f:
        return [r for r in csv.DictReader(f)]


def read_trace(path):
    with open(path) as f:
        return json.load(f)["traceEvents"]


def spans(events, name=None):
    return [e for e in events if e["ph"] == "X" and (name is None or e["name"] == name)]


def plot(name, *argv):
    out = f"{tmp}/{name}.svg"
    good(bench("plot", *argv, "--out", out), f"{name}: plot")
    root = xml.parse(out).getroot()
    ok(root.tag.endswith("svg") and float(root.get("width")) > 0, f"{name}: the picture is well-formed SVG")
    return xml.tostring(root, encoding="unicode")


# the files that are made
for kind, proofs in {"winning-2k": 1, "window-2k": 2, "porep-2k": 0, "update-2k": 1, "winning-32g": 1, "winning-64g": 1,
                     "update-32g": 16, "update-64g": 16}.items():
    out = f"{tmp}/{kind}.json"
    good(bench("vanilla", kind, "--seed", "3", "--out", out), f"vanilla {kind}")
    with open(out) as f:
        j = json.load(f)
    equal(len(j.get("vanillaProofs", [])), proofs, f"{kind}: its proofs")
    p = ctl("check", "--request", out)
    ok(p.returncode == 0 and json.loads(p.stdout)["circuit"] == kind, f"{kind}: passes admission {p.stderr.strip()}")
first = open(f"{tmp}/winning-2k.json", "rb").read()
good(bench("vanilla", "winning-2k", "--seed", "3", "--out", tmp + "/again"), "vanilla again")
equal(open(tmp + "/again", "rb").read(), first, "the same seed gives the same bytes")
good(bench("vanilla", "winning-2k", "--seed", "4", "--out", tmp + "/again"), "vanilla with another seed")
ok(open(tmp + "/again", "rb").read() != first, "gives others")

params = tmp + "/params"
good(bench("chain", "--products", "40", "--bits", "9", "--out", tmp + "/chain"), "chain")
p = ctl("params", "make", "--r1cs", tmp + "/chain.r1cs", "--out", params)
ok(p.returncode == 0, f"parameters of the chain {p.stderr.strip()}")
p = ctl("prove", "--r1cs", tmp + "/chain.r1cs", "--wtns", tmp + "/chain.wtns", "--params", params + "/chain.params",
        "--out", tmp + "/chain.json")
ok(p.returncode == 0 and json.loads(p.stdout)["constraints"] == 50, f"its proof verifies {p.stderr.strip()}")

# memory
text = good(bench("model", "--kind", "tiny-100"), "model")
peak = float(re.search(r"^  peak +([\d.]+) MiB", text, re.M).group(1))
ok(peak > 0, f"model: a peak of {peak} MiB")
p = ctl("params", "make", "winning-2k", "--out", params)
ok(p.returncode == 0, f"parameters of winning-2k {p.stderr.strip()}")
text = good(bench("pipeline", "--kind", "winning-2k", "--params", params, "-n", "2", "-p", "2", "--compare-dense",
                  "--monitor", tmp + "/m.csv", "--trace", tmp + "/t.json", "--interval", "5"), "pipeline")
rows = {m.group(1).strip(): float(m.group(2))
        for m in re.finditer(r"^(\S.{37}) +([\d.]+) +[\d.]+ +[\d.]+", text, re.M)}
for phase in ("start", "request", "classic: explicit matrices", "classic: after witness", "classic: after evaluation",
              "classic: after drop", "parameters", "constraint system", "proof 1: after witness",
              "proof 1: after evaluation", "proof 1: after proof, verified", "proof 1: after drop", "proof 2: after drop",
              "2 in parallel, verified: after drop"):
    ok(rows.get(phase, 0) > 0, f"pipeline: phase {phase}")
ok(rows["classic: after drop"] < rows["classic: after evaluation"] - 10, "dropped memory is not resident")
ok(abs(rows["proof 2: after drop"] - rows["proof 1: after drop"]) < 2, "a second proof leaves nothing behind")
ok(rows["proof 1: after evaluation"] - rows["proof 1: after witness"] < 16, "three vectors of the domain are held")
ok("peak while proving one after another" in text and "witness of proof" in text, "the peaks name who held them")
ratio = re.search(r"system, witness and rows: ([\d.]+) MiB here, ([\d.]+) the classic way", text)
ok(float(ratio.group(2)) > 2 * float(ratio.group(1)), "the classic way holds more than twice as much")
lines = read_csv(tmp + "/m.csv")
ok(len(lines) > 20 and all(int(r["resident"]) == int(r["anonymous"]) + int(r["file"]) and int(r["gpu"]) >= 0 for r in lines),
   "the monitor's lines add up")
times = [float(r["seconds"]) for r in lines]
equal(times, sorted(times), "in the order of time")
events = read_trace(tmp + "/t.json")
for stage in ("witness", "evaluate", "ntt", "msm_h", "msm_l", "msm_a", "msm_b1", "msm_b2"):
    equal(len(spans(events, stage)), 4, f"the trace has {stage} of each proof")
ok(all(e["dur"] >= 0 and e["ts"] >= 0 for e in spans(events)), "its times are none below zero")
device = sorted((e["ts"], e["ts"] + e["dur"]) for e in spans(events) if e["tid"] == 0)
ok(all(a[1] <= b[0] + 1 for a, b in zip(device, device[1:])), "stages on the device follow one another")
picture = plot("pipeline", tmp + "/m.csv", "--trace", tmp + "/t.json")
ok("msm_b2" in picture and "cuzk-bench" in picture and "proof 4" in picture, "the picture has stages, processes, proofs")
plot("memory alone", tmp + "/m.csv")

text = good(bench("synth", "--kind", "window-2k", "--rounds", "2"), "synth")
ok(re.search(r"^witness +[\d.]+ +[\d.]+% +[\d.]+ +\d+$", text, re.M) and "satisfied" in text, "synth: the witness' line")
ok(re.search(r"^evaluation of A and B +[\d.]+", text, re.M), "synth: the evaluation's line")
ok(re.search(r"^cycles: ", text, re.M), "synth: counters, or why there are none")

text = good(bench("synth", "--kind", "winning-2k", "--rounds", "2", "--witness-only"), "synth of the witness")
ok(re.search(r"^witness +[\d.]+", text, re.M) and "evaluation" not in text, "synth: no evaluation")

# arithmetic
build = subprocess.run([SRC + "/t/build-blst.sh"], capture_output=True, text=True)
blst = ("--blst", build.stdout.strip()) if build.returncode == 0 else ()
for name, options in {"blst": blst, "no blst": (), "portable": ("--portable", *blst)}.items():
    if name != "no blst" and not blst:
        skip("blst", build.stderr.strip())
        continue
    text = good(bench("kernels", "--log", "6", "--rounds", "2", *options), f"kernels, {name}")
    ok("WRONG" not in text, f"{name}: nothing is wrong")
    kernels = re.findall(r"^(\S.{23}) +([\d.]+) [num]s +[\d.]+% ", text, re.M)
    ok(len(kernels) == 42 or ("not checked" in text and name == "no blst"), f"{name}: {len(kernels)} kernels have figures")
    if blst and name != "no blst":
        ok(re.search(r"^msm g2, 2\^6 .*% +[\d.]+ [num]s +[\d.]+% +\d+\.\d\d +\d+%$", text, re.M), f"{name}: the ratio")
fails("a library that is none", 1, "kernels", "--blst", s.config)
fails("another library", 1, "kernels", "--blst", ENGINE)

# a service
s.start()
at = ("--address", s.address)
request_file = SRC + "/t/data/requests/winning-2k.json"
text = good(bench("batch", *at, "--request", request_file, "--count", "40", "--concurrency", "4", "--monitor", tmp + "/b.csv",
                  "--trace", tmp + "/b.json"), "batch")
ok(re.search(r"40 of 40 proved, verified by the service, in [\d.]+ s: [\d.]+ a second", text), "batch: the throughput")
numbers = [float(x) for x in re.search(r"latency, as seen here +(.*)", text).group(1).split()]
ok(len(numbers) == 5 and numbers == sorted(numbers) and numbers[0] > 0, f"batch: latencies {numbers}")
ok(re.search(r"memory of cuzkd \d+: peak [\d.]+ MiB; [\d.]+ s", text) and "cuzk-instance" in text, "batch: memory of the processes")
equal({r["process"] for r in read_csv(tmp + "/b.csv")}, {"cuzk-bench", "cuzkd", "cuzk-instance"}, "the monitor saw all of them")
equal(len([e for e in spans(read_trace(tmp + "/b.json")) if e["cat"] == "request"]), 40, "the trace has every request")
ok("cuzk-instance" in plot("batch", tmp + "/b.csv", "--trace", tmp + "/b.json"), "the picture has the instance")
text = good(bench("batch", *at, "--kind", "winning-2k", "--count", "3"), "batch of a kind")
p = subprocess.run([BUILD + "/cuzkctl", "status", *at, "--json"], capture_output=True, text=True)
equal(json.loads(p.stdout)["total_proofs_completed"], 43, "every request was work of its own")
p = bench("batch", *at, "--kind", "winning-2k", "--count", "2", "--params", params)
ok(p.returncode == 1 and "0 of 2 proved" in p.stdout and "milliseconds" not in p.stdout,
   f"proofs that do not verify give no figures: {p.stderr.strip()}")
text = good(bench("stress", *at, "--mix", f"winning-2k:20:5s,{tmp}/window-2k.json:5", "--duration", "1500ms"), "stress")
flow = [line.split() for line in text.splitlines() if line.startswith("win")]
ok(len(flow) == 2 and all(int(x[1]) == int(x[2]) > 0 and x[3] == "0" for x in flow), "stress: all were proved")
equal((int(flow[0][4]) + int(flow[0][5]), flow[1][4]), (int(flow[0][2]), "-"), "stress: deadlines kept and missed")
s.stop()
s.configure(engine="delay_ms = 300")
s.restart()
text = good(bench("stress", *at, "--mix", "winning-2k:10:100ms", "--duration", "1s"), "stress, slow")
flow = next(line.split() for line in text.splitlines() if line.startswith("win"))
equal(flow[4], "0", "stress: no deadline was kept")
s.stop()
fails("nobody listens", 1, "batch", *at, "--request", request_file, "--count", "1")

# what is wrong
bad = tmp + "/bad"
open(bad, "w").write("seconds,pid,process,resident,anonymous,file,locked,gpu\n1,2,x,-3,0,0,0,0\n")
fails("a line that is none", 1, "plot", bad, "--out", tmp + "/x.svg")
open(bad, "w").write("a,b\n1,2\n")
fails("another CSV", 1, "plot", bad, "--out", tmp + "/x.svg")
open(bad, "w").write('{"traceEvents":[{"name":7}]}')
fails("another JSON", 1, "plot", tmp + "/m.csv", "--trace", bad, "--out", tmp + "/x.svg")
fails("no picture's folder", 1, "plot", tmp + "/m.csv", "--out", tmp + "/none/x.svg")
ok(not os.path.exists(tmp + "/x.svg"), "nothing was drawn")
fails("no such kind", 2, "vanilla", "porep-3k", "--out", bad)
fails("a kind without requests", 2, "vanilla", "tiny-3", "--out", bad)
fails("no parameters", 1, "pipeline", "--kind", "window-2k", "--params", tmp)
fails("another request", 1, "synth", "--kind", "window-2k", "--request", request_file)
fails("a number that is none", 2, "pipeline", "--kind", "winning-2k", "--params", params, "-n", "many")
fails("a monitor's folder", 1, "model", "--kind", "tiny-3", "--monitor", tmp + "/none/m.csv")
fails("a rate that is none", 2, "stress", "--mix", "winning-2k:fast")
fails("no rate", 2, "stress", "--mix", "winning-2k")
fails("nothing to send", 2, "batch")
fails("no such command", 2, "nonsense")
equal(bench().returncode, 2, "no command")
p = bench("--help")
ok(p.returncode == 0 and "Usage:" in p.stdout, "--help")
p = bench("stress", "--help")
ok(p.returncode == 0 and "Usage:" in p.stdout, "stress --help")
ok(bench("--version").stdout.startswith("cuzk-bench "), "--version")
done()
