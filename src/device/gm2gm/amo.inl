/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of the atomics: a typed call becomes an operation by number on bits, which the engines know. */
#ifndef ACLSHMEMI_DEVICE_AMO_INL
#define ACLSHMEMI_DEVICE_AMO_INL

#include "device/gm2gm/amo_forms.inl"

/* On the engine that the rule picks, and on MTE by name. */
#define ACLSHMEMI_AMO_BY_RULE(name, op, kind, object, value, condition, pe, wanted)                          \
    aclshmemi_amo(name, op, kind, (__gm__ void *)(uintptr_t)(object), value, condition, pe, wanted)

ACLSHMEM_DEVICE uint64_t aclshmemi_mte_amo_by_name(const char *call, aclshmemi_amo_op_t op,
                                                   aclshmemi_amo_type_t type, __gm__ void *object,
                                                   uint64_t value, uint64_t condition, int pe, bool wanted)
{
    const aclshmemi_state_t *state = aclshmemi_state(call);
    aclshmemi_check(state, call, object, aclshmemi_amo_width(type), pe);
    return aclshmemi_mte_amo_now(state, call, op, type, object, value, condition, pe, wanted);
}
#define ACLSHMEMI_AMO_BY_MTE(name, op, kind, object, value, condition, pe, wanted)                           \
    aclshmemi_mte_amo_by_name("mte_" name, op, kind, (__gm__ void *)(uintptr_t)(object), value, condition,   \
                              pe, wanted)

#define ACLSHMEMI_DEFINE_BY_RULE_ADD(NAME, TYPE)                                                             \
    ACLSHMEMI_DEFINE_ADD(ACLSHMEMI_AMO_BY_RULE, aclshmem_, NAME, TYPE)
#define ACLSHMEMI_DEFINE_BY_RULE_STORE(NAME, TYPE)                                                           \
    ACLSHMEMI_DEFINE_STORE(ACLSHMEMI_AMO_BY_RULE, aclshmem_, NAME, TYPE)
#define ACLSHMEMI_DEFINE_BY_RULE_INTEGER(NAME, TYPE)                                                         \
    ACLSHMEMI_DEFINE_INTEGER(ACLSHMEMI_AMO_BY_RULE, aclshmem_, NAME, TYPE)                                   \
    ACLSHMEMI_DEFINE_BITS(ACLSHMEMI_AMO_BY_RULE, aclshmem_, NAME, TYPE, and, ACLSHMEMI_AMO_AND)              \
    ACLSHMEMI_DEFINE_BITS(ACLSHMEMI_AMO_BY_RULE, aclshmem_, NAME, TYPE, or, ACLSHMEMI_AMO_OR)                \
    ACLSHMEMI_DEFINE_BITS(ACLSHMEMI_AMO_BY_RULE, aclshmem_, NAME, TYPE, xor, ACLSHMEMI_AMO_XOR)

ACLSHMEM_TYPES_AMO_ADD(ACLSHMEMI_DEFINE_BY_RULE_ADD)
ACLSHMEM_TYPES_AMO_STORE(ACLSHMEMI_DEFINE_BY_RULE_STORE)
ACLSHMEM_TYPES_AMO_INTEGER(ACLSHMEMI_DEFINE_BY_RULE_INTEGER)

#define ACLSHMEMI_DEFINE_BY_MTE_ADD(NAME, TYPE)                                                              \
    ACLSHMEMI_DEFINE_ADD(ACLSHMEMI_AMO_BY_MTE, aclshmemx_mte_, NAME, TYPE)
#define ACLSHMEMI_DEFINE_BY_MTE_INTEGER(NAME, TYPE)                                                          \
    ACLSHMEMI_DEFINE_STORE(ACLSHMEMI_AMO_BY_MTE, aclshmemx_mte_, NAME, TYPE)                                 \
    ACLSHMEMI_DEFINE_INTEGER(ACLSHMEMI_AMO_BY_MTE, aclshmemx_mte_, NAME, TYPE)

ACLSHMEM_TYPES_AMO_ADD(ACLSHMEMI_DEFINE_BY_MTE_ADD)
ACLSHMEM_TYPES_AMO_INTEGER(ACLSHMEMI_DEFINE_BY_MTE_INTEGER)

#undef ACLSHMEMI_AMO_BY_RULE
#undef ACLSHMEMI_AMO_BY_MTE
#undef ACLSHMEMI_DEFINE_BY_RULE_ADD
#undef ACLSHMEMI_DEFINE_BY_RULE_STORE
#undef ACLSHMEMI_DEFINE_BY_RULE_INTEGER
#undef ACLSHMEMI_DEFINE_BY_MTE_ADD
#undef ACLSHMEMI_DEFINE_BY_MTE_INTEGER

#endif
