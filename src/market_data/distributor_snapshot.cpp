// The distributor's messages about a moment: all books for subscribers that join late, and the best levels for
// subscribers of conflated depth.

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/archive.hpp"
#include "io/loop/timer.hpp"
#include "market_data/distributor.hpp"
#include "market_data/subscriber.hpp"
#include "wire/binary_codec.hpp"

namespace corro::market_data {
namespace {

/// Messages, each in a packet of its own.
class packets {
 public:
    packets(std::vector<std::byte>& into, soup::packet_type type) : into_(into), type_(type) {}

    template <class Message>
    void append(const Message& message) {
        put(wire::encode(message, 0, std::span<std::byte>(buffer_)));
    }
    /// Appends a definition and its legs.
    void append(const domain::instrument& i) {
        put(wire::encode(i, 0, std::span<std::byte>(buffer_)));
        for (std::size_t leg = 0; leg < i.legs_count; ++leg) put(wire::encode_leg(i, leg, 0, buffer_));
    }
    void append(const domain::event& event, const domain::instrument& i) { put(wire::encode(event, i, 0, buffer_)); }

 private:
    void put(std::size_t size) {
        CORRO_ASSERT(size != 0 && size <= buffer_.size());
        const auto header = soup::header(type_, size);
        into_.insert(into_.end(), header.begin(), header.end());
        into_.insert(into_.end(), buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(size));
    }

