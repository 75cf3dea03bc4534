/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * adx_x86_64.S - multiplication in Fp, Fp2 and Fr with mulx, adcx and adox
 *
 * mulx leaves the flags alone and adcx, adox keep one carry each in CF and
 * OF, so the low and the high halves of a row of products are added in two
 * carry chains at once.  Montgomery's reduction follows each row (CIOS) or
 * the whole product.  C prototypes and ranges are in fp_adx.h.
 *
 * Inside this file rows keep their limbs in registers that are renamed from
 * row to row: the lowest limb becomes 0 and its register the next top limb.
 */

	.section .rodata
	.balign	64
.Lp:
	.quad	0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624
	.quad	0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a
.Lp_inv:
	.quad	0x89f3fffcfffcfffd
	.balign	64
.Lzero:
	.quad	0, 0, 0, 0, 0, 0
	.balign	64
.Lr:
	.quad	0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48
.Lr_inv:
	.quad	0xfffffffeffffffff

	.text

.macro function name
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.balign	32
\name:
	.cfi_startproc
#ifdef __CET__
	endbr64
#endif
.endm

.macro end_function name
	.cfi_endproc
	.size	\name, . - \name
.endm

.macro save reg
	pushq	\reg
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset \reg, 0
.endm

.macro restore reg
	popq	\reg
	.cfi_adjust_cfa_offset -8
	.cfi_restore \reg
.endm

/* t0..t6 = rdx * src[0..5] */
.macro first_row src, t0, t1, t2, t3, t4, t5, t6
	mulx	0(\src), \t0, \t1
	mulx	8(\src), %rax, \t2
	addq	%rax, \t1
	mulx	16(\src), %rax, \t3
	adcq	%rax, \t2
	mulx	24(\src), %rax, \t4
	adcq	%rax, \t3
	mulx	32(\src), %rax, \t5
	adcq	%rax, \t4
	mulx	40(\src), %rax, \t6
	adcq	%rax, \t5
	adcq	$0, \t6
.endm

/* t0..t6 += rdx * src[0..5], t6 being fresh */
.macro row src, t0, t1, t2, t3, t4, t5, t6
	xorq	\t6, \t6
	mulx	0(\src), %rax, %rcx
	adcx	%rax, \t0
	adox	%rcx, \t1
	mulx	8(\src), %rax, %rcx
	adcx	%rax, \t1
	adox	%rcx, \t2
	mulx	16(\src), %rax, %rcx
	adcx	%rax, \t2
	adox	%rcx, \t3
	mulx	24(\src), %rax, %rcx
	adcx	%rax, \t3
	adox	%rcx, \t4
	mulx	32(\src), %rax, %rcx
	adcx	%rax, \t4
	adox	%rcx, \t5
	mulx	40(\src), %rax, %rcx
	adcx	%rax, \t5
	adox	%rcx, \t6
	movl	$0, %eax
	adcx	%rax, \t6
.endm

/* t0..t6 += q p with q = -t0 / p mod 2^64: t0 becomes 0 */
.macro reduce t0, t1, t2, t3, t4, t5, t6
	movq	\t0, %rdx
	imulq	.Lp_inv(%rip), %rdx
	xorl	%eax, %eax
	mulx	.Lp(%rip), %rax, %rcx
	adcx	%rax, \t0
	adox	%rcx, \t1
	mulx	.Lp+8(%rip), %rax, %rcx
	adcx	%rax, \t1
	adox	%rcx, \t2
	mulx	.Lp+16(%rip), %rax, %rcx
	adcx	%rax, \t2
	adox	%rcx, \t3
	mulx	.Lp+24(%rip), %rax, %rcx
	adcx	%rax, \t3
	adox	%rcx, \t4
	mulx	.Lp+32(%rip), %rax, %rcx
	adcx	%rax, \t4
	adox	%rcx, \t5
	mulx	.Lp+40(%rip), %rax, %rcx
	adcx	%rax, \t5
	adox	%rcx, \t6
	movl	$0, %eax
	adcx	%rax, \t6
.endm

