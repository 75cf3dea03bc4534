/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* text.h - words of foreign origin, made fit for logs, JSON and protocol buffers */
#ifndef CUZK_LIB_TEXT_H
#define CUZK_LIB_TEXT_H

/*
 * Makes a string one line of UTF-8 of the same length: control characters (C0,
 * DEL, C1) become blanks, and so that a reader never meets half a letter, each
 * byte that is no part of a valid sequence (RFC 3629) becomes '?'.
 */
void text_clean(char *text);

#endif
