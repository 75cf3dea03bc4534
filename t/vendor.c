/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * vendor.c - a prover that knows nothing of this project, for the test of foreign engines
 *
 * Its proof is 192 bytes of a sum over what it was given.  Sector 13 is refused
 * by its check, sector 14 cannot be proved, the proof of sector 15 is wrong,
 * that of sector 16 takes until it is cancelled, sector 17 crashes.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

struct prover {
	int threads;
	_Atomic int stop;
	char error[64];
};

EXPORT void *vendor_new(const char *device, int threads);
EXPORT int vendor_init(void **out, char *error, size_t room);
EXPORT void vendor_free(void *p);
EXPORT bool vendor_ready(void *p);
EXPORT bool vendor_broken(void);
EXPORT short vendor_check(uint32_t kind, unsigned long sector, const void *vanilla, size_t len);
EXPORT int vendor_prove(void *p, const uint8_t *vanilla, size_t len, uint64_t sector,
			const uint8_t *prover_id, uint16_t partition, uint8_t *proof,
			size_t *size, int flags);
EXPORT bool vendor_verify(void *p, const uint8_t *vanilla, size_t len, uint64_t sector,
			  const uint8_t *prover_id, uint16_t partition, const uint8_t *proof,
			  size_t size);
EXPORT void vendor_stop(void *p);
EXPORT const char *vendor_error(void *p);

void *vendor_new(const char *device, int threads)
{
	struct prover *p = calloc(1, sizeof(*p));

	if (p)
		p->threads = threads + (device ? 100 : 0);
	return p;
}

int vendor_init(void **out, char *error, size_t room)
{
	snprintf(error, room, "no licence");
	return -7;
}

void vendor_free(void *p)
{
	free(p);
}

bool vendor_ready(void *p)
{
	return ((struct prover *)p)->threads == 0;
}

bool vendor_broken(void)
{
	return false;
}

short vendor_check(uint32_t kind, unsigned long sector, const void *vanilla, size_t len)
{
	return sector == 13 ? -1 : 0;
}

static void make(const uint8_t *vanilla, size_t len, uint64_t sector, const uint8_t *prover_id,
		 uint16_t partition, uint8_t proof[192])
{
	uint32_t sum = partition * 7919u + (uint32_t)sector;
	size_t i;

	for (i = 0; i < len; i++)
		sum = sum * 31 + vanilla[i];
	for (i = 0; i < 32; i++)
		sum = sum * 31 + prover_id[i];
	for (i = 0; i < 192; i++)
		proof[i] = sum >> (8 * (i % 4));
}

int vendor_prove(void *arg, const uint8_t *vanilla, size_t len, uint64_t sector,
		 const uint8_t *prover_id, uint16_t partition, uint8_t *proof, size_t *size,
		 int flags)
{
	struct prover *p = arg;

	if (*size < 192 || flags)
		return -2;
	if (sector == 14) {
		strcpy(p->error, "out of luck");
		return -3;
	}
	while (sector == 16 && !p->stop)
		usleep(1000);
	if (sector == 17) {
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
	}
	make(vanilla, len, sector, prover_id, partition, proof);
	proof[191] ^= sector == 15;
	*size = sector == 18 ? 191 : 192;
	return 0;
}

bool vendor_verify(void *p, const uint8_t *vanilla, size_t len, uint64_t sector,
		   const uint8_t *prover_id, uint16_t partition, const uint8_t *proof, size_t size)
{
	uint8_t right[192];

	make(vanilla, len, sector, prover_id, partition, right);
	return size == 192 && !memcmp(right, proof, 192);
}

void vendor_stop(void *p)
{
	((struct prover *)p)->stop = 1;
}

const char *vendor_error(void *p)
{
	return ((struct prover *)p)->error;
}
