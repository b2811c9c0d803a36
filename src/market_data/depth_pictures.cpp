// SPDX-License-Identifier: Apache-2.0
#include "market_data/depth_pictures.hpp"

#include "base/assert.hpp"
#include "market_data/framed_messages.hpp"

namespace corro::market_data {

namespace soup = wire::soup_bin_tcp;

depth_pictures::depth_pictures(const feed_publisher& publisher, std::size_t levels)
    : publisher_(publisher), levels_(levels) {
    CORRO_ASSERT(levels != 0 && levels <= depth_levels_max, "the number of levels must be within its bounds");
}

std::span<const std::byte> depth_pictures::picture_of(const domain::instrument& i) {
    CORRO_ASSERT(publisher_.book(i.id) != nullptr, "the instrument must be known");
    if (i.id.value >= pictures_.size()) pictures_.resize(std::size_t{i.id.value} + 1);
    picture& kept = pictures_[i.id.value];
    if (kept.made_at <= publisher_.image().changed_at(i.id)) {
        draw(kept, i);
        ++made_count_;
    }
    return kept.bytes;
}

void depth_pictures::draw(picture& into, const domain::instrument& i) const {
    into.bytes.clear();
    into.made_at = publisher_.next_sequence();
    framed_messages to(into.bytes, soup::packet_type::unsequenced_data);
    const market_image& image = publisher_.image();
    const feed::book_image& book = *image.book(i.id);
    wire::snapshot_begin begin;
    begin.last_sequence = domain::sequence_number{publisher_.next_sequence() - 1};
    begin.last_command = domain::sequence_number{image.last_command()};
    begin.instruments_count = 1;
    to.append(begin);
    domain::event event;
    event.command = begin.last_command;
    event.instrument = i.id;
    event.kind = domain::event_kind::level_changed;
    for (const domain::side side : {domain::side::buy, domain::side::sell}) {
        event.side = side;
        for (const feed::image_level& level : book.levels(side, levels_)) {
            event.level = {};
            event.level.price = level.price;
            event.level.quantity = level.quantity;
            event.level.orders_count = level.orders_count;
            to.append(event, i);
        }
    }
    to.append_summary(event, i, book);
    wire::snapshot_end end;
    end.last_sequence = begin.last_sequence;
    end.last_command = begin.last_command;
    end.instruments_count = 1;
    to.append(end);
}

void depth_pictures::append_definitions(std::vector<std::byte>& to) const {
    framed_messages messages(to, soup::packet_type::unsequenced_data);
    publisher_.image().instruments().for_each([&](const domain::instrument& i) { messages.append(i); });
}

std::uint64_t depth_reader::append_round(std::vector<std::byte>& to) {
    const market_image& image = pictures_.publisher().image();
    if (defined_count_ != image.instruments().count()) {
        pictures_.append_definitions(to);
        defined_count_ = image.instruments().count();
    }
    std::uint64_t count = 0;
    image.instruments().for_each([&](const domain::instrument& i) {
        if (sent_at_ != 0 && image.changed_at(i.id) < sent_at_) return;
        const std::span<const std::byte> picture = pictures_.picture_of(i);
        to.insert(to.end(), picture.begin(), picture.end());
        ++count;
    });
    sent_at_ = pictures_.publisher().next_sequence();
    return count;
}

}  // namespace corro::market_data
