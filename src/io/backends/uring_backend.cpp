// SPDX-License-Identifier: Apache-2.0
#include "io/backends/uring_backend.hpp"

#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "base/assert.hpp"
#include "io/backends/kernel_backend.hpp"
#include "io/backends/kernel_sockets.hpp"
#include "io/backends/kernel_transfer.hpp"
#include "io/file/detail/file_operation.hpp"
#include "io/loop/context.hpp"
#include "io/task/allocation.hpp"

namespace corro::io {
namespace {

using kernel::system_code;

/// A socket. It lives until its owner has closed it and the ring has completed all its submissions.
struct uring_descriptor final : descriptor {
    uring_descriptor(context& on, int opened) noexcept : descriptor(on), state(opened) {}

    kernel::socket_state state;
    operation* reader = nullptr;  // a parked receive or accept
    operation* writer = nullptr;  // a parked send or connect
    std::uint32_t unanswered_count = 0;
    bool closed = false;
    // For acceptors: once armed, the ring reports connection after connection. `kept` holds those that no task awaits
    // yet.
    bool accepting = false;
    bool pausing = false;  // the ring is asked to stop accepting: no task waits, too many are kept, or it is closed
    std::uint32_t place = unlisted;  // in `listed_`
    std::vector<int> kept;

    static constexpr std::uint32_t unlisted = std::numeric_limits<std::uint32_t>::max();
};

static_assert(sizeof(uring_descriptor) <= backend::socket_bytes_max);

/// The subject of a completion, in the low bits of its user data. The other bits are a pointer.
enum class subject : std::uint64_t {
    nobody = 0,
    operation_done = 1,
    accepted = 2,
    wake_up = 3,
    file_done = 4,
    operation_cancel = 5,
    accept_cancel = 6
};
constexpr std::uint64_t subject_mask = 7;
constexpr mode_t file_rights = 0666;  // of a new file, before the process's umask
static_assert(alignof(operation) > subject_mask && alignof(uring_descriptor) > subject_mask &&
              alignof(file_operation) > subject_mask);

// `operation::backend_note`. A cancelled operation ends when both its own completion and that of the cancel have come.
// Then the ring no longer refers to it.
constexpr std::uint8_t cancel_unanswered = 1;  // the ring has a cancel of this operation
constexpr std::uint8_t ended = 2;              // its own completion has come; that of the cancel has not

/// Whether a cancel with this result found nothing to cancel. The kernel reports this also for an operation between two
/// attempts, which with MSG_WAITALL may then wait forever.
constexpr bool missed(int result) noexcept {
    return result == -ENOENT || result == -EALREADY;
}

class uring_backend final : public kernel::kernel_backend {
 public:
    uring_backend();
    ~uring_backend() override;

    [[nodiscard]] std::string_view name() const noexcept override { return "uring"; }
    [[nodiscard]] std::expected<descriptor*, std::error_code> adopt(int file) noexcept override;
    [[nodiscard]] int detach(descriptor& on) noexcept override;
    void close(descriptor& on) noexcept override;

    [[nodiscard]] bool start(operation& what) noexcept override;
    [[nodiscard]] bool start_file(file_operation& what) noexcept override;
    void cancel(operation& what) noexcept override;
    void abandon(operation&) noexcept override {}
    void wait(std::chrono::nanoseconds timeout) noexcept override;
    void dispatch_one() noexcept override;
    void wake() noexcept override;
    void tear_down() noexcept override;

 private:
    static constexpr unsigned submissions_max = 256;
    static constexpr unsigned completions_max = 4096;
    static constexpr std::size_t kept_connections_max = 64;
    static constexpr long tear_down_pause_ns = 1'000'000;  // between two attempts to cancel all operations

    static uring_descriptor& own(descriptor& on) noexcept { return static_cast<uring_descriptor&>(on); }
    [[nodiscard]] int file_of(descriptor& on) const noexcept override { return own(on).state.file; }
    static std::uint64_t tagged(const void* pointer, subject what) noexcept {
        return reinterpret_cast<std::uint64_t>(pointer) | static_cast<std::uint64_t>(what);
    }

    void open_ring();
    void bind_to_this_thread() noexcept;
    void forget_submissions() noexcept;
    void leave_ring() noexcept;
    [[nodiscard]] io_uring_sqe& next_submission() noexcept;
    [[nodiscard]] bool may_send_at_once(uring_descriptor& on) noexcept;
    [[nodiscard]] bool accept_kept(uring_descriptor& on, operation& what) noexcept;

