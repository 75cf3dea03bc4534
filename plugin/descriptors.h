/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * descriptors.h - a part of the open files that clients cannot use up
 *
 * The lowest free number is given out, so the number of a new descriptor says
 * how many are open at least.  Connections stop first, then requests; what is
 * left is for the service itself, which without it could start no instance.
 */
#ifndef CUZK_PLUGIN_DESCRIPTORS_H
#define CUZK_PLUGIN_DESCRIPTORS_H

#include <stdbool.h>

/* Eighths of RLIMIT_NOFILE. */
#define DESCRIPTORS_CONNECTIONS 6
#define DESCRIPTORS_REQUESTS 7

/* Is fd beyond so many eighths of what this process may have open? */
bool descriptor_is_beyond(int fd, unsigned int eighths);

#endif
