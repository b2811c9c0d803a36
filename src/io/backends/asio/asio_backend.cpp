// SPDX-License-Identifier: Apache-2.0
#include "io/backends/asio/asio_backend.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <exception>
#include <optional>

#include "base/assert.hpp"
#include "io/backends/kernel_backend.hpp"
#include "io/backends/kernel_sockets.hpp"
#include "io/backends/kernel_transfer.hpp"
#include "io/loop/context.hpp"
#include "io/loop/machine.hpp"
#include "io/task/scope.hpp"

namespace corro::io::asio {
namespace {

using boost::system::error_code;
using kernel::system_code;
using native_descriptor = boost::asio::posix::stream_descriptor;

constexpr useconds_t stopped_rest_us = 1000;
/// The largest number of Asio handlers that run before the tasks get a turn.
constexpr int looks_max = 256;

struct asio_descriptor final : descriptor {
    asio_descriptor(context& on, int opened, boost::asio::io_context& loop)
        : descriptor(on), state(opened), native(loop) {}

    kernel::socket_state state;
    native_descriptor native;  // owns the file from the first wait on
    operation* reader = nullptr;
    operation* writer = nullptr;
    bool read_awaited = false;  // Asio will report readiness; stays true when the operation is cancelled
    bool write_awaited = false;
    bool closed = false;
    std::shared_ptr<asio_descriptor> self;  // until it is closed; after that Asio's handlers keep it alive
};

class asio_backend final : public kernel::kernel_backend {
 public:
    explicit asio_backend(boost::asio::io_context* loop);
    ~asio_backend() override;

    [[nodiscard]] std::string_view name() const noexcept override { return "asio"; }
    [[nodiscard]] std::expected<descriptor*, std::error_code> adopt(int file) noexcept override;
    [[nodiscard]] int detach(descriptor& on) noexcept override;
    void close(descriptor& on) noexcept override;

    [[nodiscard]] bool start(operation& what) noexcept override;
    void cancel(operation& what) noexcept override;
    void abandon(operation& what) noexcept override { unpark(what); }
    void wait(std::chrono::nanoseconds timeout) noexcept override;
    void dispatch_one() noexcept override {}
    void wake() noexcept override;
    void tear_down() noexcept override {}

    [[nodiscard]] boost::asio::io_context& loop() noexcept { return *loop_; }

 private:
    static asio_descriptor& own(descriptor& on) noexcept { return static_cast<asio_descriptor&>(on); }
    [[nodiscard]] int file_of(descriptor& on) const noexcept override { return own(on).state.file; }
    static bool reads(const operation& what) noexcept {
        return what.kind != operation_kind::send && what.kind != operation_kind::send_batch &&
               what.kind != operation_kind::send_file && what.kind != operation_kind::connect;
    }

    [[nodiscard]] bool attempt(asio_descriptor& on, operation& what) noexcept;
    [[nodiscard]] bool park(asio_descriptor& on, operation& what) noexcept;
    void unpark(operation& what) noexcept;
    void await_readable(asio_descriptor& on);
    void await_writable(asio_descriptor& on);
    void settle(asio_descriptor& on, bool reading) noexcept;
    void await_wake_up();
    void arm_timer(std::chrono::nanoseconds timeout);

