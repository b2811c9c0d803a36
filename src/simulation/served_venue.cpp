#include "simulation/served_venue.hpp"

#include <exception>
#include <utility>

#include "base/assert.hpp"
#include "io/task/block_on.hpp"

namespace corro::simulation {

void served_venue::start() {
    CORRO_ASSERT(!is_running(), "a venue has one process at a time");
    ++starts_count_;
    current_ = std::make_unique<life>(host_.start_process("corro " + std::to_string(starts_count_)), configuration_);
    current_->tasks.spawn(live(current_.get()));
}

io::task<void> served_venue::live(life* own) {
    try {
        co_await own->venue->start();
        own->is_started = true;
        if (own->is_closing) own->venue->close();
        co_await own->venue->run();
        if (const std::string* failure = own->venue->failure()) own->failure = *failure;
    } catch (const std::exception& e) {
        own->failure = e.what();
    }
    own->has_ended = true;
}

void served_venue::close(life& which) {
    if (std::exchange(which.is_closing, true) || !which.is_started || which.has_ended) return;
    which.venue->close();
}

void served_venue::close() {
    if (is_running()) close(*current_);
}

/// A ghost is closed when the world does not step it: `close` is called from an event of the world.
void served_venue::make_ghost() {
    close(*current_);
    ghosts_.push_back(std::move(current_));
}

void served_venue::kill() {
    if (!is_running()) return;
    current_->process.kill();
    make_ghost();
}

void served_venue::cut_power() {
    if (!host_.is_on()) return;
    host_.cut_power();
    if (is_running()) make_ghost();
}

void served_venue::tend() {
    if (is_running() && current_->has_ended) {
        if (!current_->is_closing || !current_->failure.empty()) {
            found_->add("O1", "the venue has ended by itself: " + current_->failure);
        }
        io::block_on(current_->context, current_->tasks.join());
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
}

}  // namespace corro::simulation
