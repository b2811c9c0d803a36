// SPDX-License-Identifier: Apache-2.0
#include "node/recovery/snapshot_maker.hpp"

#include <exception>
#include <utility>

#include "io/loop/timer.hpp"
#include "node/configuration/limits.hpp"

namespace corro::node {
namespace {

constexpr int attempts_max = 2;

}  // namespace

snapshot_maker::snapshot_maker(io::context& edge, std::unique_ptr<snapshot_source> source, std::uint64_t every,
                               telemetry::producer* log)
    : source_(std::move(source)), every_(every), edge_(edge), log_(log), bell_(edge) {}

snapshot_maker::~snapshot_maker() {
    stop();
}

void snapshot_maker::stop() noexcept {
    stopping_.store(true, std::memory_order_relaxed);
    if (worker_ != nullptr) worker_->join();
}

bool snapshot_maker::is_due() const noexcept {
    return asked_ || (every_ != 0 && source_->durable_count() - last_count_ >= every_);
}

io::task<void> snapshot_maker::run() {
    last_count_ = source_->saved_count();
    while (true) {
        const std::error_code stopped = co_await io::sleep_for(snapshot_look_interval);
        if (stopped) break;
        if (!is_due()) continue;
        const bool goes_on = co_await make_one();
        if (!goes_on) break;
    }
    stop();
}

// False when stopped.
io::task<bool> snapshot_maker::make_one() {
    const auto began = edge_.now();
    asked_ = false;
    making_ = true;
    outcome_ = {};
    last_count_ = source_->durable_count();
    source_->choose_moment();
    const bool is_there = co_await moment_is_there();
    if (is_there) {
        worker_ = edge_.runs_on().make_worker(io::context_options());
        worker_->start(work());
        const std::error_code stopped = co_await bell_.wait();
        if (stopped) co_return false;
        worker_->join();
        worker_.reset();
    } else if (outcome_.problem.empty()) {
        co_return false;
    }
    take_outcome(edge_.now() - began);
    making_ = false;
    co_return true;
}

// Waits for the moment. False when it will never be there, with the reason in the outcome; or when stopped.
io::task<bool> snapshot_maker::moment_is_there() {
    while (true) {
        const moment_state state = source_->look_at_moment();
        if (state == moment_state::ready) co_return true;
        if (state == moment_state::never) {
            outcome_.problem = "a journal has failed before it had all executed commands";
            co_return false;
        }
        const std::error_code stopped = co_await io::sleep_for(snapshot_look_interval);
        if (stopped) co_return false;
    }
}

void snapshot_maker::take_outcome(std::chrono::nanoseconds duration) {
    if (outcome_.is_new) {
        ++statistics_.made;
        statistics_.last_duration = duration;
        source_->note_made();
        say(telemetry::log_record_kind::snapshot_made, outcome_.commands);
    } else if (!outcome_.problem.empty()) {
        ++statistics_.failed;
        source_->note("no snapshot was made: " + outcome_.problem);
        say(telemetry::log_record_kind::snapshot_failed, last_count_);
    }
}

void snapshot_maker::say(telemetry::log_record_kind what, std::uint64_t number) const {
    if (log_ == nullptr) return;
    telemetry::log_record said(telemetry::component::venue, what, static_cast<std::int64_t>(number), edge_.wall_now());
    if (what == telemetry::log_record_kind::snapshot_failed) said.severity = telemetry::severity::warning;
    log_->note(said);
}

io::task<void> snapshot_maker::work() {
    // A journal segment may be removed just when its header is read; at the next attempt it is gone.
    for (int attempt = 0; attempt != attempts_max; ++attempt) {
        outcome_ = {};
        try {
            outcome_ = co_await source_->make(&stopping_);
            break;
        } catch (const std::exception& e) {
            outcome_.problem = e.what();
        }
    }
    bell_.set();
}

}  // namespace corro::node
