/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of this folder share: a device, buffers of 32-bit words, checks that end the program. */
#ifndef DIALECT_CHECK_H
#define DIALECT_CHECK_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "acl/acl.h"

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            std::fprintf(stderr, "%s:%d: not true: %s (%s)\n", __FILE__, __LINE__, #condition,               \
                         aclGetRecentErrMsg() != nullptr ? aclGetRecentErrMsg() : "");                       \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

class Device
{
  public:
    aclrtStream stream = nullptr;

    Device()
    {
        CHECK(aclInit(nullptr) == ACL_SUCCESS);
        CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
        CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
    }
    ~Device()
    {
        CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
        CHECK(aclrtResetDevice(0) == ACL_SUCCESS);
        CHECK(aclFinalize() == ACL_SUCCESS);
    }
    void sync() { CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS); }
    /* The launch fails, and the report has these words. */
    void sync_fails(const char *words)
    {
        CHECK(aclrtSynchronizeStream(stream) != ACL_SUCCESS);
        const char *text = aclGetRecentErrMsg();
        if (text == nullptr || std::strstr(text, words) == nullptr) {
            std::fprintf(stderr, "the report is \"%s\", expected \"%s\" in it\n", text == nullptr ? "" : text,
                         words);
            std::exit(1);
        }
    }
};

template <typename T> class Memory
{
    T *address_ = nullptr;
    size_t count_;

  public:
    explicit Memory(size_t count) : count_(count)
    {
        void *address = nullptr;
        CHECK(aclrtMalloc(&address, count * sizeof(T), ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
        CHECK(aclrtMemset(address, count * sizeof(T), 0, count * sizeof(T)) == ACL_SUCCESS);
        address_ = static_cast<T *>(address);
    }
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    ~Memory() { CHECK(aclrtFree(address_) == ACL_SUCCESS); }
    uint8_t *gm() const { return reinterpret_cast<uint8_t *>(address_); }
    void write(const std::vector<T> &values)
    {
        CHECK(aclrtMemcpy(address_, count_ * sizeof(T), values.data(), values.size() * sizeof(T),
                          ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS);
    }
    std::vector<T> read() const
    {
        std::vector<T> values(count_);
        CHECK(aclrtMemcpy(values.data(), count_ * sizeof(T), address_, count_ * sizeof(T),
                          ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS);
        return values;
    }
};

#endif
