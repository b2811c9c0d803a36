// SPDX-License-Identifier: Apache-2.0
#include "io/backends/epoll_backend.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <vector>

#include "base/assert.hpp"
#include "io/backends/kernel_backend.hpp"
#include "io/backends/kernel_sockets.hpp"
#include "io/backends/kernel_transfer.hpp"
#include "io/loop/context.hpp"
#include "io/task/allocation.hpp"

namespace corro::io {
namespace {

using kernel::system_code;

struct epoll_descriptor final : descriptor {
    epoll_descriptor(context& on, int opened, std::uint32_t at) noexcept : descriptor(on), state(opened), index(at) {}

    kernel::socket_state state;
    std::uint32_t index;  // in the backend's table
    bool registered = false;
    operation* reader = nullptr;  // a parked receive or accept
    operation* writer = nullptr;  // a parked send or connect
};

static_assert(sizeof(epoll_descriptor) <= backend::socket_bytes_max);

/// An entry of the table that maps the kernel's event data to a descriptor. The generation distinguishes a descriptor
/// from the previous user of its entry: a file that a forked child still holds may report events after we closed it.
struct table_entry {
    epoll_descriptor* user = nullptr;
    std::uint32_t generation = 0;
    std::uint32_t next_free = 0;
};

class epoll_backend final : public kernel::kernel_backend {
 public:
    epoll_backend();
    ~epoll_backend() override;

    [[nodiscard]] std::string_view name() const noexcept override { return "epoll"; }
    [[nodiscard]] std::expected<descriptor*, std::error_code> adopt(int file) noexcept override;
    [[nodiscard]] int detach(descriptor& on) noexcept override;
    void close(descriptor& on) noexcept override;

    [[nodiscard]] bool start(operation& what) noexcept override;
    [[nodiscard]] bool try_send(operation& what) noexcept override;
    void cancel(operation& what) noexcept override;
    void abandon(operation& what) noexcept override { unpark(what); }
    void wait(std::chrono::nanoseconds timeout) noexcept override;
    void dispatch_one() noexcept override;
    void wake() noexcept override;
    void tear_down() noexcept override {}

 private:
    static constexpr int events_max = 512;
    static constexpr std::uint64_t wake_mark = ~std::uint64_t{0};
    static constexpr std::uint32_t no_entry = ~std::uint32_t{0};

    static epoll_descriptor& own(descriptor& on) noexcept { return static_cast<epoll_descriptor&>(on); }
    [[nodiscard]] int file_of(descriptor& on) const noexcept override { return own(on).state.file; }

    void forget(epoll_descriptor& gone) noexcept;
    [[nodiscard]] bool park(epoll_descriptor& on, operation& what, operation*& place) noexcept;
    void unpark(operation& what) noexcept;
    void settle(operation*& place) noexcept;
    void prefetch_ahead() const noexcept;
    [[nodiscard]] const table_entry* entry_ahead(int distance) const noexcept;

    [[nodiscard]] bool attempt(epoll_descriptor& on, operation& what) noexcept;

