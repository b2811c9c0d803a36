// SPDX-License-Identifier: Apache-2.0
// The reference: accounts and limits of the configuration, which cause no events; sessions whose numbers are reset;
// messages that are counted; texts of client order ids.
#include <algorithm>
#include <string>

#include "facility_reference/facility_reference.hpp"

namespace corro::facility::testing {

void facility_reference::define_account() {
    const domain::command& c = command_;
    const domain::define_account& wanted = c.define_account();
    const std::uint32_t number = wanted.other_account.value;
    const std::uint32_t first = wanted.first_session.value;
    const std::uint32_t count = wanted.sessions_count;
    if (!c.is_operator() || number == 0 || number >= options_.accounts_max) return;
    if (first == 0 || count == 0 || first > 1'048'576 || count > 1'048'576 || accounts_.size() == 4'096) return;
    const bool is_behind = std::all_of(accounts_.begin(), accounts_.end(), [&](const auto& other) {
        return other[0] != number && first >= std::uint64_t{other[1]} + other[2];
    });
    if (is_behind) accounts_.push_back({number, first, count});
}

void facility_reference::set_account_limits() {
    const domain::command& c = command_;
    const domain::set_limits& wanted = c.set_limits();
    if (!c.is_operator() || wanted.other_account.value >= options_.accounts_max || wanted.firm >= options_.accounts_max)
        return;
    if (wanted.notional_max < 0 || mistake_ == defect::configured_limits_are_ignored) return;
    limits_[wanted.other_account.value] = {wanted.notional_max, wanted.order_quantity_max.value,
                                           wanted.position_max.value, wanted.open_orders_max, wanted.firm};
}

void facility_reference::reset_session_numbers() {
    for (const domain::order_id id : by_account_[command_.account.value]) {
        order& o = open_.at(id);
        const bool is_forgotten = o.session == command_.session && mistake_ != defect::requests_name_orders_for_ever;
        if (is_forgotten && !o.is_quote) forget_request(o);
    }
    domain::numbers_reset& reset =
        say(event_kind::session_numbers_reset, 0, side::buy, reject_reason::none, domain::event_flag::last_of_request)
            .numbers_reset;
    reset = {};
    reset.day_begin = command_.reset_session_numbers().day_begin;
    reset.account = command_.account;
    reset.session = command_.session;
}

void facility_reference::count_messages() {
    const domain::count_messages& counted = command_.count_messages();
    say(event_kind::messages_counted, 0, side::buy).counted = {counted.number,   counted.next_answer, counted.count,
                                                               command_.account, command_.session,    {}};
}

void facility_reference::name_order() {
    const domain::name_order& given = command_.name_order();
    std::string text(given.text_1.begin(), given.text_1.end());
    text.append(given.text_2.begin(), given.text_2.end());
    text.append(given.text_3.begin(), given.text_3.end());
    text.resize(std::min<std::size_t>(given.length, text.size()));
    const auto length = static_cast<std::uint8_t>(text.size());
    std::uint8_t part = 0;
    do {
        domain::name_part& said = say(event_kind::order_named, 0, side::buy).name;
        said = {command_.client_order, command_.account, command_.session, length, part++, {}};
        const std::string piece = text.substr(0, said.text.size());
        std::copy(piece.begin(), piece.end(), said.text.begin());
        text.erase(0, piece.size());
    } while (!text.empty());
}

void facility_reference::hash_accounts(state_hasher& hasher) const {
    for (const auto& [number, first, count] : accounts_) {
        hasher.add((std::uint64_t{number} << 32U) | first);
        hasher.add(std::uint64_t{count});
    }
}

}  // namespace corro::facility::testing
