/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fatbin.S - the compiled kernels, as data of the engine */
	.section .rodata
	.balign 64
	.globl cuda_fatbin_msm
	.hidden cuda_fatbin_msm
cuda_fatbin_msm:
	.incbin "gpu/cuda/kernels_msm.fatbin"
	.byte 0
	.balign 64
	.globl cuda_fatbin_fr
	.hidden cuda_fatbin_fr
cuda_fatbin_fr:
	.incbin "gpu/cuda/kernels_fr.fatbin"
	.byte 0
	.balign 64
	.globl cuda_fatbin_cs
	.hidden cuda_fatbin_cs
cuda_fatbin_cs:
	.incbin "gpu/cuda/kernels_cs.fatbin"
	.byte 0
	.balign 64
	.globl cuda_fatbin_points
	.hidden cuda_fatbin_points
cuda_fatbin_points:
	.incbin "gpu/cuda/kernels_points.fatbin"
	.byte 0
	.section .note.GNU-stack,"",@progbits