    // Tells handlers that are still queued that the backend has been destroyed.
    std::shared_ptr<asio_backend*> mine_;
    std::optional<boost::asio::io_context> own_loop_;
    boost::asio::io_context* loop_;
    std::optional<native_descriptor> wake_up_;
    std::optional<boost::asio::steady_timer> timer_;
    int wake_ = -1;
    bool timer_armed_ = false;
    steady_time timer_due_{};
    std::size_t open_count_ = 0;
};

asio_backend::asio_backend(boost::asio::io_context* loop) : mine_(std::make_shared<asio_backend*>(this)), loop_(loop) {
    if (loop_ == nullptr) loop_ = &own_loop_.emplace(1);
    wake_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (wake_ < 0) throw std::system_error(system_code(errno), "eventfd");
    wake_up_.emplace(*loop_, wake_);
    timer_.emplace(*loop_);
    await_wake_up();
}

asio_backend::~asio_backend() {
    CORRO_ASSERT(open_count_ == 0, "sockets must be closed before their context is destroyed");
    *mine_ = nullptr;
    timer_.reset();
    wake_up_.reset();
}

void asio_backend::await_wake_up() {
    wake_up_->async_wait(native_descriptor::wait_read, [mine = mine_](const error_code& failed) {
        if (failed || *mine == nullptr) return;
        std::uint64_t count = 0;
        [[maybe_unused]] const ssize_t taken = ::read((*mine)->wake_, &count, sizeof count);
        (*mine)->await_wake_up();
    });
}

void asio_backend::wake() noexcept {
    const std::uint64_t one = 1;
    // It fails only if the counter is full, and then the loop wakes up anyway.
    [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
}

std::expected<descriptor*, std::error_code> asio_backend::adopt(int file) noexcept {
    const auto made = std::make_shared<asio_descriptor>(owner(), file, *loop_);
    made->self = made;
    ++open_count_;
    return made.get();
}

int asio_backend::detach(descriptor& on) noexcept {
    asio_descriptor& given = own(on);
    CORRO_ASSERT(given.reader == nullptr && given.writer == nullptr,
                 "no operation may wait on a socket that is given away");
    const int file = given.state.file;
    if (given.native.is_open()) (void)given.native.release();
    given.closed = true;
    --open_count_;
    const std::shared_ptr<asio_descriptor> last = std::move(given.self);
    return file;
}

void asio_backend::close(descriptor& on) noexcept {
    asio_descriptor& gone = own(on);
    for (operation* parked : {gone.reader, gone.writer}) {
        if (parked != nullptr) cancel(*parked);
    }
    gone.closed = true;
    --open_count_;
    const std::shared_ptr<asio_descriptor> last = std::move(gone.self);
    if (gone.native.is_open()) {
        error_code ignored;
        gone.native.close(ignored);
    } else {
        ::close(gone.state.file);
    }
}

bool asio_backend::start(operation& what) noexcept {
    asio_descriptor& on = own(*what.target);
    if (reads(what)) {
        CORRO_ASSERT(on.reader == nullptr, "a socket can have only one read or accept at a time");
        if (on.state.should_try_reading() && attempt(on, what)) return true;
    } else {
        CORRO_ASSERT(on.writer == nullptr, "a socket can have only one write at a time");
        if (what.kind == operation_kind::connect) {
            if (kernel::begin_connect(on.state, what)) return true;
        } else if (on.state.should_try_writing() && attempt(on, what)) {
            return true;
        }
    }
    return !park(on, what);
}

/// Leaves the operation with the descriptor. @return false if Asio cannot watch the descriptor; then the operation is
/// complete.
bool asio_backend::park(asio_descriptor& on, operation& what) noexcept {
    if (!on.native.is_open()) {
        error_code failed;
        on.native.assign(on.state.file, failed);
        if (failed) {
            what.status = failed.value();
            return false;
        }
    }
    (reads(what) ? on.reader : on.writer) = &what;
    what.parked = true;
    ++parked_count_;
    if (reads(what)) {
        if (!on.read_awaited) await_readable(on);
    } else {
        if (!on.write_awaited) await_writable(on);
    }
    return true;
}

void asio_backend::unpark(operation& what) noexcept {
    asio_descriptor& on = own(*what.target);
    (on.reader == &what ? on.reader : on.writer) = nullptr;
    what.parked = false;
    --parked_count_;
}

void asio_backend::cancel(operation& what) noexcept {
    unpark(what);
    what.status = ECANCELED;
    owner().complete(what);
}

void asio_backend::await_readable(asio_descriptor& on) {
    on.read_awaited = true;
    on.native.async_wait(native_descriptor::wait_read, [mine = mine_, kept = on.self](const error_code& failed) {
        kept->read_awaited = false;
        if (failed || kept->closed || *mine == nullptr) return;
        kept->state.drained = false;
        (*mine)->settle(*kept, true);
    });
}

void asio_backend::await_writable(asio_descriptor& on) {
    on.write_awaited = true;
    on.native.async_wait(native_descriptor::wait_write, [mine = mine_, kept = on.self](const error_code& failed) {
        kept->write_awaited = false;
        if (failed || kept->closed || *mine == nullptr) return;
        kept->state.full = false;
        (*mine)->settle(*kept, false);
    });
}

/// Resumes the operation that is parked on the ready descriptor, if any.
void asio_backend::settle(asio_descriptor& on, bool reading) noexcept {
    operation* const what = reading ? on.reader : on.writer;
    if (what == nullptr) return;
    if (!attempt(on, *what)) {
        if (reading) {
            await_readable(on);
        } else {
            await_writable(on);
        }
        return;
    }
    unpark(*what);
    owner().complete(*what);
}

bool asio_backend::attempt(asio_descriptor& on, operation& what) noexcept {
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

void asio_backend::arm_timer(std::chrono::nanoseconds timeout) {
    const steady_time due = kernel::steady_now() + timeout;
    // An earlier timer ends the wait too early, which is harmless. Then this one is armed.
    if (timer_armed_ && timer_due_ <= due) return;
    timer_armed_ = true;
    timer_due_ = due;
    timer_->expires_after(timeout);
    timer_->async_wait([mine = mine_](const error_code& failed) {
        if (!failed && *mine != nullptr) (*mine)->timer_armed_ = false;
    });
}

void asio_backend::wait(std::chrono::nanoseconds timeout) noexcept {
    if (timeout.count() > 0) arm_timer(timeout);
    try {
        if (timeout.count() == 0) {
            // Polls until the reactor has nothing: a queued handler would hide readiness from us.
            for (int count = 0; count != looks_max && loop_->poll_one() != 0; ++count) continue;
        } else {
            loop_->run_one();
        }
    } catch (...) {
        // An exception from an Asio handler ends `context::run`, as an exception from a task does.
        owner().roots().fail(std::current_exception());
        owner().stop();
    }
    if (!loop_->stopped()) return;
    // The program stopped the io_context, whose loop is ours too. A wait for a single task must not spin.
    owner().stop();
    if (timeout.count() != 0) ::usleep(stopped_rest_us);
}

class asio_machine final : public machine {
 public:
    [[nodiscard]] std::string_view name() const noexcept override { return "asio"; }
    [[nodiscard]] made_backend make_backend() override { return {std::make_unique<asio_backend>(nullptr), {}}; }
};

}  // namespace

std::unique_ptr<backend> make_backend() {
    return std::make_unique<asio_backend>(nullptr);
}

std::unique_ptr<backend> make_backend(boost::asio::io_context& loop) {
    return std::make_unique<asio_backend>(&loop);
}

platform& asio_platform() noexcept {
    static asio_machine one;
    return one;
}

boost::asio::io_context* loop_of(context& on) noexcept {
    auto* const mine = dynamic_cast<asio_backend*>(&on.io());
    return mine != nullptr ? &mine->loop() : nullptr;
}

}  // namespace corro::io::asio
