/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TPipe and what it hands out: buffers of the unified buffer from offset 0 on, and queues of buffers that carry the flags
 * between the pipes which fill and empty them.
 */
#ifndef ASCENDC_QUEUE_H
#define ASCENDC_QUEUE_H

#include "ascendc/tensor.h"

namespace AscendC
{

namespace detail
{
/* A buffer of a queue goes round: allocated, filled, enqueued, dequeued, emptied, freed. */
struct slot {
    uint32_t number = 0;
    bool taken = false;    /* between AllocTensor and FreeTensor */
    bool emptying = false; /* freed, but the pipe that empties it may still be at it: its flag is up */
};

class queue_base
{
  public:
    virtual void settle() = 0;
    queue_base *next = nullptr;

  protected:
    ~queue_base() = default;
};

inline uint32_t round_up(uint32_t bytes)
{
    return (bytes + AICORE_UB_ALIGN - 1) / AICORE_UB_ALIGN * AICORE_UB_ALIGN;
}
} // namespace detail

template <TPosition position, int32_t depth = 1> class TQue;
template <TPosition position> class TBuf;

class TPipe
{
    uint32_t used_ = 0;
    uint32_t next_event_ = 7; /* queues take flag numbers from the top, kernels by hand from the bottom */
    detail::queue_base *queues_ = nullptr;

    uint32_t take(uint32_t bytes)
    {
        const uint32_t start = used_, wanted = detail::round_up(bytes);
        if (wanted > aicore_ub_bytes() - start)
            aicore_trap(
                "TPipe::InitBuffer: %u bytes on top of %u do not fit the %u bytes of the unified buffer",
                bytes, start, aicore_ub_bytes());
        used_ += wanted;
        return start;
    }

  public:
    TPipe() = default;
    TPipe(const TPipe &) = delete;
    TPipe &operator=(const TPipe &) = delete;
    ~TPipe() { Destroy(); }
    /* Takes down the flags that queues still have up. */
    void Destroy()
    {
        for (; queues_ != nullptr; queues_ = queues_->next)
            queues_->settle();
    }

    template <TPosition position, int32_t depth>
    bool InitBuffer(TQue<position, depth> &queue, uint8_t count, uint32_t bytes)
    {
        if (count == 0 || count > TQue<position, depth>::MOST || next_event_ + 1 < count)
            aicore_trap("TPipe::InitBuffer: %u buffers for a queue; there are %u left", count,
                        next_event_ + 1 < TQue<position, depth>::MOST ? next_event_ + 1
                                                                      : TQue<position, depth>::MOST);
        for (uint32_t i = 0; i < count; i++)
            queue.add(take(bytes), bytes, next_event_--);
        queue.next = queues_;
        queues_ = &queue;
        return true;
    }
    template <TPosition position> bool InitBuffer(TBuf<position> &buffer, uint32_t bytes)
    {
        buffer.place(take(bytes), bytes);
        return true;
    }
    void Reset()
    {
        Destroy();
        used_ = 0;
        next_event_ = 7;
    }
};

template <TPosition position, int32_t depth> class TQue final : public detail::queue_base
{
    static_assert(position == TPosition::VECIN || position == TPosition::VECOUT ||
                      position == TPosition::VECCALC,
                  "queues of the vector unit");

  public:
    static constexpr uint32_t MOST = 8;

    template <typename T> LocalTensor<T> AllocTensor()
    {
        detail::slot &slot = slots_[turn_];
        if (count_ == 0 || slot.taken)
            aicore_trap("TQue::AllocTensor: all %u buffers of the queue are in use", count_);
        if (slot.emptying)
            aicore_flag_wait(emptier(), filler(), event_[turn_]);
        slot.emptying = false;
        slot.taken = true;
        turn_ = (turn_ + 1) % count_;
        return LocalTensor<T>(position, slot.number, bytes_ / static_cast<uint32_t>(sizeof(T)));
    }
    template <typename T> bool EnQue(const LocalTensor<T> &tensor)
    {
        const uint32_t index = find("TQue::EnQue", tensor.address_.bufferAddr);
        aicore_flag_set(filler(), emptier(), event_[index]);
        waiting_[tail_++ % MOST] = index;
        return true;
    }
    template <typename T> LocalTensor<T> DeQue()
    {
        if (head_ == tail_)
            aicore_trap("TQue::DeQue: nothing is in the queue");
        const uint32_t index = waiting_[head_++ % MOST];
        aicore_flag_wait(filler(), emptier(), event_[index]);
        return LocalTensor<T>(position, slots_[index].number, bytes_ / static_cast<uint32_t>(sizeof(T)));
    }
    template <typename T> void FreeTensor(const LocalTensor<T> &tensor)
    {
        const uint32_t index = find("TQue::FreeTensor", tensor.address_.bufferAddr);
        aicore_flag_set(emptier(), filler(), event_[index]);
        slots_[index].emptying = true;
        slots_[index].taken = false;
    }

    /* Of TPipe. */
    void add(uint32_t number, uint32_t bytes, uint32_t event)
    {
        bytes_ = bytes;
        event_[count_] = event;
        slots_[count_] = detail::slot();
        slots_[count_++].number = number;
    }
    void settle() override
    {
        for (uint32_t i = 0; i < count_; i++) {
            if (slots_[i].emptying)
                aicore_flag_wait(emptier(), filler(), event_[i]);
            slots_[i].emptying = false;
        }
        for (; head_ != tail_; head_++)
            aicore_flag_wait(filler(), emptier(), event_[waiting_[head_ % MOST]]);
        count_ = turn_ = 0;
    }

  private:
    static constexpr aicore_pipe_t filler()
    {
        return position == TPosition::VECIN ? AICORE_PIPE_MTE2 : AICORE_PIPE_V;
    }
    static constexpr aicore_pipe_t emptier()
    {
        return position == TPosition::VECOUT ? AICORE_PIPE_MTE3 : AICORE_PIPE_V;
    }
    uint32_t find(const char *call, uint32_t number) const
    {
        for (uint32_t i = 0; i < count_; i++)
            if (slots_[i].number == number && slots_[i].taken)
                return i;
        aicore_trap("%s: the tensor at %u is not a buffer taken from this queue", call, number);
    }

    detail::slot slots_[MOST];
    uint32_t event_[MOST] = {};
    uint32_t waiting_[MOST] = {};
    uint32_t count_ = 0, turn_ = 0, head_ = 0, tail_ = 0, bytes_ = 0;
};

template <TPosition position = TPosition::VECCALC> class TBuf
{
    uint32_t number_ = 0, bytes_ = 0;

  public:
    template <typename T> LocalTensor<T> Get() const
    {
        return LocalTensor<T>(position, number_, bytes_ / static_cast<uint32_t>(sizeof(T)));
    }
    template <typename T> LocalTensor<T> Get(uint32_t count) const { return GetWithOffset<T>(count, 0); }
    template <typename T> LocalTensor<T> GetWithOffset(uint32_t count, uint32_t offset) const
    {
        if (offset > bytes_ || uint64_t(count) * sizeof(T) > bytes_ - offset)
            aicore_trap("TBuf: %u elements at %u do not fit its %u bytes", count, offset, bytes_);
        return LocalTensor<T>(position, number_ + offset, count);
    }

    /* Of TPipe. */
    void place(uint32_t number, uint32_t bytes)
    {
        number_ = number;
        bytes_ = detail::round_up(bytes);
    }
};

} // namespace AscendC

#endif
