/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The macros that turn a function into a kernel the host can find by name. Arguments are pairs of type and name, up to
 * 16 of them; a type is written so that the name can follow it.
 *
 *   ACL_KERNEL(name, type, argument, ...)         one vector core per block
 *   ACL_KERNEL_VECTOR                             the same
 *   ACL_KERNEL_MIXED(name, type, argument, ...)   two vector cores per block, as in kernels that also use the cube
 *
 * struct name_args is the packed form of the arguments, for hosts in the same file.
 */
#ifndef AICORE_AICORE_KERNEL_H
#define AICORE_AICORE_KERNEL_H

#ifndef AICORE_AICORE_H
#error "include aicore/aicore.h"
#endif

/* clang-format off */

#define ACL_KERNEL(...)        AICORE_CHOOSE(__VA_ARGS__, AICORE_COUNTS)(1u, __VA_ARGS__)
#define ACL_KERNEL_VECTOR(...) AICORE_CHOOSE(__VA_ARGS__, AICORE_COUNTS)(1u, __VA_ARGS__)
#define ACL_KERNEL_MIXED(...)  AICORE_CHOOSE(__VA_ARGS__, AICORE_COUNTS)(2u, __VA_ARGS__)

/* The pieces between which the lists of arguments go. */
#define AICORE_ENTRY(kernel)                                                   \
    static void kernel##_entry(const void *aicore_bytes)                       \
    {                                                                          \
        const struct kernel##_args *const aicore_packed =                      \
            (const struct kernel##_args *)aicore_bytes;                        \
        (void)aicore_packed;

#define AICORE_RECORD(cores, kernel, bytes)                                    \
    }                                                                          \
    static aicore_kernel_t kernel##_record = {AICORE_ABI, cores, #kernel,      \
                                              kernel##_entry, bytes, 0};       \
    __attribute__((constructor)) static void kernel##_add(void)                \
    {                                                                          \
        aicore_kernel_add(&kernel##_record);                                   \
    }                                                                          \
    __attribute__((destructor)) static void kernel##_remove(void)              \
    {                                                                          \
        aicore_kernel_remove(&kernel##_record);                                \
    }

#define AICORE_KERNEL_0(cores, kernel)                                         \
    struct kernel##_args {                                                     \
        char aicore_none;                                                      \
    };                                                                         \
    static void kernel##_body(void);                                           \
    AICORE_ENTRY(kernel) kernel##_body();                                      \
    AICORE_RECORD(cores, kernel, 0)                                            \
    static void kernel##_body(void)
#define AICORE_KERNEL_1(cores, kernel, ...) \
    struct kernel##_args { AICORE_FIELDS_1(__VA_ARGS__) }; \
    static void kernel##_body(AICORE_PARAMS_1(__VA_ARGS__)); \
    AICORE_ENTRY(kernel) kernel##_body(AICORE_VALUES_1(__VA_ARGS__)); \
    AICORE_RECORD(cores, kernel, sizeof(struct kernel##_args)) \
    static void kernel##_body(AICORE_PARAMS_1(__VA_ARGS__))
#define AICORE_KERNEL_2(cores, kernel, ...) \
    struct kernel##_args { AICORE_FIELDS_2(__VA_ARGS__) }; \
    static void kernel##_body(AICORE_PARAMS_2(__VA_ARGS__)); \
    AICORE_ENTRY(kernel) kernel##_body(AICORE_VALUES_2(__VA_ARGS__)); \
    AICORE_RECORD(cores, kernel, sizeof(struct kernel##_args)) \
    static void kernel##_body(AICORE_PARAMS_2(__VA_ARGS__))
#define AICORE_KERNEL_3(cores, kernel, ...) \
    struct kernel##_args { AICORE_FIELDS_3(__VA_ARGS__) }; \
    static void kernel##_body(AICORE_PARAMS_3(__VA_ARGS__)); \
    AICORE_ENTRY(kernel) kernel##_body(AICORE_VALUES_3(__VA_ARGS__)); \
    AICORE_RECORD(cores, kernel, sizeof(struct kernel##_args)) \
    static void kernel##_body(AICORE_PARAMS_3(__VA_ARGS__))
#define AICORE_KERNEL_4(cores, kernel, ...) \
    struct kernel##_args { AICORE_FIELDS_4(__VA_ARGS__) }; \
    static void kernel##_body(AICORE_PARAMS_4(__VA_ARGS__)); \
    AICORE_ENTRY(kernel) kernel##_body(AICORE_VALUES_4(__VA_ARGS__)); \
    AICORE_RECORD(cores, kernel, sizeof(struct kernel##_args)) \
    static void kernel##_body(AICORE_PARAMS_4(__VA_ARGS__))
#define AICORE_KERNEL_5(cores, kernel, ...) \
    struct kernel##_args { AICORE_FIELDS_5(__VA_ARGS__) }; \
    static void kernel##_body(AICORE_PARAMS_5(__VA_ARGS__)); \
    AICORE_ENTRY(kernel) kernel##_body(AICORE_VALUES_5(__VA_ARGS__)); \
    AICORE_RECORD(cores, kernel, sizeof(struct kernel##_args)) \
    static void kernel##_body(AICORE_PARAMS_5(__VA_ARGS__))
#define AICORE_KERNEL_6(cores, kernel, ...) \
    struct kernel##_args { AICORE_FIELDS_6(__VA_ARGS__) }; \
    static void kernel##_body(AICORE_PARAMS_6(__VA_ARGS__)); \
    AICORE_ENTRY(kernel) kernel##_body(AICORE_VALUES_6(__VA_ARGS__)); \
    AICORE_RECORD(cores, kernel, sizeof(struct kernel##_args)) \
    static void kernel##_body(AICORE_PARAMS_6(__VA_ARGS__))
#define AICORE_KERNEL_7(cores, kernel, ...) \
    struct kernel##_args { AICORE_FIELDS_7(__VA_ARGS__) }; \
    static void kernel##_body(AICORE_PARAMS_7(__VA_ARGS__)); \
    AICORE_ENTRY(kernel) kernel##_body(AICORE_VALUES_7(__VA_ARGS__)); \
    AICORE_RECORD(cores, kernel, sizeof(struct kernel##_args)) \
    static void kernel##_body(AICORE_PARAMS_7(__VA_ARGS__))
#define AICORE_KERNEL_8(cores, kernel, ...) \
    struct kernel##_args { AICORE_FIELDS_8(__VA_ARGS__) }; \
    static void kernel##_body(AICORE_PARAMS_8(__VA_ARGS__)); \
    AICORE_ENTRY(kernel) kernel##_body(AICORE_VALUES_8(__VA_ARGS__)); \
    AICORE_RECORD(cores, kernel, sizeof(struct kernel##_args)) \
    static void kernel##_body(AICORE_PARAMS_8(__VA_ARGS__))
#define AICORE_KERNEL_9(cores, kernel, ...) \
    struct kernel##_args { AICORE_FIELDS_9(__VA_ARGS__) }; \
    static void kernel##_body(AICORE_PARAMS_9(__VA_ARGS__)); \
    AICORE_ENTRY(kernel) kernel##_body(AICORE_VALUES_9(__VA_ARGS__)); \
    AICORE_RECORD(cores, kernel, sizeof(struct kernel##_args)) \
    static void kernel##_body(AICORE_PARAMS_9(__VA_ARGS__))
#define AICORE_KERNEL_10(cores, kernel, ...) \
    struct kernel##_args { AICORE_FIELDS_10(__VA_ARGS__) }; \
    static void kernel##_body(AICORE_PARAMS_10(__VA_ARGS__)); \
    AICORE_ENTRY(kernel) kernel##_body(AICORE_VALUES_10(__VA_ARGS__)); \
    AICORE_RECORD(cores, kernel, sizeof(struct kernel##_args)) \
    static void kernel##_body(AICORE_PARAMS_10(__VA_ARGS__))
#define AICORE_KERNEL_11(cores, kernel, ...) \
    struct kernel##_args { AICORE_FIELDS_11(__VA_ARGS__) }; \
    static void kernel##_body(AICORE_PARAMS_11(__VA_ARGS__)); \
    AICORE_ENTRY(kernel) kernel##_body(AICORE_VALUES_11(__VA_ARGS__)); \
    AICORE_RECORD(cores, kernel, sizeof(struct kernel##_args)) \
    static void kernel##_body(AICORE_PARAMS_11(__VA_ARGS__))
#define AICORE_KERNEL_12(cores, kernel, ...) \
    struct kernel##_args { AICORE_FIELDS_12(__VA_ARGS__) }; \
    static void kernel##_body(AICORE_PARAMS_12(__VA_ARGS__)); \
    AICORE_ENTRY(kernel) kernel##_body(AICORE_VALUES_12(__VA_ARGS__)); \
    AICORE_RECORD(cores, kernel, sizeof(struct kernel##_args)) \
    static void kernel##_body(AICORE_PARAMS_12(__VA_ARGS__))
#define AICORE_KERNEL_13(cores, kernel, ...) \
    struct kernel##_args { AICORE_FIELDS_13(__VA_ARGS__) }; \
    static void kernel##_body(AICORE_PARAMS_13(__VA_ARGS__)); \
    AICORE_ENTRY(kernel) kernel##_body(AICORE_VALUES_13(__VA_ARGS__)); \
    AICORE_RECORD(cores, kernel, sizeof(struct kernel##_args)) \
    static void kernel##_body(AICORE_PARAMS_13(__VA_ARGS__))
#define AICORE_KERNEL_14(cores, kernel, ...) \
    struct kernel##_args { AICORE_FIELDS_14(__VA_ARGS__) }; \
    static void kernel##_body(AICORE_PARAMS_14(__VA_ARGS__)); \
    AICORE_ENTRY(kernel) kernel##_body(AICORE_VALUES_14(__VA_ARGS__)); \
    AICORE_RECORD(cores, kernel, sizeof(struct kernel##_args)) \
    static void kernel##_body(AICORE_PARAMS_14(__VA_ARGS__))
#define AICORE_KERNEL_15(cores, kernel, ...) \
    struct kernel##_args { AICORE_FIELDS_15(__VA_ARGS__) }; \
    static void kernel##_body(AICORE_PARAMS_15(__VA_ARGS__)); \
    AICORE_ENTRY(kernel) kernel##_body(AICORE_VALUES_15(__VA_ARGS__)); \
    AICORE_RECORD(cores, kernel, sizeof(struct kernel##_args)) \
    static void kernel##_body(AICORE_PARAMS_15(__VA_ARGS__))
#define AICORE_KERNEL_16(cores, kernel, ...) \
    struct kernel##_args { AICORE_FIELDS_16(__VA_ARGS__) }; \
    static void kernel##_body(AICORE_PARAMS_16(__VA_ARGS__)); \
    AICORE_ENTRY(kernel) kernel##_body(AICORE_VALUES_16(__VA_ARGS__)); \
    AICORE_RECORD(cores, kernel, sizeof(struct kernel##_args)) \
    static void kernel##_body(AICORE_PARAMS_16(__VA_ARGS__))

/* Fields of the packed arguments, parameters of the function, values handed from one to the other. */
#define AICORE_FIELDS_1(t, n) t n;
#define AICORE_FIELDS_2(t, n, ...) t n; AICORE_FIELDS_1(__VA_ARGS__)
#define AICORE_FIELDS_3(t, n, ...) t n; AICORE_FIELDS_2(__VA_ARGS__)
#define AICORE_FIELDS_4(t, n, ...) t n; AICORE_FIELDS_3(__VA_ARGS__)
#define AICORE_FIELDS_5(t, n, ...) t n; AICORE_FIELDS_4(__VA_ARGS__)
#define AICORE_FIELDS_6(t, n, ...) t n; AICORE_FIELDS_5(__VA_ARGS__)
#define AICORE_FIELDS_7(t, n, ...) t n; AICORE_FIELDS_6(__VA_ARGS__)
#define AICORE_FIELDS_8(t, n, ...) t n; AICORE_FIELDS_7(__VA_ARGS__)
#define AICORE_FIELDS_9(t, n, ...) t n; AICORE_FIELDS_8(__VA_ARGS__)
#define AICORE_FIELDS_10(t, n, ...) t n; AICORE_FIELDS_9(__VA_ARGS__)
#define AICORE_FIELDS_11(t, n, ...) t n; AICORE_FIELDS_10(__VA_ARGS__)
#define AICORE_FIELDS_12(t, n, ...) t n; AICORE_FIELDS_11(__VA_ARGS__)
#define AICORE_FIELDS_13(t, n, ...) t n; AICORE_FIELDS_12(__VA_ARGS__)
#define AICORE_FIELDS_14(t, n, ...) t n; AICORE_FIELDS_13(__VA_ARGS__)
#define AICORE_FIELDS_15(t, n, ...) t n; AICORE_FIELDS_14(__VA_ARGS__)
#define AICORE_FIELDS_16(t, n, ...) t n; AICORE_FIELDS_15(__VA_ARGS__)
#define AICORE_PARAMS_1(t, n) t n
#define AICORE_PARAMS_2(t, n, ...) t n, AICORE_PARAMS_1(__VA_ARGS__)
#define AICORE_PARAMS_3(t, n, ...) t n, AICORE_PARAMS_2(__VA_ARGS__)
#define AICORE_PARAMS_4(t, n, ...) t n, AICORE_PARAMS_3(__VA_ARGS__)
#define AICORE_PARAMS_5(t, n, ...) t n, AICORE_PARAMS_4(__VA_ARGS__)
#define AICORE_PARAMS_6(t, n, ...) t n, AICORE_PARAMS_5(__VA_ARGS__)
#define AICORE_PARAMS_7(t, n, ...) t n, AICORE_PARAMS_6(__VA_ARGS__)
#define AICORE_PARAMS_8(t, n, ...) t n, AICORE_PARAMS_7(__VA_ARGS__)
#define AICORE_PARAMS_9(t, n, ...) t n, AICORE_PARAMS_8(__VA_ARGS__)
#define AICORE_PARAMS_10(t, n, ...) t n, AICORE_PARAMS_9(__VA_ARGS__)
#define AICORE_PARAMS_11(t, n, ...) t n, AICORE_PARAMS_10(__VA_ARGS__)
#define AICORE_PARAMS_12(t, n, ...) t n, AICORE_PARAMS_11(__VA_ARGS__)
#define AICORE_PARAMS_13(t, n, ...) t n, AICORE_PARAMS_12(__VA_ARGS__)
#define AICORE_PARAMS_14(t, n, ...) t n, AICORE_PARAMS_13(__VA_ARGS__)
#define AICORE_PARAMS_15(t, n, ...) t n, AICORE_PARAMS_14(__VA_ARGS__)
#define AICORE_PARAMS_16(t, n, ...) t n, AICORE_PARAMS_15(__VA_ARGS__)
#define AICORE_VALUES_1(t, n) aicore_packed->n
#define AICORE_VALUES_2(t, n, ...) aicore_packed->n, AICORE_VALUES_1(__VA_ARGS__)
#define AICORE_VALUES_3(t, n, ...) aicore_packed->n, AICORE_VALUES_2(__VA_ARGS__)
#define AICORE_VALUES_4(t, n, ...) aicore_packed->n, AICORE_VALUES_3(__VA_ARGS__)
#define AICORE_VALUES_5(t, n, ...) aicore_packed->n, AICORE_VALUES_4(__VA_ARGS__)
#define AICORE_VALUES_6(t, n, ...) aicore_packed->n, AICORE_VALUES_5(__VA_ARGS__)
#define AICORE_VALUES_7(t, n, ...) aicore_packed->n, AICORE_VALUES_6(__VA_ARGS__)
#define AICORE_VALUES_8(t, n, ...) aicore_packed->n, AICORE_VALUES_7(__VA_ARGS__)
#define AICORE_VALUES_9(t, n, ...) aicore_packed->n, AICORE_VALUES_8(__VA_ARGS__)
#define AICORE_VALUES_10(t, n, ...) aicore_packed->n, AICORE_VALUES_9(__VA_ARGS__)
#define AICORE_VALUES_11(t, n, ...) aicore_packed->n, AICORE_VALUES_10(__VA_ARGS__)
#define AICORE_VALUES_12(t, n, ...) aicore_packed->n, AICORE_VALUES_11(__VA_ARGS__)
#define AICORE_VALUES_13(t, n, ...) aicore_packed->n, AICORE_VALUES_12(__VA_ARGS__)
#define AICORE_VALUES_14(t, n, ...) aicore_packed->n, AICORE_VALUES_13(__VA_ARGS__)
#define AICORE_VALUES_15(t, n, ...) aicore_packed->n, AICORE_VALUES_14(__VA_ARGS__)
#define AICORE_VALUES_16(t, n, ...) aicore_packed->n, AICORE_VALUES_15(__VA_ARGS__)

/* Which of the above, by how many tokens there are. */
/* The detour lets the list be expanded first. */
#define AICORE_CHOOSE(...) AICORE_PICK(__VA_ARGS__)
#define AICORE_PICK(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, \
                    a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, \
                    a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, which, ...) which
#define AICORE_COUNTS \
    AICORE_KERNEL_16, AICORE_KERNEL_HAS_A_TYPE_WITHOUT_A_NAME, \
    AICORE_KERNEL_15, AICORE_KERNEL_HAS_A_TYPE_WITHOUT_A_NAME, \
    AICORE_KERNEL_14, AICORE_KERNEL_HAS_A_TYPE_WITHOUT_A_NAME, \
    AICORE_KERNEL_13, AICORE_KERNEL_HAS_A_TYPE_WITHOUT_A_NAME, \
    AICORE_KERNEL_12, AICORE_KERNEL_HAS_A_TYPE_WITHOUT_A_NAME, \
    AICORE_KERNEL_11, AICORE_KERNEL_HAS_A_TYPE_WITHOUT_A_NAME, \
    AICORE_KERNEL_10, AICORE_KERNEL_HAS_A_TYPE_WITHOUT_A_NAME, \
    AICORE_KERNEL_9, AICORE_KERNEL_HAS_A_TYPE_WITHOUT_A_NAME, \
    AICORE_KERNEL_8, AICORE_KERNEL_HAS_A_TYPE_WITHOUT_A_NAME, \
    AICORE_KERNEL_7, AICORE_KERNEL_HAS_A_TYPE_WITHOUT_A_NAME, \
    AICORE_KERNEL_6, AICORE_KERNEL_HAS_A_TYPE_WITHOUT_A_NAME, \
    AICORE_KERNEL_5, AICORE_KERNEL_HAS_A_TYPE_WITHOUT_A_NAME, \
    AICORE_KERNEL_4, AICORE_KERNEL_HAS_A_TYPE_WITHOUT_A_NAME, \
    AICORE_KERNEL_3, AICORE_KERNEL_HAS_A_TYPE_WITHOUT_A_NAME, \
    AICORE_KERNEL_2, AICORE_KERNEL_HAS_A_TYPE_WITHOUT_A_NAME, \
    AICORE_KERNEL_1, AICORE_KERNEL_HAS_A_TYPE_WITHOUT_A_NAME, \
    AICORE_KERNEL_0, 0

/* clang-format on */

#endif
