// SPDX-License-Identifier: Apache-2.0
// The channels of one account: user.orders, user.trades, user.changes.
//
//     user.orders.ESZ6.raw       each change of an order in an instrument, at once
//     user.trades.any.any.100ms  the trades in all instruments, every 100 ms
//
// Nothing is left out: a client that does not read is disconnected (waiting_bytes_max).
//
// Threads: one context. Source: docs/spec/api.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/account.hpp"
#include "api/channels.hpp"
#include "api/market_view.hpp"
#include "io/sync/event.hpp"

namespace corro::api {

enum class user_channel_kind : std::uint8_t { orders, trades, changes };

/// A channel's name in parts.
struct user_channel_name {
    user_channel_kind kind{};
    std::string_view instrument;  ///< empty: any
    bool is_raw = true;           ///< otherwise every 100 ms
};
/// Nothing if the text is no name of such a channel. The instrument need not exist.
[[nodiscard]] std::optional<user_channel_name> parse_user_channel(std::string_view text) noexcept;

class account_channels final : public account_listener {
 public:
    /// @param of, markets  Outlive it.
    account_channels(account& of, const market_view& markets) : account_(&of), markets_(&markets) { of.add(*this); }
    account_channels(const account_channels&) = delete;
    account_channels& operator=(const account_channels&) = delete;
    ~account_channels() { account_->remove(*this); }

    [[nodiscard]] const account& of() const noexcept { return *account_; }
    [[nodiscard]] bool exists(std::string_view name) const noexcept;
    /// False if the channel does not exist. Again has no effect. @param who  Must call `leave` before it ends.
    bool subscribe(std::string_view name, subscriber& who);
    /// False if it had not subscribed.
    bool unsubscribe(std::string_view name, const subscriber& who);
    /// Ends all subscriptions.
    void leave(const subscriber& who);
    [[nodiscard]] std::size_t count_of(const subscriber& who) const noexcept;

    /// Set while channels of 100 ms have something to publish.
    [[nodiscard]] io::auto_event& pending() noexcept { return pending_; }
    void publish();

    void on_change(const own_change& change, const domain::instrument& in) override;

 private:
    /// What was not published yet, in an instrument: JSON, separated by commas.
    struct waiting {
        std::string instrument;
        std::string orders;
        std::string trades;
        bool position_has_changed = false;
    };
    struct subscription {
        std::string name;
        user_channel_kind kind{};
        domain::instrument_id instrument;  ///< 0: any
        bool is_raw = true;
        subscriber* who = nullptr;
        std::map<std::uint32_t, waiting> news;
    };

    void publish(subscription& to);

    account* account_;
    const market_view* markets_;
    std::vector<subscription> subscriptions_;
    io::auto_event pending_;
};

}  // namespace corro::api
