/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* config-print.c - prints the options as part of cuzk.conf(5), for the build */
#include "plugin/config.h"

int main(void)
{
	config_man(stdout);
	return fflush(stdout) ? 1 : 0;
}
