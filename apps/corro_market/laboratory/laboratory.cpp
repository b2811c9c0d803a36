// SPDX-License-Identifier: Apache-2.0
#include "laboratory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <utility>

#include "io/loop/timer.hpp"

namespace corro::app {
namespace {

/// The market moves this often, and each time for at most `slice`, so that requests are answered meanwhile.
constexpr std::chrono::milliseconds tick{10};
constexpr std::chrono::milliseconds slice{8};
/// What the market does not catch up with when the machine is too slow for the speed.
constexpr std::chrono::milliseconds lag_max{100};
/// Seconds of the market that a request may name.
constexpr double seconds_most = 1e7;
/// Between two epochs: more than there are changes of a run, so that versions of terms never repeat.
constexpr std::uint64_t epoch_step = 1'000'000;

std::unexpected<refusal> refuse(unsigned status, std::string message) {
    return std::unexpected(refusal{status, std::move(message)});
}

/// A number of a request, between bounds.
std::expected<double, refusal> number_in(const json& asked, const char* key, double least, double most) {
    if (!asked.contains(key) || !asked[key].is_number() || asked[key] < least || asked[key] > most) {
        return refuse(400, fmt::format("{}: expected a number from {} to {}", key, least, most));
    }
    return asked[key].get<double>();
}

std::expected<std::uint64_t, refusal> whole_number_in(const json& asked, const char* key, std::uint64_t least,
                                                      std::uint64_t most) {
    if (!asked[key].is_number_unsigned() || asked[key] < least || asked[key] > most) {
        return refuse(400, fmt::format("{}: expected a whole number from {} to {}", key, least, most));
    }
    return asked[key].get<std::uint64_t>();
}

std::expected<std::unique_ptr<market::scenario>, refusal> parsed(const scenario_source& from) {
    try {
        return std::make_unique<market::scenario>(from.parse());
    } catch (const std::exception& e) {
        return refuse(400, e.what());
    }
}

}  // namespace

class laboratory::busy_mark {
 public:
    explicit busy_mark(laboratory& of) noexcept : of_(of) { of_.is_busy_ = true; }
    ~busy_mark() { of_.is_busy_ = false; }
    busy_mark(const busy_mark&) = delete;
    busy_mark& operator=(const busy_mark&) = delete;

