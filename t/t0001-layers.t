#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Layers point one way (HACKING.md), and every source names its licence."""
import os
import re
import sys

SRC = os.environ.get("CUZK_SRCDIR", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ALLOWED = {
    "lib": ("lib/",),
    "gpu": ("gpu/", "lib/"),
    "engine": ("engine/", "gpu/gpu.h", "plugin/api/", "lib/"),
    "plugin": ("plugin/", "lib/"),
    "tools": ("tools/", "plugin/api/", "lib/"),
}
# what measures the inside of an engine links it, and includes it
ENGINE_TOOLS = re.compile(r"tools/(cuzk-)?bench")

crossed, unlicensed, files = [], [], 0
for top in ALLOWED:
    for folder, _, names in os.walk(os.path.join(SRC, top)):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), SRC)
            if not re.search(r"\.(c|h|S|cu|cuh)$", name) or ".pb-c." in name:
                continue
            files += 1
            text = open(os.path.join(SRC, path), encoding="utf-8").read()
            if "SPDX-License-Identifier: MIT OR Apache-2.0" not in text[:400]:
                unlicensed.append(path)
            for include in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M):
                if "/" not in include and os.path.exists(os.path.join(SRC, os.path.dirname(path), include)):
                    continue        # a neighbour's own file
                if include.startswith("lib/proto/") or include == "config.h":
                    continue
                if include.startswith(ALLOWED[top]):
                    continue
                if ENGINE_TOOLS.match(path) and include.startswith(("engine/", "gpu/")):
                    continue
                crossed.append(f"{path} includes {include}")

for good, name, found in (
        (files > 200, f"{files} sources are looked at", []),
        (not crossed, "no include crosses a layer", crossed),
        (not unlicensed, "every source names its licence", unlicensed)):
    print(f"{'ok' if good else 'not ok'} - {name}")
    for line in found[:40]:
        print("#", line)
print("1..3")
sys.exit(not (files > 200 and not crossed and not unlicensed))
