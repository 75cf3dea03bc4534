#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""
stream-model.py - what a sector with streamed parameters should take, and took

usage: stream-model.py RESIDENT STREAMED

Both are what bench-sector prints; the last round of each counts.  From the stages
of the resident run, the bytes of the streamed one and the bus's speed follow what
the bus has to carry, what work it is hidden behind, and the sector's time
(doc/gpu-tuning.md, "Points that are streamed").
"""
import re
import sys

# The sum over h in pieces against the sum at once, and its scalars brought into the
# order of its points.
H_IN_PIECES = 1.09
REORDER_MS = 7


def read(path):
    """Total seconds, ms a partition by stage, and the bus, of the last round."""
    run = {"stages": {}, "n": 0, "stream": None}
    for line in open(path):
        if m := re.match(r"(\d+) of (\d+) partitions proved", line):
            run = {"stages": {}, "n": int(m[2]), "good": m[1] == m[2], "stream": None}
        elif m := re.match(r"total ([\d.]+) s", line):
            run["total"] = float(m[1])
        elif m := re.match(r"  (\w+) +([\d.]+) ms$", line):
            run["stages"][m[1]] = float(m[2])
        elif m := re.match(r"  points streamed: ([\d.]+) GB a partition at ([\d.]+) GB/s; the bus "
                           r"was busy ([\d.]+) ms a partition, work waited for it ([\d.]+) ms",
                           line):
            run["stream"] = [float(x) for x in m.groups()]
    return run


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    here, there = read(sys.argv[1]), read(sys.argv[2])
    if "total" not in here or not there.get("stream"):
        sys.exit("stream-model: no resident or no streamed sector in these logs")
    s, n = here["stages"], there["n"]
    gb, rate, busy, waited = there["stream"]
    rate = rate or 55.0
    # a partition's h is sent each time, the others once for the batch
    h = min(gb, 12.885)
    bus = {"h": h / rate * 1e3, "others": (gb - h) / rate * 1e3}
    work = {
        "h": s["evaluate"] + s["ntt"] + s["msm_h"] * H_IN_PIECES,
        "others": s["msm_l"] + s["msm_a"] + s["msm_b1"] + s["msm_b2"],
    }
    expected = here["total"] * 1e3 / here["n"] + s["msm_h"] * (H_IN_PIECES - 1) + REORDER_MS
    print(f"{'a partition, ms':24} {'bus':>8} {'work':>8} {'bare bus':>9}")
    for k in bus:
        bare = max(0.0, bus[k] - work[k])
        expected += bare
        print(f"{k:24} {bus[k]:8.1f} {work[k]:8.1f} {bare:9.1f}")
    print(f"measured: bus busy {busy:.1f} ms, work waited for it {waited:.1f} ms")
    print(f"sector of {n}: resident {here['total'] * n / here['n']:.2f} s, streamed: "
          f"expected {expected * n / 1e3:.2f} s, measured {there['total']:.2f} s")


main()
