// SPDX-License-Identifier: Apache-2.0
// The laboratory's JSON: what a run shows, and the changes that a request asks for.
#pragma once

#include <cstdint>
#include <expected>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "../runs.hpp"
#include "observed_run.hpp"

namespace corro::app {

using json = nlohmann::ordered_json;

/// Why a request is refused: a status of HTTP, and what to do.
struct refusal {
    unsigned status = 400;
    std::string message;
};

/// What does not change while a market runs: instruments, groups, events.
[[nodiscard]] json terms_json(const observed_run& of, std::uint64_t seed, std::size_t injected_count);
/// An instrument at this moment: book, phase, last price, volume.
[[nodiscard]] json book_json(const observed_run& of, std::size_t instrument);
[[nodiscard]] json agents_json(const observed_run& of, std::size_t instrument);
[[nodiscard]] json metrics_json(observed_run& of);
/// Members of the series from a number on, at most `count`: {"first", "next", "rows"}.
[[nodiscard]] json columns_json(const newest_of<book_column>& from, std::uint64_t first, std::size_t count);
[[nodiscard]] json trades_json(const newest_of<shown_trade>& from, std::uint64_t first, std::size_t count);
[[nodiscard]] json samples_json(const newest_of<market_sample>& from, std::uint64_t first, std::size_t count);
[[nodiscard]] json compared_json(std::span<const compared_metric> all);

/// The body of a request: an object.
[[nodiscard]] std::expected<json, refusal> read_object(std::string_view text);
/// The lines of an `[[event]]` of a scenario, from an object with its keys; `at` comes from the laboratory.
[[nodiscard]] std::expected<std::string, refusal> event_lines(const json& change, std::int64_t at_ns);

}  // namespace corro::app
