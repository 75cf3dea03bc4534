/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fake-libcuda.cc - a CUDA driver without a device, for tests
 *
 * Built as libcuda.so.1 in a folder of its own and found through
 * LD_LIBRARY_PATH.  Device memory is host memory; a launch runs the kernel's
 * own source on the emulator (gpu/cuda/emu.h), at once.  It can be told to fail:
 *
 *   FAKE_CUDA_FAIL=CALL:N:ERROR[,...]   the N-th call of CALL (from 1; 0: every
 *                                       one) answers ERROR; sticky errors stay
 *   FAKE_CUDA_DEVICES=N                 how many devices there are (default 1)
 *   FAKE_CUDA_ORDER=reverse             listed the other way round
 *   FAKE_CUDA_MEMORY=BYTES              of each device (default 2 GiB)
 *   FAKE_CUDA_VERSION=V                 what cuDriverGetVersion says
 *   FAKE_CUDA_STREAMS=FILE              at the end: a line "PRIORITY LAUNCHES" for each
 *                                       stream that had any
 *
 * Threads may call it as they may call the real one; launches of all streams
 * run one at a time.
 */
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gpu/cuda/driver_abi.h"
#include "gpu/cuda/emu.h"
#include "gpu/cuda/kernels.h"
#include "gpu/cuda/kernels_msm.cu"
#include "gpu/cuda/kernels_fr.cu"
#include "gpu/cuda/kernels_cs.cu"
#include "gpu/cuda/kernels_points.cu"

/* ---- kernels by name ---- */

typedef void (*trampoline)(emu_dim3 grid, emu_dim3 block, size_t shared, void **args);

template <auto K> struct launcher;
template <class... A, void (*K)(A...)> struct launcher<K> {
	template <size_t... I>
	static void call(emu_dim3 grid, emu_dim3 block, size_t shared, void **args,
			 std::index_sequence<I...>)
	{
		emu_launch(grid, block, shared, K, *(A *)args[I]...);
	}
	static void run(emu_dim3 grid, emu_dim3 block, size_t shared, void **args)
	{
		(void)args;
		call(grid, block, shared, args, std::index_sequence_for<A...>());
	}
};

static const std::map<std::string, trampoline> kernels = {
#define X(name) { #name, launcher<&name>::run },
	CUDA_KERNELS(X)
#undef X
};

/* ---- failures on demand ---- */

static CUresult sticky_error = CUDA_SUCCESS;
static std::map<std::string, unsigned long> calls;

static bool is_sticky(CUresult r)
{
	return r == CUDA_ERROR_ILLEGAL_ADDRESS || r == CUDA_ERROR_LAUNCH_FAILED ||
	       r == CUDA_ERROR_ECC_UNCORRECTABLE || r == CUDA_ERROR_LAUNCH_TIMEOUT;
}

static std::recursive_mutex state_lock;	/* of all that is static but the emulator */
typedef std::lock_guard<std::recursive_mutex> guard;

static CUresult enter(const char *call)
{
	guard hold(state_lock);
	const char *plan = getenv("FAKE_CUDA_FAIL");
	unsigned long n = ++calls[call];

	if (sticky_error != CUDA_SUCCESS)
		return sticky_error;
	while (plan && *plan) {
		char name[64];
		unsigned long at;
		int error, used = 0;

		if (sscanf(plan, "%63[^:]:%lu:%d%n", name, &at, &error, &used) != 3)
			break;
		if (strcmp(name, call) == 0 && (at == 0 || at == n)) {
			if (is_sticky((CUresult)error))
				sticky_error = (CUresult)error;
			return (CUresult)error;
		}
		plan += used;
		if (*plan == ',')
			plan++;
	}
	return CUDA_SUCCESS;
}

#define ENTER()							\
	do {							\
		CUresult r_ = enter(__func__);			\
		if (r_ != CUDA_SUCCESS)				\
			return r_;				\
	} while (0)

static unsigned long env_number(const char *name, unsigned long def)
{
	const char *s = getenv(name);

	return s ? strtoul(s, NULL, 0) : def;
}

static size_t memory_size(void)
{
	return env_number("FAKE_CUDA_MEMORY", 2ul << 30);
}

#define BIG (64ul << 20)

static size_t memory_used;
static std::map<CUdeviceptr, size_t> allocations;

/* device i of the list, by what is written on it */
static int identity(CUdevice device)
{
	const char *order = getenv("FAKE_CUDA_ORDER");
	int n = (int)env_number("FAKE_CUDA_DEVICES", 1);

	return order && strcmp(order, "reverse") == 0 ? n - 1 - device : device;
}

/* Streams, kept beyond their end for the account. */
struct fake_stream {
	int priority;
	unsigned long launches;
};

static struct stream_list {
	std::vector<std::unique_ptr<fake_stream>> list;
	~stream_list()
	{
		const char *path = getenv("FAKE_CUDA_STREAMS");
		FILE *f = path ? fopen(path, "w") : NULL;

		for (auto &s : list)
			if (f && s->launches)
				fprintf(f, "%d %lu\n", s->priority, s->launches);
		if (f)
			fclose(f);
	}
} streams;