    int epoll_ = -1;
    int wake_ = -1;
    int collected_next_ = 0;
    std::uint32_t first_free_ = no_entry;
    std::vector<table_entry> table_;
    epoll_event events_[events_max];
};

epoll_backend::epoll_backend() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    if (epoll_ < 0) throw std::system_error(system_code(errno), "epoll_create1");
    wake_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    // Edge-triggered: every write to it is a new edge, so no code reads it.
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.u64 = wake_mark;
    if (wake_ < 0 || ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) {
        const int number = errno;
        if (wake_ >= 0) ::close(wake_);
        ::close(epoll_);
        throw std::system_error(system_code(number), "eventfd");
    }
}

epoll_backend::~epoll_backend() {
    for (const table_entry& entry : table_) {
        CORRO_ASSERT(entry.user == nullptr, "sockets must be closed before their context is destroyed");
    }
    ::close(wake_);
    ::close(epoll_);
}

std::expected<descriptor*, std::error_code> epoll_backend::adopt(int file) noexcept {
    if (first_free_ == no_entry) {
        table_.emplace_back();
        table_.back().next_free = no_entry;
        first_free_ = static_cast<std::uint32_t>(table_.size() - 1);
    }
    const std::uint32_t index = first_free_;
    table_entry& entry = table_[index];
    first_free_ = entry.next_free;
    entry.user = ::new (detail::allocate_frame(sizeof(epoll_descriptor))) epoll_descriptor(owner(), file, index);
    return entry.user;
}

void epoll_backend::close(descriptor& on) noexcept {
    epoll_descriptor& closed = own(on);
    for (operation* parked : {closed.reader, closed.writer}) {
        if (parked != nullptr) cancel(*parked);
    }
    ::close(closed.state.file);
    forget(closed);
}

int epoll_backend::detach(descriptor& on) noexcept {
    epoll_descriptor& given = own(on);
    CORRO_ASSERT(given.reader == nullptr && given.writer == nullptr,
                 "no operation may wait on a socket that is given away");
    const int file = given.state.file;
    if (given.registered) ::epoll_ctl(epoll_, EPOLL_CTL_DEL, file, nullptr);
    forget(given);
    return file;
}

void epoll_backend::forget(epoll_descriptor& gone) noexcept {
    table_entry& entry = table_[gone.index];
    entry.user = nullptr;
    ++entry.generation;
    entry.next_free = first_free_;
    first_free_ = gone.index;
    gone.~epoll_descriptor();
    detail::free_frame(&gone, sizeof(epoll_descriptor));
}

bool epoll_backend::start(operation& what) noexcept {
    epoll_descriptor& on = own(*what.target);
    switch (what.kind) {
        case operation_kind::receive:
        case operation_kind::receive_batch:
        case operation_kind::accept:
        case operation_kind::wait_readable:
            CORRO_ASSERT(on.reader == nullptr, "a socket can have only one read or accept at a time");
            if (on.state.should_try_reading() && attempt(on, what)) return true;
            return !park(on, what, on.reader);
        case operation_kind::send:
        case operation_kind::send_batch:
        case operation_kind::send_file:
            CORRO_ASSERT(on.writer == nullptr, "a socket can have only one write at a time");
            if (on.state.should_try_writing() && attempt(on, what)) return true;
            return !park(on, what, on.writer);
        case operation_kind::connect:
            CORRO_ASSERT(on.writer == nullptr, "a socket that connects must not write");
            if (kernel::begin_connect(on.state, what)) return true;
            return !park(on, what, on.writer);
    }
    return true;
}

bool epoll_backend::try_send(operation& what) noexcept {
    epoll_descriptor& on = own(*what.target);
    return on.writer == nullptr && on.state.should_try_writing() && kernel::attempt_send(on.state, what);
}

/// Leaves the operation with the descriptor. @return false if the kernel cannot watch the descriptor; then the
/// operation is complete.
bool epoll_backend::park(epoll_descriptor& on, operation& what, operation*& place) noexcept {
    if (!on.registered) {
        // Registering reports an edge if the file is ready now, so readiness since the attempt is not missed.
        epoll_event event{};
        event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLPRI | EPOLLET;
        event.data.u64 = std::uint64_t{table_[on.index].generation} << 32U | on.index;
        if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, on.state.file, &event) != 0) {
            what.status = errno;
            return false;
        }
        on.registered = true;
    }
    place = &what;
    what.parked = true;
    ++parked_count_;
    return true;
}

void epoll_backend::unpark(operation& what) noexcept {
    epoll_descriptor& on = own(*what.target);
    (on.reader == &what ? on.reader : on.writer) = nullptr;
    what.parked = false;
    --parked_count_;
}

void epoll_backend::cancel(operation& what) noexcept {
    unpark(what);
    // `bytes` keeps the count that a transfer in parts has moved already.
    what.status = ECANCELED;
    owner().complete(what);
}

/// Handles an edge for the operation parked at `place`, if any.
void epoll_backend::settle(operation*& place) noexcept {
    if (place == nullptr) return;
    operation& what = *place;
    if (!attempt(own(*what.target), what)) return;
    place = nullptr;
    --parked_count_;
    owner().complete(what);
}

