// SPDX-License-Identifier: Apache-2.0
// The report of a replay, for people and for programs: the same numbers as text and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "recorded/replay/agreement.hpp"
#include "recorded/replay/difference.hpp"
#include "recorded/replay/order_flow.hpp"
#include "recorded/replay/quote_flow.hpp"
#include "recorded/replay/recorded_itch.hpp"
#include "recorded/replay/replay_run.hpp"

namespace corro::recorded::replay {

struct report_row {
    std::string key;    ///< in JSON
    std::string label;  ///< in text
    std::uint64_t value = 0;
    std::optional<std::uint64_t> total{};  ///< set: the row is "value of total"
    std::string words{};                   ///< not empty: replaces the number
};

struct report_section {
    std::string key;
    std::string title;
    std::vector<report_row> rows;
};

/// A trader beside the replay.
struct visitor {
    std::string name;
    std::int64_t position = 0;  ///< lots, at the end; below 0: short
};

struct replay_report {
    std::vector<std::string> files;
    std::string instrument;
    std::string tick;
    std::string failure;  ///< why the replay ended early; empty: it is complete
    double seconds = 0;
    run_counts counts;
    std::vector<report_section> sections;
    bool is_served = false;         ///< the venue was open for visitors: differences are what they changed
    std::vector<visitor> visitors;  ///< the accounts for them
};

/// The recognised contents of a recording, and the reproduced part.
[[nodiscard]] std::vector<report_section> sections_of(const order_flow& flow);
[[nodiscard]] std::vector<report_section> sections_of(const quote_flow& flow);
/// What a recording of ITCH has beside its orders.
[[nodiscard]] report_section section_of(const itch_facts& facts);

/// Whether the replay is complete and, without visitors, no difference is unexplained.
[[nodiscard]] bool is_success(const replay_report& report, const difference_log& log) noexcept;

/// Tables, differences by cause with their examples, and a verdict in one line at the end.
[[nodiscard]] std::string to_text(const replay_report& report, const difference_log& log);

/// One JSON object, with a line feed at its end: "files", "instrument", "tick", "complete", "failure", "seconds",
/// "requests_per_second", "messages_per_second", "requests", one object per section, "visitors" if there may be some,
/// "differences" by cause, "unexplained" and "success". A row "value of total" is {"equal", "total"}, one of words a
/// string, any other a number.
[[nodiscard]] std::string to_json(const replay_report& report, const difference_log& log);

}  // namespace corro::recorded::replay
