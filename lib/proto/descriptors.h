/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* descriptors.h - the protocol's own description: a google.protobuf.FileDescriptorSet */
#ifndef CUZK_LIB_PROTO_DESCRIPTORS_H
#define CUZK_LIB_PROTO_DESCRIPTORS_H

#include <stddef.h>

extern const unsigned char proto_descriptors[];
extern const size_t proto_descriptors_size;

#endif
