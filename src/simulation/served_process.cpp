// SPDX-License-Identifier: Apache-2.0
#include "simulation/served_process.hpp"

#include <exception>

#include "base/assert.hpp"
#include "io/task/block_on.hpp"

namespace corro::simulation {

void served_process::start() {
    CORRO_ASSERT(!is_running(), "a program of a venue has one process at a time");
    ++starts_count_;
    current_ = std::make_unique<life>(host_.start_process(name_ + " " + std::to_string(starts_count_)));
    try {
        current_->runs = make_(current_->context);
    } catch (const std::exception& e) {
        current_->failure = e.what();
        current_->has_ended = true;
        return;
    }
    current_->tasks.spawn(live(current_.get()));
}

io::task<void> served_process::live(life* own) {
    try {
        co_await own->runs->start();
        own->is_started = true;
        if (own->is_closing) own->runs->close();
        co_await own->runs->run();
        own->failure = own->runs->failure();
    } catch (const std::exception& e) {
        own->failure = e.what();
    }
    own->has_ended = true;
}

void served_process::close(life& which) {
    if (std::exchange(which.is_closing, true) || !which.is_started || which.has_ended) return;
    which.runs->close();
}

void served_process::close() {
    if (is_running()) close(*current_);
}

/// A ghost is closed when the world does not step it: `close` is called from an event of the world.
void served_process::make_ghost() {
    close(*current_);
    ghosts_.push_back(std::move(current_));
}

void served_process::kill() {
    if (!is_running()) return;
    current_->process.kill();
    make_ghost();
}

void served_process::lose_power() {
    if (is_running()) make_ghost();
}

void served_process::set_without_descriptors(bool without) noexcept {
    if (is_running()) current_->process.set_descriptors_max(without ? 0 : ~std::size_t{0});
}

/// @return What is left on the context.
std::string served_process::destroy_program() {
    current_->runs.reset();
    const io::context& context = current_->context;
    const std::size_t parked = current_->context.io().parked_count();
    if (parked != 0) return "operations";
    return context.next_due() == io::steady_time::max() ? std::string() : std::string("timers");
}

std::optional<process_end> served_process::tend() {
    std::optional<process_end> end;
    if (is_running() && !current_->process.is_alive()) {
        end = process_end{current_->is_started, current_->is_closing, current_->runs->failure(), {}};
        make_ghost();
    }
    if (is_running() && current_->has_ended) {
        end = process_end{current_->is_started, current_->is_closing, current_->failure, {}};
        io::block_on(current_->context, current_->tasks.join());
        end->left = destroy_program();
        current_.reset();
    }
    for (auto each = ghosts_.begin(); each != ghosts_.end();) {
        if ((*each)->has_ended) {
            io::block_on((*each)->context, (*each)->tasks.join());
            each = ghosts_.erase(each);
        } else {
            ++each;
        }
    }
    host_.forget_ended();
    return end;
}

}  // namespace corro::simulation
