// SPDX-License-Identifier: Apache-2.0
// For tests: market-by-order recordings written by hand, as DBN files, and their replay against a facility.
//
// A recording is a list of files, a file a list of groups, a group a line such as
//
//     "T B 9 101 3; F A 2 101 3; M A 2 101 2"       action, side, order, price in ticks, size
//     "snapshot; A B 1 100 5; A A 2 101 5"           records of a snapshot, without a mark for the last one
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "recorded/formats/dbn_fixture.hpp"
#include "recorded/replay/facility_venue_fixture.hpp"
#include "recorded/replay/order_flow.hpp"
#include "recorded/replay/recorded_orders.hpp"
#include "recorded/replay/scratch_folder_fixture.hpp"

namespace corro::recorded::replay {

using tape_file = std::vector<std::string>;

constexpr std::int64_t tape_tick_nano = 250'000'000;
constexpr std::uint32_t tape_instrument = 17'077;

/// The bytes of a DBN file with the groups of `file`.
[[nodiscard]] inline std::vector<std::byte> dbn_bytes(const tape_file& file,
                                                      std::uint32_t instrument = tape_instrument) {
    dbn::writer w = dbn::head(3);
    std::int64_t time = 1'703'500'000'000'000'000;
    for (const std::string& group : file) {
        std::istringstream records(group);
        std::vector<dbn::market_by_order> parsed;
        bool is_snapshot = false;
        for (std::string text; std::getline(records, text, ';');) {
            std::istringstream fields(text);
            std::string action, side;
            fields >> action;
            if (action == "snapshot") {
                is_snapshot = true;
                continue;
            }
            dbn::market_by_order m;
            std::int64_t ticks = 0;
            fields >> side >> m.order_id >> ticks >> m.size;
            m.header = {1, instrument, domain::time_ns{time += 1'000'000}};
            m.received_at = m.header.event_at;
            m.price = domain::price_nano{ticks * tape_tick_nano};
            m.action = static_cast<dbn::action>(action.front());
            m.side = static_cast<dbn::side>(side.front());
            if (is_snapshot) m.flags = dbn::flag_snapshot;
            parsed.push_back(m);
        }
        if (!is_snapshot) parsed.back().flags |= dbn::flag_last_of_event;
        for (const dbn::market_by_order& m : parsed) dbn::put_market_by_order(w, m);
    }
    return w.bytes;
}

/// A complete replay and its results.
class tape_replay {
 public:
    explicit tape_replay(const std::vector<tape_file>& files, std::function<void(domain::event&)> tamper = nullptr,
                         base::prng* lag = nullptr) {
        std::vector<std::filesystem::path> paths;
        for (const tape_file& file : files) {
            paths.push_back(folder_.write("tape" + std::to_string(paths.size()) + ".dbn", dbn_bytes(file)));
        }
        const domain::instrument instrument = wide_instrument(domain::price_nano{tape_tick_nano});
        const order_survey survey = survey_orders(paths, std::nullopt);
        flow_ = std::make_unique<order_flow>(open_orders(paths, survey, instrument), survey.how, log);
        run_ = std::make_unique<replay_run>(*flow_, log, instrument.id);
        facility_venue venue(instrument);
        venue.tamper = std::move(tamper);
        if (lag != nullptr) {
            venue.drive(*run_, *lag);
        } else {
            venue.drive(*run_);
        }
        flow_->compare_at_end(run_->book());
    }

    [[nodiscard]] const order_flow_facts& facts() const { return flow_->facts(); }
    [[nodiscard]] const order_flow_agreement& result() const { return flow_->result(); }
    [[nodiscard]] const run_counts& counts() const { return run_->counts(); }

    /// All differences, as "cause: what", one to a line.
    [[nodiscard]] std::string differences() const {
        std::string text;
        for (std::size_t i = 0; i < causes_count; ++i) {
            for (const difference& d : log.examples(static_cast<cause>(i))) {
                text += std::string(to_string(static_cast<cause>(i))) + ": " + d.where + ": " + d.what + "\n";
            }
        }
        return text;
    }

    difference_log log;

 private:
    scratch_folder folder_;
    std::unique_ptr<order_flow> flow_;
    std::unique_ptr<replay_run> run_;
};

}  // namespace corro::recorded::replay
