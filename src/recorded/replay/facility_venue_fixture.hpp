// SPDX-License-Identifier: Apache-2.0
// For tests: a venue in process. Requests go directly to a facility; answers and public events come back, with
// configurable delays, so that tests cover every interleaving of the two streams.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <vector>

#include "base/random.hpp"
#include "domain/private_event.hpp"
#include "facility/facility.hpp"
#include "recorded/replay/replay_run.hpp"

namespace corro::recorded::replay {

class facility_venue final : facility::event_consumer {
 public:
    explicit facility_venue(const domain::instrument& instrument, std::uint32_t orders_max = 1'000)
        : instrument_(instrument), facility_({.orders_max = orders_max, .accounts_max = 4}, {&instrument, 1}, *this) {}

    /// Drives a run to its end, every answer at once.
    void drive(replay_run& run) {
        while (!run.finished()) {
            const auto out = run.next();
            if (!out && run.finished()) return;
            if (!out) {
                ADD_FAILURE() << "the run neither sends nor ends, at step " << run.counts().steps_compared;
                return;
            }
            apply(out->request);
            pass_on_private(run, private_.size());
            pass_on_public(run, public_.size());
        }
    }

    /// Drives a run to its end, with a random lag of each stream.
    void drive(replay_run& run, base::prng& random) {
        int idle = 0;
        while (!run.finished()) {
            bool moved = false;
            if (visitor) visitor(*this);
            for (std::uint64_t burst = random() % 40; burst > 0; --burst) {
                const auto out = run.next();
                if (!out) break;
                apply(out->request);
                moved = true;
            }
            moved |= pass_on_private(run, random() % (private_.size() + 1)) != 0;
            moved |= pass_on_public(run, random() % (public_.size() + 1)) != 0;
            idle = moved ? 0 : idle + 1;
            if (idle > 1'000) {
                ADD_FAILURE() << "the run neither sends nor ends, at step " << run.counts().steps_compared;
                return;
            }
        }
    }

    /// Passes on what a drive has left, because its run was finished.
    void pass_on_rest(replay_run& run) {
        pass_on_private(run, private_.size());
        pass_on_public(run, public_.size());
    }

    [[nodiscard]] facility::facility& exchange() noexcept { return facility_; }

    void apply(const request& r) {
        domain::command c = command_of(r);
        c.sequence = domain::sequence_number{++commands_count_};
        c.time = domain::time_ns{static_cast<std::int64_t>(commands_count_)};
        c.session = domain::session_id{1};
        c.account = domain::account_id{1};
        c.instrument = instrument_.id;
        c.set_operator(is_operator);
        c.set_request(static_cast<std::uint32_t>(commands_count_));
        facility_.apply(c);
        public_.push_back({});  // marks the end of the command's events
        public_.back().command = c.sequence;
        public_.back().kind = end_of_command;
    }

    /// A command of another trader: account 2, session 2.
    void visit(domain::command c) {
        c.sequence = domain::sequence_number{++commands_count_};
        c.time = domain::time_ns{static_cast<std::int64_t>(commands_count_)};
        c.session = domain::session_id{2};
        c.account = domain::account_id{2};
        c.instrument = instrument_.id;
        c.set_request(static_cast<std::uint32_t>(commands_count_));
        facility_.apply(c);
        public_.push_back({});
        public_.back().command = c.sequence;
        public_.back().kind = end_of_command;
    }

    /// Lots in fills of the other trader.
    std::uint64_t visitors_lots = 0;
    /// Called between the moves of a drive with lags.
    std::function<void(facility_venue&)> visitor;
    bool is_operator = true;
    /// Changes the events of the venue before they are delivered; for negative controls.
    std::function<void(domain::event&)> tamper;

 private:
    static constexpr auto end_of_command = static_cast<domain::event_kind>(255);

    void consume(std::span<const domain::event> events) noexcept override {
        for (domain::event e : events) {
            if (tamper) tamper(e);
            if (!domain::is_public(e.kind) && domain::session_of(e) == domain::session_id{2}) {
                if (e.kind == domain::event_kind::order_executed) visitors_lots += e.execution.quantity.value;
                continue;
            }
            (domain::is_public(e.kind) ? public_ : private_).push_back(e);
        }
    }
    std::size_t pass_on_private(replay_run& run, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const domain::event e = private_.front();
            private_.pop_front();
            EXPECT_TRUE(run.on_private(e));
        }
        return count;
    }
    std::size_t pass_on_public(replay_run& run, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            const domain::event e = public_.front();
            public_.pop_front();
            if (e.kind == end_of_command) {
                run.on_public_complete(e.command);
            } else {
                run.on_public(e);
            }
        }
        return count;
    }

    domain::instrument instrument_;
    std::deque<domain::event> private_, public_;
    std::uint64_t commands_count_ = 0;
    facility::facility facility_;
};

/// An instrument that accepts every price and quantity that the venue can hold.
[[nodiscard]] inline domain::instrument wide_instrument(domain::price_nano tick) {
    domain::instrument i;
    i.id = domain::instrument_id{1};
    i.name = domain::symbol{"TEST"};
    i.tick_size = tick;
    return i;
}

}  // namespace corro::recorded::replay
