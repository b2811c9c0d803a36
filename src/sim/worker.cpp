// SPDX-License-Identifier: Apache-2.0
#include "sim/worker.hpp"

#include "sim/world.hpp"

namespace corro::sim {

void worker::start(io::task<void> work) {
    CORRO_ASSERT(!is_started(), "a worker has one work at a time");
    done_ = false;
    keeps_running_.emplace(context_);
    context_.deliver(begin_);
    work_ = noting_the_end(std::move(work));
}

void worker::join() {
    if (!is_started()) return;
    world_.run_until_done([this] { return done_; });
    keeps_running_.reset();
    work_ = {};
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void worker::begin_message::arrived(io::remote_item& message, io::context& on) noexcept {
    worker& self = *static_cast<begin_message&>(message).self;
    self.work_.promise().started_by(std::noop_coroutine(), io::environment(&on, io::stop_token()));
    self.work_.coroutine().resume();
}

io::task<void> worker::noting_the_end(io::task<void> work) {
    try {
        co_await std::move(work);
    } catch (...) {
        failure_ = std::current_exception();
    }
    done_ = true;
}

}  // namespace corro::sim