/* (dst) = t0..t5 or that minus p; below 2p before */
.macro final_sub dst, t0, t1, t2, t3, t4, t5, s0, s1, s2, s3, s4, s5
	movq	\t0, \s0
	subq	.Lp(%rip), \t0
	movq	\t1, \s1
	sbbq	.Lp+8(%rip), \t1
	movq	\t2, \s2
	sbbq	.Lp+16(%rip), \t2
	movq	\t3, \s3
	sbbq	.Lp+24(%rip), \t3
	movq	\t4, \s4
	sbbq	.Lp+32(%rip), \t4
	movq	\t5, \s5
	sbbq	.Lp+40(%rip), \t5
	cmovcq	\s0, \t0
	cmovcq	\s1, \t1
	cmovcq	\s2, \t2
	cmovcq	\s3, \t3
	cmovcq	\s4, \t4
	cmovcq	\s5, \t5
	movq	\t0, 0(\dst)
	movq	\t1, 8(\dst)
	movq	\t2, 16(\dst)
	movq	\t3, 24(\dst)
	movq	\t4, 32(\dst)
	movq	\t5, 40(\dst)
.endm

/*
 * The three routines below are called inside this file only.  They take
 * pointers in registers and use rax, rcx, rdx, r8..r14; mont_mul and mont_redc
 * also rbp, rbx, rsi.
 */

/* (rdi) = (rsi) (rbx) / 2^384 */
	.type	mont_mul, @function
	.balign	32
mont_mul:
	.cfi_startproc
	movq	0(%rbx), %rdx
	first_row %rsi, %r8, %r9, %r10, %r11, %r12, %r13, %r14
	reduce	%r8, %r9, %r10, %r11, %r12, %r13, %r14
	movq	8(%rbx), %rdx
	row	%rsi, %r9, %r10, %r11, %r12, %r13, %r14, %r8
	reduce	%r9, %r10, %r11, %r12, %r13, %r14, %r8
	movq	16(%rbx), %rdx
	row	%rsi, %r10, %r11, %r12, %r13, %r14, %r8, %r9
	reduce	%r10, %r11, %r12, %r13, %r14, %r8, %r9
	movq	24(%rbx), %rdx
	row	%rsi, %r11, %r12, %r13, %r14, %r8, %r9, %r10
	reduce	%r11, %r12, %r13, %r14, %r8, %r9, %r10
	movq	32(%rbx), %rdx
	row	%rsi, %r12, %r13, %r14, %r8, %r9, %r10, %r11
	reduce	%r12, %r13, %r14, %r8, %r9, %r10, %r11
	movq	40(%rbx), %rdx
	row	%rsi, %r13, %r14, %r8, %r9, %r10, %r11, %r12
	reduce	%r13, %r14, %r8, %r9, %r10, %r11, %r12
	final_sub %rdi, %r14, %r8, %r9, %r10, %r11, %r12, %rax, %rcx, %rdx, %rsi, %rbx, %rbp
	ret
	.cfi_endproc
	.size	mont_mul, . - mont_mul

/* (rdi) = (rsi)^2 / 2^384 below 2p, for (rsi) below 2p; rdi, rsi, rbx stay */
	.type	mont_sqr_lazy, @function
	.balign	32
mont_sqr_lazy:
	.cfi_startproc
	movq	0(%rsi), %rdx
	first_row %rsi, %r8, %r9, %r10, %r11, %r12, %r13, %r14
	reduce	%r8, %r9, %r10, %r11, %r12, %r13, %r14
	movq	8(%rsi), %rdx
	row	%rsi, %r9, %r10, %r11, %r12, %r13, %r14, %r8
	reduce	%r9, %r10, %r11, %r12, %r13, %r14, %r8
	movq	16(%rsi), %rdx
	row	%rsi, %r10, %r11, %r12, %r13, %r14, %r8, %r9
	reduce	%r10, %r11, %r12, %r13, %r14, %r8, %r9
	movq	24(%rsi), %rdx
	row	%rsi, %r11, %r12, %r13, %r14, %r8, %r9, %r10
	reduce	%r11, %r12, %r13, %r14, %r8, %r9, %r10
	movq	32(%rsi), %rdx
	row	%rsi, %r12, %r13, %r14, %r8, %r9, %r10, %r11
	reduce	%r12, %r13, %r14, %r8, %r9, %r10, %r11
	movq	40(%rsi), %rdx
	row	%rsi, %r13, %r14, %r8, %r9, %r10, %r11, %r12
	reduce	%r13, %r14, %r8, %r9, %r10, %r11, %r12
	movq	%r14, 0(%rdi)
	movq	%r8, 8(%rdi)
	movq	%r9, 16(%rdi)
	movq	%r10, 24(%rdi)
	movq	%r11, 32(%rdi)
	movq	%r12, 40(%rdi)
	ret
	.cfi_endproc
	.size	mont_sqr_lazy, . - mont_sqr_lazy

