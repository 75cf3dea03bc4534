/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * fake-libcuda.cc - a CUDA driver without a device, for tests
 *
 * Built as libcuda.so.1 in a folder of its own and found through
 * LD_LIBRARY_PATH.  Device memory is host memory; a launch runs the kernel's
 * own source on the emulator (gpu/cuda/emu.h), at once.  It can be told to fail,
 * by variables or, since instances get a clean environment, by lines of the file
 * "settings" beside the library:
 *
 *   FAKE_CUDA_FAIL=CALL:N:ERROR[,...]   the N-th call of CALL (from 1; 0: every
 *                                       one) answers ERROR, a number; sticky
 *                                       errors stay.  "hang", "crash": it does;
 *                                       "flip": a copy to the host has one bit wrong
 *   FAKE_CUDA_SMALL=BYTES               copies to the host of fewer do not count
 *   FAKE_CUDA_FAIL_DEVICE=I             only in a process that opened device I
 *   FAKE_CUDA_TOKEN=FILE                calls are counted while there is the file;
 *                                       each failure takes it away
 *   FAKE_CUDA_DEVICES=N                 how many devices there are (default 1)
 *   FAKE_CUDA_ORDER=reverse             listed the other way round
 *   FAKE_CUDA_MEMORY=BYTES              of each device (default 2 GiB)
 *   FAKE_CUDA_VERSION=V                 what cuDriverGetVersion says
 *   FAKE_CUDA_STREAMS=FILE              at the end: a line "PRIORITY LAUNCHES" for each
 *                                       stream that had any
 *   FAKE_CUDA_COPY_KBPS=N               kilobytes a second of a copy to the device, while
 *                                       there is the token
 *   FAKE_CUDA_COUNT=FILE                FILE.I of the opened device I gets "PID DEVICES
 *                                       BYTES-UP BYTES-DOWN", as seen and moved by the process
 *
 * Like the real one it shows a process only what CUDA_VISIBLE_DEVICES lists.
 * Threads may call it as they may call the real one; launches of all streams
 * run one at a time.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

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

/* ---- what it is told ---- */

static std::map<std::string, std::string> read_settings()
{
	std::map<std::string, std::string> all;
	char line[1024], *equals;
	std::string path;
	Dl_info info;
	FILE *f;

	if (!dladdr((void *)read_settings, &info))
		return all;
	path = info.dli_fname;
	path = path.substr(0, path.rfind('/') + 1) + "settings";
	f = fopen(path.c_str(), "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		equals = strchr(line, '=');
		if (equals)
			all[std::string(line, equals - line)] = equals + 1;
	}
	if (f)
		fclose(f);
	return all;
}

static const char *setting(const char *name)
{
	static const std::map<std::string, std::string> settings = read_settings();
	const char *value = getenv(name);
	auto it = settings.find(name);

	return value ? value : it == settings.end() ? NULL : it->second.c_str();
}

static unsigned long number(const char *name, unsigned long def)
{
	const char *s = setting(name);

	return s ? strtoul(s, NULL, 0) : def;
}

/* ---- failures on demand ---- */

static CUresult sticky_error = CUDA_SUCCESS;
static int opened = -1;		/* device whose context this process has */
static thread_local bool flip;	/* the copy that is being made */
static std::map<std::string, unsigned long> calls;

static bool is_sticky(CUresult r)
{
	return r == CUDA_ERROR_ILLEGAL_ADDRESS || r == CUDA_ERROR_LAUNCH_FAILED ||
	       r == CUDA_ERROR_ECC_UNCORRECTABLE || r == CUDA_ERROR_LAUNCH_TIMEOUT;
}

static std::recursive_mutex state_lock;	/* of all that is static but the emulator */
typedef std::lock_guard<std::recursive_mutex> guard;

static CUresult fail(const char *how)
{
	CUresult error = (CUresult)atoi(how);

	if (!strcmp(how, "hang"))
		for (;;)
			pause();
	if (!strcmp(how, "crash")) {
		prctl(PR_SET_DUMPABLE, 0);	/* on purpose: it leaves no core */
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
	}
	flip = !strcmp(how, "flip");
	if (is_sticky(error))
		sticky_error = error;
	return error;
}

