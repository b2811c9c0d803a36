// SPDX-License-Identifier: Apache-2.0
// The channels that clients subscribe to, and what each publishes.
//
// A channel exists while it has subscribers. Its message is written once, for all of them. "book" keeps the levels that
// it has published last: a change is the difference to them, so `prev_change_id` of a message is always `change_id` of
// the one before, whatever happened in between. A new subscriber gets these levels as its snapshot.
//
//     raw:    after each command that changed something
//     100ms:  100 ms after the first change that was not published yet
//     agg2:   the same with one second
//
// "orders" keeps no copy: what waits is published before a new subscriber gets its snapshot, which is the market's
// book.
//
// A subscriber that reads slowly (`waiting_bytes_slow`) misses messages of all channels but trades, and gets a snapshot
// once it has read; one that subscribes while it reads slowly gets its first one then. Trades are never left out; with
// `waiting_bytes_max` waiting, the connection ends.
//
// Threads: one context. Limits: api/limits.hpp.
// Cost:    per message: one text, and a copy into the buffer of each subscriber. To subscribe and to leave costs the
//          same however many others there are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/limits.hpp"
#include "api/market_view.hpp"
#include "api/order_changes.hpp"
#include "io/sync/event.hpp"

namespace corro::api {

enum class channel_kind : std::uint8_t { book, trades, ticker, orders };
enum class channel_interval : std::uint8_t { raw, short_, long_ };

/// A channel's name in parts, such as "book.ESZ6.100ms".
struct channel_name {
    channel_kind kind{};
    std::string_view instrument;
    channel_interval interval{};
};
/// Nothing if the text is no name of a channel. The instrument need not exist.
[[nodiscard]] std::optional<channel_name> parse_channel(std::string_view text) noexcept;

/// A client of channels.
class subscriber {
 public:
    /// Takes a message. It is sent later.
    virtual void take(std::string_view message) = 0;
    /// Bytes of messages that were not sent yet.
    [[nodiscard]] virtual std::size_t waiting_bytes() const noexcept = 0;
    /// Too much is waiting: the connection must end. No channel is changed within the call.
    virtual void end_slow() noexcept = 0;

 protected:
    ~subscriber() = default;
};

class channels final : public market_listener {
 public:
    explicit channels(const market_view& markets) noexcept : markets_(&markets) {}
    channels(const channels&) = delete;
    channels& operator=(const channels&) = delete;
    ~channels() = default;

    /// Whether there is such a channel, with or without subscribers. A book of very many orders has no channel of them.
    [[nodiscard]] bool exists(std::string_view name) const noexcept;
    /// The credits that its snapshot costs beside the request.
    [[nodiscard]] std::uint32_t snapshot_cost(std::string_view name) const noexcept;
    /// Adds a subscriber; a book sends it a snapshot at once. False if the channel does not exist. Again has no effect.
    /// @param who  Must call `leave` before it ends.
    bool subscribe(std::string_view name, subscriber& who);
    /// False if it had not subscribed.
    bool unsubscribe(std::string_view name, subscriber& who);
    /// Ends all subscriptions.
    void leave(const subscriber& who);
    /// Subscriptions of a subscriber.
    [[nodiscard]] std::size_t count_of(const subscriber& who) const noexcept;
    [[nodiscard]] std::size_t count() const noexcept { return channels_.size(); }

    /// Set while channels of the interval have something to publish; not for raw.
    [[nodiscard]] io::auto_event& pending(channel_interval interval) noexcept {
        return waiting_[static_cast<std::size_t>(interval)].event;
    }
    /// Publishes what channels of the interval have to publish. The short interval also serves subscribers of all
    /// channels that have missed something.
    void publish(channel_interval interval);

    [[nodiscard]] std::uint64_t messages_count() const noexcept { return messages_count_; }
    [[nodiscard]] std::uint64_t left_out_count() const noexcept { return left_out_count_; }

    void before_event(const market&) override { is_within_command_ = true; }
    void on_order(const market& where, const order_change& change) override;
    void on_orders_replaced(const market& where) override;
    void on_level(const market& where, domain::side side, std::int64_t rank, std::uint64_t before) override;
    void on_trade(const market& where, const tape_entry& trade) override;
    void on_ticker(const market& where) override;
    void on_indication(const market& where) override { on_ticker(where); }
    void on_command_end() override;

 private:
    struct subscription {
        subscriber* who = nullptr;
        bool lags = false;  ///< has missed a message
    };
    struct channel {
        std::string name;
        channel_kind kind{};
        channel_interval interval{};
        domain::instrument_id instrument;
        std::array<level_map, 2> published;  ///< of a book
        std::array<std::set<std::int64_t>, 2> changed;
        order_changes orders;  ///< that were not published yet
        std::uint64_t change_id = 0;
        std::vector<tape_entry> tape;  ///< trades that were not published yet
        bool is_pending = false;
        bool has_laggards = false;
        std::vector<subscription> subscriptions;
    };
    struct waiting_channels {
        std::vector<channel*> pending;
        io::auto_event event;
    };
    using channels_of_market = std::array<std::array<channel*, 3>, 4>;

    /// The channels of a subscriber, and its position in each.
    using places = std::unordered_map<channel*, std::size_t>;

    [[nodiscard]] bool has(channel& one, const subscriber& who) const noexcept;
    void take_out(channel& from, std::size_t position);
    channel* make(std::string_view text);
    void remove(channel& one);
    void mark(channel& one);
    void publish(channel& one);
    void publish_book(channel& one, const market& of);
    void publish_orders(channel& one, const market& of);
    void publish_tape(channel& one, const market& of);
    [[nodiscard]] std::string ticker_message(const channel& one) const;
    void greet(channel& one, subscription& who);
    void note_laggards(channel& one);
    void send_snapshot(const channel& one, subscriber& who);
    void send_orders(const channel& one, subscriber& who);
    void send_all(channel& one, std::string_view message);
    void catch_up();
    [[nodiscard]] channels_of_market* at(const market& where) noexcept;

    const market_view* markets_;
    std::map<std::string, std::unique_ptr<channel>, std::less<>> channels_;
    std::map<std::uint32_t, channels_of_market> by_market_;  ///< [kind][interval], nullptr for none
    std::unordered_map<const subscriber*, places> of_subscriber_;
    std::array<waiting_channels, 3> waiting_;
    std::vector<channel*> with_laggards_;
    bool is_within_command_ = false;
    std::uint64_t messages_count_ = 0;
    std::uint64_t left_out_count_ = 0;
};

}  // namespace corro::api