    std::vector<std::byte>& into_;
    soup::packet_type type_;
    std::array<std::byte, feed_log::message_bytes_max> buffer_;
};

/// Appends an instrument's best levels, prices and volumes.
void append_summary(packets& to, domain::event& event, const domain::instrument& i, const book_image& book) {
    event.side = domain::side::buy;
    event.kind = domain::event_kind::top_of_book;
    event.top = book.top();
    to.append(event, i);
    if (book.implied().bid_quantity.value + book.implied().ask_quantity.value != 0) {
        event.kind = domain::event_kind::implied_top;
        event.top = book.implied();
        to.append(event, i);
    }
    event.kind = domain::event_kind::price_update;
    event.prices = book.prices();
    to.append(event, i);
    event.kind = domain::event_kind::statistics;
    event.volumes = book.volumes();
    to.append(event, i);
}

}  // namespace

// A snapshot for a new subscriber: of this moment, or the last one when this window's limit is reached. The feed still
// has all messages since the last one.
distributor::shared_bytes distributor::snapshot() {
    const io::steady_time now = context_.now();
    if (now - snapshots_window_begin_ >= options_.snapshots_window) {
        snapshots_window_begin_ = now;
        snapshots_made_ = 0;
    }
    const std::uint64_t behind = log_.end_position() - latest_position_;
    if (latest_ != nullptr && behind == 0) return latest_;
    const bool leads_on = latest_ != nullptr && behind <= log_.capacity_bytes() / (2 * join_lag_divisor);
    if (leads_on && snapshots_made_ >= options_.snapshots_made_max) return latest_;
    latest_ = nullptr;  // before the next one is allocated
    latest_ = std::make_shared<const std::vector<std::byte>>(make_snapshot());
    latest_position_ = log_.end_position();
    ++snapshots_made_;
    ++statistics_.snapshots_made;
    return latest_;
}

// All books as messages, each in a sequenced packet: definitions first, then per instrument its orders in priority
// order, its best levels, its prices and volumes.
std::vector<std::byte> distributor::make_snapshot() const {
    std::vector<std::byte> bytes;
    packets to(bytes, soup::packet_type::sequenced_data);
    wire::snapshot_begin begin;
    begin.last_sequence = domain::sequence_number{log_.next_sequence() - 1};
    begin.last_command = domain::sequence_number{last_command_};
    begin.instruments_count = static_cast<std::uint32_t>(instruments_.count());
    to.append(begin);
    instruments_.for_each([&](const domain::instrument& i) { to.append(i); });
    instruments_.for_each([&](const domain::instrument& i) {
        const book_image& book = books_[i.id.value];
        domain::event event;
        event.command = domain::sequence_number{last_command_};
        event.instrument = i.id;
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
        append_summary(to, event, i, book);
    });
    for (const domain::event& event : begun_) to.append(event, instruments_.find_or_nameless(event.instrument));
    wire::snapshot_end end;
    end.last_sequence = begin.last_sequence;
    end.last_command = begin.last_command;
    end.instruments_count = begin.instruments_count;
    to.append(end);
    return bytes;
}

bool distributor::save(base::byte_sink& sink, std::size_t log_bytes_max) {
    base::archive a(sink);
    std::uint64_t next = log_.next_sequence();
    std::uint64_t first = log_.first_sequence();
    // A log that begins in the middle can be read only from an indexed message on.
    while (first != next && log_.end_position() - log_.position_of(first) > log_bytes_max) {
        first = std::min(next, first + feed_log::index_every - (first - 1) % feed_log::index_every);
    }
    a.value(next, first, last_command_);
    std::uint64_t position = log_.position_of(first);
    for (std::span<const std::byte> packet = log_.packet_at(position); !packet.empty();
         packet = log_.packet_at(position)) {
        static_cast<void>(a.count(packet.size(), feed_log::message_bytes_max));
        for (std::byte each : packet) a.value(each);
        position += packet.size();
    }
    instruments_.for_each([&](const domain::instrument& i) { books_[i.id.value].transfer(a); });
    return a.finish();
}

bool distributor::load(base::byte_source& source) {
    base::archive a(source);
    std::uint64_t next = 0;
    std::uint64_t first = 0;
    std::uint64_t last_command = 0;
    a.value(next, first, last_command);
    a.require(first != 0 && first <= next);
    std::vector<std::byte> bytes;
    std::vector<std::size_t> sizes;
    for (std::uint64_t at = first; at < next && !a.failed(); ++at) {
        sizes.push_back(a.count(0, feed_log::message_bytes_max));
        a.require(sizes.back() >= soup::header_bytes);
        for (std::size_t i = 0; i < sizes.back(); ++i) a.value(bytes.emplace_back());
    }
    std::vector<book_image> books(books_.size(), book_image(options_.hash_key));
    instruments_.for_each([&](const domain::instrument& i) { books[i.id.value].transfer(a); });
    if (!a.finish()) return false;
    begin_at(first, last_command);
    std::span<const std::byte> left(bytes);
    for (const std::size_t size : sizes) {
        std::memcpy(log_.reserve().data(), left.data(), size);
        log_.commit(size);
        left = left.subspan(size);
    }
    books_ = std::move(books);
    return true;
}

std::vector<std::byte> distributor::definitions() const {
    std::vector<std::byte> bytes;
    packets to(bytes, soup::packet_type::unsequenced_data);
    instruments_.for_each([&](const domain::instrument& i) { to.append(i); });
    return bytes;
}

// Made once for all subscribers, and again only after a change.
const distributor::depth_picture& distributor::depth_snapshot_of(const domain::instrument& i) {
    depth_picture& picture = pictures_[i.id.value];
    if (picture.made_at > picture.changed_at) return picture;
    picture.bytes.clear();
    picture.made_at = log_.next_sequence();
    packets to(picture.bytes, soup::packet_type::unsequenced_data);
    const book_image& book = books_[i.id.value];
    wire::snapshot_begin begin;
    begin.last_sequence = domain::sequence_number{log_.next_sequence() - 1};
    begin.last_command = domain::sequence_number{last_command_};
    begin.instruments_count = 1;
    to.append(begin);
    domain::event event;
    event.command = domain::sequence_number{last_command_};
    event.instrument = i.id;
    event.kind = domain::event_kind::level_changed;
    for (const domain::side side : {domain::side::buy, domain::side::sell}) {
        event.side = side;
        for (const image_level& level : book.levels(side, options_.depth_levels)) {
            event.level = {};
            event.level.price = level.price;
            event.level.quantity = level.quantity;
            event.level.orders_count = level.orders_count;
            to.append(event, i);
        }
    }
    append_summary(to, event, i, book);
    wire::snapshot_end end;
    end.last_sequence = begin.last_sequence;
    end.last_command = begin.last_command;
    end.instruments_count = 1;
    to.append(end);
    return picture;
}

// Sends definitions, all again when there is a new one; then the changed pictures, in rounds. A slow subscriber waits
// in its own write; it does not get pictures missed during that time, but the next one.
io::task<void> distributor::send_depth(subscriber* s) {
    std::vector<std::byte> bytes;
    std::size_t defined_count = 0;
    std::uint64_t sent_at = 0;  // all changes before this message have been sent
    while (!s->ended) {
        const std::uint64_t now = log_.next_sequence();
        if (defined_count != instruments_.count()) {
            bytes = definitions();
            defined_count = instruments_.count();
        }
        instruments_.for_each([&](const domain::instrument& i) {
            const bool is_first = sent_at == 0;
            if (!is_first && pictures_[i.id.value].changed_at < sent_at) return;
            const depth_picture& picture = depth_snapshot_of(i);
            bytes.insert(bytes.end(), picture.bytes.begin(), picture.bytes.end());
            ++statistics_.depths_sent;
        });
        sent_at = now;
        if (!bytes.empty()) {
            s->sent = true;
            const io::io_result written = co_await s->stream.write_all(bytes);
            bytes.clear();
            if (written.error) {
                if (written.error != io::condition::canceled) s->cut = true;
                end(*s);
                co_return;
            }
        } else if (s->heartbeat_due) {
            const bool said = co_await send_heartbeat(s);
            if (!said) co_return;
        }
        const std::error_code stopped = co_await io::sleep_for(options_.conflation_interval);
        if (stopped) co_return;
    }
}

}  // namespace corro::market_data