/* 12 limbs (rdi) = (rsi) (rbx) */
	.type	wide_mul, @function
	.balign	32
wide_mul:
	.cfi_startproc
	movq	0(%rbx), %rdx
	first_row %rsi, %r8, %r9, %r10, %r11, %r12, %r13, %r14
	movq	8(%rbx), %rdx
	movq	%r8, 0(%rdi)
	row	%rsi, %r9, %r10, %r11, %r12, %r13, %r14, %r8
	movq	16(%rbx), %rdx
	movq	%r9, 8(%rdi)
	row	%rsi, %r10, %r11, %r12, %r13, %r14, %r8, %r9
	movq	24(%rbx), %rdx
	movq	%r10, 16(%rdi)
	row	%rsi, %r11, %r12, %r13, %r14, %r8, %r9, %r10
	movq	32(%rbx), %rdx
	movq	%r11, 24(%rdi)
	row	%rsi, %r12, %r13, %r14, %r8, %r9, %r10, %r11
	movq	40(%rbx), %rdx
	movq	%r12, 32(%rdi)
	row	%rsi, %r13, %r14, %r8, %r9, %r10, %r11, %r12
	movq	%r13, 40(%rdi)
	movq	%r14, 48(%rdi)
	movq	%r8, 56(%rdi)
	movq	%r9, 64(%rdi)
	movq	%r10, 72(%rdi)
	movq	%r11, 80(%rdi)
	movq	%r12, 88(%rdi)
	ret
	.cfi_endproc
	.size	wide_mul, . - wide_mul

/* (rdi) = 12 limbs (rsi) / 2^384, which are below p 2^384 */
	.type	mont_redc, @function
	.balign	32
mont_redc:
	.cfi_startproc
	movq	0(%rsi), %r8
	movq	8(%rsi), %r9
	movq	16(%rsi), %r10
	movq	24(%rsi), %r11
	movq	32(%rsi), %r12
	movq	40(%rsi), %r13
	xorl	%r14d, %r14d
	reduce	%r8, %r9, %r10, %r11, %r12, %r13, %r14
	xorl	%r8d, %r8d
	reduce	%r9, %r10, %r11, %r12, %r13, %r14, %r8
	xorl	%r9d, %r9d
	reduce	%r10, %r11, %r12, %r13, %r14, %r8, %r9
	xorl	%r10d, %r10d
	reduce	%r11, %r12, %r13, %r14, %r8, %r9, %r10
	xorl	%r11d, %r11d
	reduce	%r12, %r13, %r14, %r8, %r9, %r10, %r11
	xorl	%r12d, %r12d
	reduce	%r13, %r14, %r8, %r9, %r10, %r11, %r12
	addq	48(%rsi), %r14
	adcq	56(%rsi), %r8
	adcq	64(%rsi), %r9
	adcq	72(%rsi), %r10
	adcq	80(%rsi), %r11
	adcq	88(%rsi), %r12
	final_sub %rdi, %r14, %r8, %r9, %r10, %r11, %r12, %rax, %rcx, %rdx, %rsi, %rbx, %rbp
	ret
	.cfi_endproc
	.size	mont_redc, . - mont_redc

.macro save_all
	save	%rbx
	save	%rbp
	save	%r12
	save	%r13
	save	%r14
.endm

