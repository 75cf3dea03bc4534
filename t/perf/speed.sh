#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# speed.sh - the speeds that the project sets itself, measured on this machine, targets beside them
#
# usage: speed.sh [SECTION...]; all of them without: arithmetic winning snarkjs
# dispatch synthesis porep.  `make bench` runs it.  Development parameters are made
# once, in speed/ of the build folder.  SPEED_FOLDER names another place.
set -u
src=${CUZK_SRCDIR:-.}
build=${CUZK_BUILDDIR:-.}
folder=${SPEED_FOLDER:-$build/speed}
engine=$build/.libs/groth16.so
bench=$build/cuzk-bench
toxic=48577,22580,53332,5481,3673
failed=0
pid=

mkdir -p "$folder" || exit 1
run=$(mktemp -d "${TMPDIR:-/tmp}/cuzk-speed.XXXXXX")
cleanup() {
	[ -z "$pid" ] || kill "$pid" 2>/dev/null
	[ -z "$pid" ] || wait "$pid" 2>/dev/null
	rm -rf "$run"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

section() { printf '\n== %s\n' "$*"; }
fail() { echo "FAILED: $*"; failed=1; }
ctl() { "$build/cuzkctl" "$@" --engine "$engine"; }

# WHAT FIGURE TARGET: one row; a figure that is no number is shown as it is.
row() { printf '%-46s %-26s %s\n' "$1" "$2" "$3"; }
head_row() { row "what" "measured" "target"; }

# What is measured at a time when others load the machine is worth less.
load() { cut -d' ' -f1-3 /proc/loadavg; }

parameters() {
	[ -e "$folder/$1.made" ] && return 0
	echo "making development parameters for $1"
	ctl params make "$1" --toxic $toxic --out "$folder" >"$run/make" && : >"$folder/$1.made"
}

# seconds on the clock of a command; its output goes to $run/out
clock() {
	start=$(date +%s%N)
	"$@" >"$run/out" 2>&1 || { cat "$run/out"; return 1; }
	end=$(date +%s%N)
	awk "BEGIN { printf \"%.3f\n\", ($end - $start) / 1e9 }"
}

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# ENGINE SETTINGS: a service of its own
start_service() {
	mkdir -p "$run/state"
	cat >"$run/cuzk.conf" <<EOF
[global]
listen = $run/sock
state_dir = $run/state
runtime_dir = $run
params_dir = $folder
instance_program = $build/cuzk-instance
[engine $1]
library = $build/.libs/$1.so
[cpu]
engine = $1
EOF
	"$build/cuzkd" --config "$run/cuzk.conf" 2>"$run/log" &
	pid=$!
	n=0
	until grep -q '^<5>ready' "$run/log"; do
		n=$((n + 1))
		if [ $n -gt 600 ] || ! kill -0 $pid 2>/dev/null; then
			tail -n 5 "$run/log"
			return 1
		fi
		sleep 0.2
	done
}

stop_service() {
	[ -z "$pid" ] || kill "$pid" 2>/dev/null
	[ -z "$pid" ] || wait "$pid" 2>/dev/null
	pid=
	rm -rf "$run/state"
}

# ONLY LOG TARGET: the rows of kernels whose names have ONLY
kernel() {
	"$bench" kernels ${blst:+--blst "$blst"} --only "$1" --log "$2" --rounds "${4:-5}" >"$run/k" ||
		fail "kernels $1"
	awk -v target="$3" 'NR > 2 {
		name = substr($0, 1, 24); sub(/ +$/, "", name); $0 = substr($0, 25)
		ratio = $4 == "-" ? "no blst" : $7 " x blst (" $4 " " $5 ")"
		printf "%-46s %-26s %s\n", name ", 1 thread", $1 " " $2 ", " ratio, target
	}' "$run/k"
	[ -n "$peak" ] || peak=$(head -n 1 "$run/k")
}

