/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* arch.c - the public functions: jumps into the build for this machine */
#include "lib/bls12_381/arch.h"
#include "lib/bls12_381/ops.h"

/* Written by the constructor only, before any thread can read it; and by tests. */
static const struct bls_ops *bls_ops = &bls_ops_portable;

#ifdef CUZK_X86
#include <cpuid.h>

/* CPUID leaf 7: BMI2 (mulx) is EBX bit 8, ADX (adcx, adox) bit 19. */
static bool cpu_has_mulx_adx(void)
{
	unsigned int a, b, c, d;

	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
		return false;
	return (b >> 8 & 1) && (b >> 19 & 1);
}
#endif

static const struct bls_ops *best_ops(void)
{
#ifdef CUZK_X86
	if (cpu_has_mulx_adx())
		return &bls_ops_adx;
#endif
	return &bls_ops_portable;
}

__attribute__((constructor(101))) static void bls_arch_init(void)
{
	bls_ops = best_ops();
}

const char *bls_arch_name(void)
{
	return bls_ops->name;
}

void bls_set_portable(bool portable)
{
	bls_ops = portable ? &bls_ops_portable : best_ops();
}

#define X(type, fn, params, args) type fn params { return bls_ops->op_##fn args; }
BLS_OPS(X)
#undef X
