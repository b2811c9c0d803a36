// SPDX-License-Identifier: Apache-2.0
#include "market_data/feed_publisher.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/archive.hpp"
#include "base/assert.hpp"
#include "base/defect.hpp"
#include "wire/binary_codec.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::market_data {

namespace soup = wire::soup_bin_tcp;

feed_publisher::feed_publisher(const feed_options& options, std::span<const domain::instrument> instruments)
    : image_(instruments, options.hash_key),
      log_(options.feed_log_bytes, options.touch),
      keep_up_interval_(std::min(keep_up_bytes, log_.capacity_bytes() / keep_up_divisor)),
      keep_up_at_(keep_up_interval_) {}

void feed_publisher::follow(feed_follower& what) {
    CORRO_ASSERT(!is_closed_, "a closed feed cannot be followed");
    CORRO_ASSERT(std::ranges::find(followers_, &what) == followers_.end(), "a follower can be added only once");
    followers_.push_back(&what);
}

void feed_publisher::begin_at(std::uint64_t next_sequence, std::uint64_t last_command) noexcept {
    log_.begin_at(next_sequence);
    image_.set_last_command(last_command);
}

void feed_publisher::publish(const domain::event& event) noexcept {
    CORRO_ASSERT(domain::is_public(event.kind));
    CORRO_ASSERT(!is_closed_, "nothing may be published after close()");
    image_.apply(event, log_.next_sequence());
    const bool is_lost = CORRO_DEFECT(deletion_not_published) && event.command.value % 64 == 0;
    if (is_lost && event.kind == domain::event_kind::order_deleted) return;
    const std::span<std::byte> room = log_.reserve();
    const std::size_t size = wire::encode(event, image_.instruments().find_or_nameless(event.instrument),
                                          log_.next_sequence(), room.subspan(soup::header_bytes));
    const auto header = soup::header(soup::packet_type::sequenced_data, size);
    std::memcpy(room.data(), header.data(), header.size());
    log_.commit(header.size() + size);
    ++statistics_.messages;
    statistics_.bytes += header.size() + size;
    if (log_.end_position() >= keep_up_at_) [[unlikely]]
        keep_up();
}

void feed_publisher::keep_up() noexcept {
    for (feed_follower* each : followers_) each->keep_up();
    keep_up_at_ = log_.end_position() + keep_up_interval_;
}

void feed_publisher::close() noexcept {
    if (std::exchange(is_closed_, true)) return;
    for (feed_follower* each : followers_) each->close();
}

bool feed_publisher::save(base::byte_sink& sink, std::size_t log_bytes_max) {
    CORRO_ASSERT(image_.begun_definition().empty(), "the events of a definition are saved all or not at all");
    base::archive a(sink);
    std::uint64_t next = log_.next_sequence();
    std::uint64_t first = log_.first_sequence();
    // A log that begins in the middle can be read only from an indexed message on.
    while (first != next && log_.end_position() - log_.position_of(first) > log_bytes_max) {
        first = std::min(next, first + feed_log::index_every - (first - 1) % feed_log::index_every);
    }
    std::uint64_t last_command = image_.last_command();
    a.value(next, first, last_command);
    std::uint64_t position = log_.position_of(first);
    for (std::span<const std::byte> packet = log_.packet_at(position); !packet.empty();
         packet = log_.packet_at(position)) {
        static_cast<void>(a.count(packet.size(), feed_log::message_bytes_max));
        for (std::byte each : packet) a.value(each);
        position += packet.size();
    }
    image_.transfer_books(a);
    return a.finish();
}

bool feed_publisher::load(base::byte_source& source) {
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
    market_image loaded = image_.without_orders();
    loaded.transfer_books(a);
    if (!a.finish()) return false;
    image_ = std::move(loaded);
    begin_at(first, last_command);
    if (CORRO_DEFECT(feed_loses_message_at_snapshot) && !sizes.empty()) sizes.pop_back();
    std::span<const std::byte> left(bytes);
    for (const std::size_t size : sizes) {
        std::memcpy(log_.reserve().data(), left.data(), size);
        log_.commit(size);
        left = left.subspan(size);
    }
    return true;
}

}  // namespace corro::market_data