.macro restore_all
	restore	%r14
	restore	%r13
	restore	%r12
	restore	%rbp
	restore	%rbx
.endm

.macro frame size
	subq	$\size, %rsp
	.cfi_adjust_cfa_offset \size
.endm

.macro end_frame size
	addq	$\size, %rsp
	.cfi_adjust_cfa_offset -\size
.endm

function adx_fp_mul
	save_all
	movq	%rdx, %rbx
	call	mont_mul
	restore_all
	ret
end_function adx_fp_mul

function adx_fp_sqr
	save_all
	movq	%rsi, %rbx
	call	mont_mul
	restore_all
	ret
end_function adx_fp_sqr

function adx_fpw_redc
	save_all
	call	mont_redc
	restore_all
	ret
end_function adx_fpw_redc

/* r8, r9, r10, r11, rax, rcx hold six limbs: minus (src), plus (src), store */
.macro load6 src
	movq	0(\src), %r8
	movq	8(\src), %r9
	movq	16(\src), %r10
	movq	24(\src), %r11
	movq	32(\src), %rax
	movq	40(\src), %rcx
.endm

.macro add6 src
	addq	0(\src), %r8
	adcq	8(\src), %r9
	adcq	16(\src), %r10
	adcq	24(\src), %r11
	adcq	32(\src), %rax
	adcq	40(\src), %rcx
.endm

.macro sub6 src
	subq	0(\src), %r8
	sbbq	8(\src), %r9
	sbbq	16(\src), %r10
	sbbq	24(\src), %r11
	sbbq	32(\src), %rax
	sbbq	40(\src), %rcx
.endm

.macro store6 dst
	movq	%r8, 0(\dst)
	movq	%r9, 8(\dst)
	movq	%r10, 16(\dst)
	movq	%r11, 24(\dst)
	movq	%rax, 32(\dst)
	movq	%rcx, 40(\dst)
.endm

/* minus p unless below p; uses rdx, and tmp for a pointer */
.macro reduce6 tmp
	movq	%r8, %rdx
	subq	.Lp(%rip), %rdx
	movq	%r9, %rdx
	sbbq	.Lp+8(%rip), %rdx
	movq	%r10, %rdx
	sbbq	.Lp+16(%rip), %rdx
	movq	%r11, %rdx
	sbbq	.Lp+24(%rip), %rdx
	movq	%rax, %rdx
	sbbq	.Lp+32(%rip), %rdx
	movq	%rcx, %rdx
	sbbq	.Lp+40(%rip), %rdx
	leaq	.Lp(%rip), \tmp
	leaq	.Lzero(%rip), %rdx
	cmovcq	%rdx, \tmp
	sub6	\tmp
.endm

/* plus p if CF is set */
.macro add_p_if_carry tmp
	leaq	.Lzero(%rip), \tmp
	leaq	.Lp(%rip), %rdx
	cmovcq	%rdx, \tmp
	add6	\tmp
.endm

function adx_fp_add
	load6	%rsi
	add6	%rdx
	reduce6	%rsi
	store6	%rdi
	ret
end_function adx_fp_add

function adx_fp_sub
	load6	%rsi
	sub6	%rdx
	add_p_if_carry %rsi
	store6	%rdi
	ret
end_function adx_fp_sub

function adx_fp2_add
	movq	%rdx, %r8
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	movq	%r8, %rbx
	load6	%rsi
	add6	%rbx
	addq	$48, %rsi
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	reduce6	%rsi
	store6	%rdi
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	addq	$48, %rbx
	load6	%rsi
	add6	%rbx
	reduce6	%rsi
	addq	$48, %rdi
	store6	%rdi
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
end_function adx_fp2_add

function adx_fp2_sub
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	movq	%rdx, %rbx
	load6	%rsi
	sub6	%rbx
	leaq	48(%rsi), %rsi
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	add_p_if_carry %rsi
	store6	%rdi
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	addq	$48, %rbx
	load6	%rsi
	sub6	%rbx
	add_p_if_carry %rsi
	addq	$48, %rdi
	store6	%rdi
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
end_function adx_fp2_sub

