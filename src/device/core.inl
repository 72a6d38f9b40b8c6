/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where every device call starts: the state block, what this core remembers, and addresses on other PEs. A wrong argument
 * ends the launch with the name of the call and the value; nothing is ignored.
 */
#ifndef ACLSHMEMI_DEVICE_CORE_INL
#define ACLSHMEMI_DEVICE_CORE_INL

#include <assert.h>

#include "device/port.h"
#include "device/shmem_def.h"
#include "host_device/state.h"

/* What a core remembers for the length of a block; all zero at its start. */
typedef struct aclshmemi_core_memory {
    aclshmem_ub_config_t
        config[ACLSHMEMI_ENGINES]; /* set by this core; ub_size 0: what the host set counts */
    uint32_t used;                 /* reach bits of the engines with work since the last quiet */
    uint32_t scratch_good; /* reach bits of the engines whose scratch was found to lie in the buffer */
    uint32_t scratch_busy; /* bit by half of the MTE scratch: a copy out of it may still run */
    uint32_t scratch_next; /* the half to take next */
    uint32_t profiled;     /* frames that were dropped */
    int32_t bell_first, bell_last;              /* 1 + range of PEs whose sleepers quiet wakes; 0: none */
    uint64_t engine_word[ACLSHMEMI_ENGINES][4]; /* each engine's own */
} aclshmemi_core_t;

static_assert(sizeof(aclshmemi_core_t) <= AICORE_LOCAL_BYTES, "fits what a core has to remember things in");

ACLSHMEM_DEVICE aclshmemi_core_t *aclshmemi_core(void)
{
    return (aclshmemi_core_t *)aclshmemi_port_local();
}

/* The state of the instance in use, NULL when there is none. */
ACLSHMEM_DEVICE const aclshmemi_state_t *aclshmemi_state_or_null(void)
{
    return (const aclshmemi_state_t *)aclshmemi_port_state();
}

/* The same for calls that cannot do without. */
ACLSHMEM_DEVICE const aclshmemi_state_t *aclshmemi_state(const char *call)
{
    const aclshmemi_state_t *state = aclshmemi_state_or_null();
    if (__builtin_expect(state == NULL, 0))
        aclshmemi_port_trap("%s: this kernel's instance is not initialized", call);
    return state;
}

/* The scratch of an engine: what this core set, else what the host set. */
ACLSHMEM_DEVICE aclshmem_ub_config_t aclshmemi_scratch(const aclshmemi_state_t *state,
                                                       aclshmemi_engine_index_t engine)
{
    const aclshmem_ub_config_t *own = &aclshmemi_core()->config[engine];
    if (own->ub_size != 0)
        return *own;
    switch (engine) {
    case ACLSHMEMI_ENGINE_MTE:
        return state->seen.mte_config;
    case ACLSHMEMI_ENGINE_ROCE:
        return state->seen.rdma_config;
    case ACLSHMEMI_ENGINE_SDMA:
        return state->seen.sdma_config;
    default:
        return state->seen.udma_config;
    }
}

/* Whether a scratch can be used; ends the launch with what is wrong about it. */
ACLSHMEM_DEVICE void aclshmemi_scratch_check(const char *call, const char *engine, uint64_t offset,
                                             uint64_t bytes, uint32_t flag, uint32_t least)
{
    if (bytes < least)
        aclshmemi_port_trap("%s: %llu bytes of scratch for %s, at least %u are needed", call,
                            (unsigned long long)bytes, engine, least);
    if (offset % UB_ALIGN_SIZE != 0)
        aclshmemi_port_trap("%s: scratch for %s at %llu of the unified buffer, which is no multiple of %d",
                            call, engine, (unsigned long long)offset, UB_ALIGN_SIZE);
    if (offset > aclshmemi_port_ub_bytes() || bytes > aclshmemi_port_ub_bytes() - offset)
        aclshmemi_port_trap("%s: scratch for %s of %llu bytes at %llu of the unified buffer, which has %u",
                            call, engine, (unsigned long long)bytes, (unsigned long long)offset,
                            aclshmemi_port_ub_bytes());
    if (flag >= AICORE_FLAGS)
        aclshmemi_port_trap("%s: flag %u for %s, 0 to %u are allowed", call, flag, engine, AICORE_FLAGS - 1);
}

/* The scratch of an engine, checked once per core. least: bytes the engine needs. */
ACLSHMEM_DEVICE aclshmem_ub_config_t aclshmemi_scratch_for(const aclshmemi_state_t *state, const char *call,
                                                           aclshmemi_engine_index_t engine, uint32_t least)
{
    aclshmemi_core_t *core = aclshmemi_core();
    aclshmem_ub_config_t scratch = aclshmemi_scratch(state, engine);
    if (__builtin_expect((core->scratch_good & 1u << engine) == 0, 0)) {
        static const char *const names[] = {"MTE", "ROCE", "SDMA", "UDMA"};
        aclshmemi_scratch_check(call, names[engine], (uint64_t)scratch.aclshmem_ub, scratch.ub_size,
                                scratch.sync_id, least);
        core->scratch_good |= 1u << engine;
    }
    return scratch;
}

