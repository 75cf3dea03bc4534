/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-curve-group.h - the tests of one group, included by u-curve.c for G1 and for G2 */

/* a with another Z: the same point, other coordinates */
static void G(rescale)(POINT *r, const POINT *a, const FE *s)
{
	FE t;

	FIELD(sqr)(&t, s);
	FIELD(mul)(&r->x, &a->x, &t);
	FIELD(mul)(&t, &t, s);
	FIELD(mul)(&r->y, &a->y, &t);
	FIELD(mul)(&r->z, &a->z, s);
}

static void G(test)(void)
{
	POINT mult[N_SCALARS], t, u, v, inf;
	AFFINE aff[N_SCALARS], a, none = { FIELD(zero), FIELD(zero) };
	bool curve = true, any = true, glv = true, sum = true, assoc = true, fast = true, slow =
		true;
	bool batch = true, alias = true, twisted = true;
	int i, j, n_off = 0;
	FE s;

	G(set_infinity)(&inf);
	ok(G(affine_is_on_curve)(&GENERATOR) && G(in_subgroup_slow)(&GENERATOR) &&
	   G(in_subgroup)(&GENERATOR), "%s %s: generator", bls_arch_name(), GS);
	ok(G(affine_is_on_curve)(&none) && G(in_subgroup)(&none) && G(in_subgroup_slow)(&none) &&
	   G(is_on_curve)(&inf), "%s %s: infinity", bls_arch_name(), GS);

	/* k G by 1-bit double and add, the reference of what follows */
	for (i = 0; i < N_SCALARS; i++) {
		mult[i] = inf;
		for (j = 255; j >= 0; j--) {
			G(double)(&mult[i], &mult[i]);
			if (scalars[i].l[j / 64] >> (j % 64) & 1)
				G(add_affine)(&mult[i], &mult[i], &GENERATOR);
		}
		curve &= G(is_on_curve)(&mult[i]);
		G(mul_any_vartime)(&t, &GENERATOR, scalars[i].l, 4);
		any &= G(equal)(&t, &mult[i]);
		G(mul_vartime)(&t, &GENERATOR, &scalars[i]);
		glv &= G(equal)(&t, &mult[i]);
		G(mul_vartime)(&t, &none, &scalars[i]);
		glv &= G(is_infinity)(&t);
		G(mul_any_vartime)(&t, &none, scalars[i].l, 4);
		any &= G(is_infinity)(&t);
	}
	ok(curve, "%s %s: multiples are on the curve", bls_arch_name(), GS);
	ok(any, "%s %s: mul_any_vartime", bls_arch_name(), GS);
	ok(glv, "%s %s: mul_vartime", bls_arch_name(), GS);

	G(batch_to_affine)(aff, mult, N_SCALARS);
	for (i = 0; i < N_SCALARS; i++) {
		G(to_affine)(&a, &mult[i]);
		batch &= G(affine_equal)(&a, &aff[i]) && G(affine_is_on_curve)(&a);
		G(from_affine)(&t, &a);
		batch &= G(equal)(&t, &mult[i]);
		G(mul_any_vartime)(&u, &aff[i], scalars[(i + 5) % N_SCALARS].l, 4);
		G(mul_vartime)(&v, &aff[i], &scalars[(i + 5) % N_SCALARS]);
		glv &= G(equal)(&u, &v);
	}
	ok(batch, "%s %s: to_affine one by one and batched, infinity among them", bls_arch_name(),
	   GS);
	ok(glv, "%s %s: mul_vartime of other points", bls_arch_name(), GS);

	/* i + j: equal, opposite and infinite operands are among the small multiples */
	for (i = 0; i < N_SCALARS; i++) {
		for (j = 0; j < N_SCALARS; j++) {
			FIELD(double)(&s, &GENERATOR.x);
			G(rescale)(&v, &mult[j], &s);
			G(add)(&t, &mult[i], &v);
			G(add_affine)(&u, &mult[i], &aff[j]);
			sum &= G(equal)(&t, &u) && G(is_on_curve)(&t);
			if (i + j < 18)
				sum &= G(equal)(&t, &mult[i + j]);
			G(neg)(&v, &v);
			G(add)(&t, &t, &v);
			sum &= G(equal)(&t, &mult[i]);
			if (i == j)
				sum &= (G(add)(&t, &mult[i], &v), G(is_infinity)(&t));
			t = mult[i];
			G(add)(&t, &t, &mult[j]);
			v = mult[j];
			G(add)(&v, &mult[i], &v);
			alias &= G(equal)(&t, &u) && G(equal)(&v, &u);
			G(add)(&t, &t, &mult[(i + j) % N_SCALARS]);
			G(add)(&v, &mult[j], &mult[(i + j) % N_SCALARS]);
			G(add)(&v, &v, &mult[i]);
			assoc &= G(equal)(&t, &v);
		}
	}
	ok(sum, "%s %s: sums and differences", bls_arch_name(), GS);
	ok(alias, "%s %s: sums onto operands", bls_arch_name(), GS);
	ok(assoc, "%s %s: associativity", bls_arch_name(), GS);

	for (i = 0; i < N_SCALARS; i++)
		fast &= G(in_subgroup)(&aff[i]) && G(in_subgroup_slow)(&aff[i]);
	ok(fast, "%s %s: multiples of the generator pass the subgroup checks", bls_arch_name(), GS);
	for (i = 1; i < 60; i++) {
		POINT cofactor;

		if (!LIFT(&a, i))
			continue;
		n_off++;
		twisted &= G(affine_is_on_curve)(&a);
		fast &= !G(in_subgroup)(&a);
		slow &= !G(in_subgroup_slow)(&a);
		/* r a: the part of a of an order that divides the cofactor */
		G(mul_any_vartime)(&cofactor, &a, R_SCALAR.l, 4);
		G(to_affine)(&a, &cofactor);
		fast &= !G(in_subgroup)(&a);
		slow &= !G(in_subgroup_slow)(&a);
		G(add_affine)(&t, &cofactor, &GENERATOR);
		G(to_affine)(&a, &t);
		fast &= !G(in_subgroup)(&a);
		slow &= !G(in_subgroup_slow)(&a);
	}
	ok(twisted && n_off > 10, "%s %s: %d points outside the subgroup", bls_arch_name(), GS,
	   n_off);
	ok(fast, "%s %s: in_subgroup refuses them", bls_arch_name(), GS);
	ok(slow, "%s %s: in_subgroup_slow refuses them", bls_arch_name(), GS);
	a = GENERATOR;
	a.y = a.x;
	ok(!G(affine_is_on_curve)(&a), "%s %s: a point off the curve", bls_arch_name(), GS);
}
