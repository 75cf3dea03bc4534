/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* foreign-call.c - one call through libffi, prepared once */
#include <errno.h>
#include <string.h>

#include "plugin/foreign.h"

static ffi_type *ffi_type_of(const struct proto_type *t)
{
	if (t->stars)
		return &ffi_type_pointer;
	switch (t->base) {
	case BASE_VOID:
		return &ffi_type_void;
	case BASE_BOOL:
	case BASE_U8:
		return &ffi_type_uint8;
	case BASE_CHAR:
		return (char)-1 < 0 ? &ffi_type_sint8 : &ffi_type_uint8;
	case BASE_I8:
		return &ffi_type_sint8;
	case BASE_I16:
		return &ffi_type_sint16;
	case BASE_U16:
		return &ffi_type_uint16;
	case BASE_I32:
		return &ffi_type_sint32;
	case BASE_U32:
		return &ffi_type_uint32;
	case BASE_I64:
		return &ffi_type_sint64;
	case BASE_U64:
	case BASE_SIZE:
		return &ffi_type_uint64;
	}
	return NULL;
}

int foreign_call_prepare(struct foreign_call *call)
{
	const struct proto *p = &call->proto;
	unsigned int i;

	for (i = 0; i < p->n_args; i++)
		call->types[i] = ffi_type_of(&p->args[i].type);
	if (ffi_prep_cif(&call->cif, FFI_DEFAULT_ABI, p->n_args, ffi_type_of(&p->result),
			 call->types) != FFI_OK)
		return -EINVAL;
	call->set = true;
	return 0;
}

/* Room for one argument of any type. */
union slot {
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
	const void *p;
};

static void fill_slot(union slot *slot, const struct proto_type *t, union foreign_value v)
{
	if (t->stars) {
		slot->p = v.p;
		return;
	}
	switch (t->base) {
	case BASE_BOOL:
	case BASE_CHAR:
	case BASE_I8:
	case BASE_U8:
		slot->u8 = v.n;
		break;
	case BASE_I16:
	case BASE_U16:
		slot->u16 = v.n;
		break;
	case BASE_I32:
	case BASE_U32:
		slot->u32 = v.n;
		break;
	default:
		slot->u64 = v.n;
	}
}

/* Integers narrower than a word come back widened, their upper part undefined by us. */
static int64_t integer_result(const struct proto_type *t, ffi_arg raw)
{
	switch (t->base) {
	case BASE_BOOL:
	case BASE_U8:
		return (uint8_t)raw;
	case BASE_CHAR:
		return (char)raw;
	case BASE_I8:
		return (int8_t)raw;
	case BASE_I16:
		return (int16_t)raw;
	case BASE_U16:
		return (uint16_t)raw;
	case BASE_I32:
		return (int32_t)raw;
	case BASE_U32:
		return (uint32_t)raw;
	default:
		return (int64_t)raw;
	}
}

void foreign_call_run(struct foreign_call *call, const union foreign_value values[ROLE_COUNT],
		      struct foreign_result *result)
{
	const struct proto *p = &call->proto;
	union slot slots[PROTO_ARGS_MAX];
	void *args[PROTO_ARGS_MAX];
	union {
		ffi_arg n;
		void *p;
	} raw = { 0 };
	unsigned int i;

	memset(slots, 0, sizeof(slots));
	for (i = 0; i < p->n_args; i++) {
		fill_slot(&slots[i], &p->args[i].type, values[p->args[i].role]);
		args[i] = &slots[i];
	}
	ffi_call(&call->cif, call->fn, &raw, args);
	memset(result, 0, sizeof(*result));
	if (p->result.stars) {
		result->pointer = raw.p;
		result->good = raw.p;
	} else if (p->result.base == BASE_VOID) {
		result->good = true;
	} else {
		result->status = integer_result(&p->result, raw.n);
		result->good = p->result.base == BASE_BOOL ? result->status : !result->status;
	}
}
