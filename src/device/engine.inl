/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every engine answers, and the moves that all families share. mte, sdma, rdma and udma in engine/ define the
 * first four for themselves (with their name in the middle: aclshmemi_sdma_put); dispatch.inl defines the rest by looking
 * at aclshmemi_engine_for. Addresses and PE have been checked by aclshmemi_check when an engine is called; `there` is the
 * local address of symmetric memory, the engine translates. call is the public name, for reports.
 */
#ifndef ACLSHMEMI_DEVICE_ENGINE_INL
#define ACLSHMEMI_DEVICE_ENGINE_INL

#include "device/core.inl"
#include "host_device/amo.h"

/* Engine X answers (X in mte, sdma, rdma, udma):
 *
 *   void aclshmemi_X_put(state, call, there, here, bytes, pe)      any length > 0; starts it
 *   void aclshmemi_X_get(state, call, here, there, bytes, pe)      any length > 0; starts it
 *   void aclshmemi_X_quiet(state, call)                            all that this core started on X is complete
 *   void aclshmemi_X_fence(state, call)                            later ones arrive after earlier ones, per PE
 *
 * and all but sdma, which passes these on to what else reaches the PE:
 *
 *   void aclshmemi_X_signal(state, call, word, value, op, pe)      behind earlier puts of this core to that PE on X;
 *                                                                  op is an aclshmem_signal_op_type_t; starts it
 *   uint64_t aclshmemi_X_amo(state, call, op, type, there, value, condition, pe, bool wanted)
 *                                                                  old value when wanted, then complete; else starts it
 */

/*
 * The moves, by the dispatch rule; dispatch.inl defines them. They check PE and the symmetric address; bytes 0 does nothing.
 *
 *   void aclshmemi_put(call, there, here, bytes, pe)               starts it
 *   void aclshmemi_get(call, here, there, bytes, pe)
 *   void aclshmemi_put_now(...), aclshmemi_get_now(...)            the same, complete on return
 *   void aclshmemi_signal(call, word, value, op, pe)
 *   uint64_t aclshmemi_amo(call, op, type, there, value, condition, pe, bool wanted)
 *   void aclshmemi_put_signal(call, there, here, bytes, word, value, op, pe)
 *                                     data, then the signal behind it on the same engine; neither is complete on return
 *   void aclshmemi_quiet_core(call)   everything this core started, on every engine it used, is complete
 *   void aclshmemi_fence_core(call)
 *
 * They note the engine in aclshmemi_core()->used, and so does whoever starts something on an engine called by name.
 */

#endif
