// SPDX-License-Identifier: Apache-2.0
// A worker of a simulated process: a context that is stepped with the others, without a thread.
//
// Threads: one.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "io/loop/context.hpp"
#include "io/loop/platform.hpp"
#include "io/task/block_on.hpp"
#include "io/task/task.hpp"

namespace corro::sim {

class world;

class worker final : public io::worker {
 public:
    worker(world& in, io::context_options options) : world_(in), context_(options) {}
    ~worker() override { CORRO_ASSERT(!is_started(), "a worker goes after its work was joined"); }

    [[nodiscard]] io::context& where() noexcept override { return context_; }
    void start(io::task<void> work) override;
    void join() override;
    [[nodiscard]] bool is_started() const noexcept override { return keeps_running_.has_value(); }

 private:
    struct begin_message : io::remote_item {
        explicit begin_message(worker* of) noexcept : remote_item(nullptr, &arrived), self(of) {}
        static void arrived(io::remote_item& message, io::context& on) noexcept;
        worker* self;
    };

    io::task<void> noting_the_end(io::task<void> work);

    world& world_;
    io::context context_;
    begin_message begin_{this};
    io::task<void> work_;
    std::exception_ptr failure_;
    bool done_ = true;
    std::optional<io::work_guard> keeps_running_;
};

}  // namespace corro::sim