arithmetic() {
	section "arithmetic, beside blst in the same run, CPU time of one thread"
	peak=
	blst=$("$src/t/build-blst.sh" 2>"$run/why") || cat "$run/why"
	if grep -q avx512ifma /proc/cpuinfo; then
		set -- 5 4 6 1
	else
		set -- 0.9 0.9 1 0.7
	fi
	head_row
	kernel "msm g1" 16 "$1 x"
	kernel "msm g1" 18 "$1 x" 3
	kernel "msm g2" 14 "$2 x"
	kernel "ntt" 18 "$3 x"
	kernel "verify, 16 inputs" 4 "$4 x" 9
	echo "$peak"
}

winning() {
	section "WinningPoSt of a 2 KiB sector: vanilla proof in, verified proof out, $(nproc) cores"
	parameters winning-2k || { fail "parameters"; return; }
	start_service groth16 || { fail "the service"; return; }
	# one that loads the parameters first
	"$bench" batch --address "unix:$run/sock" --request "$src/t/data/requests/winning-2k.json" \
		--count 1 --params "$folder" >"$run/w" || fail "batch"
	"$bench" batch --address "unix:$run/sock" --request "$src/t/data/requests/winning-2k.json" \
		--count 7 --params "$folder" >"$run/w" || fail "batch"
	stop_service
	head_row
	awk '/^latency/ { printf "%-46s %-26s %s\n", "through the service, median of 7",
		sprintf("%.2f s (%.2f to %.2f)", $6 / 1e3, $5 / 1e3, $9 / 1e3),
		"1.2 s with IFMA, 5 s without (bellperson 5.7 s)" }' "$run/w"
	awk '/^memory of cuzk-instance/ { printf "%-46s %-26s %s\n", "processor time of one proof",
		sprintf("%.2f s", $(NF - 4) / 7), "" }' "$run/w"
	grep "verified" "$run/w"
}

snarkjs() {
	section "a circuit of circom of ${1:-65401} constraints, beside snarkjs 0.7.6 in the same run"
	js=$build/t/node/node_modules/.bin/snarkjs
	if [ ! -x "$js" ]; then
		mkdir -p "$build/t/node" && npm install --silent --no-audit --no-fund \
			--prefix "$build/t/node" snarkjs@0.7.6 >"$run/npm" 2>&1 ||
			{ echo "npm cannot install snarkjs@0.7.6: left out"; return; }
	fi
	if [ ! -e "$folder/chain.zkey" ]; then
		echo "making its key"
		"$bench" chain --out "$folder/chain" &&
			ctl params make --r1cs "$folder/chain.r1cs" --snarkjs --out "$folder" >"$run/make" &&
			ctl params convert --params "$folder/chain.params" --r1cs "$folder/chain.r1cs" \
				--out "$folder/chain.zkey" || { fail "the key"; return; }
	fi
	: >"$run/ours"
	: >"$run/theirs"
	for i in 1 2 3; do
		clock ctl prove --wtns "$folder/chain.wtns" --zkey "$folder/chain.zkey" \
			--out "$run/p.json" --public "$run/pub.json" >>"$run/ours" || fail "our proof"
		cp "$run/out" "$run/stages"
		clock "$js" groth16 prove "$folder/chain.zkey" "$folder/chain.wtns" "$run/s.json" \
			"$run/s.public.json" >>"$run/theirs" || fail "snarkjs' proof"
		ctl verify --vk "$folder/chain.vk" --proof "$run/s.json" --inputs "$run/s.public.json" \
			>"$run/v" || fail "snarkjs' proof does not verify"
	done
	ours=$(median <"$run/ours")
	theirs=$(median <"$run/theirs")
	head_row
	row "whole program, key and witness from files" \
		"$ours s, snarkjs $theirs s: $(awk "BEGIN { printf \"%.1f\", $theirs / $ours }") x" "15 x with IFMA, 5 x without"
	echo "all of ours: $(tr '\n' ' ' <"$run/ours")s; of snarkjs: $(tr '\n' ' ' <"$run/theirs")s; every proof verified"
	tr -d '\n ' <"$run/stages" | sed 's/.*"seconds":{\(.*\)}}/stages of the last: \1/; s/[",]/ /g'
	echo
}

