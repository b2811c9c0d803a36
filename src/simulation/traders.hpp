// SPDX-License-Identifier: Apache-2.0
// The traders of a simulated run, each with a session that outlives its connections.
//
// They are checkers at the same time. A trader knows which requests were answered, and how; what contradicts that later
// is a violation.
//
// Threads: one context each.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "client/order_session.hpp"
#include "domain/types.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/task.hpp"
#include "simulation/findings.hpp"
#include "simulation/order_flow.hpp"
#include "wire/generated/corro_binary.hpp"

namespace corro::simulation {

/// The heartbeat that clients ask for. A connection that is silent for three of them is given up.
inline constexpr std::chrono::milliseconds client_heartbeat{500};

/// A trader names its orders with this many numbers, from `first_order_name` on.
inline constexpr std::uint64_t order_names_count = 1'000'000'000;

struct trader_settings {
    io::endpoint venue;
    io::endpoint wrong_gateway;         ///< another gateway's, if there is one
    bool disk_may_fail = false;         ///< then requests and logons may be refused
    bool facility_may_be_away = false;  ///< from the gateway; then requests may be refused
    client::credentials who;
    bool has_one_clock = true;   ///< each partition has its own
    bool may_be_silent = false;  ///< the venue may hear nothing of it for longer than heartbeats allow
    /// Makes what it asks of the venue, given the venue's instruments.
    std::function<std::unique_ptr<order_flow>(std::vector<domain::instrument>)> make_flow;
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
    [[nodiscard]] bool is_settled() const noexcept { return is_on_ && flow_->outstanding_count() == 0; }
    /// While settled: asks the venue for an echo, behind which no answer is missing. Then `has_echo`.
    void ask_for_echo() noexcept { wants_echo_ = true; }
    [[nodiscard]] bool has_echo() const noexcept { return has_echo_; }

    [[nodiscard]] bool is_connected() const noexcept { return is_on_; }
    /// While true, it tries another gateway than its own.
    void set_straying(bool straying) noexcept { is_straying_ = straying; }

    /// nullptr before the first logon.
    [[nodiscard]] const order_flow* flow() const noexcept { return flow_.get(); }
    /// @pre It has been on.
    [[nodiscard]] domain::session_id session() const noexcept { return session_->session(); }
    [[nodiscard]] const trader_settings& settings() const noexcept { return settings_; }
    /// digest_of each answer, in the order of arrival.
    [[nodiscard]] const std::vector<std::uint64_t>& answer_digests() const noexcept { return answer_digests_; }
    [[nodiscard]] std::uint64_t reconnections_count() const noexcept { return reconnections_count_; }

 private:
    io::task<void> try_wrong_gateway();
    io::task<bool> come();
    io::task<bool> come_first();
    io::task<bool> come_again();
    io::task<void> talk();
    io::task<void> exchange_messages();
    [[nodiscard]] bool take_answers(std::chrono::nanoseconds now);
    void take(const client::answer& one, std::chrono::nanoseconds now);
    [[nodiscard]] bool may_be_refused(wire::session_reject_reason why) const noexcept;
    void send_what_is_due(std::chrono::nanoseconds now, domain::time_ns wall);
    void judge(std::error_code refused);
    [[nodiscard]] bool may_end(std::error_code why) const noexcept;
    void learn_instruments();
    [[nodiscard]] bool is_of_a_stranger(const domain::event& event) const noexcept;

    trader_settings settings_;
    findings* found_;
    base::prng random_;
    std::unique_ptr<client::order_session> session_;
    std::unique_ptr<order_flow> flow_;
    std::chrono::nanoseconds next_send_{};
    std::vector<std::uint64_t> answer_digests_;
    std::uint64_t reconnections_count_ = 0;
    std::uint64_t last_sequence_ = 0;  // of the numbered answers
    domain::time_ns last_time_{};
    bool finishing_ = false;
    bool ending_ = false;
    bool is_on_ = false;
    bool is_straying_ = false;
    bool wants_echo_ = false;
    bool asked_for_echo_ = false;
    bool has_echo_ = false;
};

}  // namespace corro::simulation