/* r = a^(2^n), n > 0: only the last square is reduced below p */
function adx_fp_sqr_n
	save_all
	movl	%edx, %ebp
1:	call	mont_sqr_lazy
	movq	%rdi, %rsi
	decl	%ebp
	jnz	1b
	load6	%rdi
	reduce6	%rsi
	store6	%rdi
	restore_all
	ret
end_function adx_fp_sqr_n

/* 12 limbs at src + 0 and + 48: r = a + b and a - b modulo p 2^384 */
function adx_fpw_add
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	movq	%rdx, %rbx
	load6	%rsi
	add6	%rbx
	store6	%rdi
	movq	48(%rsi), %r8
	movq	56(%rsi), %r9
	movq	64(%rsi), %r10
	movq	72(%rsi), %r11
	movq	80(%rsi), %rax
	movq	88(%rsi), %rcx
	adcq	48(%rbx), %r8
	adcq	56(%rbx), %r9
	adcq	64(%rbx), %r10
	adcq	72(%rbx), %r11
	adcq	80(%rbx), %rax
	adcq	88(%rbx), %rcx
	reduce6	%rsi
	leaq	48(%rdi), %rdi
	store6	%rdi
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
end_function adx_fpw_add

function adx_fpw_sub
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	movq	%rdx, %rbx
	load6	%rsi
	sub6	%rbx
	store6	%rdi
	movq	48(%rsi), %r8
	movq	56(%rsi), %r9
	movq	64(%rsi), %r10
	movq	72(%rsi), %r11
	movq	80(%rsi), %rax
	movq	88(%rsi), %rcx
	sbbq	48(%rbx), %r8
	sbbq	56(%rbx), %r9
	sbbq	64(%rbx), %r10
	sbbq	72(%rbx), %r11
	sbbq	80(%rbx), %rax
	sbbq	88(%rbx), %rcx
	add_p_if_carry %rsi
	leaq	48(%rdi), %rdi
	store6	%rdi
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
end_function adx_fpw_sub

/*
 * c0 = a0 b0 - a1 b1, c1 = (a0 + a1)(b0 + b1) - a0 b0 - a1 b1, 12 limbs each,
 * called inside this file only: (rdi) = (rsi) (rbx), with 192 bytes at (rdi).
 * Frame: 0 a1 b1; 96, 144 the sums.
 */
	.type	fp2_wide, @function
	.balign	32
fp2_wide:
	.cfi_startproc
	frame	200
	movq	%rdi, 192(%rsp)
	load6	%rsi
	leaq	48(%rsi), %rdx
	add6	%rdx
	leaq	96(%rsp), %rbp
	store6	%rbp
	load6	%rbx
	leaq	48(%rbx), %rdx
	add6	%rdx
	leaq	144(%rsp), %rbp
	store6	%rbp

	call	wide_mul		/* a0 b0 */
	addq	$48, %rsi
	addq	$48, %rbx
	leaq	0(%rsp), %rdi
	call	wide_mul		/* a1 b1 */
	leaq	96(%rsp), %rsi
	leaq	144(%rsp), %rbx
	movq	192(%rsp), %rdi
	addq	$96, %rdi
	call	wide_mul

	/* that minus both, which is not negative: two chains over two halves */
	movq	192(%rsp), %rsi
	load6	%rdi
	sub6	%rsi
	sbbq	%rbx, %rbx
	sub6	%rsp
	sbbq	%rbp, %rbp
	store6	%rdi
	addq	$48, %rdi
	addq	$48, %rsi
	load6	%rdi
	addq	%rbx, %rbx
	sbbq	0(%rsi), %r8
	sbbq	8(%rsi), %r9
	sbbq	16(%rsi), %r10
	sbbq	24(%rsi), %r11
	sbbq	32(%rsi), %rax
	sbbq	40(%rsi), %rcx
	addq	%rbp, %rbp
	sbbq	48(%rsp), %r8
	sbbq	56(%rsp), %r9
	sbbq	64(%rsp), %r10
	sbbq	72(%rsp), %r11
	sbbq	80(%rsp), %rax
	sbbq	88(%rsp), %rcx
	store6	%rdi

	/* a0 b0 - a1 b1, plus p 2^384 if negative */
	movq	192(%rsp), %rdi
	load6	%rdi
	sub6	%rsp
	store6	%rdi
	movq	48(%rdi), %r8
	movq	56(%rdi), %r9
	movq	64(%rdi), %r10
	movq	72(%rdi), %r11
	movq	80(%rdi), %rax
	movq	88(%rdi), %rcx
	sbbq	48(%rsp), %r8
	sbbq	56(%rsp), %r9
	sbbq	64(%rsp), %r10
	sbbq	72(%rsp), %r11
	sbbq	80(%rsp), %rax
	sbbq	88(%rsp), %rcx
	add_p_if_carry %rsi
	leaq	48(%rdi), %rsi
	store6	%rsi
	end_frame 200
	ret
	.cfi_endproc
	.size	fp2_wide, . - fp2_wide