static CUresult enter(const char *call)
{
	guard hold(state_lock);
	const char *plan = setting("FAKE_CUDA_FAIL"), *token = setting("FAKE_CUDA_TOKEN");
	const char *device = setting("FAKE_CUDA_FAIL_DEVICE");
	unsigned long n;

	if (sticky_error != CUDA_SUCCESS)
		return sticky_error;
	if ((token && access(token, F_OK)) || (device && atoi(device) != opened))
		return CUDA_SUCCESS;
	n = ++calls[call];
	while (plan && *plan) {
		char name[64], how[16];
		unsigned long at;
		int used = 0;

		if (sscanf(plan, "%63[^:]:%lu:%15[^,]%n", name, &at, how, &used) != 3)
			break;
		if (strcmp(name, call) == 0 && (at == 0 || at == n) && !(token && unlink(token)))
			return fail(how);
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

static size_t memory_size(void)
{
	return number("FAKE_CUDA_MEMORY", 2ul << 30);
}

#define BIG (64ul << 20)

static size_t memory_used;
static std::map<CUdeviceptr, size_t> allocations;

static void uuid_of(int device, CUuuid *uuid)
{
	memset(uuid, 0xa0 + device, sizeof(*uuid));
}

static std::string uuid_name(int device)
{
	std::string text = "GPU-";
	char byte[3];
	int i;

	snprintf(byte, sizeof(byte), "%02x", 0xa0 + device);
	for (i = 0; i < 16; i++)
		text += (i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(byte);
	return text;
}

/* The devices that this process sees, in the order in which they are listed. */
static const std::vector<int> &visible()
{
	static std::vector<int> list;
	static bool made;
	const char *order = setting("FAKE_CUDA_ORDER"), *only = getenv("CUDA_VISIBLE_DEVICES");
	int n = (int)number("FAKE_CUDA_DEVICES", 1), i;

	for (i = 0; i < n && !made; i++) {
		int device = order && strcmp(order, "reverse") == 0 ? n - 1 - i : i;

		if (!only || (*only && strstr(only, uuid_name(device).c_str())))
			list.push_back(device);
	}
	made = true;
	return list;
}

/* device i of the list, by what is written on it */
static int identity(CUdevice device)
{
	return visible().at(device);
}

/* ---- copies ---- */

static unsigned long bytes_up, bytes_down;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void count_copies(size_t up, size_t down)
{
	guard hold(state_lock);
	const char *path = setting("FAKE_CUDA_COUNT");
	std::string name, temporary;
	FILE *f;

	bytes_up += up;
	bytes_down += down;
	if (!path)
		return;
	name = std::string(path) + "." + std::to_string(opened);
	temporary = name + ".new";
	f = fopen(temporary.c_str(), "we");
	if (!f)
		return;
	fprintf(f, "%d %zu %lu %lu\n", (int)getpid(), visible().size(), bytes_up, bytes_down);
	fclose(f);
	rename(temporary.c_str(), name.c_str());
}

static void take_time(size_t bytes)
{
	unsigned long rate = number("FAKE_CUDA_COPY_KBPS", 0);
	const char *token = setting("FAKE_CUDA_TOKEN");
	uint64_t end = now_ns() + (rate ? bytes * 1000000 / rate : 0);

	if (token && access(token, F_OK))
		return;
	while (now_ns() < end)
		;
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
		const char *path = setting("FAKE_CUDA_STREAMS");
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
	*version = (int)number("FAKE_CUDA_VERSION", 13000);
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
	*count = (int)visible().size();
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
	uuid_of(identity(device), uuid);
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

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice device)
{
	opened = identity(device);
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
	take_time(bytes);
	count_copies(bytes, 0);
	return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream)
{
	flip = false;
	if (bytes >= number("FAKE_CUDA_SMALL", 0)) {
		ENTER();
	} else if (sticky_error != CUDA_SUCCESS) {
		return sticky_error;
	}
	memcpy(to, (const void *)from, bytes);
	if (flip && bytes)
		((char *)to)[bytes / 3] ^= 1;
	count_copies(0, bytes);
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

/* an event is the time at which it was recorded: what was before it is done */
CUresult cuEventCreate(CUevent *event, unsigned int)
{
	ENTER();
	*event = (CUevent)calloc(1, sizeof(uint64_t));
	return *event ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuEventDestroy_v2(CUevent event)
{
	free((void *)event);
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream)
{
	ENTER();
	*(uint64_t *)event = now_ns();
	return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end)
{
	*ms = (float)(*(uint64_t *)end - *(uint64_t *)start) / 1e6f;
	return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent) { return CUDA_SUCCESS; }
CUresult cuEventSynchronize(CUevent) { ENTER(); return CUDA_SUCCESS; }
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned int) { return CUDA_SUCCESS; }

}
