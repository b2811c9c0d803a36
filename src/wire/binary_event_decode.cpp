// SPDX-License-Identifier: Apache-2.0
// Decodes derived messages to events, and definitions to instruments. See wire/binary_codec.hpp.

#include <limits>

#include "wire/binary_codec.hpp"
#include "wire/limits.hpp"

namespace corro::wire {
namespace {

using domain::event_kind;

std::error_code error_of(const refusal& wrong) noexcept {
    return wrong.reason == session_reject_reason::block_too_short ? wire_errc::malformed_length
                                                                  : wire_errc::malformed_field;
}

/// Converts a message's numbers by its instrument and remembers whether one of them is invalid for it.
class converter {
 public:
    explicit converter(const domain::instrument& i) noexcept : instrument_(i) {}

    domain::price_ticks ticks(domain::price_nano price) noexcept {
        if (price == domain::no_price_nano) return domain::no_price;
        const auto [value, reason] = domain::to_ticks(instrument_, price);
        sound_ = sound_ && reason == domain::reject_reason::none;
        return value;
    }

    domain::quantity_lots lots(std::int64_t units) noexcept {
        const std::int64_t value = units / instrument_.lot_size;
        sound_ =
            sound_ && value >= 0 && value <= domain::order_quantity_lots_max && value * instrument_.lot_size == units;
        return domain::quantity_lots{static_cast<std::uint32_t>(value)};
    }

    domain::volume_lots volume(std::int64_t units) noexcept {
        const std::int64_t value = units / instrument_.lot_size;
        sound_ = sound_ && value >= 0 && (units == units_max || value * instrument_.lot_size == units);
        return domain::volume_lots{static_cast<std::uint64_t>(value)};
    }

    std::int64_t difference(std::int64_t units) noexcept {
        const std::int64_t value = units / instrument_.lot_size;
        sound_ = sound_ && (units == units_max || units == -units_max || value * instrument_.lot_size == units);
        return value;
    }

    [[nodiscard]] bool sound() const noexcept { return sound_; }

