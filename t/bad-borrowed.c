/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bad-borrowed.c - an engine without an entry, linked with a library that has one */
int cuzk_engine_entry(const void *host, const void **ops);
__attribute__((visibility("default"))) void *bad_borrowed(void);

void *bad_borrowed(void)
{
	return (void *)cuzk_engine_entry;
}
