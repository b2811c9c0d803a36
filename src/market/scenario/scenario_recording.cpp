// SPDX-License-Identifier: Apache-2.0
// Reads the recording in which the agents of a scenario trade.

#include <algorithm>
#include <array>
#include <utility>

#include "market/scenario/scenario_parts.hpp"
#include "recorded/recorded_definitions.hpp"
#include "recorded/replay/order_record.hpp"

namespace corro::market {
namespace {

using node::table_reader;

constexpr std::size_t files_max = 64;
constexpr std::int64_t whole_second_ns = 1'000'000'000;

/// A value of an enumeration whose values have names.
template <class Value>
Value read_named(table_reader& r, std::string_view key, Value otherwise) {
    std::vector<std::string> known;
    for (std::size_t i = 0; i < static_cast<std::size_t>(Value::count); ++i) {
        known.emplace_back(to_string(static_cast<Value>(i)));
    }
    const std::string name = r.text(key, std::string(to_string(otherwise)));
    require_one_of(r, key, name, known);
    return static_cast<Value>(std::ranges::find(known, name) - known.begin());
}

}  // namespace

void read_recording(table_reader& r, const std::string& file, const scenario_files& from, scenario& into) {
    recorded::replay::recording_options files;
    files.files = recorded::replay::find_recording(r.texts("files", files_max), file, from.data_folder);
    if (files.files.empty()) r.fail("files", "expected the files of a recording");
    if (r.has("instrument")) {
        files.recorded_instrument = static_cast<std::uint32_t>(r.number("instrument", 0, UINT32_MAX));
    } else {
        static_cast<void>(r.number("instrument", 0, 0, UINT32_MAX));  // it is a known key
    }
    files.stock = r.text("stock", "");
    into.recorded.policy = read_named(r, "policy", into.recorded.policy);
    into.recorded.leftovers = read_named(r, "leftovers", into.recorded.leftovers);
    into.recorded.refill_mean_ns = static_cast<double>(
        r.duration_ns("refill_mean", static_cast<std::int64_t>(into.recorded.refill_mean_ns), 1, duration_ns_max));
    into.recorded.scale_most = r.real("scale_most", into.recorded.scale_most, 1, 1e6);
    r.finish();
    try {
        into.day = std::make_shared<const recorded_day>(from.load(files));
    } catch (const recorded::replay::replay_error& error) {
        r.fail("files", error.what());
    }
    market_options& o = into.options;
    o.instruments = {into.day->instrument};
    o.start_ns = into.day->start_ns;
    o.orders_max = std::max(o.orders_max, into.day->orders_max + 100'000);
    into.instruments_toml = recorded::to_configuration(into.day->instrument);
    into.duration_ns = (into.day->length_ns / whole_second_ns + 1) * whole_second_ns;
}

}  // namespace corro::market
