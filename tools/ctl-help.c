/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ctl-help.c - the lines of `cuzkctl COMMAND --help` */
#include <stdio.h>
#include <string.h>

#include "tools/ctl.h"

/* Who takes the common options. */
enum group { SERVICE = 1, ENGINE = 2, ALONE = 4, NO_JSON = 8 };

static const struct {
	const char *name;
	unsigned int group;
	const char *arguments;
} lines[] = {
	{ "prove", SERVICE, "--request FILE --out FILE" },
	{ "prove", ENGINE,
	  "--offline --request FILE --params DIR [--rs R,S] --out FILE\n"
	  "               [--manifest FILE] [--cache DIR] [--full-check] [--verbose]" },
	{ "prove", ENGINE,
	  "[--r1cs FILE] --wtns FILE (--params FILE | --zkey FILE) [--rs R,S]\n"
	  "               --out FILE [--public FILE]" },
	{ "submit", SERVICE, "--request FILE" },
	{ "await", SERVICE, "JOB [--out FILE]" },
	{ "cancel", SERVICE, "JOB" },
	{ "status", SERVICE, "" },
	{ "top", SERVICE | NO_JSON, "[--interval TIME] [--once]" },
	{ "metrics", SERVICE | NO_JSON, "" },
	{ "preload", SERVICE, "CIRCUIT" },
	{ "evict", SERVICE, "CIRCUIT" },
	{ "modinfo", ALONE, "FILE [--json]" },
	{ "params", ENGINE,
	  "make (CIRCUIT | --r1cs FILE) [--toxic ALPHA,BETA,GAMMA,DELTA,TAU]\n"
	  "               [--snarkjs] [--on-device] --out DIR" },
	{ "params", ENGINE,
	  "check [--params DIR] [--manifest FILE] [--verdicts FILE] [--full] [CIRCUIT...]" },
	{ "params", ENGINE, "convert --zkey FILE --out FILE.params" },
	{ "params", ENGINE, "convert --params FILE --r1cs FILE --out FILE.zkey" },
	{ "params", ENGINE,
	  "convert (--zkey | --params | --vk) FILE --out (FILE.vk | FILE.json)" },
	{ "params", ENGINE,
	  "rearrange CIRCUIT [--params DIR] [--toxic ALPHA,BETA,GAMMA,DELTA,TAU]" },
	{ "circuit", ENGINE, "digest CIRCUIT" },
	{ "circuit", ENGINE, "list" },
	{ "circuit", ENGINE, "cache [--cache DIR] CIRCUIT..." },
	{ "witness", ENGINE,
	  "--request FILE [--partition K] [--check] [--alter VARIABLE] [--cache DIR]" },
	{ "check", ENGINE, "--request FILE" },
	{ "verify", ENGINE, "--vk FILE --proof FILE --inputs FILE [--big-endian]" },
};

bool ctl_help(const char *name)
{
	unsigned int groups = 0;
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (strcmp(lines[i].name, name))
			continue;
		printf("%s cuzkctl %s%s%s\n", groups ? "      " : "Usage:", name,
		       *lines[i].arguments ? " " : "", lines[i].arguments);
		groups |= lines[i].group;
	}
	if (groups & SERVICE)
		printf("\nTo a service: [--address unix:PATH | HOST:PORT] [--timeout TIME]%s\n"
		       "              [--tls-ca FILE] [--tls-cert FILE --tls-key FILE]\n",
		       groups & NO_JSON ? "" : " [--json]");
	if (groups & ENGINE)
		printf("\nTo an engine: [--engine FILE | --engine-dir DIR]\n"
		       "              [--backend cpu|gpu] [--device ID] [--threads N]\n");
	if (groups)
		printf("\nSee cuzkctl(1)%s.\n", groups & ENGINE ? ", cuzk-groth16(7)" : "");
	return groups != 0;
}
