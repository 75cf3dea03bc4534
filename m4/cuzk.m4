# SPDX-License-Identifier: MIT OR Apache-2.0

# CUZK_COMPILER_FLAGS
# Our own flags live in CUZK_CFLAGS and CUZK_LDFLAGS; CFLAGS and LDFLAGS stay the user's.
AC_DEFUN([CUZK_COMPILER_FLAGS], [
AC_ARG_ENABLE([werror],
	[AS_HELP_STRING([--enable-werror], [make compiler warnings errors (CI does)])],
	[], [enable_werror=no])
AC_ARG_ENABLE([verify],
	[AS_HELP_STRING([--enable-verify], [check the representation of every field element (slow)])],
	[], [enable_verify=no])
AS_IF([test "$enable_verify" = yes],
	[AC_DEFINE([CUZK_VERIFY], [1], [Check representations inside the arithmetic])])
CUZK_CFLAGS=
for flag in -std=gnu11 -fno-strict-aliasing -fvisibility=hidden -Wall -Wextra \
	    -Wmissing-prototypes -Wstrict-prototypes -Wpointer-arith -Wvla \
	    -Wimplicit-fallthrough -Wno-unused-parameter -Wno-missing-field-initializers \
	    -Wno-sign-compare; do
	_cuzk_save=$CFLAGS
	CFLAGS="$CFLAGS -Werror $flag"
	AC_MSG_CHECKING([whether $CC takes $flag])
	AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
		[AC_MSG_RESULT([yes]); CUZK_CFLAGS="$CUZK_CFLAGS $flag"],
		[AC_MSG_RESULT([no])])
	CFLAGS=$_cuzk_save
done
AS_IF([test "$enable_werror" = yes], [CUZK_CFLAGS="$CUZK_CFLAGS -Werror"])
CUZK_LDFLAGS=
AC_SUBST([CUZK_CFLAGS])
AC_SUBST([CUZK_LDFLAGS])
])

# CUZK_SANITIZER(NAME, KIND): --enable-NAME builds with -fsanitize=KIND.
# Asked for and unsupported is an error.
AC_DEFUN([CUZK_SANITIZER], [
AC_ARG_ENABLE([$1],
	[AS_HELP_STRING([--enable-$1], [build with -fsanitize=$2])],
	[], [enable_$1=no])
AS_IF([test "$enable_$1" = yes], [
	_cuzk_san="-fsanitize=$2 -fno-omit-frame-pointer m4_if([$1], [ubsan], [-fno-sanitize-recover=all])"
	_cuzk_save=$CFLAGS
	CFLAGS="$CFLAGS $_cuzk_san"
	AC_MSG_CHECKING([whether $CC links with -fsanitize=$2])
	AC_LINK_IFELSE([AC_LANG_PROGRAM()], [AC_MSG_RESULT([yes])],
		[AC_MSG_RESULT([no])
		 AC_MSG_ERROR([--enable-$1 was asked for, but $CC cannot link with it])])
	CFLAGS=$_cuzk_save
	CUZK_CFLAGS="$CUZK_CFLAGS $_cuzk_san"
	CUZK_LDFLAGS="$CUZK_LDFLAGS -fsanitize=$2"
])])

AC_DEFUN([CUZK_SANITIZERS], [
CUZK_SANITIZER([asan], [address])
CUZK_SANITIZER([ubsan], [undefined])
CUZK_SANITIZER([tsan], [thread])
AM_CONDITIONAL([SANITIZED], [test "$enable_asan$enable_ubsan$enable_tsan" != nonono])
AM_CONDITIONAL([ASAN], [test "$enable_asan" = yes])
])

# CUZK_FAST_X86: x86-64 gets fast paths next to the portable ones, chosen at run time.
AC_DEFUN([CUZK_FAST_X86], [
AC_ARG_ENABLE([x86],
	[AS_HELP_STRING([--disable-x86], [build the portable arithmetic only])],
	[], [enable_x86=auto])
cuzk_x86=no
AS_CASE([$host_cpu], [x86_64], [cuzk_x86=yes])
AS_IF([test "$enable_x86" = no], [cuzk_x86=no])
AS_IF([test "$cuzk_x86" = yes],
	[AC_DEFINE([CUZK_X86], [1], [Build the x86-64 fast paths])])
AM_CONDITIONAL([X86], [test "$cuzk_x86" = yes])
])

# CUZK_CUDA: nvcc compiles the kernels to a fatbin; nothing of CUDA is linked.
AC_DEFUN([CUZK_CUDA], [
AC_ARG_WITH([cuda],
	[AS_HELP_STRING([--with-cuda=auto|yes|no], [build the CUDA kernels (needs nvcc)])],
	[], [with_cuda=auto])
AC_ARG_VAR([NVCC], [the CUDA compiler])
AC_ARG_VAR([CUDA_ARCHS], [architectures to build kernels for, e.g. "75 80 86 89 90 100 120"])
cuzk_cuda=no
AS_IF([test "$with_cuda" != no], [
	AC_PATH_PROG([NVCC], [nvcc], [], [$PATH:/usr/local/cuda/bin])
	# that there is a program of that name says little: it must make an image
	AS_IF([test -n "$NVCC"], [
		AC_MSG_CHECKING([whether $NVCC makes kernels])
		rm -f conftest.cu conftest.fatbin
		echo 'extern "C" __global__ void f(unsigned *x) { x@<:@threadIdx.x@:>@++; }' >conftest.cu
		AS_IF([$NVCC -std=c++17 --fatbin -o conftest.fatbin conftest.cu >&AS_MESSAGE_LOG_FD 2>&1 &&
		       test -s conftest.fatbin], [cuzk_cuda=yes])
		rm -f conftest.cu conftest.fatbin
		AC_MSG_RESULT([$cuzk_cuda])
	])
	AS_IF([test "$cuzk_cuda:$with_cuda" = no:yes],
	      [AC_MSG_ERROR([--with-cuda was asked for, but there is no nvcc that works])])
])
: ${CUDA_ARCHS="75 80 86 89 90 100 120"}
# One virtual architecture, the oldest asked for, is enough: the kernels use
# nothing newer, the front end runs once instead of once for each, and its PTX
# serves cards to come.
CUDA_GENCODE=
for _cuzk_arch in $CUDA_ARCHS; do
	AS_IF([test -z "$CUDA_GENCODE"],
		[CUDA_GENCODE="-gencode arch=compute_$_cuzk_arch,code=@<:@compute_$_cuzk_arch"])
	CUDA_GENCODE="$CUDA_GENCODE,sm_$_cuzk_arch"
done
CUDA_GENCODE="$CUDA_GENCODE@:>@"
AC_SUBST([CUDA_GENCODE])
AC_ARG_VAR([NVCCFLAGS], [flags for the CUDA compiler])
# nvcc has one below it; the tests run the kernels on the host with it
AC_CHECK_PROGS([CXX], [g++ c++ clang++], [false])
AC_SUBST([CUDA_ARCHS])
AS_IF([test "$cuzk_cuda" = yes],
	[AC_DEFINE([HAVE_CUDA], [1], [Build the CUDA backend])])
AM_CONDITIONAL([CUDA], [test "$cuzk_cuda" = yes])
])