/* Bytes of so many elements; what no memory holds becomes a number that no range check lets pass. */
ACLSHMEM_DEVICE uint64_t aclshmemi_bytes(uint64_t elements, uint64_t element_bytes)
{
    uint64_t bytes;
    return __builtin_mul_overflow(elements, element_bytes, &bytes) ? UINT64_MAX : bytes;
}

/* Whether bytes from address lie in the device heap (0), the host heap (1) or neither (-1); *offset is into the heap. */
ACLSHMEM_DEVICE int aclshmemi_heap_of(const aclshmemi_state_t *state, const volatile void *address,
                                      uint64_t bytes, uint64_t *offset)
{
    uint64_t from = (uint64_t)(uintptr_t)address - (uint64_t)(uintptr_t)state->seen.heap_base;
    if (__builtin_expect(from < state->seen.heap_size && bytes <= state->seen.heap_size - from, 1)) {
        *offset = from;
        return 0;
    }
    /* That heap may appear while the kernel runs; its size is stored last. */
    uint64_t host_bytes = __atomic_load_n(&state->host_heap_size, __ATOMIC_ACQUIRE);
    from = (uint64_t)(uintptr_t)address - (uint64_t)(uintptr_t)state->seen.host_heap_base;
    if (from < host_bytes && bytes <= host_bytes - from) {
        *offset = from;
        return 1;
    }
    return -1;
}

/* Where this core reaches the counterpart of address on pe with loads and stores; NULL when it does not. */
ACLSHMEM_DEVICE __gm__ char *aclshmemi_mapped(const aclshmemi_state_t *state, const volatile void *address,
                                              uint64_t bytes, int pe)
{
    uint64_t offset = 0;
    if ((unsigned)pe >= (unsigned)state->seen.npes)
        return NULL;
    int heap = aclshmemi_heap_of(state, address, bytes, &offset);
    if (heap < 0)
        return NULL;
    void **bases = heap == 0 ? state->seen.p2p_device_heap_base : state->seen.p2p_host_heap_base;
    return bases == NULL || bases[pe] == NULL ? NULL : (__gm__ char *)bases[pe] + offset;
}

/* Checks PE and address of an operation on symmetric memory; ends the launch when they are wrong. */
ACLSHMEM_DEVICE void aclshmemi_check(const aclshmemi_state_t *state, const char *call,
                                     const volatile void *address, uint64_t bytes, int pe)
{
    uint64_t offset;
    if (__builtin_expect((unsigned)pe >= (unsigned)state->seen.npes, 0))
        aclshmemi_port_trap("%s: PE %d does not exist, there are %d", call, pe, state->seen.npes);
    if (__builtin_expect(aclshmemi_heap_of(state, address, bytes, &offset) < 0, 0))
        aclshmemi_port_trap("%s to PE %d: %llu bytes at %p are not in the symmetric heap", call, pe,
                            (unsigned long long)bytes, (const void *)(uintptr_t)address);
}

/*
 * The one dispatch rule of all families: bulk data goes by SDMA where it reaches the PE, everything else and everybody
 * else by MTE, else ROCE, else UDMA. One bit of the reach byte; no engine at all ends the launch.
 */
ACLSHMEM_DEVICE uint32_t aclshmemi_engine_for(const aclshmemi_state_t *state, const char *call, int pe,
                                              bool bulk)
{
    uint32_t reach = state->seen.topo_list[pe];
    if (bulk && (reach & ACLSHMEM_TRANSPORT_SDMA) != 0)
        return ACLSHMEM_TRANSPORT_SDMA;
    if (__builtin_expect((reach & ACLSHMEM_TRANSPORT_MTE) != 0, 1))
        return ACLSHMEM_TRANSPORT_MTE;
    if ((reach & ACLSHMEM_TRANSPORT_ROCE) != 0)
        return ACLSHMEM_TRANSPORT_ROCE;
    if ((reach & ACLSHMEM_TRANSPORT_UDMA) != 0)
        return ACLSHMEM_TRANSPORT_UDMA;
    if ((reach & ACLSHMEM_TRANSPORT_SDMA) != 0)
        return ACLSHMEM_TRANSPORT_SDMA;
    aclshmemi_port_trap("%s: no engine reaches PE %d", call, pe);
    return 0;
}

/* After a store to memory of pe: wakes who sleeps there. One load when nobody does. */
ACLSHMEM_DEVICE void aclshmemi_notify(const aclshmemi_state_t *state, int pe)
{
    char *heap = (char *)state->seen.p2p_device_heap_base[pe];
    if (heap == NULL)
        return;
    aclshmemi_doorbell_t *bell = &((aclshmemi_control_t *)(void *)(heap + state->control_offset))->bell;
    if (__builtin_expect(__atomic_load_n(&bell->sleepers, __ATOMIC_RELAXED) != 0, 0))
        aclshmemi_port_ring((aicore_doorbell_t *)(void *)bell);
}

#endif
