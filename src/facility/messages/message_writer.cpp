// SPDX-License-Identifier: Apache-2.0
// Messages of rare commands, whose speed does not matter.

#include "facility/messages/message_writer.hpp"

#include "domain/long_name.hpp"

namespace corro::facility {

void message_writer::protection_changed(const quote_protection& p, domain::account_id account,
                                        domain::session_id session, domain::reject_reason reason,
                                        bool answers) noexcept {
    buffer_
        .append(domain::event_kind::protection_changed, {}, domain::side::buy, reason,
                answers ? domain::event_flag::last_of_request : std::uint8_t{0})
        .protection = {p.fills,
                       p.fills_max,
                       domain::volume_lots{p.lots},
                       domain::quantity_lots{p.quantity_max},
                       p.window_ms,
                       account,
                       session,
                       session == command_->session ? command_->request() : 0,
                       {}};
}

void message_writer::request_done(domain::instrument_id instrument, domain::account_id account) noexcept {
    buffer_
        .append(domain::event_kind::request_done, instrument, domain::side::buy, domain::reject_reason::none,
                domain::event_flag::last_of_request)
        .order = {{}, {}, domain::no_price, {}, account, command_->session, command_->request()};
}

void message_writer::numbers_reset(domain::time_ns day_begin) noexcept {
    domain::numbers_reset reset;
    reset.day_begin = day_begin;
    reset.account = command_->account;
    reset.session = command_->session;
    buffer_
        .append(domain::event_kind::session_numbers_reset, {}, domain::side::buy, domain::reject_reason::none,
                domain::event_flag::last_of_request)
        .numbers_reset = reset;
}

void message_writer::messages_counted(const domain::count_messages& counted) noexcept {
    domain::counted_messages taken;
    taken.number = counted.number;
    taken.next_answer = counted.next_answer;
    taken.count = counted.count;
    taken.account = command_->account;
    taken.session = command_->session;
    buffer_.append(domain::event_kind::messages_counted, {}, domain::side::buy).counted = taken;
}

void message_writer::order_named() noexcept {
    const domain::long_name_text text = domain::long_name_of(*command_);
    for (std::size_t part = 0; part < domain::name_parts_count(text.size); ++part) {
        domain::name_part said = domain::name_part_of(text.view(), part);
        said.name = command_->client_order;
        said.account = command_->account;
        said.session = command_->session;
        buffer_.append(domain::event_kind::order_named, {}, domain::side::buy).name = said;
    }
}

void message_writer::request_named(std::uint32_t slot) noexcept {
    const bool has_order = slot != matching::engine::none;
    domain::named_request named;
    named.order = has_order ? engine_.id_of(slot) : domain::order_id{};
    named.client_order = has_order ? orders_[slot].client_order : command_->client_order;
    named.name = command_->request_name();
    named.account = command_->account;
    named.session = command_->session;
    named.request = command_->request();
    named.kind = static_cast<std::uint8_t>(command_->kind);
    buffer_.write(scope_word(has_order ? ids_[engine_.level_of(slot).book] : command_->instrument,
                             has_order ? orders_[slot].side : domain::side::buy),
                  kind_word(domain::event_kind::request_named), named);
}

void message_writer::phase_changed(std::uint32_t book, domain::trading_phase phase, std::int64_t resume_time,
                                   domain::reject_reason reason) noexcept {
    buffer_.append(domain::event_kind::phase_changed, ids_[book], domain::side::buy, reason).phase = {
        phase, {}, domain::time_ns{resume_time}, {}};
}

void message_writer::auction(domain::event_kind kind, std::uint32_t book, const matching::equilibrium& e) noexcept {
    buffer_.write(scope_word(ids_[book], domain::side::buy), kind_word(kind),
                  domain::auction_state{e.price, domain::volume_lots{e.volume}, e.imbalance, {}});
}

void message_writer::position_settled(std::uint32_t book, std::uint32_t account, std::int64_t lots,
                                      domain::price_ticks price) noexcept {
    std::uint64_t left = static_cast<std::uint64_t>(lots < 0 ? -lots : lots);
    while (left != 0) {
        const auto now =
            static_cast<std::uint32_t>(left < domain::order_quantity_lots_max ? left : domain::order_quantity_lots_max);
        left -= now;
        buffer_.write(
            scope_word(ids_[book], lots > 0 ? domain::side::sell : domain::side::buy),
            kind_word(domain::event_kind::trade_capture, domain::reject_reason::instrument_settled),
            domain::capture{
                {}, {}, price, domain::quantity_lots{now}, domain::account_id{account}, command_->session, 0});
    }
}

void message_writer::instrument_settled(std::uint32_t book, domain::price_ticks price,
                                        std::uint64_t open_interest) noexcept {
    buffer_.write(scope_word(ids_[book], domain::side::buy), kind_word(domain::event_kind::instrument_settled),
                  domain::settlement{price, domain::volume_lots{open_interest}, {}});
}

void message_writer::positions_counted(std::uint32_t count) noexcept {
    domain::position_state counted;
    counted.last = domain::no_price;
    counted.account = command_->account;
    counted.session = command_->session;
    counted.request = command_->request();
    counted.count = count;
    buffer_
        .append(domain::event_kind::position_reported, {}, domain::side::buy, domain::reject_reason::none,
                count == 0 ? domain::event_flag::last_of_request : std::uint8_t{0})
        .position = counted;
}

void message_writer::position(std::uint32_t book, std::int64_t lots, std::uint8_t flags) noexcept {
    domain::position_state held;
    held.quantity = domain::volume_lots{static_cast<std::uint64_t>(lots < 0 ? -lots : lots)};
    held.last = trades_[book].prices.last;
    held.account = command_->account;
    held.session = command_->session;
    held.request = command_->request();
    buffer_
        .append(domain::event_kind::position_reported, ids_[book], lots < 0 ? domain::side::sell : domain::side::buy,
                domain::reject_reason::none, flags)
        .position = held;
}

void message_writer::status(std::uint32_t slot, std::uint8_t flags) noexcept {
    const matching::level_state level = engine_.level_of(slot);
    const order_record& r = orders_[slot];
    buffer_.append(domain::event_kind::order_status, ids_[level.book], r.side, domain::reject_reason::none, flags)
        .order = {engine_.id_of(slot),
                  r.client_order,
                  level.is_waiting ? orders_.waiting(slot).limit : level.price,
                  domain::quantity_lots{engine_.order_at(slot).total()},
                  r.account,
                  command_->session,
                  command_->request()};
}

void message_writer::begin_day(std::uint32_t book) noexcept {
    tape_summary& tape = trades_[book];
    tape = {.prices = {tape.prices.last, domain::no_price, domain::no_price, domain::no_price, {}}};
    const std::uint64_t scope = scope_word(ids_[book], domain::side::buy);
    event_buffer::run out = buffer_.open(2);
    if (tape.prices.last != domain::no_price)
        out.write(scope, kind_word(domain::event_kind::price_update), tape.prices);
    out.write(scope, kind_word(domain::event_kind::statistics), volumes_of(book));
    buffer_.close(out);
}

}  // namespace corro::facility
