/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * driver.h - the CUDA driver, opened at run time
 *
 * Nothing of CUDA is linked: a host without a driver loads the engine and is
 * told so.  This table and the code that fills it are the only users of
 * dlsym; only ctx.c turns a CUresult into an errno.
 */
#ifndef CUZK_GPU_CUDA_DRIVER_H
#define CUZK_GPU_CUDA_DRIVER_H

#include <stddef.h>

#include "gpu/cuda/driver_abi.h"

/* name in the table, name in the library (its current ABI suffix), arguments */
#define CUDA_DRIVER_FUNCTIONS(X)								\
	X(init, "cuInit", (unsigned int flags))							\
	X(driver_version, "cuDriverGetVersion", (int *version))					\
	X(error_name, "cuGetErrorName", (CUresult error, const char **name))			\
	X(error_string, "cuGetErrorString", (CUresult error, const char **text))		\
	X(device_count, "cuDeviceGetCount", (int *count))					\
	X(device_get, "cuDeviceGet", (CUdevice *device, int ordinal))				\
	X(device_name, "cuDeviceGetName", (char *name, int len, CUdevice device))		\
	X(device_uuid, "cuDeviceGetUuid_v2", (CUuuid *uuid, CUdevice device))			\
	X(device_pci, "cuDeviceGetPCIBusId", (char *id, int len, CUdevice device))		\
	X(device_attribute, "cuDeviceGetAttribute",						\
	  (int *value, CUdevice_attribute attribute, CUdevice device))				\
	X(device_memory, "cuDeviceTotalMem_v2", (size_t *bytes, CUdevice device))		\
	X(ctx_retain, "cuDevicePrimaryCtxRetain", (CUcontext *ctx, CUdevice device))		\
	X(ctx_release, "cuDevicePrimaryCtxRelease_v2", (CUdevice device))			\
	X(ctx_set_current, "cuCtxSetCurrent", (CUcontext ctx))					\
	X(mem_info, "cuMemGetInfo_v2", (size_t *free, size_t *total))				\
	X(mem_alloc, "cuMemAlloc_v2", (CUdeviceptr *p, size_t bytes))				\
	X(mem_free, "cuMemFree_v2", (CUdeviceptr p))						\
	X(host_alloc, "cuMemHostAlloc", (void **p, size_t bytes, unsigned int flags))		\
	X(host_free, "cuMemFreeHost", (void *p))						\
	X(copy_up, "cuMemcpyHtoDAsync_v2",							\
	  (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))			\
	X(copy_down, "cuMemcpyDtoHAsync_v2",							\
	  (void *to, CUdeviceptr from, size_t bytes, CUstream stream))				\
	X(copy, "cuMemcpyDtoDAsync_v2",								\
	  (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))			\
	X(fill_u8, "cuMemsetD8Async",								\
	  (CUdeviceptr to, unsigned char value, size_t n, CUstream stream))			\
	X(fill_u32, "cuMemsetD32Async",								\
	  (CUdeviceptr to, unsigned int value, size_t n, CUstream stream))			\
	X(module_load, "cuModuleLoadData", (CUmodule *module, const void *image))		\
	X(module_unload, "cuModuleUnload", (CUmodule module))					\
	X(module_function, "cuModuleGetFunction",						\
	  (CUfunction *function, CUmodule module, const char *name))				\
	X(launch, "cuLaunchKernel",								\
	  (CUfunction function, unsigned int gx, unsigned int gy, unsigned int gz,		\
	   unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,		\
	   CUstream stream, void **args, void **extra))						\
	X(stream_create, "cuStreamCreate", (CUstream *stream, unsigned int flags))		\
	X(stream_create_priority, "cuStreamCreateWithPriority",					\
	  (CUstream *stream, unsigned int flags, int priority))				\
	X(stream_priorities, "cuCtxGetStreamPriorityRange", (int *least, int *greatest))	\
	X(stream_destroy, "cuStreamDestroy_v2", (CUstream stream))				\
	X(stream_query, "cuStreamQuery", (CUstream stream))					\
	X(stream_wait, "cuStreamSynchronize", (CUstream stream))				\
	X(event_create, "cuEventCreate", (CUevent *event, unsigned int flags))			\
	X(event_destroy, "cuEventDestroy_v2", (CUevent event))					\
	X(event_record, "cuEventRecord", (CUevent event, CUstream stream))			\
	X(event_query, "cuEventQuery", (CUevent event))						\
	X(event_wait, "cuEventSynchronize", (CUevent event))					\
	X(event_elapsed, "cuEventElapsedTime", (float *ms, CUevent start, CUevent end))		\
	X(stream_wait_event, "cuStreamWaitEvent",						\
	  (CUstream stream, CUevent event, unsigned int flags))

struct cuda_driver {
#define X(field, symbol, args) CUresult (*field) args;
	CUDA_DRIVER_FUNCTIONS(X)
#undef X
};

/* The oldest driver whose interface we use: CUDA 12.0. */
#define CUDA_DRIVER_VERSION_MIN 12000

/*
 * The driver, opened once a process and never closed.  NULL, and one line in
 * err (256 bytes), where there is none or it is too old.
 */
const struct cuda_driver *cuda_driver_get(char *err);

#endif
