// SPDX-License-Identifier: Apache-2.0
#include "market_data/snapshot_source.hpp"

#include "base/assert.hpp"
#include "base/defect.hpp"
#include "market_data/framed_messages.hpp"

namespace corro::market_data {

namespace {

void append_orders(framed_messages& to, domain::event& event, const domain::instrument& i,
                   const feed::book_image& book) {
    event.kind = domain::event_kind::order_added;
    book.for_each_order(
        [&](domain::side side, domain::price_ticks price, domain::order_id order, domain::quantity_lots quantity) {
            event.side = side;
            event.book = {};
            event.book.order = order;
            event.book.price = price;
            event.book.quantity = event.book.change = quantity;
            to.append(event, i);
        });
}

}  // namespace

std::vector<std::byte> make_snapshot(const market_image& image, std::uint64_t next_sequence) {
    CORRO_ASSERT(next_sequence != 0, "messages are numbered from 1");
    std::vector<std::byte> bytes;
    framed_messages to(bytes, wire::soup_bin_tcp::packet_type::sequenced_data);
    const domain::sequence_number last_command{image.last_command()};
    wire::snapshot_begin begin;
    begin.last_sequence = domain::sequence_number{next_sequence - (CORRO_DEFECT(picture_claims_next_message) ? 0 : 1)};
    begin.last_command = last_command;
    begin.instruments_count = static_cast<std::uint32_t>(image.instruments().count());
    to.append(begin);
    image.instruments().for_each([&](const domain::instrument& i) { to.append(i); });
    image.instruments().for_each([&](const domain::instrument& i) {
        const feed::book_image& book = *image.book(i.id);
        domain::event event;
        event.command = last_command;
        event.instrument = i.id;
        append_orders(to, event, i, book);
        to.append_summary(event, i, book);
    });
    for (const domain::event& event : image.begun_definition()) {
        to.append(event, image.instruments().find_or_nameless(event.instrument));
    }
    wire::snapshot_end end;
    end.last_sequence = begin.last_sequence;
    end.last_command = begin.last_command;
    end.instruments_count = begin.instruments_count;
    to.append(end);
    return bytes;
}

snapshot_source::shared_bytes snapshot_source::take(std::chrono::steady_clock::time_point now) {
    CORRO_ASSERT(now >= window_begin_, "time does not go back");
    if (now - window_begin_ >= options_.snapshots_window) {
        window_begin_ = now;
        made_in_window_ = 0;
    }
    const feed_log& log = publisher_.log();
    const std::uint64_t behind = log.end_position() - latest_position_;
    if (latest_ != nullptr && behind == 0) return latest_;
    const bool leads_on = latest_ != nullptr && behind <= log.capacity_bytes() / (2 * join_lag_divisor);
    if (leads_on && made_in_window_ >= options_.snapshots_made_max) return latest_;
    latest_ = nullptr;  // before the next one is allocated
    latest_ = std::make_shared<const std::vector<std::byte>>(make_snapshot(publisher_.image(), log.next_sequence()));
    latest_position_ = log.end_position();
    ++made_in_window_;
    ++made_count_;
    return latest_;
}

}  // namespace corro::market_data