function adx_fp2w_mul
	save_all
	movq	%rdx, %rbx
	call	fp2_wide
	restore_all
	ret
end_function adx_fp2w_mul

function adx_fp2w_redc
	save_all
	leaq	96(%rsi), %rdx
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	call	mont_redc
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	addq	$48, %rdi
	call	mont_redc
	restore_all
	ret
end_function adx_fp2w_redc

function adx_fp2_mul
	save_all
	frame	200
	movq	%rdi, 192(%rsp)
	movq	%rdx, %rbx
	leaq	0(%rsp), %rdi
	call	fp2_wide
	leaq	0(%rsp), %rsi
	movq	192(%rsp), %rdi
	call	mont_redc
	leaq	96(%rsp), %rsi
	addq	$48, %rdi
	call	mont_redc
	end_frame 200
	restore_all
	ret
end_function adx_fp2_mul

/*
 * c0 = (a0 + a1)(a0 - a1), c1 = 2 a0 a1; sums and difference unreduced, below 2p.
 * Frame: 0, 48, 96 a0 + a1, a0 - a1, 2 a0; 144 a1; 192 r.
 */
function adx_fp2_sqr
	save_all
	frame	200
	movq	%rdi, 192(%rsp)
	leaq	48(%rsi), %rbx
	load6	%rsi
	add6	%rbx
	leaq	0(%rsp), %rdi
	store6	%rdi
	load6	%rsi
	sub6	%rbx
	add_p_if_carry %rbp
	leaq	48(%rsp), %rdi
	store6	%rdi
	load6	%rsi
	add6	%rsi
	leaq	96(%rsp), %rdi
	store6	%rdi
	load6	%rbx
	leaq	144(%rsp), %rdi
	store6	%rdi

	leaq	0(%rsp), %rsi
	leaq	48(%rsp), %rbx
	movq	192(%rsp), %rdi
	call	mont_mul
	leaq	96(%rsp), %rsi
	leaq	144(%rsp), %rbx
	movq	192(%rsp), %rdi
	addq	$48, %rdi
	call	mont_mul
	end_frame 200
	restore_all
	ret
end_function adx_fp2_sqr

/* Fr: the same rows of four limbs */

.macro fr_row src, t0, t1, t2, t3, t4
	xorq	\t4, \t4
	mulx	0(\src), %rax, %rcx
	adcx	%rax, \t0
	adox	%rcx, \t1
	mulx	8(\src), %rax, %rcx
	adcx	%rax, \t1
	adox	%rcx, \t2
	mulx	16(\src), %rax, %rcx
	adcx	%rax, \t2
	adox	%rcx, \t3
	mulx	24(\src), %rax, %rcx
	adcx	%rax, \t3
	adox	%rcx, \t4
	movl	$0, %eax
	adcx	%rax, \t4
.endm

