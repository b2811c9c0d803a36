// SPDX-License-Identifier: Apache-2.0
#include "client/market_image.hpp"

#include <limits>

#include "client/session_errors.hpp"
#include "domain/instrument.hpp"
#include "wire/binary_codec.hpp"

namespace corro::client {
namespace {

/// The only message in these bytes.
std::expected<wire::frame, std::error_code> frame_of(std::span<const std::byte> message) {
    const auto frame = wire::next_frame(message);
    if (!frame) return std::unexpected(frame.error());
    if (!*frame) return std::unexpected(make_error_code(wire::wire_errc::truncated));
    return **frame;
}

double decimal_of(const domain::instrument& i, domain::price_ticks ticks) {
    return static_cast<double>(domain::to_nano(i, ticks).value) / 1e9;
}

}  // namespace

std::optional<best_prices> market_image::best(std::string_view symbol) const {
    const domain::instrument* found = nullptr;
    instruments_.for_each([&](const domain::instrument& each) {
        if (each.name.view() == symbol) found = &each;
    });
    if (found == nullptr) return std::nullopt;
    const feed::book_image& of = books_[found->id.value];
    const domain::price_ticks bid = of.top().bid_price;
    const domain::price_ticks ask = of.top().ask_price;
    const auto has_bid = bid != domain::no_price;
    const auto has_ask = ask != domain::no_price;
    domain::price_ticks middle = has_bid ? bid : ask;
    if (has_bid && has_ask) middle = domain::price_ticks{bid.value + (ask.value - bid.value) / 2};
    if (!has_bid && !has_ask) middle = of.prices().last;
    best_prices best;
    if (has_bid) best.bid = decimal_of(*found, bid);
    if (has_ask) best.ask = decimal_of(*found, ask);
    if (middle != domain::no_price) best.middle = decimal_of(*found, middle);
    best.tick = static_cast<double>(found->tick_size.value) / 1e9;
    return best;
}

std::expected<bool, std::error_code> market_image::take_snapshot(std::span<const std::byte> message) {
    const auto frame = frame_of(message);
    if (!frame) return std::unexpected(frame.error());
    switch (frame->message) {
        case wire::template_id::snapshot_begin: begun_ = true; return false;
        case wire::template_id::instrument_definition: {
            const auto instrument = wire::decode_instrument(*frame);
            if (!instrument) return std::unexpected(instrument.error());
            instruments_.define(*instrument);
            if (instrument->id.value >= books_.size()) books_.resize(instrument->id.value + 1);
            return false;
        }
        case wire::template_id::instrument_leg: {
            if (const std::error_code error = wire::decode_leg(*frame, instruments_)) return std::unexpected(error);
            return false;
        }
        case wire::template_id::snapshot_end: {
            if (!begun_ || wire::check(*frame)) {
                return std::unexpected(make_error_code(session_errc::unexpected_message));
            }
            const wire::snapshot_end_view end(*frame);
            // No message can follow the one with the largest number.
            if (end.last_sequence().value == std::numeric_limits<std::uint64_t>::max()) {
                return std::unexpected(make_error_code(session_errc::unexpected_message));
            }
            next_sequence_ = end.last_sequence().value + 1;
            last_command_ = end.last_command().value;
            return true;
        }
        default: {
            domain::event event;
            if (const std::error_code error = wire::decode_event(*frame, instruments_, event)) {
                return std::unexpected(error);
            }
            if (const std::error_code error = apply(event)) return std::unexpected(error);
            return false;
        }
    }
}

std::expected<domain::event, std::error_code> market_image::take(std::span<const std::byte> message) {
    const auto frame = frame_of(message);
    if (!frame) return std::unexpected(frame.error());
    // The framing determines the number; the header repeats it.
    if (frame->sequence != next_sequence_) return std::unexpected(make_error_code(session_errc::sequence_gap));
    domain::event event;
    if (const std::error_code error = wire::decode_event(*frame, instruments_, event)) return std::unexpected(error);
    if (const std::error_code error = apply(event)) return std::unexpected(error);
    ++next_sequence_;
    if ((event.flags & domain::event_flag::last_of_command) != 0) last_command_ = event.command.value;
    return event;
}

/// The events of a definition come in order, and none between them.
bool market_image::continues_definition(const domain::event& event) const noexcept {
    if (event.instrument.value == 0 || event.instrument.value > domain::instruments_max) return false;
    if (begun_definition_.empty()) return true;
    const domain::event& last = begun_definition_.back();
    return last.instrument == event.instrument && last.kind < event.kind;
}

std::error_code market_image::apply(const domain::event& event) {
    if (domain::is_definition(event.kind)) {
        if (!continues_definition(event)) return make_error_code(session_errc::feed_contradiction);
        begun_definition_.push_back(event);
        if (!definitions_.take(event)) return {};
        begun_definition_.clear();
        if (instruments_.define(definitions_.get()) == nullptr)
            return make_error_code(session_errc::feed_contradiction);
        if (event.instrument.value >= books_.size()) books_.resize(event.instrument.value + 1);
        return {};
    }
    if (instruments_.find(event.instrument) == nullptr) return make_error_code(session_errc::feed_contradiction);
    const auto status = books_[event.instrument.value].apply(event);
    return status == feed::image_status::applied ? std::error_code()
                                                 : make_error_code(session_errc::feed_contradiction);
}

}  // namespace corro::client
