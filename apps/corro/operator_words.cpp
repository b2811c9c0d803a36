// SPDX-License-Identifier: Apache-2.0
#include "operator_words.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

namespace corro::app {
namespace {

std::string_view words_for(wire::journal_state state) noexcept {
    switch (state) {
        case wire::journal_state::no_journal: return "no journal";
        case wire::journal_state::takes_everything: return "the journal accepts all commands";
        case wire::journal_state::takes_cancels: return "THE DISK IS FULL: only cancels are accepted";
        case wire::journal_state::takes_nothing: return "THE JOURNAL HAS FAILED: no commands are accepted";
    }
    return "unknown journal state";
}

std::string_view words_for(domain::trading_phase phase) noexcept {
    switch (phase) {
        case domain::trading_phase::continuous: return "in continuous trading";
        case domain::trading_phase::halted: return "halted";
        case domain::trading_phase::pre_open: return "in pre-open";
        case domain::trading_phase::opening_auction: return "in its opening auction";
        case domain::trading_phase::volatility_auction: return "in a volatility auction";
        case domain::trading_phase::closing_auction: return "in its closing auction";
        case domain::trading_phase::closed: return "closed";
    }
    return "in an unknown phase";
}

std::string time_text(domain::time_ns time) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", fmt::gmtime(static_cast<std::time_t>(time.value / 1'000'000'000)));
}

std::string words_of(const wire::venue_status& s, std::string_view symbol) {
    std::string words = s.segments_count == 1
                            ? std::string("venue")
                            : fmt::format("partition {} of {}", unsigned{s.segment} + 1, unsigned{s.segments_count});
    words += fmt::format(
        " at {}: command {} sequenced, {} durable, {} in the newest snapshot; {}; {} requests waiting; "
        "feed at {}; {} of {} sessions on",
        time_text(s.time), s.last_command.value, s.durable_command.value, s.snapshot_command.value,
        words_for(s.journal_state), s.commands_waiting, s.feed_sequence.value, s.sessions_count, s.sessions_max);
    if (s.instrument != domain::instrument_id{}) words += fmt::format("; {} is {}", symbol, words_for(s.trading_phase));
    return words;
}

std::string words_of(const wire::snapshot_answer& a) {
    switch (a.snapshot_outcome) {
        case wire::snapshot_outcome::begun:
            return fmt::format("started a snapshot after command {}; see: status", a.durable_command.value);
        case wire::snapshot_outcome::under_way: return "no new snapshot: one is in progress";
        case wire::snapshot_outcome::nothing_new: return "no snapshot: the newest one has all durable commands";
        case wire::snapshot_outcome::no_journal: return "no snapshot: the venue keeps no journal";
        case wire::snapshot_outcome::only_at_the_end:
            return "no snapshot: this venue writes snapshots only when it ends";
    }
    return "unknown outcome of the snapshot";
}

}  // namespace

std::string in_words(const client::admin_command& told, std::string_view symbol) {
    if (const auto* const status = std::get_if<wire::venue_status>(&told)) return words_of(*status, symbol);
    return words_of(std::get<wire::snapshot_answer>(told));
}

}  // namespace corro::app