.macro fr_reduce t0, t1, t2, t3, t4
	movq	\t0, %rdx
	imulq	.Lr_inv(%rip), %rdx
	xorl	%eax, %eax
	mulx	.Lr(%rip), %rax, %rcx
	adcx	%rax, \t0
	adox	%rcx, \t1
	mulx	.Lr+8(%rip), %rax, %rcx
	adcx	%rax, \t1
	adox	%rcx, \t2
	mulx	.Lr+16(%rip), %rax, %rcx
	adcx	%rax, \t2
	adox	%rcx, \t3
	mulx	.Lr+24(%rip), %rax, %rcx
	adcx	%rax, \t3
	adox	%rcx, \t4
	movl	$0, %eax
	adcx	%rax, \t4
.endm

function adx_fr_mul
	save	%rbx
	save	%r12
	movq	%rdx, %rbx
	movq	0(%rbx), %rdx
	mulx	0(%rsi), %r8, %r9
	mulx	8(%rsi), %rax, %r10
	addq	%rax, %r9
	mulx	16(%rsi), %rax, %r11
	adcq	%rax, %r10
	mulx	24(%rsi), %rax, %r12
	adcq	%rax, %r11
	adcq	$0, %r12
	fr_reduce %r8, %r9, %r10, %r11, %r12
	movq	8(%rbx), %rdx
	fr_row	%rsi, %r9, %r10, %r11, %r12, %r8
	fr_reduce %r9, %r10, %r11, %r12, %r8
	movq	16(%rbx), %rdx
	fr_row	%rsi, %r10, %r11, %r12, %r8, %r9
	fr_reduce %r10, %r11, %r12, %r8, %r9
	movq	24(%rbx), %rdx
	fr_row	%rsi, %r11, %r12, %r8, %r9, %r10
	fr_reduce %r11, %r12, %r8, %r9, %r10
	movq	%r12, %rax
	subq	.Lr(%rip), %r12
	movq	%r8, %rcx
	sbbq	.Lr+8(%rip), %r8
	movq	%r9, %rdx
	sbbq	.Lr+16(%rip), %r9
	movq	%r10, %rsi
	sbbq	.Lr+24(%rip), %r10
	cmovcq	%rax, %r12
	cmovcq	%rcx, %r8
	cmovcq	%rdx, %r9
	cmovcq	%rsi, %r10
	movq	%r12, 0(%rdi)
	movq	%r8, 8(%rdi)
	movq	%r9, 16(%rdi)
	movq	%r10, 24(%rdi)
	restore	%r12
	restore	%rbx
	ret
end_function adx_fr_mul

.macro fr_store
	movq	%r8, 0(%rdi)
	movq	%r9, 8(%rdi)
	movq	%r10, 16(%rdi)
	movq	%r11, 24(%rdi)
.endm

function adx_fr_add
	movq	0(%rsi), %r8
	movq	8(%rsi), %r9
	movq	16(%rsi), %r10
	movq	24(%rsi), %r11
	addq	0(%rdx), %r8
	adcq	8(%rdx), %r9
	adcq	16(%rdx), %r10
	adcq	24(%rdx), %r11
	movq	%r8, %rax
	subq	.Lr(%rip), %r8
	movq	%r9, %rcx
	sbbq	.Lr+8(%rip), %r9
	movq	%r10, %rdx
	sbbq	.Lr+16(%rip), %r10
	movq	%r11, %rsi
	sbbq	.Lr+24(%rip), %r11
	cmovcq	%rax, %r8
	cmovcq	%rcx, %r9
	cmovcq	%rdx, %r10
	cmovcq	%rsi, %r11
	fr_store
	ret
end_function adx_fr_add

function adx_fr_sub
	movq	0(%rsi), %r8
	movq	8(%rsi), %r9
	movq	16(%rsi), %r10
	movq	24(%rsi), %r11
	subq	0(%rdx), %r8
	sbbq	8(%rdx), %r9
	sbbq	16(%rdx), %r10
	sbbq	24(%rdx), %r11
	leaq	.Lzero(%rip), %rax
	leaq	.Lr(%rip), %rcx
	cmovcq	%rcx, %rax
	addq	0(%rax), %r8
	adcq	8(%rax), %r9
	adcq	16(%rax), %r10
	adcq	24(%rax), %r11
	fr_store
	ret
end_function adx_fr_sub

	.section .note.GNU-stack, "", @progbits
