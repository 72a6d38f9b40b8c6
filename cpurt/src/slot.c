/* SPDX-License-Identifier: Apache-2.0 */
/* What a core finds without being told in its arguments: addresses by number, and memory of its own. */
#include "slot.h"

#include "acl/acl_cpu.h"
#include "core_state.h"

_Static_assert(ACLCPU_SLOTS == AICORE_SLOTS, "host and kernels count the same slots");

static _Atomic(void *) table[ACLCPU_SLOTS];
static atomic_uint selected;
/* Of a thread that runs no kernel: the slot it asked for, counted from 1, and its memory. */
static _Thread_local uint32_t asked;
static _Thread_local _Alignas(16) unsigned char local[AICORE_LOCAL_BYTES];

static aclError check(const char *call, uint32_t slot)
{
    TRY(cpurt_enter());
    if (slot >= ACLCPU_SLOTS)
        return cpurt_fail(ACL_ERROR_INVALID_PARAM, "%s: slot %u; allowed are 0 to %u", call, slot,
                          ACLCPU_SLOTS - 1);
    return ACL_SUCCESS;
}

aclError aclcpuSlotPublish(uint32_t slot, void *address)
{
    TRY(check("aclcpuSlotPublish", slot));
    atomic_store_explicit(&table[slot], address, memory_order_release);
    return ACL_SUCCESS;
}

aclError aclcpuSlotSelect(uint32_t slot)
{
    TRY(check("aclcpuSlotSelect", slot));
    atomic_store_explicit(&selected, slot, memory_order_relaxed);
    asked = 0;
    return ACL_SUCCESS;
}

uint32_t cpurt_slot_selected(void)
{
    return atomic_load_explicit(&selected, memory_order_relaxed);
}

void cpurt_slots_end(void)
{
    for (uint32_t i = 0; i < ACLCPU_SLOTS; i++)
        atomic_store_explicit(&table[i], NULL, memory_order_relaxed);
    atomic_store_explicit(&selected, 0, memory_order_relaxed);
}

void *aicore_slot(void)
{
    const cpurt_core_t *const core = cpurt_core_running();
    const uint32_t slot = core != NULL ? core->slot : asked != 0 ? asked - 1 : cpurt_slot_selected();

    return atomic_load_explicit(&table[slot], memory_order_acquire);
}

int aicore_slot_use(uint32_t number)
{
    cpurt_core_t *const core = cpurt_core_running();

    if (number >= AICORE_SLOTS)
        return -1;
    if (core != NULL)
        core->slot = number;
    else
        asked = number + 1;
    return 0;
}

void *aicore_local(void)
{
    cpurt_core_t *const core = cpurt_core_running();

    return core != NULL ? core->local : local;
}