dispatch() {
	section "the service alone, on an engine that proves nothing"
	start_service null || { fail "the service"; return; }
	"$bench" batch --address "unix:$run/sock" --request "$src/t/data/requests/winning-2k.json" \
		--count 500 >"$run/d" || fail "batch"
	"$build/cuzkctl" metrics --address "unix:$run/sock" >"$run/m"
	stop_service
	head_row
	awk -F'[" ]' '/^cuzk_dispatch_seconds_count/ { n = $NF } /^cuzk_dispatch_seconds_sum/ { sum = $NF }
		/^cuzk_dispatch_seconds_bucket/ { le[++k] = $2; c[k] = $NF }
		END { for (i = 1; i <= k && c[i] < n / 2; i++);
			printf "%-46s %-26s %s\n", "submit to dispatch, median of " n,
				sprintf("at most %g ms (mean %.3f)", le[i] * 1e3, sum / n * 1e3), "2 ms" }' "$run/m"
	awk '/^latency/ { printf "%-46s %-26s %s\n", "a whole call, median", sprintf("%.2f ms", $6), "" }' "$run/d"
}

synthesis() {
	section "one partition of a 32 GiB PoRep"
	need=12 # GiB: two vectors of 2^27 values and what goes with them
	head_row
	"$bench" synth --kind porep-32g --threads 1 --rounds 2 --witness-only >"$run/s" || fail "synth"
	awk '/^witness  / { printf "%-46s %-26s %s\n", "witness, one core",
		sprintf("%.2f s (CPU %.2f)", $2, $4), "6 s" }' "$run/s"
	have=$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)
	if [ "$have" -lt $need ]; then
		row "evaluation, 2 cores" "$have GiB are available" "6 s; needs $need GiB"
		return
	fi
	"$bench" synth --kind porep-32g --threads 2 --rounds 1 >"$run/s" || fail "synth"
	awk '/^evaluation of A/ { printf "%-46s %-26s %s\n", "evaluation, 2 cores",
		sprintf("%.2f s (CPU %.2f)", $5, $7), "6 s" }' "$run/s"
	head -n 1 "$run/s"
}

porep() {
	section "PoRep of a 2 KiB sector (domain 2^22), seconds by stage and memory"
	parameters porep-2k || { fail "parameters"; return; }
	"$bench" pipeline --kind porep-2k --params "$folder" -n 1 \
		--request "$src/t/data/requests/porep-2k.json" >"$run/p" || fail "pipeline"
	head_row
	awk '/^proof 1: after proof/ { s = $NF } /after witness/ { w = $NF }
		/^parameters  / { base = $2 } /^peak while proving/ { peak = $7 }
		END { printf "%-46s %-26s %s\n", "witness and proof", sprintf("%.2f s", w + s), ""
			printf "%-46s %-26s %s\n", "memory beyond program and parameters",
				sprintf("%.0f MiB", peak - base), "3072 MiB" }' "$run/p"
	grep '^stages' "$run/p"
	sed -n '/^peak while proving/,/^stages/p' "$run/p" | grep -v '^stages'
}

[ $# -gt 0 ] || set -- arithmetic winning snarkjs dispatch synthesis porep
echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) processors, load $(load), $("$bench" --version)"
for name; do
	case $name in
	arithmetic | winning | snarkjs | dispatch | synthesis | porep) $name ;;
	*) echo "speed.sh: no section '$name'" >&2; exit 2 ;;
	esac
done
printf '\nload at the end: %s\n' "$(load)"
exit $failed