extern "C" {

CUresult cuInit(unsigned int) { ENTER(); return CUDA_SUCCESS; }

CUresult cuDriverGetVersion(int *version)
{
	*version = (int)env_number("FAKE_CUDA_VERSION", 13000);
	return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
	switch (error) {
	case CUDA_ERROR_OUT_OF_MEMORY: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
	case CUDA_ERROR_ILLEGAL_ADDRESS: *name = "CUDA_ERROR_ILLEGAL_ADDRESS"; break;
	case CUDA_ERROR_NO_DEVICE: *name = "CUDA_ERROR_NO_DEVICE"; break;
	default: *name = "CUDA_ERROR_FAKE"; break;
	}
	return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult, const char **text)
{
	*text = "told to fail";
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
	ENTER();
	*count = (int)env_number("FAKE_CUDA_DEVICES", 1);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	ENTER();
	*device = ordinal;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice device)
{
	snprintf(name, (size_t)len, "fake device %d", identity(device));
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
	ENTER();
	memset(uuid, 0xa0 + identity(device), sizeof(*uuid));
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int len, CUdevice device)
{
	snprintf(id, (size_t)len, "0000:%02x:00.0", 0x10 + identity(device));
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice)
{
	ENTER();
	*value = attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT ? 1 : 0;
	return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice)
{
	*bytes = memory_size();
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice)
{
	ENTER();
	*ctx = (CUcontext)&calls;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext) { ENTER(); return CUDA_SUCCESS; }

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	ENTER();
	*total = memory_size();
	*free_bytes = *total - memory_used;
	return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t bytes)
{
	guard hold(state_lock);
	void *mem;

	ENTER();
	if (bytes > memory_size() - memory_used)
		return CUDA_ERROR_OUT_OF_MEMORY;
	/* what nobody wrote must not look like zeros; big ranges are left to the pages */
	if (bytes > BIG) {
		mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (mem == MAP_FAILED)
			return CUDA_ERROR_OUT_OF_MEMORY;
	} else {
		if (posix_memalign(&mem, 512, bytes))
			return CUDA_ERROR_OUT_OF_MEMORY;
		memset(mem, 0xa5, bytes);
	}
	*p = (CUdeviceptr)mem;
	allocations[*p] = bytes;
	memory_used += bytes;
	return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr p)
{
	guard hold(state_lock);
	auto it = allocations.find(p);

	if (it == allocations.end())
		return CUDA_ERROR_INVALID_VALUE;
	memory_used -= it->second;
	if (it->second > BIG)
		munmap((void *)p, it->second);
	else
		free((void *)p);
	allocations.erase(it);
	return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **p, size_t bytes, unsigned int)
{
	ENTER();
	return posix_memalign(p, 4096, bytes) ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

CUresult cuMemFreeHost(void *p)
{
	free(p);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream)
{
	ENTER();
	memcpy((void *)to, from, bytes);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream)
{
	ENTER();
	memcpy(to, (const void *)from, bytes);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream)
{
	ENTER();
	memmove((void *)to, (const void *)from, bytes);
	return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n, CUstream)
{
	ENTER();
	memset((void *)to, value, n);
	return CUDA_SUCCESS;
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t n, CUstream)
{
	ENTER();
	for (size_t i = 0; i < n; i++)
		((unsigned int *)to)[i] = value;
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	ENTER();
	*module = (CUmodule)image;
	return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }

CUresult cuModuleGetFunction(CUfunction *function, CUmodule, const char *name)
{
	ENTER();
	auto it = kernels.find(name);

	if (it == kernels.end())
		return CUDA_ERROR_NOT_FOUND;
	*function = (CUfunction)&*it;
	return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int gx, unsigned int gy, unsigned int gz,
			unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			CUstream stream, void **args, void **)
{
	static std::mutex emulator_lock;
	auto *k = (const std::pair<const std::string, trampoline> *)function;

	ENTER();
	if (!stream || !gx || !gy || !gz || bx * by * bz > 1024)
		return CUDA_ERROR_INVALID_VALUE;
	std::lock_guard<std::mutex> hold(emulator_lock);
	((struct fake_stream *)stream)->launches++;
	k->second(dim3(gx, gy, gz), dim3(bx, by, bz), shared, args);
	return CUDA_SUCCESS;
}

static CUresult make_stream(CUstream *stream, int priority)
{
	guard hold(state_lock);

	if (priority < -5 || priority > 0)
		return CUDA_ERROR_INVALID_VALUE;
	streams.list.emplace_back(new fake_stream{ priority, 0 });
	*stream = (CUstream)streams.list.back().get();
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned int) { ENTER(); return make_stream(stream, 0); }
CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int, int priority)
{
	ENTER();
	return make_stream(stream, priority);
}
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	ENTER();
	*least = 0;
	*greatest = -5;
	return CUDA_SUCCESS;
}
CUresult cuStreamDestroy_v2(CUstream) { return CUDA_SUCCESS; }
CUresult cuStreamQuery(CUstream) { ENTER(); return CUDA_SUCCESS; }
CUresult cuStreamSynchronize(CUstream) { ENTER(); return CUDA_SUCCESS; }
CUresult cuEventCreate(CUevent *event, unsigned int) { ENTER(); *event = NULL; return CUDA_SUCCESS; }
CUresult cuEventDestroy_v2(CUevent) { return CUDA_SUCCESS; }
CUresult cuEventRecord(CUevent, CUstream) { ENTER(); return CUDA_SUCCESS; }
CUresult cuEventQuery(CUevent) { return CUDA_SUCCESS; }
CUresult cuEventSynchronize(CUevent) { ENTER(); return CUDA_SUCCESS; }
CUresult cuEventElapsedTime(float *ms, CUevent, CUevent) { *ms = 0; return CUDA_SUCCESS; }
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned int) { return CUDA_SUCCESS; }

}