 private:
    laboratory& of_;
};

laboratory::laboratory(io::context& on, scenario_source from, std::uint64_t seed)
    : context_(on),
      source_(std::move(from)),
      original_text_(source_.text),
      seed_(seed),
      scenario_(std::make_unique<market::scenario>(source_.parse())),
      run_(std::make_unique<observed_run>(*scenario_, seed_)),
      comparison_(on) {
    run_->advance(0);
}

io::task<> laboratory::drive() {
    io::steady_time last = context_.now();
    for (;;) {
        const std::error_code stopped = co_await io::sleep_for(tick);
        if (stopped) co_return;
        comparison_.collect();
        const io::steady_time now = context_.now();
        const auto passed = std::min<std::chrono::nanoseconds>(now - std::exchange(last, now), lag_max);
        if (!is_running_ || is_busy_) continue;
        const double step = static_cast<double>(passed.count()) * speed_;
        const auto left = static_cast<double>(scenario_->duration_ns - run_->now_ns());
        advance_for_a_while(run_->now_ns() + std::llround(std::min(step, left)));
        if (run_->now_ns() >= scenario_->duration_ns) is_running_ = false;
    }
}

void laboratory::advance_for_a_while(std::int64_t to_ns) {
    const auto ends = std::chrono::steady_clock::now() + slice;
    try {
        while (run_->now_ns() < to_ns && std::chrono::steady_clock::now() < ends) run_->advance(to_ns);
    } catch (const std::exception& e) {
        failure_ = e.what();
        is_running_ = false;
    }
}

io::task<laboratory::done> laboratory::advance(observed_run* which, std::int64_t to_ns) {
    while (which->now_ns() < to_ns) {
        const auto ends = std::chrono::steady_clock::now() + slice;
        try {
            while (which->now_ns() < to_ns && std::chrono::steady_clock::now() < ends) which->advance(to_ns);
        } catch (const std::exception& e) {
            co_return refuse(500, e.what());
        }
        const std::error_code stopped = co_await io::sleep_for(std::chrono::nanoseconds(0));
        if (stopped) co_return refuse(503, "the laboratory ends");
    }
    co_return done();
}

laboratory::done laboratory::may_change() const {
    if (is_busy_) return refuse(409, "another request moves the market; try again when it is done");
    return {};
}

io::task<laboratory::done> laboratory::go(std::int64_t to_ns) {
    const busy_mark mark(*this);
    is_running_ = false;
    if (to_ns < run_->now_ns()) {
        run_ = std::make_unique<observed_run>(*scenario_, seed_);
        run_->advance(0);
        epoch_ += epoch_step;
        failure_.clear();
    }
    const done there = co_await advance(run_.get(), to_ns);
    if (!there) failure_ = there.error().message;
    co_return there;
}

void laboratory::restart(std::uint64_t seed) {
    is_running_ = false;
    // Without the changes.
    source_.text = original_text_;
    auto fresh = std::make_unique<market::scenario>(source_.parse());
    run_ = std::make_unique<observed_run>(*fresh, seed);
    scenario_ = std::move(fresh);
    run_->advance(0);
    seed_ = seed;
    epoch_ += epoch_step;
    injected_count_ = 0;
    failure_.clear();
}

io::task<std::expected<json, refusal>> laboratory::control(json asked) {
    if (const done free = may_change(); !free) co_return std::unexpected(free.error());
    const std::string action = asked.contains("do") && asked["do"].is_string() ? asked["do"].get<std::string>() : "";
    double speed = speed_;
    if (asked.contains("speed")) {
        const auto wanted = number_in(asked, "speed", speed_least, speed_most);
        if (!wanted) co_return std::unexpected(wanted.error());
        speed = *wanted;
    }
    if (action == "run") {
        if (!failure_.empty()) co_return refuse(409, "the run has failed: " + failure_ + "; restart it");
        if (run_->now_ns() >= scenario_->duration_ns) co_return refuse(409, "the run has ended; restart it");
        is_running_ = true;
    } else if (action == "pause") {
        is_running_ = false;
    } else if (action == "restart") {
        std::uint64_t seed = seed_;
        if (asked.contains("seed")) {
            const auto wanted = whole_number_in(asked, "seed", 0, UINT32_MAX);
            if (!wanted) co_return std::unexpected(wanted.error());
            seed = *wanted;
        }
        restart(seed);
    } else if (action == "step" || action == "go") {
        const auto seconds = number_in(asked, "seconds", 0, seconds_most);
        if (!seconds) co_return std::unexpected(seconds.error());
        const std::int64_t from_ns = action == "step" ? run_->now_ns() : 0;
        const done there =
            co_await go(std::min<std::int64_t>(from_ns + std::llround(*seconds * 1e9), scenario_->duration_ns));
        if (!there) co_return std::unexpected(there.error());
    } else {
        co_return refuse(400, "do: expected \"run\", \"pause\", \"step\", \"go\" or \"restart\"");
    }
    speed_ = speed;
    co_return now_json();
}

std::expected<scenario_source, refusal> laboratory::changed_by(const json& change) const {
    if (run_->now_ns() >= scenario_->duration_ns) return refuse(409, "the run has ended; restart it, or go back");
    const auto lines = event_lines(change, run_->now_ns() + 1);
    if (!lines) return std::unexpected(lines.error());
    scenario_source changed = source_;
    changed.text += *lines;
    return changed;
}

io::task<std::expected<json, refusal>> laboratory::inject(json change) {
    if (const done free = may_change(); !free) co_return std::unexpected(free.error());
    auto changed = changed_by(change);
    if (!changed) co_return std::unexpected(changed.error());
    auto with = parsed(*changed);
    if (!with) co_return std::unexpected(with.error());
    const done taken = co_await take(std::move(*changed), std::move(*with));
    if (!taken) co_return std::unexpected(taken.error());
    co_return now_json();
}

io::task<laboratory::done> laboratory::take(scenario_source changed, std::unique_ptr<market::scenario> with) {
    const busy_mark mark(*this);
    const std::int64_t now_ns = run_->now_ns();
    auto next = std::make_unique<observed_run>(*with, seed_);
    next->advance(0);
    const done there = co_await advance(next.get(), now_ns);
    if (!there) co_return there;
    if (next->world().digest() != run_->world().digest()) {
        co_return refuse(409, "the change has effects before the present moment; write it into the scenario");
    }
    run_ = std::move(next);
    scenario_ = std::move(with);
    source_ = std::move(changed);
    ++injected_count_;
    // Its effects are there at once.
    co_return co_await advance(run_.get(), now_ns + 1);
}

std::expected<json, refusal> laboratory::compare(const json& asked) {
    if (const done free = may_change(); !free) return std::unexpected(free.error());
    if (comparison_.is_running()) return refuse(409, "a comparison is running; stop it, or wait for its end");
    if (!asked.contains("event") || !asked["event"].is_object()) {
        return refuse(400, "event: expected an object with the keys of an [[event]]");
    }
    std::uint64_t seeds = 20;
    if (asked.contains("seeds")) {
        const auto wanted = whole_number_in(asked, "seeds", 2, compared_seeds_max);
        if (!wanted) return std::unexpected(wanted.error());
        seeds = *wanted;
    }
    auto changed = changed_by(asked["event"]);
    if (!changed) return std::unexpected(changed.error());
    if (const auto with = parsed(*changed); !with) return std::unexpected(with.error());
    comparison_order order;
    order.a = source_;
    order.b = std::move(*changed);
    order.change = asked["event"];
    order.at_ns = run_->now_ns() + 1;
    order.seed = seed_;
    order.seeds_count = seeds;
    comparison_.start(std::move(order));
    return comparison_.state();
}

json laboratory::now_json() const {
    const market::market& world = run_->world();
    const bool has_ended = run_->now_ns() >= scenario_->duration_ns;
    const char* state = !failure_.empty() ? "failed"
                        : is_busy_        ? "busy"
                        : is_running_     ? "running"
                        : has_ended       ? "ended"
                                          : "paused";
    json made{{"time_ns", run_->now_ns()},
              {"state", state},
              {"speed", speed_},
              {"commands", world.counts().commands},
              {"trades", world.counts().trades},
              {"rejects", world.counts().rejects},
              {"digest", fmt::format("{:016x}", world.digest())}};
    if (!failure_.empty()) made["error"] = failure_;
    return made;
}

}  // namespace corro::app
