/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* many.c - many Poseidon hashes: which way to take */
#include <string.h>

#include "lib/poseidon/many.h"
#include "lib/poseidon/poseidon.h"

#define LANES 8
#define WORTH_IT 2	/* eight at once take less time than this many apart */

bool poseidon_has_ifma(void)
{
#ifdef CUZK_X86
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
	       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512ifma");
#else
	return false;
#endif
}

void poseidon_hash_many_portable(unsigned int arity, const struct fr *in, struct fr *out, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		poseidon_hash(arity, in + i * arity, &out[i]);
}

void poseidon_hash_many(unsigned int arity, const struct fr *in, struct fr *out, size_t n)
{
#ifdef CUZK_X86
	struct fr part[LANES * POSEIDON_MAX_ARITY], result[LANES];

	if (poseidon_has_ifma()) {
		for (; n >= LANES; n -= LANES, in += LANES * arity, out += LANES)
			poseidon_hash_8_ifma(arity, in, out);
		if (n > WORTH_IT) {
			memset(part, 0, sizeof(part));
			memcpy(part, in, n * arity * sizeof(*in));
			poseidon_hash_8_ifma(arity, part, result);
			memcpy(out, result, n * sizeof(*out));
			return;
		}
	}
#endif
	poseidon_hash_many_portable(arity, in, out, n);
}
