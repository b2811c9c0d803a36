// SPDX-License-Identifier: Apache-2.0
#include "lab/matching/recorded.hpp"

#include <cstdlib>
#include <stdexcept>
#include <unordered_map>

#include "facility/facility.hpp"
#include "recorded/replay/order_flow.hpp"
#include "recorded/replay/quote_flow.hpp"
#include "recorded/replay/recorded_orders.hpp"
#include "recorded/replay/recorded_quotes.hpp"
#include "recorded/replay/replay_run.hpp"

namespace corro::lab {
namespace {

namespace replay = recorded::replay;

constexpr std::uint32_t orders_max = 1U << 16;
constexpr std::uint8_t account = 1;

domain::instrument instrument_with(domain::price_nano tick) {
    domain::instrument i;
    i.id = domain::instrument_id{1};
    i.name = domain::symbol{"RECORDED"};
    i.tick_size = tick;
    return i;
}

/// Replays a flow against a facility in this process and stores its requests.
class scratch_venue final : facility::event_consumer {
 public:
    explicit scratch_venue(const domain::instrument& instrument)
        : instrument_(instrument), facility_({.orders_max = orders_max, .accounts_max = 4}, {&instrument, 1}, *this) {}

    std::vector<replay::request> requests_of(replay::flow& what) {
        std::vector<replay::request> asked;
        replay::difference_log log;
        replay::replay_run run(what, log, instrument_.id);
        while (!run.finished()) {
            const auto out = run.next();
            if (!out && run.finished()) break;
            if (!out) throw std::runtime_error("the replay neither sends nor ends");
            asked.push_back(out->request);
            const domain::sequence_number sequence{asked.size()};
            events_.clear();
            facility_.apply(command_of(out->request, sequence));
            for (const domain::event& e : events_) {
                if (!domain::is_public(e.kind)) static_cast<void>(run.on_private(e));
            }
            for (const domain::event& e : events_) {
                if (domain::is_public(e.kind)) run.on_public(e);
            }
            run.on_public_complete(sequence);
        }
        return asked;
    }

 private:
    [[nodiscard]] domain::command command_of(const replay::request& r, domain::sequence_number sequence) const {
        domain::command c = replay::command_of(r);
        c.sequence = sequence;
        c.time = domain::time_ns{static_cast<std::int64_t>(sequence.value)};
        c.session = domain::session_id{1};
        c.account = domain::account_id{account};
        c.instrument = instrument_.id;
        c.set_request(static_cast<std::uint32_t>(sequence.value));
        // The recording opens with an auction, which the replay's session starts.
        c.set_operator(true);
        return c;
    }
    void consume(std::span<const domain::event> events) noexcept override {
        events_.insert(events_.end(), events.begin(), events.end());
    }

    domain::instrument instrument_;
    std::vector<domain::event> events_;
    facility::facility facility_;
};

workload workload_of(const std::vector<replay::request>& requests) {
    struct known {
        domain::order_id order{};
        std::uint32_t total = 0;
    };
    workload w{.name = "recorded", .orders_max = orders_max};
    workload_writer writer(w, 1);
    writer.into(w.measured);
    std::unordered_map<std::uint64_t, known> orders;
    for (const replay::request& r : requests) {
        // The bare engine has no phases, so orders of the auction trade as they come.
        if (r.kind == domain::command_kind::change_phase) continue;
        if (r.kind == domain::command_kind::enter_order) {
            if (r.time_in_force == domain::time_in_force::ioc) {
                writer.take(r.side, r.price.value, r.quantity.value, account);
            } else {
                orders[r.client_order.value] = {writer.add(r.side, r.price.value, r.quantity.value, account),
                                                r.quantity.value};
            }
            continue;
        }
        const auto found = orders.find(r.client_order.value);
        if (found == orders.end()) continue;
        known& o = found->second;
        const std::uint32_t open = writer.open_of(o.order);
        if (open == 0) continue;
        const std::uint32_t filled = o.total - open;
        if (r.kind == domain::command_kind::cancel_order || r.quantity.value <= filled) {
            writer.cancel(o.order, account);
        } else {
            writer.amend(o.order, r.price.value, r.quantity.value, filled, account);
            o.total = r.quantity.value;
        }
    }
    w.measured_orders = w.measured.size();
    return w;
}

workload read_orders(const std::vector<std::filesystem::path>& files) {
    const replay::order_survey survey = replay::survey_orders(files, std::nullopt);
    const domain::instrument instrument = instrument_with(survey.price_step);
    replay::require_fit(survey, instrument);
    replay::difference_log log;
    replay::order_flow flow(replay::open_orders(files, survey, instrument), survey.how, log);
    return workload_of(scratch_venue(instrument).requests_of(flow));
}

workload read_quotes(const std::vector<std::filesystem::path>& files) {
    const replay::quote_survey survey = replay::survey_quotes(files[0], files[1]);
    const domain::instrument instrument = instrument_with(survey.price_step);
    const replay::quote_recording rows = replay::load_quotes(files[0], files[1], instrument);
    replay::difference_log log;
    replay::quote_flow flow(rows, log);
    return workload_of(scratch_venue(instrument).requests_of(flow));
}

}  // namespace

const std::vector<recording>& recordings() {
    static const std::vector<recording> all{
        {"recorded_e_mini",
         "a recorded session of the E-mini S&P 500 future (market by order), as a replay asks for it",
         {"esh4-glbx-mdp3-20231224.mbo.dbn.zst", "esh4-glbx-mdp3-20231225.mbo.dbn.zst"},
         &read_orders},
        {"recorded_amzn",
         "a recorded day of AMZN on Nasdaq (LOBSTER, level 1), as a replay asks for it",
         {"AMZN_2012-06-21_34200000_57600000_message_1.csv", "AMZN_2012-06-21_34200000_57600000_orderbook_1.csv"},
         &read_quotes},
    };
    return all;
}

std::optional<std::vector<std::filesystem::path>> find_files(const recording& wanted) {
    const char* const folder = std::getenv("CORRO_DATA_DIR");
    if (folder == nullptr) return std::nullopt;
    std::vector<std::filesystem::path> found;
    for (const std::string_view name : wanted.files) {
        found.push_back(std::filesystem::path{folder} / name);
        if (!std::filesystem::exists(found.back())) return std::nullopt;
    }
    return found;
}

}  // namespace corro::lab
