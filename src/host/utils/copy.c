/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to copy, and how one is chosen for each class of sizes. */
#include "host/utils/copy.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "host/utils/clock.h"

/* Sanitizers see what libc copies, and would not see the others. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SEEN_BY_LIBC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SEEN_BY_LIBC 1
#endif
#endif

#if defined(__x86_64__) && !defined(SEEN_BY_LIBC)
#include <cpuid.h>
#include <immintrin.h>

static void copy_string(void *to, const void *from, size_t bytes)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

/* Head and tail overlap the loop, which writes whole lines. At least 512 bytes. */
__attribute__((target("avx512f"))) static void copy_512(void *to_bytes, const void *from_bytes, size_t bytes)
{
    char *to = to_bytes;
    const char *from = from_bytes;
    size_t head = 64 - ((uintptr_t)to & 63);
    __m512i last = _mm512_loadu_si512(from + bytes - 64);
    char *end = to + bytes - 64;
    _mm512_storeu_si512(to, _mm512_loadu_si512(from));
    to += head;
    from += head;
    bytes -= head;
    for (; bytes >= 256; bytes -= 256, to += 256, from += 256) {
        __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512(from + 64),
                c = _mm512_loadu_si512(from + 128), d = _mm512_loadu_si512(from + 192);
        _mm512_store_si512(to, a);
        _mm512_store_si512(to + 64, b);
        _mm512_store_si512(to + 128, c);
        _mm512_store_si512(to + 192, d);
    }
    for (; bytes >= 64; bytes -= 64, to += 64, from += 64)
        _mm512_store_si512(to, _mm512_loadu_si512(from));
    _mm512_storeu_si512(end, last);
}

__attribute__((target("avx2"))) static void copy_256(void *to_bytes, const void *from_bytes, size_t bytes)
{
    char *to = to_bytes;
    const char *from = from_bytes;
    size_t head = 32 - ((uintptr_t)to & 31);
    __m256i last = _mm256_loadu_si256((const __m256i *)(const void *)(from + bytes - 32));
    char *end = to + bytes - 32;
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_loadu_si256((const __m256i *)(const void *)from));
    to += head;
    from += head;
    bytes -= head;
    for (; bytes >= 128; bytes -= 128, to += 128, from += 128) {
        const __m256i *in = (const __m256i *)(const void *)from;
        __m256i *out = (__m256i *)(void *)to;
        __m256i a = _mm256_loadu_si256(in), b = _mm256_loadu_si256(in + 1), c = _mm256_loadu_si256(in + 2),
                d = _mm256_loadu_si256(in + 3);
        _mm256_store_si256(out, a);
        _mm256_store_si256(out + 1, b);
        _mm256_store_si256(out + 2, c);
        _mm256_store_si256(out + 3, d);
    }
    for (; bytes >= 32; bytes -= 32, to += 32, from += 32)
        _mm256_store_si256((__m256i *)(void *)to, _mm256_loadu_si256((const __m256i *)(const void *)from));
    _mm256_storeu_si256((__m256i *)(void *)end, last);
}

enum { PAGE = 4096, PAGES = 8, PIECE = 128 };

static inline void stream_line(char *to, const char *from)
{
    const __m128i *in = (const __m128i *)(const void *)from;
    __m128i *out = (__m128i *)(void *)to;
    __m128i a = _mm_loadu_si128(in), b = _mm_loadu_si128(in + 1), c = _mm_loadu_si128(in + 2),
            d = _mm_loadu_si128(in + 3);
    _mm_stream_si128(out, a);
    _mm_stream_si128(out + 1, b);
    _mm_stream_si128(out + 2, c);
    _mm_stream_si128(out + 3, d);
}

/* Whole lines around the caches, from several pages in turns, which keeps more of the memory busy than one page after the
 * other; the rest as usual. The fence keeps later stores behind. At least 128 bytes. */
static void copy_stream(void *to_bytes, const void *from_bytes, size_t bytes)
{
    char *to = to_bytes;
    const char *from = from_bytes;
    size_t head = -(uintptr_t)to & 63;
    memcpy(to, from, head);
    to += head;
    from += head;
    bytes -= head;
    for (; bytes >= PAGES * PAGE; bytes -= PAGES * PAGE, to += PAGES * PAGE, from += PAGES * PAGE)
        for (size_t at = 0; at < PAGE; at += PIECE)
            for (size_t k = at; k < PAGES * PAGE; k += PAGE) {
                stream_line(to + k, from + k);
                stream_line(to + k + 64, from + k + 64);
            }
    for (; bytes >= 64; bytes -= 64, to += 64, from += 64)
        stream_line(to, from);
    memcpy(to, from, bytes);
    _mm_sfence();
}

static void copy_vector(void *to, const void *from, size_t bytes)
{
    if (__builtin_cpu_supports("avx512f"))
        copy_512(to, from, bytes);
    else
        copy_256(to, from, bytes);
}