    void release(uring_descriptor& gone) noexcept;
    void submit_transfer(uring_descriptor& on, operation& what) noexcept;
    void submit_accept(uring_descriptor& on) noexcept;
    void submit_cancel(operation& what) noexcept;
    void pause_accepting(uring_descriptor& on) noexcept;
    void submit_cancel(std::uint64_t about, std::uint64_t answer_to) noexcept;
    void submit_cancel_of_all() noexcept;
    void arm_wake_up() noexcept;
    void park(operation& what, operation*& place) noexcept;
    void on_operation(operation& what, int result, std::uint32_t flags) noexcept;
    void on_cancel_answered(operation& what, int result) noexcept;
    void on_accept_cancel_answered(uring_descriptor& on, int result) noexcept;
    void finish(operation& what) noexcept;
    void on_accepted(uring_descriptor& on, int result, std::uint32_t flags) noexcept;
    void answered(uring_descriptor& on) noexcept;
    void list(uring_descriptor& on) noexcept;
    void dispatch_all() noexcept;

    io_uring ring_{};
    int wake_ = -1;
    bool enabled_ = false;
    bool tearing_down_ = false;  // no further submissions
    bool orphaned_ = false;      // the ring is closed, because its thread had ended
    std::thread::id thread_;
    const uring_descriptor* last_sender_ = nullptr;  // since the last event; only compared, never dereferenced
    // Sockets with uncompleted submissions, if they outlive every operation that could name them: acceptors that are
    // armed, and what is closed.
    std::vector<uring_descriptor*> listed_;
    std::size_t open_count_ = 0;
    std::size_t unanswered_count_ = 0;  // uncompleted submissions of operations, acceptors and cancels
};

// The system gives the memory of a closed ring to the next ring, perhaps of another thread. The kernel orders the two,
// but a race detector does not see liburing's system calls. This counter repeats the order for it.
std::atomic<std::uint32_t> rings_closed_count = 0;

void close_ring(io_uring& ring) noexcept {
    rings_closed_count.fetch_add(1, std::memory_order_release);
    ::io_uring_queue_exit(&ring);
}

uring_backend::uring_backend() {
    open_ring();
    wake_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (wake_ < 0) {
        const int number = errno;
        close_ring(ring_);
        throw std::system_error(system_code(number), "eventfd");
    }
}

void uring_backend::open_ring() {
    io_uring_params parameters{};
    // Disabled at first: the first thread that uses the ring becomes its issuer, on whichever thread the context was
    // made.
    parameters.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
                       IORING_SETUP_SUBMIT_ALL | IORING_SETUP_R_DISABLED | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;
    parameters.cq_entries = completions_max;
    const int result = ::io_uring_queue_init_params(submissions_max, &ring_, &parameters);
    if (result == 0) {
        static_cast<void>(rings_closed_count.load(std::memory_order_acquire));
        return;
    }
    const char* why = "io_uring is not available";
    if (result == -ENOSYS) why = "this kernel has no io_uring";
    if (result == -EINVAL) why = "this kernel's io_uring is older than Linux 6.1";
    if (result == -EPERM || result == -EACCES)
        why = "this system forbids io_uring (kernel.io_uring_disabled, or a seccomp filter)";
    throw std::system_error(system_code(-result), why);
}

uring_backend::~uring_backend() {
    CORRO_ASSERT(open_count_ == 0, "sockets must be closed before their context is destroyed");
    if (!orphaned_) close_ring(ring_);
    ::close(wake_);
}

void uring_backend::bind_to_this_thread() noexcept {
    if (enabled_) {
        leave_ring();
        open_ring();
    }
    thread_ = std::this_thread::get_id();
    enabled_ = true;
    // liburing 2.3 declares a function for this and does not export it.
    const long result = ::syscall(SYS_io_uring_register, ring_.ring_fd, IORING_REGISTER_ENABLE_RINGS, nullptr, 0);
    CORRO_ASSERT(result == 0, "enabling a new ring must succeed");
    arm_wake_up();
}

/// Forgets what was submitted to the ring of another thread. Keeps the connections that it has accepted, and releases
/// sockets that were closed.
void uring_backend::forget_submissions() noexcept {
    io_uring_cqe* answer = nullptr;
    unsigned head = 0;
    io_uring_for_each_cqe(&ring_, head, answer) {
        if (static_cast<subject>(answer->user_data & subject_mask) != subject::accepted || answer->res < 0) continue;
        reinterpret_cast<uring_descriptor*>(answer->user_data & ~subject_mask)->kept.push_back(answer->res);
    }
    for (uring_descriptor* const on : listed_) {
        unanswered_count_ -= on->unanswered_count;
        on->unanswered_count = 0;
        on->accepting = false;
        on->pausing = false;
        on->place = uring_descriptor::unlisted;
        if (!on->closed) continue;
        // Of a task that is destroyed with the context.
        for (operation* const left : {on->reader, on->writer}) {
            if (left == nullptr) continue;
            left->parked = false;
            --parked_count_;
        }
        for (const int file : on->kept) ::close(file);
        release(*on);
    }
    listed_.clear();
    collected_count_ = 0;
}

/// Gives up the ring of another thread. Acceptors that no task awaits may be armed there; the next accept arms them
/// again.
void uring_backend::leave_ring() noexcept {
    for (const uring_descriptor* const on : listed_) {
        CORRO_ASSERT(on->reader == nullptr && on->writer == nullptr,
                     "a context on io_uring with operations in flight must stay on its thread");
    }
    forget_submissions();
    CORRO_ASSERT(unanswered_count_ == 0, "a context on io_uring with operations in flight must stay on its thread");
    close_ring(ring_);
}

io_uring_sqe& uring_backend::next_submission() noexcept {
    if (thread_ != std::this_thread::get_id()) [[unlikely]]
        bind_to_this_thread();
    io_uring_sqe* slot = ::io_uring_get_sqe(&ring_);
    while (slot == nullptr) {
        ::io_uring_submit(&ring_);
        slot = ::io_uring_get_sqe(&ring_);
    }
    return *slot;
}

void uring_backend::arm_wake_up() noexcept {
    // Multishot and edge-triggered: every write to the event makes one completion, so no code reads it.
    io_uring_sqe& slot = next_submission();
    ::io_uring_prep_poll_multishot(&slot, wake_, POLLIN);
    slot.poll32_events |= static_cast<std::uint32_t>(EPOLLET);
    slot.user_data = tagged(nullptr, subject::wake_up);
}

std::expected<descriptor*, std::error_code> uring_backend::adopt(int file) noexcept {
    ++open_count_;
    return ::new (detail::allocate_frame(sizeof(uring_descriptor))) uring_descriptor(owner(), file);
}

int uring_backend::detach(descriptor& on) noexcept {
    uring_descriptor& given = own(on);
    CORRO_ASSERT(given.reader == nullptr && given.writer == nullptr,
                 "no operation may wait on a socket that is given away");
    if (given.place != uring_descriptor::unlisted && !orphaned_) {
        if (thread_ != std::this_thread::get_id()) bind_to_this_thread();
        if (given.accepting) pause_accepting(given);
        while (given.unanswered_count != 0) {
            ::io_uring_submit_and_wait(&ring_, 1);
            dispatch_all();
        }
    }
    // The connections that it has accepted already cannot be given away.
    for (const int taken : given.kept) ::close(taken);
    const int file = given.state.file;
    --open_count_;
    release(given);
    return file;
}

void uring_backend::release(uring_descriptor& gone) noexcept {
    gone.~uring_descriptor();
    detail::free_frame(&gone, sizeof(uring_descriptor));
}

void uring_backend::close(descriptor& on) noexcept {
    uring_descriptor& closed = own(on);
    if (closed.place != uring_descriptor::unlisted && !orphaned_ && thread_ != std::this_thread::get_id())
        bind_to_this_thread();
    closed.closed = true;
    --open_count_;
    if (orphaned_) {
        closed.accepting = false;
        closed.reader = nullptr;
        closed.writer = nullptr;
        closed.unanswered_count = 0;
    }
    if (closed.accepting) {
        if (closed.reader != nullptr) cancel(*closed.reader);
        pause_accepting(closed);
    }
    for (operation* parked : {closed.reader, closed.writer}) {
        if (parked != nullptr) cancel(*parked);
    }
    // Queued submissions name the file by its number, which another file may soon have. So submits them first.
    if (closed.unanswered_count != 0) ::io_uring_submit(&ring_);
    ::close(closed.state.file);
    for (const int file : closed.kept) ::close(file);
    closed.kept.clear();
    if (closed.unanswered_count == 0) return release(closed);
    list(closed);
}

bool uring_backend::start(operation& what) noexcept {
    uring_descriptor& on = own(*what.target);
    switch (what.kind) {
        case operation_kind::receive:
            CORRO_ASSERT(on.reader == nullptr, "a socket can have only one read or accept at a time");
            if (on.state.should_try_reading() && kernel::attempt_receive(on.state, what)) return true;
            park(what, on.reader);
            submit_transfer(on, what);
            return false;
        case operation_kind::send:
            CORRO_ASSERT(on.writer == nullptr, "a socket can have only one write at a time");
            if (may_send_at_once(on) && on.state.should_try_writing() && kernel::attempt_send(on.state, what))
                return true;
            park(what, on.writer);
            submit_transfer(on, what);
            return false;
        case operation_kind::receive_batch:
            CORRO_ASSERT(on.reader == nullptr, "a socket can have only one read or accept at a time");
            if (on.state.should_try_reading() && kernel::attempt_receive_batch(on.state, what)) return true;
            park(what, on.reader);
            submit_transfer(on, what);
            return false;
        case operation_kind::send_batch:
            CORRO_ASSERT(on.writer == nullptr, "a socket can have only one write at a time");
            if (on.state.should_try_writing() && kernel::attempt_send_batch(on.state, what)) return true;
            park(what, on.writer);
            submit_transfer(on, what);
            return false;
        case operation_kind::send_file:
            CORRO_ASSERT(on.writer == nullptr, "a socket can have only one write at a time");
            if (on.state.should_try_writing() &&
                kernel::attempt_send_file(on.state, static_cast<file_send_operation&>(what)))
                return true;
            park(what, on.writer);
            submit_transfer(on, what);
            return false;
        case operation_kind::wait_readable:
            CORRO_ASSERT(on.reader == nullptr, "a socket can have only one read or accept at a time");
            if (kernel::attempt_wait(on.state, what)) return true;
            park(what, on.reader);
            submit_transfer(on, what);
            return false;
        case operation_kind::accept:
            CORRO_ASSERT(on.reader == nullptr, "a socket can have only one read or accept at a time");
            if (accept_kept(on, what)) return true;
            park(what, on.reader);
            if (!on.accepting) submit_accept(on);
            return false;
        case operation_kind::connect:
            CORRO_ASSERT(on.writer == nullptr, "a socket that connects must not write");
            if (kernel::begin_connect(on.state, what)) return true;
            park(what, on.writer);
            submit_transfer(on, what);
            return false;
    }
    return true;
}

/// Sends at once if one socket sends, so that replies and pieces of a stream are fast. If one event makes many sockets
/// send, all but the first share one system call.
bool uring_backend::may_send_at_once(uring_descriptor& on) noexcept {
    const bool is_first_or_same = last_sender_ == nullptr || last_sender_ == &on;
    last_sender_ = &on;
    return is_first_or_same;
}

bool uring_backend::start_file(file_operation& what) noexcept {
    // The ring of Linux 6.1 has no operation for these calls, so the thread pool does them.
    const bool is_for_the_pool = what.call == file_call::truncate || what.call == file_call::rename_new ||
                                 what.call == file_call::sync_directory;
    if (is_for_the_pool || orphaned_) return false;
    io_uring_sqe& slot = next_submission();
    const auto part = static_cast<unsigned>(what.part_bytes());
    switch (what.call) {
        case file_call::open:
            ::io_uring_prep_openat(&slot, AT_FDCWD, what.path, what.flags | O_CLOEXEC, file_rights);
            break;
        case file_call::read:
            ::io_uring_prep_read(&slot, what.handle, what.data + what.bytes, part, what.offset + what.bytes);
            break;
        case file_call::write:
            ::io_uring_prep_write(&slot, what.handle, what.data + what.bytes, part, what.offset + what.bytes);
            break;
        case file_call::sync_data: ::io_uring_prep_fsync(&slot, what.handle, IORING_FSYNC_DATASYNC); break;
        case file_call::preallocate:
            ::io_uring_prep_fallocate(&slot, what.handle, 0, static_cast<off_t>(what.offset),
                                      static_cast<off_t>(what.size));
            break;
        case file_call::rename: ::io_uring_prep_renameat(&slot, AT_FDCWD, what.path, AT_FDCWD, what.new_path, 0); break;
        case file_call::remove: ::io_uring_prep_unlinkat(&slot, AT_FDCWD, what.path, 0); break;
        case file_call::truncate:
        case file_call::rename_new:
        case file_call::sync_directory: break;
    }
    slot.user_data = tagged(&what, subject::file_done);
    ++parked_count_;
    ++unanswered_count_;
    return true;
}

bool uring_backend::accept_kept(uring_descriptor& on, operation& what) noexcept {
    if (on.kept.empty()) return false;
    what.accepted = *adopt(on.kept.front());
    on.kept.erase(on.kept.begin());
    return true;
}

void uring_backend::park(operation& what, operation*& place) noexcept {
    place = &what;
    what.parked = true;
    ++parked_count_;
}

void uring_backend::submit_transfer(uring_descriptor& on, operation& what) noexcept {
    io_uring_sqe& slot = next_submission();
    const std::size_t left = what.size - what.bytes;
    const int all = what.minimum == what.size ? MSG_WAITALL : 0;
    switch (what.kind) {
        case operation_kind::receive:
            ::io_uring_prep_recv(&slot, on.state.file, what.data + what.bytes, left, all);
            // The buffer is empty: waits without a first attempt.
            if (on.state.drained) slot.ioprio |= IORING_RECVSEND_POLL_FIRST;
            break;
        case operation_kind::send:
            ::io_uring_prep_send(&slot, on.state.file, what.data + what.bytes, left, MSG_NOSIGNAL | all);
            if (on.state.full) slot.ioprio |= IORING_RECVSEND_POLL_FIRST;
            break;
        // The ring has no batches and no sendfile: it reports readiness, and a plain call makes the attempt.
        case operation_kind::wait_readable:
        case operation_kind::receive_batch: ::io_uring_prep_poll_add(&slot, on.state.file, POLLIN); break;
        case operation_kind::send_batch:
        case operation_kind::send_file:
        case operation_kind::connect: ::io_uring_prep_poll_add(&slot, on.state.file, POLLOUT); break;
        case operation_kind::accept: break;
    }
    slot.user_data = tagged(&what, subject::operation_done);
    ++on.unanswered_count;
    ++unanswered_count_;
}

void uring_backend::submit_accept(uring_descriptor& on) noexcept {
    io_uring_sqe& slot = next_submission();
    ::io_uring_prep_multishot_accept(&slot, on.state.file, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    slot.user_data = tagged(&on, subject::accepted);
    on.accepting = true;
    on.pausing = false;
    list(on);
    ++on.unanswered_count;
    ++unanswered_count_;
}

void uring_backend::submit_cancel(operation& what) noexcept {
    uring_descriptor& on = own(*what.target);
    submit_cancel(tagged(&what, subject::operation_done), tagged(&what, subject::operation_cancel));
    what.backend_note |= cancel_unanswered;
    ++on.unanswered_count;
    ++unanswered_count_;
}

void uring_backend::pause_accepting(uring_descriptor& on) noexcept {
    if (on.pausing) return;
    on.pausing = true;
    submit_cancel(tagged(&on, subject::accepted), tagged(&on, subject::accept_cancel));
    ++on.unanswered_count;
    ++unanswered_count_;
}

void uring_backend::submit_cancel(std::uint64_t about, std::uint64_t answer_to) noexcept {
    io_uring_sqe& slot = next_submission();
    ::io_uring_prep_cancel64(&slot, about, 0);
    slot.user_data = answer_to;
}

void uring_backend::submit_cancel_of_all() noexcept {
    io_uring_sqe& slot = next_submission();
    ::io_uring_prep_cancel64(&slot, 0, IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
    slot.user_data = tagged(nullptr, subject::nobody);
}

void uring_backend::cancel(operation& what) noexcept {
    if (orphaned_) return;
    uring_descriptor& on = own(*what.target);
    if (what.kind == operation_kind::accept) {
        // The wait ends now. Connections that the ring accepts until it stops are kept for the next accept.
        on.reader = nullptr;
        if (on.accepting) pause_accepting(on);
        --parked_count_;
        what.status = ECANCELED;
        owner().complete(what);
        return;
    }
    // The reason if it ends with fewer bytes than wanted.
    what.status = ECANCELED;
    if ((what.backend_note & cancel_unanswered) == 0) submit_cancel(what);
}

void uring_backend::wait(std::chrono::nanoseconds timeout) noexcept {
    if (thread_ != std::this_thread::get_id()) [[unlikely]]
        bind_to_this_thread();
    if (::io_uring_cq_ready(&ring_) == 0) {
        if (timeout.count() == 0) {
            const bool work_waits = (IO_URING_READ_ONCE(*ring_.sq.kflags) & IORING_SQ_TASKRUN) != 0;
            if (work_waits || ::io_uring_sq_ready(&ring_) != 0) ::io_uring_submit_and_get_events(&ring_);
        } else if (timeout.count() < 0) {
            ::io_uring_submit_and_wait(&ring_, 1);
        } else {
            __kernel_timespec limit{};
            limit.tv_sec = timeout.count() / 1'000'000'000;
            limit.tv_nsec = timeout.count() % 1'000'000'000;
            io_uring_cqe* first = nullptr;
            ::io_uring_submit_and_wait_timeout(&ring_, &first, 1, &limit, nullptr);
        }
    } else if (::io_uring_sq_ready(&ring_) != 0) {
        ::io_uring_submit(&ring_);
    }
    collected_count_ = ::io_uring_cq_ready(&ring_);
    if (collected_count_ != 0) dispatch_one();
}

void uring_backend::dispatch_one() noexcept {
    last_sender_ = nullptr;
    io_uring_cqe* answer = nullptr;
    unsigned head = 0;
    io_uring_for_each_cqe(&ring_, head, answer) break;
    const std::uint64_t about = answer->user_data;
    const int result = answer->res;
    const std::uint32_t flags = answer->flags;
    ::io_uring_cq_advance(&ring_, 1);
    --collected_count_;
    switch (static_cast<subject>(about & subject_mask)) {
        case subject::nobody: return;
        case subject::wake_up:
            if ((flags & IORING_CQE_F_MORE) == 0 && result != -ECANCELED) arm_wake_up();
            return;
        case subject::operation_done:
            on_operation(*reinterpret_cast<operation*>(about & ~subject_mask), result, flags);
            return;
        case subject::file_done:
            --parked_count_;
            --unanswered_count_;
            reinterpret_cast<file_operation*>(about & ~subject_mask)->finished(owner(), result);
            return;
        case subject::accepted:
            on_accepted(*reinterpret_cast<uring_descriptor*>(about & ~subject_mask), result, flags);
            return;
        case subject::operation_cancel:
            on_cancel_answered(*reinterpret_cast<operation*>(about & ~subject_mask), result);
            return;
        case subject::accept_cancel:
            on_accept_cancel_answered(*reinterpret_cast<uring_descriptor*>(about & ~subject_mask), result);
            return;
    }
}

/// Counts one submission of `on` as completed.
void uring_backend::answered(uring_descriptor& on) noexcept {
    --unanswered_count_;
    if (--on.unanswered_count != 0) return;
    if (on.place != uring_descriptor::unlisted) {
        listed_.back()->place = on.place;
        listed_[on.place] = listed_.back();
        listed_.pop_back();
        on.place = uring_descriptor::unlisted;
    }
    if (on.closed) release(on);
}

void uring_backend::list(uring_descriptor& on) noexcept {
    if (on.place != uring_descriptor::unlisted) return;
    on.place = static_cast<std::uint32_t>(listed_.size());
    listed_.push_back(&on);
}

void uring_backend::on_operation(operation& what, int result, std::uint32_t flags) noexcept {
    uring_descriptor& on = own(*what.target);
    const bool stopping = what.status == ECANCELED || on.closed || tearing_down_;
    bool complete = true;
    what.status = 0;
    const bool polled = what.kind != operation_kind::receive && what.kind != operation_kind::send;
    if (polled && result < 0) {
        what.status = -result;
    } else if (what.kind == operation_kind::connect) {
        complete = kernel::finish_connect(on.state, what);
    } else if (what.kind == operation_kind::wait_readable) {
        complete = kernel::attempt_wait(on.state, what);
    } else if (what.kind == operation_kind::receive_batch) {
        complete = kernel::attempt_receive_batch(on.state, what);
    } else if (what.kind == operation_kind::send_batch) {
        complete = kernel::attempt_send_batch(on.state, what);
    } else if (what.kind == operation_kind::send_file) {
        complete = kernel::attempt_send_file(on.state, static_cast<file_send_operation&>(what));
    } else if (result > 0) {
        what.bytes += static_cast<std::size_t>(result);
        complete = what.bytes >= what.minimum;
        if (what.kind == operation_kind::receive) {
            on.state.drained = (flags & IORING_CQE_F_SOCK_NONEMPTY) == 0;
        } else {
            on.state.full = what.bytes < what.size;
        }
    } else if (result == 0 && what.kind == operation_kind::receive) {
        what.status = operation::status_end_of_stream;
    } else if (result == -EINTR || result == -EAGAIN || result == 0) {
        complete = false;
    } else {
        what.status = -result;
    }
    if (!complete && !stopping) {
        submit_transfer(on, what);
        answered(on);
        return;
    }
    if (!complete) what.status = ECANCELED;
    if ((what.backend_note & cancel_unanswered) != 0) {
        what.backend_note |= ended;
    } else {
        finish(what);
    }
    answered(on);
}

void uring_backend::finish(operation& what) noexcept {
    uring_descriptor& on = own(*what.target);
    (on.reader == &what ? on.reader : on.writer) = nullptr;
    --parked_count_;
    owner().complete(what);
}

void uring_backend::on_cancel_answered(operation& what, int result) noexcept {
    uring_descriptor& on = own(*what.target);
    what.backend_note &= static_cast<std::uint8_t>(~cancel_unanswered);
    if ((what.backend_note & ended) != 0) {
        finish(what);
    } else if (missed(result) && !tearing_down_) {
        submit_cancel(what);
    }
    answered(on);
}

void uring_backend::on_accept_cancel_answered(uring_descriptor& on, int result) noexcept {
    // Does not apply to an acceptor that has been armed again since then.
    if (on.accepting && on.pausing && missed(result) && !tearing_down_) {
        on.pausing = false;
        pause_accepting(on);
    }
    answered(on);
}

void uring_backend::on_accepted(uring_descriptor& on, int result, std::uint32_t flags) noexcept {
    const bool goes_on = (flags & IORING_CQE_F_MORE) != 0;
    if (!goes_on) on.accepting = false;
    if (on.closed) {
        if (result >= 0) ::close(result);
    } else if (result >= 0 && on.reader == nullptr) {
        on.kept.push_back(result);
        // No task takes them: further connections wait in the kernel's queue, which has its own limit.
        if (on.kept.size() >= kept_connections_max && on.accepting) pause_accepting(on);
    } else if (on.reader != nullptr) {
        operation& what = *on.reader;
        const bool passing = result < 0 && (kernel::is_passing_accept_error(-result) || result == -ECANCELED);
        if (passing) {
            if (!on.accepting && !tearing_down_) submit_accept(on);
        } else {
            if (result >= 0) {
                what.accepted = *adopt(result);
            } else {
                what.status = -result;
            }
            on.reader = nullptr;
            --parked_count_;
            owner().complete(what);
        }
    }
    if (!goes_on) answered(on);
}

void uring_backend::wake() noexcept {
    const std::uint64_t one = 1;
    // It fails only if the counter is full, and then a completion is on its way already.
    [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
}

void uring_backend::tear_down() noexcept {
    if (!enabled_) return;
    tearing_down_ = true;
    if (thread_ != std::this_thread::get_id()) {
        // The thread that used the ring has ended. The kernel cancelled its operations in flight before that.
        forget_submissions();
        close_ring(ring_);
        orphaned_ = true;
        return;
    }
    while (unanswered_count_ != 0) {
        // Repeats, because one attempt is not enough (see `missed`). Waits for operations that cannot be cancelled,
        // such as a sync.
        const std::size_t before_count = unanswered_count_;
        submit_cancel_of_all();
        ::io_uring_submit_and_wait(&ring_, 1);
        dispatch_all();
        if (unanswered_count_ != before_count) continue;
        __kernel_timespec pause{};
        pause.tv_nsec = tear_down_pause_ns;
        io_uring_cqe* first = nullptr;
        ::io_uring_submit_and_wait_timeout(&ring_, &first, 1, &pause, nullptr);
        dispatch_all();
    }
}

void uring_backend::dispatch_all() noexcept {
    collected_count_ = ::io_uring_cq_ready(&ring_);
    while (collected_count_ != 0) dispatch_one();
}

}  // namespace

std::unique_ptr<backend> make_uring_backend() {
    return std::make_unique<uring_backend>();
}

}  // namespace corro::io
