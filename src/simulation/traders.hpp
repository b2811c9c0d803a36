// The clients of a simulated run: traders, each with a session that outlives its connections, and a subscriber.
//
// They are checkers at the same time. A trader knows which requests were answered, and how; whatever contradicts
// that later is a violation.
//
// Threads: one context each.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <system_error>

#include "base/random.hpp"
#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "client/trader.hpp"
#include "domain/types.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/task.hpp"
#include "simulation/findings.hpp"

namespace corro::simulation {

/// The heartbeat that clients ask for. A connection that is silent for three of them is given up.
inline constexpr std::chrono::milliseconds client_heartbeat{500};
/// How long a logon may take, and how long a client waits before the next attempt.
inline constexpr std::chrono::seconds logon_patience{2};
inline constexpr std::chrono::milliseconds reconnect_pause{50};

/// A trader names its orders with this many numbers, from `first_order_name` on.
inline constexpr std::uint64_t order_names_count = 1'000'000'000;

struct trader_settings {
    io::endpoint venue;
    client::credentials who;
    std::size_t outstanding_max = 0;
    std::chrono::nanoseconds think_time{};  ///< 0: as many requests as may be outstanding, at once
    std::uint64_t seed = 0;
    std::uint64_t first_order_name = 0;
};

/// One trader. `run` is its life; `finish` ends it when everything is answered.
class trader {
 public:
    trader(trader_settings settings, findings* found)
        : settings_(std::move(settings)), found_(found), random_(settings_.seed) {}

    /// Trades and reconnects until `end`.
    [[nodiscard]] io::task<void> run();
    /// Sends no new requests from now on.
    void finish() noexcept { finishing_ = true; }
    /// Ends `run` at its next step.
    void end() noexcept { ending_ = true; }

    /// Whether it is on, and everything that it has sent is answered.
    [[nodiscard]] bool is_settled() const noexcept { return is_on_ && outstanding_count() == 0; }
    /// While settled: asks the venue for an echo, behind which no answer is missing. Then `has_echo`.
    void ask_for_echo() noexcept { wants_echo_ = true; }
    [[nodiscard]] bool has_echo() const noexcept { return has_echo_; }

    [[nodiscard]] bool is_connected() const noexcept { return is_on_; }
    [[nodiscard]] std::uint64_t outstanding_count() const noexcept {
        return trader_ == nullptr ? 0 : trader_->outstanding_count();
    }
    [[nodiscard]] std::size_t open_orders_count() const noexcept {
        return trader_ == nullptr ? 0 : trader_->open_orders_count();
    }
    [[nodiscard]] std::uint64_t requests_count() const noexcept {
        return trader_ == nullptr ? 0 : trader_->statistics().requests;
    }
    [[nodiscard]] std::uint64_t answers_count() const noexcept { return answers_count_; }
    [[nodiscard]] std::uint64_t fills_count() const noexcept {
        return trader_ == nullptr ? 0 : trader_->statistics().fills;
    }
    [[nodiscard]] std::uint64_t reconnections_count() const noexcept { return reconnections_count_; }

 private:
    io::task<bool> come();
    io::task<bool> come_first();
    io::task<bool> come_again();
    io::task<void> talk();
    io::task<void> exchange_messages();
    [[nodiscard]] bool take_answers();
    void take(const client::answer& one);
    void send_what_is_due(std::chrono::nanoseconds now);
    void judge(std::error_code refused);
    [[nodiscard]] bool is_of_a_stranger(const domain::event& event) const noexcept;

    trader_settings settings_;
    findings* found_;
    base::prng random_;
    std::unique_ptr<client::order_session> session_;
    std::unique_ptr<client::trader> trader_;
    std::chrono::nanoseconds next_send_{};
    std::uint64_t answers_count_ = 0;
    std::uint64_t reconnections_count_ = 0;
    std::uint64_t last_sequence_ = 0;  // of the numbered answers
    domain::time_ns last_time_{};
    bool finishing_ = false;
    bool ending_ = false;
    bool is_on_ = false;
    bool wants_echo_ = false;
    bool asked_for_echo_ = false;
    bool has_echo_ = false;
};

/// Follows the feed across the venue's lives, and rebuilds the books.
class subscriber {
 public:
    subscriber(io::endpoint feed, io::endpoint snapshots, findings* found) noexcept
        : feed_endpoint_(feed), snapshot_endpoint_(snapshots), found_(found) {}

    [[nodiscard]] io::task<void> run();
    void end() noexcept { ending_ = true; }

    /// nullptr before the first join.
    [[nodiscard]] const client::feed_session* session() const noexcept { return session_.get(); }
    [[nodiscard]] std::uint64_t messages_count() const noexcept { return messages_count_; }

 private:
    io::task<bool> come();
    io::task<void> follow();

    io::endpoint feed_endpoint_;
    io::endpoint snapshot_endpoint_;
    findings* found_;
    std::unique_ptr<client::feed_session> session_;
    std::uint64_t messages_count_ = 0;
    bool ending_ = false;
};

}  // namespace corro::simulation
