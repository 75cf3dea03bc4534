#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# two-gpus.sh - a sector's partitions on one GPU of this machine and on several
#
# usage: two-gpus.sh BINDIR [DEVICE...]
#
# BINDIR has bench-sector (a build's t/perf, or a carried copy).  DEVICE is a UUID
# or a PCI address; without, the first two that nvidia-smi lists.  Prints the
# speed-up; every proof is verified and compared with the golden ones.
# ROUNDS (2) of each are made, with parameters of BASIS (coset, or powers).
set -u
src=${CUZK_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
bin=$1
shift
data=$src/t/data
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export CUZK_SRCDIR=$src

[ $# -gt 0 ] || set -- $(nvidia-smi -L | sed -n 's/.*UUID: \(GPU-[^)]*\)).*/\1/p' | head -n 2)
[ $# -gt 1 ] || { echo "two-gpus.sh: $# devices: two are needed" >&2; exit 1; }
devices=
for d; do
	devices="$devices --device $d"
done
xz -dc "$data/porep-32g/c1.json.xz" >"$tmp/c1.json" 2>/dev/null || python3 -c '
import lzma, shutil, sys
shutil.copyfileobj(lzma.open(sys.argv[1]), open(sys.argv[2], "wb"))' \
	"$data/porep-32g/c1.json.xz" "$tmp/c1.json"
# identifiers have no spaces
"$bin/bench-sector" $devices --rounds "${ROUNDS:-2}" --basis "${BASIS:-coset}" --golden "$data/porep-32g" \
	--c1 "$tmp/c1.json"
