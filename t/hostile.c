/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * hostile.c - a prover that does what no library may do, for the test of foreign engines
 *
 * The sector's number says what; any other is proved: 192 times the number's last byte.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum deed {
	LATIN1 = 100, STDOUT, GRANDCHILD, CLOSE_ALL, EXIT_0, DEAF, QUIT_0, HUGE_SIZE, ENDLESS,
	CLOSE_STDIO, THREAD_EXIT, STOP, TALK, FILL_ROOM, NO_FILES, HALF_WORD, CHECK_WORDS,
};

EXPORT int hostile_check(uint64_t sector, char *error, size_t room);
EXPORT int hostile_prove(uint64_t sector, uint8_t *proof, size_t *size, char *error, size_t room);
EXPORT bool hostile_verify(uint64_t sector, const uint8_t *proof);
EXPORT const char *hostile_error(void);

static const char *words = "";

/* Words without an end: what follows them cannot be read. */
static const char *endless(void)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return "";
	memset(p, 'e', 8192);
	return p;
}

static void grandchild(void)
{
	if (fork())
		return;
	signal(SIGTERM, SIG_IGN);
	pause();
	_exit(0);
}

int hostile_check(uint64_t sector, char *error, size_t room)
{
	if (sector != CHECK_WORDS)
		return 0;
	snprintf(error, room, "non \xc3\xa9\n\x1b[31m\xe9\xff");
	return -1;
}

int hostile_prove(uint64_t sector, uint8_t *proof, size_t *size, char *error, size_t room)
{
	struct rlimit none = { 0, 0 };
	int i;

	memset(proof, (int)sector, 192);
	words = "";
	switch (sector) {
	case LATIN1:
		words = "\xe9" "chec\n\x1b[31m \xf0\x9f\x98\x80 \xed\xa0\x80";
		return -1;
	case STDOUT:
		for (i = 0; i < 2000; i++)
			printf("hostile stdout %d\n", i);
		printf("\xff\xfe no newline");
		fflush(stdout);
		return 0;
	case GRANDCHILD:
		grandchild();
		return 0;
	case CLOSE_ALL:
		close_range(3, ~0u, 0);
		return 0;
	case EXIT_0:
		exit(0);
	case QUIT_0:
		_exit(0);
	case DEAF:
		signal(SIGTERM, SIG_IGN);
		for (;;)
			pause();
	case HUGE_SIZE:
		*size = SIZE_MAX;
		return 0;
	case ENDLESS:
		words = endless();
		return -1;
	case CLOSE_STDIO:
		for (i = 0; i < 3; i++)
			close(i);
		for (i = 0; i < 3; i++)
			if (open("/dev/null", O_RDWR) < 0)
				return -1;
		return 0;
	case THREAD_EXIT:
		pthread_exit(NULL);
	case STOP:
		raise(SIGSTOP);
		return 0;
	case TALK:
		return write(3, words, 0) < 0 || write(3, proof, 192) < 0 ? -1 : 0;
	case FILL_ROOM:
		memset(error, 'f', room);
		return -1;
	case HALF_WORD:
		/* the room ends within a letter */
		memset(error, 'h', room);
		memcpy(error + room - 2, "\xc3\xa9", 2);
		return -1;
	case NO_FILES:
		setrlimit(RLIMIT_NOFILE, &none);
		return 0;
	default:
		return 0;
	}
}

bool hostile_verify(uint64_t sector, const uint8_t *proof)
{
	return proof[0] == (uint8_t)sector && proof[191] == (uint8_t)sector;
}

const char *hostile_error(void)
{
	return words;
}