bool epoll_backend::attempt(epoll_descriptor& on, operation& what) noexcept {
    switch (what.kind) {
        case operation_kind::receive: return kernel::attempt_receive(on.state, what);
        case operation_kind::send: return kernel::attempt_send(on.state, what);
        case operation_kind::connect: return kernel::finish_connect(on.state, what);
        case operation_kind::receive_batch: return kernel::attempt_receive_batch(on.state, what);
        case operation_kind::send_batch: return kernel::attempt_send_batch(on.state, what);
        case operation_kind::wait_readable: return kernel::attempt_wait(on.state, what);
        case operation_kind::send_file:
            return kernel::attempt_send_file(on.state, static_cast<file_send_operation&>(what));
        case operation_kind::accept: {
            int file = -1;
            if (!kernel::attempt_accept(on.state, what, file)) return false;
            if (file >= 0) what.accepted = *adopt(file);
            return true;
        }
    }
    return true;
}

void epoll_backend::wait(std::chrono::nanoseconds timeout) noexcept {
    if (timeout.count() > 0) {
        // The kernel delays timeouts of epoll by up to the thread's timer slack, 50 microseconds by default.
        thread_local bool slack_is_set = false;
        if (!slack_is_set) {
            ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
            slack_is_set = true;
        }
    }
    timespec limit{};
    limit.tv_sec = static_cast<time_t>(timeout.count() / 1'000'000'000);
    limit.tv_nsec = timeout.count() % 1'000'000'000;
    int count = 0;
    if (timeout.count() == 0) {
        count = ::epoll_wait(epoll_, events_, events_max, 0);
    } else {
        count = ::epoll_pwait2(epoll_, events_, events_max, timeout.count() < 0 ? nullptr : &limit, nullptr);
    }
    // An interrupted wait counts as one that found nothing.
    collected_next_ = 0;
    collected_count_ = count > 0 ? static_cast<std::size_t>(count) : 0;
    if (collected_count_ != 0) dispatch_one();
}

/// The entry of the event's descriptor; null if there is no such event, or if it is for no descriptor.
const table_entry* epoll_backend::entry_ahead(int distance) const noexcept {
    if (static_cast<std::size_t>(distance) >= collected_count_) return nullptr;
    const auto index = static_cast<std::uint32_t>(events_[collected_next_ + distance].data.u64);
    return index < table_.size() ? &table_[index] : nullptr;
}

/// With many sockets each event causes cache misses one after the other: the table, the descriptor, the operation in
/// its coroutine's frame. Prefetches one step for each of the next events, so that all are in the cache in time.
void epoll_backend::prefetch_ahead() const noexcept {
    if (const table_entry* const third = entry_ahead(2)) __builtin_prefetch(third);
    if (const table_entry* const second = entry_ahead(1); second != nullptr && second->user != nullptr) {
        __builtin_prefetch(second->user);
        __builtin_prefetch(&second->user->reader);
    }
    if (const table_entry* const next = entry_ahead(0); next != nullptr && next->user != nullptr) {
        if (const operation* const reader = next->user->reader) {
            __builtin_prefetch(reader);
            __builtin_prefetch(reinterpret_cast<const std::byte*>(reader) + sizeof(operation) - 1);
        }
    }
}

void epoll_backend::dispatch_one() noexcept {
    const epoll_event event = events_[collected_next_];
    ++collected_next_;
    --collected_count_;
    prefetch_ahead();
    if (event.data.u64 == wake_mark) return;
    const table_entry& entry = table_[static_cast<std::uint32_t>(event.data.u64)];
    if (entry.user == nullptr || entry.generation != event.data.u64 >> 32U) return;
    epoll_descriptor& on = *entry.user;
    if ((event.events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLPRI)) != 0) on.state.hung_up = true;
    if (on.state.hung_up || (event.events & EPOLLIN) != 0) {
        on.state.drained = false;
        settle(on.reader);
    }
    if (on.state.hung_up || (event.events & EPOLLOUT) != 0) {
        on.state.full = false;
        settle(on.writer);
    }
}

void epoll_backend::wake() noexcept {
    const std::uint64_t one = 1;
    // It fails only if the counter is full, and then the edge has been made already.
    [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
}

}  // namespace

std::unique_ptr<backend> make_epoll_backend() {
    return std::make_unique<epoll_backend>();
}

}  // namespace corro::io
