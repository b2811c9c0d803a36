// SPDX-License-Identifier: Apache-2.0
#include "market/recorded_day/recorded_day.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "domain/private_event.hpp"
#include "facility/facility.hpp"
#include "market/recorded_day/book_depth.hpp"
#include "recorded/replay/replay_run.hpp"

namespace corro::market {
namespace {

using recorded::replay::difference;
using recorded::replay::flow;
using recorded::replay::outcome;
using recorded::replay::plan_status;
using recorded::replay::replay_run;
using recorded::replay::request;
using recorded::replay::step;

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::size_t reports_max = 10;

/// Passes a flow on, and keeps the outcomes of its requests.
class kept_flow final : public flow {
 public:
    kept_flow(flow& inner, recorded_day& into) : inner_(inner), into_(into) {}

    plan_status plan(step& next) override { return inner_.plan(next); }
    void answered(const step& of, std::span<const outcome> outcomes) override { inner_.answered(of, outcomes); }
    void compare(const step& of, std::span<const outcome> outcomes, const feed::book_image& book) override {
        for (const outcome& each : outcomes) {
            recorded_request& kept = into_.requests[compared_++];
            kept.filled_lots = each.filled.value;
            kept.open_lots = each.open.value;
            kept.is_refused =
                each.refused != domain::reject_reason::none && each.refused != domain::reject_reason::no_counterparty;
            kept.fills_first = static_cast<std::uint32_t>(into_.fills.size());
            kept.fills_count = static_cast<std::uint32_t>(each.fills.size());
            into_.fills.insert(into_.fills.end(), each.fills.begin(), each.fills.end());
        }
        inner_.compare(of, outcomes, book);
    }
    std::uint64_t compared_count() const noexcept override { return inner_.compared_count(); }

 private:
    flow& inner_;
    recorded_day& into_;
    std::size_t compared_ = 0;
};

/// The venue of the factual market: each request is answered at once.
class factual_venue final : facility::event_consumer {
 public:
    factual_venue(recorded_day& into, const facility::facility_options& options)
        : into_(into), facility_(options, {&into.instrument, 1}, *this) {}

    void drive(replay_run& run, std::int64_t origin_ns) {
        for (std::optional<recorded::replay::outgoing> out = run.next(); out; out = run.next()) {
            apply(out->request, out->time.value == 0 ? 0 : origin_ns + out->time.value);
            for (const domain::event& e : events_) {
                if (domain::is_public(e.kind)) {
                    run.on_public(e);
                } else {
                    run.on_private(e);
                }
            }
            events_.clear();
            run.on_public_complete(domain::sequence_number{commands_count_});
        }
    }

    [[nodiscard]] const facility::facility& venue() const noexcept { return facility_; }

 private:
    void apply(const request& r, std::int64_t time_ns) {
        // A snapshot has no time: its orders are there when the day begins. Times of an exchange may step back.
        now_ns_ = std::max(now_ns_, time_ns == 0 ? 0 : time_ns - into_.start_ns);
        recorded_request kept;
        kept.at_ns = now_ns_;
        kept.request = r;
        if (r.kind != domain::command_kind::cancel_order && r.kind != domain::command_kind::change_phase) {
            kept.depth_lots = depth_up_to(facility_, into_.instrument.id, side_of(r), r.price);
        }
        domain::command c = command_of_recording(r, into_.instrument.id, static_cast<std::uint32_t>(++commands_count_));
        c.sequence = domain::sequence_number{commands_count_};
        c.time = domain::time_ns{into_.start_ns + now_ns_};
        facility_.apply(c);
        const domain::top top = facility_.top_of(into_.instrument.id);
        kept.has_quotes = top.bid_price != domain::no_price && top.ask_price != domain::no_price;
        kept.bid = top.bid_price.value;
        kept.ask = top.ask_price.value;
        into_.requests.push_back(kept);
        into_.length_ns = now_ns_;
        into_.orders_count = std::max(into_.orders_count, r.client_order.value);
        into_.orders_max = std::max(into_.orders_max, facility_.open_orders_count());
    }

    /// Amends do not have the side of their order.
    [[nodiscard]] domain::side side_of(const request& r) {
        if (sides_.size() <= r.client_order.value) sides_.resize(r.client_order.value + 1);
        if (r.kind == domain::command_kind::enter_order) sides_[r.client_order.value] = r.side;
        return sides_[r.client_order.value];
    }

    void consume(std::span<const domain::event> events) noexcept override {
        events_.insert(events_.end(), events.begin(), events.end());
    }

    recorded_day& into_;
    std::vector<domain::event> events_;
    std::vector<domain::side> sides_;  // by client order id
    std::uint64_t commands_count_ = 0;
    std::int64_t now_ns_ = 0;
    facility::facility facility_;
};

}  // namespace

domain::command command_of_recording(const request& r, domain::instrument_id instrument,
                                     std::uint32_t number) noexcept {
    domain::command c = recorded::replay::command_of(r);
    c.instrument = instrument;
    c.account = domain::account_id{recorded_account};
    c.session = domain::session_id{recorded_account};
    c.set_request(number);
    c.set_operator(r.kind == domain::command_kind::change_phase);
    return c;
}

recorded_day load_recorded_day(const recorded::replay::recording_options& files) {
    recorded_day made;
    const std::unique_ptr<recorded::replay::recording> what = recorded::replay::survey_recording(files);
    made.instrument = what->instrument();
    made.records = what->total();
    const std::int64_t first_ns = what->times_begin().value + what->first_time().value;
    made.start_ns = first_ns / second_ns * second_ns;
    recorded::replay::difference_log log(reports_max, made.instrument.tick_size);
    kept_flow kept(what->open(made.instrument, log), made);
    replay_run run(kept, log, made.instrument.id);
    facility::facility_options options;
    options.orders_max = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(what->orders_max(), 1'000, 4'000'000));
    options.accounts_max = recorded_account + 1;
    factual_venue venue(made, options);
    venue.drive(run, what->times_begin().value);
    CORRO_ASSERT(run.finished(), "each request was answered at once");
    what->finish(run.book());
    made.unexplained = log.unexplained_count();
    made.state_hash = venue.venue().state_hash();
    for (std::size_t i = 0; i < recorded::replay::causes_count; ++i) {
        const auto each = static_cast<recorded::replay::cause>(i);
        if (!recorded::replay::is_unexplained(each)) continue;
        for (const difference& d : log.examples(each)) {
            if (made.reports.size() < reports_max) made.reports.push_back(d.where + ": " + d.what);
        }
    }
    return made;
}

}  // namespace corro::market
