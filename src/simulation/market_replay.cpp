// SPDX-License-Identifier: Apache-2.0
#include "simulation/market_replay.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <utility>

#include "base/assert.hpp"
#include "domain/private_event.hpp"
#include "wire/binary_codec.hpp"
#include "wire/instrument_table.hpp"

namespace corro::simulation {

market_replay::market_replay(const node::configuration& of, io::platform& on, findings* found,
                             std::set<std::uint32_t> asked_elsewhere, gateway::answer_log* answers)
    : found_(found),
      rules_(found, std::move(asked_elsewhere)),
      facility_(node::facility_options_of(of, on), of.instruments, *this),
      answers_(answers) {}

void market_replay::run(const journal_commands& journal) {
    std::size_t known = 0;
    for (const domain::command& c : journal) {
        events_.clear();
        if (answers_ != nullptr) answers_->note(c);
        facility_.apply(c);
        if (const auto all = facility_.instruments(); known != all.size()) {
            rules_.learn(all);
            known = all.size();
        }
        rules_.executed(c, events_);
        if (!found_->empty()) return;
    }
    check_end();
}

void market_replay::consume(std::span<const domain::event> events) noexcept {
    for (const domain::event& e : events) {
        if (domain::is_public(e.kind)) continue;
        events_.push_back(e);
        if (answers_ != nullptr) answers_->append(e);
        told_[domain::session_of(e).value].push_back(e);
    }
}

void market_replay::check_end() {
    if (rules_.open_orders_count() != facility_.open_orders_count()) {
        found_->add("C2", fmt::format("the events leave {} orders open, the facility has {}",
                                      rules_.open_orders_count(), facility_.open_orders_count()));
    }
    for (const auto& [of, position] : rules_.positions()) {
        const std::int64_t own = facility_.position_of(domain::account_id{of.first}, domain::instrument_id{of.second});
        if (own == position) continue;
        found_->add("C2", fmt::format("the fills of account {} in instrument {} sum to {}, its position is {}",
                                      of.first, of.second, position, own));
    }
}

namespace {

/// An event as a client decodes it.
domain::event as_received(const domain::event& e, const wire::instrument_table& instruments) {
    std::array<std::byte, wire::message_bytes_max> buffer;
    const std::size_t size = wire::encode(e, instruments.find_or_nameless(e.instrument), 1, buffer);
    const auto frame = wire::next_frame(std::span(buffer).first(size));
    domain::event arrived;
    const bool is_decoded = frame && *frame && !wire::decode_event(**frame, instruments, arrived);
    CORRO_ASSERT(is_decoded, "an event that the venue has encoded is decoded");
    return arrived;
}

}  // namespace

void check_answers(const market_replay& market, const std::vector<session_history>& clients, findings* found) {
    wire::instrument_table instruments;
    for (const domain::instrument& i : market.state().instruments()) instruments.define(i);
    for (const session_history& each : clients) {
        if (each.answer_digests == nullptr) continue;
        const auto told = market.told().find(each.session.value);
        const std::size_t told_count = told == market.told().end() ? 0 : told->second.size();
        if (each.answer_digests->size() > told_count) {
            return found->add("C3", fmt::format("session {} received {} answers, and the journal gives it {}",
                                                each.session.value, each.answer_digests->size(), told_count));
        }
        for (std::size_t i = 0; i < each.answer_digests->size(); ++i) {
            if (digest_of(as_received(told->second[i], instruments)) == (*each.answer_digests)[i]) continue;
            return found->add("C3", fmt::format("answer {} of session {} is not what the journal gives it", i + 1,
                                                each.session.value));
        }
    }
}

}  // namespace corro::simulation
