// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "io/loop/context_group.hpp"

namespace corro::io {

context_pool::context_pool(std::size_t threads_count, context_options options)
    : group_(threads_count != 0 ? threads_count : std::max(1U, std::thread::hardware_concurrency()), options) {
    group_.hold();
    for (std::size_t i = 0; i < group_.size(); ++i) {
        threads_.emplace_back([this, i] {
            // Ignores failure: the system may not let us choose.
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(i % std::max(1U, std::thread::hardware_concurrency()), &one);
            if (group_.size() <= std::thread::hardware_concurrency()) {
                ::pthread_setaffinity_np(::pthread_self(), sizeof one, &one);
            }
            try {
                group_.run();
            } catch (...) {
                const std::scoped_lock lock(guard_);
                failure_ = std::current_exception();
            }
        });
    }
}

context_pool::~context_pool() {
    group_.stop();
    join_threads();
}

void context_pool::join_threads() noexcept {
    for (std::thread& each : threads_) {
        if (each.joinable()) each.join();
    }
}

void context_pool::join() {
    if (std::exchange(held_, false)) group_.release();
    join_threads();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

namespace {

/// Runs on the context that received the connection.
task<void> serve_adopted(int file, std::function<task<void>(tcp_stream)> serve) {
    auto stream = tcp_stream::adopt(co_await this_context(), file);
    if (stream) co_await serve(std::move(*stream));
}

}  // namespace

task<std::error_code> serve_balanced(context_group* group, endpoint local, std::function<task<void>(tcp_stream)> serve,
                                     std::function<void(endpoint)> opened, listen_options options) {
    auto acceptor = tcp_acceptor::open(co_await this_context(), local, options);
    if (!acceptor) co_return acceptor.error();
    const auto bound = acceptor->local_endpoint();
    if (!bound) co_return bound.error();
    opened(*bound);
    for (std::size_t next = 0;; next = (next + 1) % group->size()) {
        auto accepted = co_await acceptor->accept();
        if (!accepted) co_return accepted.error();
        const int file = accepted->detach();
        if (file < 0) co_return std::make_error_code(std::errc::not_supported);
        group->spawn_at(next, serve_adopted(file, serve));
    }
}

}  // namespace corro::io
