// SPDX-License-Identifier: Apache-2.0
// An exchange on its own thread, for programs that contain their venue.
#pragma once

#include <thread>

#include "io/loop/context.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "node/configuration/configuration.hpp"
#include "node/venue/venue.hpp"

namespace corro::app {

/// The exchange on its own thread.
class exchange_thread {
 public:
    explicit exchange_thread(const node::configuration& configuration,
                             io::context_options options = io::context_options())
        : context_(options), exchange_(context_, configuration), close_(context_) {
        io::block_on(context_, exchange_.start());
        try {
            thread_ = std::thread([this] { run(); });
        } catch (...) {
            io::block_on(context_, exchange_.stop());
            throw;
        }
    }
    ~exchange_thread() { close(); }
    exchange_thread(const exchange_thread&) = delete;
    exchange_thread& operator=(const exchange_thread&) = delete;

    /// Closes the venue and waits until the last session has left.
    void close() {
        if (!thread_.joinable()) return;
        close_.set();
        thread_.join();
    }

    /// Complete after `close`; before that, callers may read only the addresses.
    [[nodiscard]] const node::venue& exchange() const noexcept { return exchange_; }

 private:
    static io::task<void> close_on_signal(exchange_thread* self) {
        const std::error_code stopped = co_await self->close_.wait();
        if (!stopped) self->exchange_.close();
    }
    static io::task<void> run_all(exchange_thread* self) {
        io::task_scope watching(self->context_);
        watching.spawn(close_on_signal(self));
        co_await self->exchange_.run();
        watching.request_stop();
        co_await watching.join();
    }
    void run() { io::block_on(context_, run_all(this)); }

    io::context context_;
    node::venue exchange_;
    io::remote_event close_;
    std::thread thread_;
};

}  // namespace corro::app
