// SPDX-License-Identifier: Apache-2.0
#include "io/file/detail/file_pool.hpp"

#include <pthread.h>

#include <csignal>
#include <system_error>

#include "io/loop/context.hpp"

namespace corro::io {

file_pool& file_pool::instance() noexcept {
    static file_pool pool;
    return pool;
}

file_pool::~file_pool() {
    {
        const std::scoped_lock lock(guard_);
        ending_ = true;
    }
    more_.notify_all();
    for (std::thread& each : threads_) each.join();
}

void file_pool::submit(file_operation& what) noexcept {
    {
        std::unique_lock lock(guard_);
        ++calls_count_;
        if (queued_count_ >= idle_count_ && threads_.size() < threads_max) {
            // The pool's threads block all signals; the program's threads handle them.
            sigset_t all{};
            sigset_t before{};
            sigfillset(&all);
            ::pthread_sigmask(SIG_SETMASK, &all, &before);
            try {
                threads_.emplace_back([this] { work(); });
            } catch (const std::system_error&) {
                // Uses the threads that could start. Without any, the caller does the work.
            }
            ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        }
        if (threads_.empty()) {
            lock.unlock();
            do_one(what);
            return;
        }
        what.next_queued_ = nullptr;
        (first_ == nullptr ? first_ : last_->next_queued_) = &what;
        last_ = &what;
        ++queued_count_;
    }
    more_.notify_one();
}

void file_pool::work() noexcept {
    std::unique_lock lock(guard_);
    for (;;) {
        ++idle_count_;
        more_.wait(lock, [this] { return first_ != nullptr || ending_; });
        --idle_count_;
        if (first_ == nullptr) return;
        file_operation& mine = *first_;
        first_ = mine.next_queued_;
        --queued_count_;
        lock.unlock();
        do_one(mine);
        lock.lock();
    }
}

void file_pool::do_one(file_operation& what) noexcept {
    context& origin = *what.origin_;
    what.result_ = what.perform();
    origin.deliver(what);  // from here on the context owns it again
}

std::size_t file_pool::threads_count() noexcept {
    const std::scoped_lock lock(guard_);
    return threads_.size();
}

std::size_t file_pool::calls_count() noexcept {
    const std::scoped_lock lock(guard_);
    return calls_count_;
}

}  // namespace corro::io