bool aclshmemi_copy_has(aclshmemi_copy_way_t way)
{
    unsigned a, b = 0, c, d;
    if (way == ACLSHMEMI_COPY_VECTOR)
        return __builtin_cpu_supports("avx2") != 0;
    if (way == ACLSHMEMI_COPY_STRING) /* "enhanced rep movsb": without it the instruction is slow */
        return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & 1u << 9) != 0;
    return true;
}
#else
/* libc of other processors chooses by itself and is hard to beat. */
static void copy_string(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static void copy_vector(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static void copy_stream(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

bool aclshmemi_copy_has(aclshmemi_copy_way_t way)
{
    return way == ACLSHMEMI_COPY_LIBC;
}
#endif

void aclshmemi_copy_by(aclshmemi_copy_way_t way, void *to, const void *from, size_t bytes)
{
    if (way == ACLSHMEMI_COPY_STRING)
        copy_string(to, from, bytes);
    else if (way == ACLSHMEMI_COPY_VECTOR && bytes >= 512)
        copy_vector(to, from, bytes);
    else if (way == ACLSHMEMI_COPY_STREAM && bytes >= 512)
        copy_stream(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

/* --- Which way --- */

enum { UNKNOWN, MEASURING, KNOWN, TRIES = 4 };

/* Sizes from `least` up to the next class are measured with `sample` bytes. */
static struct size_class {
    size_t least, sample;
    aclshmemi_copy_way_t preferred; /* where the processor has it */
    _Atomic uint32_t way;
    _Atomic uint32_t state;
} classes[] = {
    {ACLSHMEMI_COPY_LARGE, 4096, ACLSHMEMI_COPY_VECTOR, ACLSHMEMI_COPY_LIBC, UNKNOWN},
    {16 << 10, 64 << 10, ACLSHMEMI_COPY_STRING, ACLSHMEMI_COPY_LIBC, UNKNOWN},
    {256 << 10, 1 << 20, ACLSHMEMI_COPY_STRING, ACLSHMEMI_COPY_LIBC, UNKNOWN},
    {4 << 20, 2 << 20, ACLSHMEMI_COPY_STRING, ACLSHMEMI_COPY_LIBC, UNKNOWN},
};

static struct size_class *class_of(size_t bytes)
{
    size_t i = sizeof classes / sizeof classes[0] - 1;
    while (i > 0 && bytes < classes[i].least)
        i--;
    return &classes[i];
}

static uint64_t time_of(aclshmemi_copy_way_t way, char *scratch, size_t sample)
{
    size_t repeats = (64 << 10) / sample + 1; /* some microseconds */
    uint64_t started = aclshmemi_clock_ns();
    for (size_t i = 0; i < repeats; i++)
        aclshmemi_copy_by(way, scratch + sample, scratch, sample);
    return aclshmemi_clock_ns() - started;
}

/* The best of a few tries, after one that leaves caches as this way leaves them. */
static uint64_t best_of(aclshmemi_copy_way_t way, char *scratch, size_t sample)
{
    uint64_t best = UINT64_MAX;
    if (!aclshmemi_copy_has(way))
        return best;
    (void)time_of(way, scratch, sample);
    for (int i = 0; i < TRIES; i++) {
        uint64_t took = time_of(way, scratch, sample);
        best = took < best ? took : best;
    }
    return best;
}

/* A tenth is what another way has to be better by: less may be noise. */
static aclshmemi_copy_way_t measure(const struct size_class *c, char *scratch)
{
    aclshmemi_copy_way_t chosen = aclshmemi_copy_has(c->preferred) ? c->preferred : ACLSHMEMI_COPY_LIBC;
    uint64_t best = best_of(chosen, scratch, c->sample);
    for (aclshmemi_copy_way_t way = 0; way < ACLSHMEMI_COPY_WAYS; way++) {
        uint64_t took = way == chosen ? UINT64_MAX : best_of(way, scratch, c->sample);
        if (took < best - best / 10) {
            best = took;
            chosen = way;
        }
    }
    return chosen;
}

/* One thread measures; others go on with the default. */
static void choose(struct size_class *c)
{
    uint32_t unknown = UNKNOWN;
    if (!atomic_compare_exchange_strong(&c->state, &unknown, MEASURING))
        return;
    aclshmemi_copy_way_t way = aclshmemi_copy_has(c->preferred) ? c->preferred : ACLSHMEMI_COPY_LIBC;
    char *scratch =
        mmap(NULL, 2 * c->sample, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (scratch != MAP_FAILED &&
        (aclshmemi_copy_has(ACLSHMEMI_COPY_VECTOR) || aclshmemi_copy_has(ACLSHMEMI_COPY_STRING)))
        way = measure(c, scratch);
    if (scratch != MAP_FAILED)
        munmap(scratch, 2 * c->sample);
    atomic_store_explicit(&c->way, way, memory_order_relaxed);
    atomic_store_explicit(&c->state, KNOWN, memory_order_release);
}

aclshmemi_copy_way_t aclshmemi_copy_way(size_t bytes)
{
    return bytes < ACLSHMEMI_COPY_LARGE
               ? ACLSHMEMI_COPY_LIBC
               : (aclshmemi_copy_way_t)atomic_load_explicit(&class_of(bytes)->way, memory_order_relaxed);
}

void aclshmemi_copy_large(void *to, const void *from, size_t bytes, size_t whole)
{
    struct size_class *c = class_of(whole);
    uintptr_t distance = (uintptr_t)to - (uintptr_t)from;
    if (__builtin_expect(distance < bytes || -distance < bytes, 0)) {
        memmove(to, from, bytes);
        return;
    }
    if (__builtin_expect(atomic_load_explicit(&c->state, memory_order_acquire) == UNKNOWN, 0))
        choose(c);
    aclshmemi_copy_by((aclshmemi_copy_way_t)atomic_load_explicit(&c->way, memory_order_relaxed), to, from,
                      bytes);
}
