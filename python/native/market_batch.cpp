// SPDX-License-Identifier: Apache-2.0
#include "native/market_batch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "base/assert.hpp"
#include "native/market_state.hpp"

namespace corro::python {
namespace {

/// Threads that take pieces of work, with the caller's. A process that was forked has none of them: it makes its own.
class worker_group {
 public:
    explicit worker_group(std::size_t helpers) : owner_(::getpid()), shares_(helpers + 1) {
        for (std::size_t i = 0; i < helpers; ++i) threads_.emplace_back([this, i] { help(i + 1); });
    }
    ~worker_group() {
        is_ending_ = true;
        round_.fetch_add(1);
        round_.notify_all();
        for (std::thread& each : threads_) each.join();
    }
    worker_group(const worker_group&) = delete;
    worker_group& operator=(const worker_group&) = delete;

    [[nodiscard]] bool is_mine() const noexcept { return owner_ == ::getpid(); }

    /// Does `work(0)` to `work(pieces - 1)`. @throws the first exception of them, after all are done
    void run(std::size_t pieces, const std::function<void(std::size_t)>& work) {
        work_ = &work;
        for (std::size_t i = 0; i < shares_.size(); ++i) {
            shares_[i].next = i * pieces / shares_.size();
            shares_[i].end = (i + 1) * pieces / shares_.size();
        }
        failure_ = nullptr;
        busy_ = threads_.size();
        round_.fetch_add(1);
        round_.notify_all();
        take(0);
        for (std::size_t left = busy_; left != 0; left = busy_) busy_.wait(left);
        if (failure_) std::rethrow_exception(failure_);
    }

 private:
    struct alignas(64) share {
        std::atomic<std::size_t> next = 0;  // the next piece that nobody has taken
        std::size_t end = 0;
    };

    void help(std::size_t me) {
        for (std::uint32_t seen = 0;;) {
            round_.wait(seen);
            seen = round_;
            if (is_ending_) return;
            take(me);
            if (busy_.fetch_sub(1) == 1) busy_.notify_all();
        }
    }
    /// First the own share, which is the same each time, so that what it needs is in this processor's cache; then the others'.
    void take(std::size_t me) {
        for (std::size_t i = 0; i < shares_.size(); ++i) {
            share& from = shares_[(me + i) % shares_.size()];
            for (std::size_t piece = from.next++; piece < from.end; piece = from.next++) attempt(piece);
        }
    }
    void attempt(std::size_t piece) {
        try {
            (*work_)(piece);
        } catch (...) {
            const std::lock_guard hold(failing_);
            if (!failure_) failure_ = std::current_exception();
        }
    }

    const pid_t owner_;
    // The caller writes these before it begins a round, and reads them after the last helper is done.
    const std::function<void(std::size_t)>* work_ = nullptr;
    std::vector<share> shares_;
    std::exception_ptr failure_;
    std::mutex failing_;
    bool is_ending_ = false;
    std::atomic<std::size_t> busy_ = 0;     // helpers that are not done with the round
    std::atomic<std::uint32_t> round_ = 0;  // helpers wait for its change
    std::vector<std::thread> threads_;
};

}  // namespace

struct market_batch::state {
    struct place {
        std::unique_ptr<market> world;
        std::unique_ptr<makers> quotes;
    };
    batch_options options;
    std::shared_ptr<const corro::market::scenario> scenario;
    std::vector<place> places;
    std::unique_ptr<worker_group> workers;
    std::mutex one_at_a_time;

    void begin(place& at, std::uint64_t seed) const {
        at.quotes.reset();
        at.world = std::make_unique<market>(scenario, seed, std::vector<seat_wish>{{"maker", options.beside}});
        at.world->run(options.interval_ns, [] {});
        at.quotes = std::make_unique<makers>(*at.world, 0, options.rules, options.interval_ns);
    }
};

market_batch::market_batch(batch_options options) : state_(std::make_unique<state>()) {
    CORRO_ASSERT(options.count > 0 && options.threads > 0 && !options.rules.empty() && options.interval_ns > 0);
    state_->scenario = std::make_shared<corro::market::scenario>(parse_scenario(options.text, options.file));
    state_->places.resize(options.count);
    state_->options = std::move(options);
}
market_batch::~market_batch() {
    // Its threads belong to another process.
    if (state_->workers && !state_->workers->is_mine()) static_cast<void>(state_->workers.release());
}

void market_batch::advance(std::span<const std::uint8_t> turns, std::span<const std::uint64_t> seeds,
                           std::span<const double> actions, const batch_rows& into) {
    state& s = *state_;
    const std::lock_guard hold(s.one_at_a_time);
    const std::size_t count = s.places.size();
    const std::size_t rules = s.options.rules.size();
    if (turns.size() != count || seeds.size() != count || actions.size() != 2 * count * rules) {
        throw argument_error(fmt::format("actions: give {} rows of {} numbers", count, 2 * rules));
    }
    const auto work = [&](std::size_t i) {
        const auto turn = static_cast<batch_turn>(turns[i]);
        if (turn == batch_turn::nothing) return;
        state::place& at = s.places[i];
        const std::span<float> seen = into.observations.subspan(i * rules * maker_numbers, rules * maker_numbers);
        if (turn == batch_turn::begin) {
            s.begin(at, seeds[i]);
            at.quotes->observe(seen);
            into.rewards[i] = 0;
            into.is_over[i] = 0;
        } else {
            if (!at.quotes) throw argument_error("call reset first: it makes the markets");
            into.rewards[i] = at.quotes->step(actions.subspan(i * 2 * rules, 2 * rules), seen, [] {});
            into.is_over[i] = at.quotes->is_over() ? 1 : 0;
        }
        for (std::size_t k = 0; k < rules; ++k) {
            const maker_facts facts = at.quotes->facts(k);
            into.position[i * rules + k] = facts.position;
            into.value_ticks[i * rules + k] = facts.value_ticks;
            into.middle[i * rules + k] = facts.middle;
        }
    };
    if (s.workers && !s.workers->is_mine()) static_cast<void>(s.workers.release());
    if (!s.workers) s.workers = std::make_unique<worker_group>(std::min(s.options.threads, count) - 1);
    s.workers->run(count, work);
}

market_totals market_batch::totals(std::size_t index) const {
    const std::lock_guard hold(state_->one_at_a_time);
    if (index >= state_->places.size() || !state_->places[index].world) {
        throw argument_error(fmt::format("market {}: it has not begun; call reset first", index));
    }
    return state_->places[index].world->totals();
}

}  // namespace corro::python
