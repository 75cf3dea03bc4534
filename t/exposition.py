# SPDX-License-Identifier: MIT OR Apache-2.0
"""A strict reader of Prometheus' text format 0.0.4, with the rules of naming that collectors and their linters have."""
import math
import re

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
TYPES = ("counter", "gauge", "histogram", "summary", "untyped")
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("_sum", "_count")}


def number(text):
    """What Go's ParseFloat takes, or ValueError."""
    if not re.fullmatch(r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|Inf|NaN)", text):
        raise ValueError(f"{text!r} is no number")
    return float(text)


def labels_of(text):
    """'a="b",c="d"' as a list of pairs."""
    out, pos = [], 0
    while pos < len(text):
        m = LABEL.match(text, pos)
        if not m or text[m.end():m.end() + 2] != '="':
            raise ValueError(f"no label at {text[pos:]!r}")
        name, pos, value = m.group(), m.end() + 2, ""
        while text[pos] != '"':
            if text[pos] == "\\":
                pos += 1
                value += {"\\": "\\", '"': '"', "n": "\n"}[text[pos]]
            else:
                value += text[pos]
            pos += 1
        pos += 1
        out.append((name, value))
        if pos < len(text):
            if text[pos] != "," or pos + 1 == len(text):
                raise ValueError(f"text behind a label: {text[pos:]!r}")
            pos += 1
    return out


def read(data):
    """Samples {(name, labels): value}, types {name: type} and what is wrong [text]."""
    samples, types, helps, bad, current = {}, {}, {}, [], None
    closed = set()
    try:
        text = data.decode() if isinstance(data, bytes) else data
        text.encode()
    except UnicodeError as e:
        return {}, {}, [f"no UTF-8: {e}"]
    if not text.endswith("\n"):
        bad.append("the last line does not end")

    def begin(name):
        nonlocal current
        if name == current:
            return
        if name in closed:
            bad.append(f"{name}: its lines are not together")
        if current:
            closed.add(current)
        current = name

    for line in text.split("\n")[:-1]:
        if line.startswith(("# HELP ", "# TYPE ")):
            word, name, rest = (line[2:].split(" ", 2) + [""])[:3]
            if not NAME.fullmatch(name):
                bad.append(f"{line!r}: no name")
            begin(name)
            kinds = helps if word == "HELP" else types
            if name in kinds:
                bad.append(f"{name}: a second {word}")
            if any(k[0] == name or k[0].startswith(name + "_") and base_of(k[0], types) == name for k in samples):
                bad.append(f"{name}: {word} behind a sample")
            if word == "TYPE" and rest not in TYPES:
                bad.append(f"{name}: type {rest!r}")
            if word == "HELP" and not rest.strip():
                bad.append(f"{name}: no help")
            kinds[name] = rest
            continue
        m = NAME.match(line)
        if not m:
            bad.append(f"{line!r}: no sample")
            continue
        try:
            rest, labels = line[m.end():], []
            if rest.startswith("{"):
                end = rest.rindex("} ")
                labels, rest = labels_of(rest[1:end]), rest[end + 1:]
            if not rest.startswith(" ") or " " in rest[1:]:
                raise ValueError("not NAME VALUE")
            value = number(rest[1:])
        except (ValueError, KeyError, IndexError) as e:
            bad.append(f"{line!r}: {e}")
            continue
        begin(base_of(m.group(), types))
        if len({n for n, _ in labels}) != len(labels):
            bad.append(f"{line!r}: a label twice")
        key = (m.group(), tuple(sorted(labels)))
        if key in samples:
            bad.append(f"{line!r}: the same sample twice")
        samples[key] = value
    return samples, types, bad + [f"{n}: no HELP" for n in types if n not in helps] + check(samples, types)


def base_of(name, types):
    """The metric that a sample belongs to."""
    for suffix in ("_bucket", "_sum", "_count"):
        base = name[:-len(suffix)]
        if name.endswith(suffix) and suffix in SUFFIXES.get(types.get(base), ()):
            return base
    return name


def check(samples, types):
    bad = []
    for (name, labels), value in samples.items():
        base = base_of(name, types)
        kind = types.get(base)
        if not kind:
            bad.append(f"{name}: no TYPE")
        if kind == "histogram" and name == base:
            bad.append(f"{name}: a histogram without a suffix")
        if kind == "counter" and (value < 0 or math.isnan(value)):
            bad.append(f"{name}: a counter of {value}")
        if name.endswith("_bucket") != any(n == "le" for n, _ in labels):
            bad.append(f"{name}: le is for buckets")
    for name, kind in types.items():
        if (kind == "counter") != name.endswith("_total"):
            bad.append(f"{name}: counters, and nothing else, end in _total")
        if kind != "histogram" and name.endswith(("_bucket", "_sum", "_count")):
            bad.append(f"{name}: the suffix is a histogram's")
        if re.search(r"_(ms|milliseconds|us|microseconds|ns|minutes|hours|kib|mib|kilobytes|megabytes|percent)(_total)?$", name):
            bad.append(f"{name}: no base unit")
        if re.search(r"[A-Z:]|__", name):
            bad.append(f"{name}: not snake_case")
        if kind == "histogram":
            bad += histogram(name, samples)
    return bad


def histogram(name, samples):
    bad, series = [], {}
    for (n, labels), value in samples.items():
        if n in (name + "_bucket", name + "_sum", name + "_count"):
            rest = tuple(x for x in labels if x[0] != "le")
            entry = series.setdefault(rest, {"buckets": []})
            if n.endswith("_bucket"):
                entry["buckets"].append((number(dict(labels)["le"]), value))
            else:
                entry[n[len(name):]] = value
    for labels, entry in series.items():
        bounds = [b for b, _ in entry["buckets"]]
        counts = [c for _, c in entry["buckets"]]
        if not bounds or bounds != sorted(set(bounds)) or bounds[-1] != math.inf:
            bad.append(f"{name}{labels}: the bounds {bounds}")
        if counts != sorted(counts) or not counts or counts[-1] != entry.get("_count"):
            bad.append(f"{name}{labels}: the counts {counts}, of {entry.get('_count')}")
        if "_sum" not in entry:
            bad.append(f"{name}{labels}: no sum")
    return bad


def went_back(before, after, types):
    """Counters, and counts of histograms, that are less than they were, or gone."""
    return [f"{k}: {v} -> {after.get(k)}" for k, v in before.items()
            if (types[base_of(k[0], types)] in ("counter", "histogram")) and not after.get(k, -1) >= v]