 private:
    const domain::instrument& instrument_;
    bool sound_ = true;
};

template <class View>
void begin(const View& view, domain::event& e) noexcept {
    e.command = view.command();
    e.time = view.time();
    e.instrument = view.instrument();
    e.side = view.side();
    e.reason = view.reason();
    e.flags = view.flags();
}

template <class View>
    requires requires(const View& view) {
        view.request();
        view.order();
    }
void take(const View& view, converter& convert, domain::event& e) noexcept {
    e.order = domain::private_order{
        .order = view.order(),
        .client_order = view.client_order(),
        .price = convert.ticks(view.price()),
        .quantity = convert.lots(view.quantity()),
        .account = view.account(),
        .session = view.session(),
        .request = view.request(),
    };
}

template <class View>
    requires requires(const View& view) { view.change(); }
void take(const View& view, converter& convert, domain::event& e) noexcept {
    e.book = domain::public_order{
        .order = view.order(),
        .price = convert.ticks(view.price()),
        .quantity = convert.lots(view.quantity()),
        .change = convert.lots(view.change()),
    };
}

void take(const order_executed_view& view, converter& convert, domain::event& e) noexcept {
    e.execution = domain::execution{
        .order = view.order(),
        .client_order = view.client_order(),
        .price = convert.ticks(view.price()),
        .quantity = convert.lots(view.quantity()),
        .leaves = convert.lots(view.leaves()),
        .account = view.account(),
        .session = view.session(),
    };
}

void take(const trade_capture_view& view, converter& convert, domain::event& e) noexcept {
    e.capture = domain::capture{
        .trade = view.trade(),
        .order = view.order(),
        .price = convert.ticks(view.price()),
        .quantity = convert.lots(view.quantity()),
        .account = view.account(),
        .session = view.session(),
    };
}

void take(const leg_capture_view& view, converter& convert, domain::event& e) noexcept {
    e.leg_fill = domain::leg_fill{
        .trade = view.trade(),
        .order = view.order(),
        .price = view.leg_price().value,
        .quantity = convert.lots(view.quantity()),
        .account = view.account(),
        .session = view.session(),
    };
}

void take(const leg_trade_view& view, converter& convert, domain::event& e) noexcept {
    e.leg_fill = domain::leg_fill{
        .trade = view.trade(), .price = view.leg_price().value, .quantity = convert.lots(view.quantity())};
}

void take(const quote_entered_view& view, converter& convert, domain::event& e) noexcept {
    e.quote = domain::private_quote{
        .client_order = view.client_order(),
        .bid_quantity = convert.lots(view.bid_quantity()),
        .ask_quantity = convert.lots(view.ask_quantity()),
        .account = view.account(),
        .session = view.session(),
        .request = view.request(),
    };
}

void take(const protection_changed_view& view, converter&, domain::event& e) noexcept {
    e.protection = domain::protection{
        .fills = view.fills(),
        .fills_max = view.fills_max(),
        .quantity = domain::volume_lots{view.lots()},
        .quantity_max = domain::quantity_lots{view.lots_max()},
        .window_ms = view.window_ms(),
        .account = view.account(),
        .session = view.session(),
        .request = view.request(),
    };
}

void take(const level_changed_view& view, converter& convert, domain::event& e) noexcept {
    e.level = domain::level{
        .price = convert.ticks(view.price()),
        .quantity = convert.volume(view.quantity()),
        .orders_count = view.orders_count(),
    };
}

template <class View>
void take_top(const View& view, converter& convert, domain::event& e) noexcept {
    e.top = domain::top{
        .bid_price = convert.ticks(view.bid_price()),
        .bid_quantity = convert.volume(view.bid_quantity()),
        .ask_price = convert.ticks(view.ask_price()),
        .ask_quantity = convert.volume(view.ask_quantity()),
    };
}

void take(const top_of_book_view& view, converter& convert, domain::event& e) noexcept {
    take_top(view, convert, e);
}
void take(const implied_top_view& view, converter& convert, domain::event& e) noexcept {
    take_top(view, convert, e);
}

void take(const trade_view& view, converter& convert, domain::event& e) noexcept {
    e.trade = domain::tape_trade{
        .trade = view.trade(),
        .price = convert.ticks(view.price()),
        .quantity = convert.lots(view.quantity()),
    };
}

void take(const price_update_view& view, converter& convert, domain::event& e) noexcept {
    e.prices = domain::price_summary{
        .last = convert.ticks(view.last()),
        .high = convert.ticks(view.high()),
        .low = convert.ticks(view.low()),
        .open = convert.ticks(view.open()),
    };
}

void take(const statistics_view& view, converter& convert, domain::event& e) noexcept {
    e.volumes = domain::volume_summary{
        .volume = convert.volume(view.volume()),
        .turnover = view.turnover(),
        .open_interest = convert.volume(view.open_interest()),
    };
}

void take(const request_done_view& view, converter&, domain::event& e) noexcept {
    e.order = domain::private_order{
        .price = domain::no_price, .account = view.account(), .session = view.session(), .request = view.request()};
}

void take(const phase_changed_view& view, converter&, domain::event& e) noexcept {
    e.phase = domain::phase_state{.phase = view.trading_phase(), .resume_time = view.resume_time()};
}

template <class View>
void take_auction(const View& view, converter& convert, domain::event& e) noexcept {
    e.auction = domain::auction_state{.price = convert.ticks(view.price()),
                                      .volume = convert.volume(view.volume()),
                                      .imbalance = convert.difference(view.imbalance())};
}
void take(const auction_indicative_view& view, converter& convert, domain::event& e) noexcept {
    take_auction(view, convert, e);
}
void take(const auction_ended_view& view, converter& convert, domain::event& e) noexcept {
    take_auction(view, convert, e);
}

void take(const instrument_settled_view& view, converter& convert, domain::event& e) noexcept {
    e.settlement =
        domain::settlement{.price = convert.ticks(view.price()), .open_interest = convert.volume(view.open_interest())};
}

void take(const instrument_terms_view& view, converter&, domain::event& e) noexcept {
    e.terms = domain::instrument_terms_said{.strike = view.strike(),
                                            .price_low = view.price_low(),
                                            .price_high = view.price_high(),
                                            .right = view.option_right()};
}

void take(const instrument_legs_view& view, converter&, domain::event& e) noexcept {
    e.legs = domain::instrument_legs_said{.instruments = {view.leg_1(), view.leg_2(), view.leg_3(), view.leg_4()},
                                          .count = view.legs_defined()};
}

void take(const instrument_defined_view& view, converter&, domain::event& e) noexcept {
    e.defined = domain::instrument_said{.name = view.symbol(), .expiry = view.expiry(), .like = view.like()};
}

template <class View>
std::error_code take_event(const frame& from, const instrument_table& instruments, domain::event& e) noexcept {
    if (const refusal wrong = View::check(from)) return error_of(wrong);
    const View view{from};
    e.kind = static_cast<event_kind>(static_cast<std::uint16_t>(from.message) - 32);
    begin(view, e);
    const bool may_be_unknown = e.kind == event_kind::order_rejected || e.kind == event_kind::request_done ||
                                e.kind == event_kind::protection_changed || domain::is_definition(e.kind);
    if (!may_be_unknown && instruments.find(e.instrument) == nullptr) {
        return wire_errc::unknown_instrument;
    }
    converter convert{instruments.find_or_nameless(e.instrument)};
    take(view, convert, e);
    return convert.sound() ? std::error_code{} : wire_errc::malformed_field;
}

}  // namespace

std::error_code decode_event(const frame& from, const instrument_table& instruments, domain::event& event) noexcept {
    event = domain::event{};
    switch (from.message) {
        case template_id::order_entered: return take_event<order_entered_view>(from, instruments, event);
        case template_id::order_amended: return take_event<order_amended_view>(from, instruments, event);
        case template_id::order_cancelled: return take_event<order_cancelled_view>(from, instruments, event);
        case template_id::order_executed: return take_event<order_executed_view>(from, instruments, event);
        case template_id::order_rejected: return take_event<order_rejected_view>(from, instruments, event);
        case template_id::trade_capture: return take_event<trade_capture_view>(from, instruments, event);
        case template_id::quote_entered: return take_event<quote_entered_view>(from, instruments, event);
        case template_id::protection_changed: return take_event<protection_changed_view>(from, instruments, event);
        case template_id::order_added: return take_event<order_added_view>(from, instruments, event);
        case template_id::order_reduced: return take_event<order_reduced_view>(from, instruments, event);
        case template_id::order_deleted: return take_event<order_deleted_view>(from, instruments, event);
        case template_id::level_changed: return take_event<level_changed_view>(from, instruments, event);
        case template_id::top_of_book: return take_event<top_of_book_view>(from, instruments, event);
        case template_id::trade: return take_event<trade_view>(from, instruments, event);
        case template_id::price_update: return take_event<price_update_view>(from, instruments, event);
        case template_id::statistics: return take_event<statistics_view>(from, instruments, event);
        case template_id::order_status: return take_event<order_status_view>(from, instruments, event);
        case template_id::request_done: return take_event<request_done_view>(from, instruments, event);
        case template_id::phase_changed: return take_event<phase_changed_view>(from, instruments, event);
        case template_id::leg_capture: return take_event<leg_capture_view>(from, instruments, event);
        case template_id::leg_trade: return take_event<leg_trade_view>(from, instruments, event);
        case template_id::implied_top: return take_event<implied_top_view>(from, instruments, event);
        case template_id::auction_indicative: return take_event<auction_indicative_view>(from, instruments, event);
        case template_id::auction_ended: return take_event<auction_ended_view>(from, instruments, event);
        case template_id::instrument_settled: return take_event<instrument_settled_view>(from, instruments, event);
        case template_id::instrument_terms: return take_event<instrument_terms_view>(from, instruments, event);
        case template_id::instrument_legs: return take_event<instrument_legs_view>(from, instruments, event);
        case template_id::instrument_defined: return take_event<instrument_defined_view>(from, instruments, event);
        default: return wire_errc::unknown_type;
    }
}

std::expected<domain::instrument, std::error_code> decode_instrument(const frame& from) noexcept {
    if (from.message != template_id::instrument_definition) return std::unexpected(wire_errc::unknown_type);
    if (const refusal wrong = instrument_definition_view::check(from)) return std::unexpected(error_of(wrong));
    const instrument_definition message = instrument_definition_view{from}.value();

    domain::instrument instrument{
        .id = message.instrument,
        .product = message.product,
        .name = message.symbol,
        .kind = message.instrument_kind,
        .tick_size = message.tick_size,
        .lot_size = message.lot_size,
        .allocation = {.algorithm = message.match_algorithm},
        .right = message.option_right,
        .strike = message.strike,
        .expiry = message.expiry,
        .legs_count = message.legs_count,
        .implied = message.implied == domain::switch_state::on,
    };
    if (instrument.tick_size.value <= 0 || instrument.lot_size == 0) {
        return std::unexpected(wire_errc::malformed_field);
    }
    converter convert{instrument};
    const auto low = convert.ticks(message.price_low);
    const auto high = convert.ticks(message.price_high);
    const auto largest = convert.lots(message.quantity_max);
    instrument.price_low = low;
    instrument.price_high = high;
    instrument.order_quantity_max = largest;
    if (!convert.sound() || !domain::validate(instrument).empty()) return std::unexpected(wire_errc::malformed_field);
    return instrument;
}

std::error_code decode_leg(const frame& from, instrument_table& instruments) noexcept {
    if (from.message != template_id::instrument_leg) return wire_errc::unknown_type;
    if (const refusal wrong = instrument_leg_view::check(from)) return error_of(wrong);
    const instrument_leg message = instrument_leg_view{from}.value();
    const domain::instrument* known = instruments.find(message.instrument);
    if (known == nullptr) return wire_errc::unknown_instrument;
    if (message.leg_index >= known->legs_count) return wire_errc::malformed_field;
    domain::instrument strategy = *known;
    strategy.legs[message.leg_index] = {message.leg, message.ratio, message.side};
    instruments.define(strategy);
    return {};
}

}  // namespace corro::wire
