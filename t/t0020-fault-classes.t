#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every fault class has tests that name it, and what names one is in the table of doc/fault-classes.md."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuzk import *

with open(SRC + "/doc/fault-classes.md") as f:
    tables = f.read().split("## Where each class is tested")


def rows(text):
    for line in text.splitlines():
        cells = [x.strip() for x in line.strip("|").split("|")]
        if line.startswith("|") and cells[0] not in ("class", "---"):
            yield cells


def classes_of(path):
    with open(path, errors="replace") as f:
        return set(re.findall(r'fault class "([^"]*)"', f.read(), re.I))


classes = [x[0] for x in rows(tables[0])]
tests = {x[0]: re.findall(r"`([^`]*)`", x[1]) for x in rows(tables[1])}
ok(len(classes) >= 14 and len(set(classes)) == len(classes), f"{len(classes)} fault classes")
equal(list(tests), classes, "each has its row in the table of tests")
with open(SRC + "/t/Makemodule-service.am") as f:
    listed = f.read()
for name in sorted(os.listdir(SRC + "/t")):
    if name.startswith("Makemodule") and name.endswith(".am"):
        with open(f"{SRC}/t/{name}") as f:
            listed += f.read()
for name in classes:
    files = tests.get(name, [])
    bad = [x for x in files if not os.path.isfile(f"{SRC}/{x}") or name not in classes_of(f"{SRC}/{x}") or
           x.removesuffix(".c") not in listed]
    ok(files and not bad, f'fault class "{name}": {", ".join(files)}')
    if bad:
        diag(f"not there, not run, or does not name it: {bad}")
strangers = []
for name in sorted(os.listdir(SRC + "/t")):
    if re.fullmatch(r"t\d{4}-.*\.t|u-.*\.c", name) and name != os.path.basename(__file__):
        strangers += [f"{name}: {c}" for c in classes_of(f"{SRC}/t/{name}") if f"t/{name}" not in tests.get(c, [])]
equal(strangers, [], "no test names a class that the table does not give it")
done()
