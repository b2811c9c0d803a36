// SPDX-License-Identifier: Apache-2.0
// Session days: once a day, at a scheduled time, the request and answer numbers of a session are reset to 1.
//
// A reset never comes in the middle of traffic: the session is logged out, all its requests are answered, and the next
// logon waits until the reset is durable. A client may also want one within its session, which then takes no message
// until all that is done.
//
// Threads: one context. Cost: one look per interval, one command per session and day.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "domain/types.hpp"
#include "gateway/accounts.hpp"
#include "gateway/answer_log.hpp"
#include "gateway/command_queue.hpp"
#include "gateway/gateway_options.hpp"
#include "gateway/gateway_statistics.hpp"
#include "gateway/session/session_table.hpp"
#include "io/loop/context.hpp"
#include "io/task/task.hpp"

namespace corro::gateway {

class daily_reset {
 public:
    /// All outlive this.
    daily_reset(io::context& context, const gateway_options& options, const account_directory& accounts,
                command_queue& commands, const answer_log& answers, session_table& sessions,
                gateway_statistics& statistics);

    /// Ends sessions and resets their numbers at the scheduled times. Without a schedule it ends at once.
    [[nodiscard]] io::task<void> run();

    /// From now on `run` begins no more resets: the journal takes nothing.
    void pause() noexcept { is_paused_ = true; }

    /// Whether the session needs a reset before it is used.
    [[nodiscard]] bool is_due(domain::session_id id) const noexcept;
    /// Whether its reset is under way.
    [[nodiscard]] bool is_under_way(domain::session_id id) const noexcept {
        return positions_[id.value] > commands_.answered_count();
    }

    /// Resets the session when everything in the queue is answered, so that no request of the session follows its
    /// reset. One reset of a session is under way at a time, and none begins when another connection than `by` has the
    /// session: the clock may have gone back meanwhile.
    /// @return  False: stopped. @suspend  Until the reset is answered.
    [[nodiscard]] io::task<bool> begin(domain::session_id id, const session* by);
    /// The same at the wish of a client, whether it is due or not. @param by  nullptr: it has not logged on yet.
    [[nodiscard]] io::task<bool> begin_for_client(domain::session_id id, const session* by);

 private:
    [[nodiscard]] io::task<bool> reset(domain::session_id id, const session* by, bool only_if_due);
    [[nodiscard]] domain::time_ns day_begin() const noexcept;
    [[nodiscard]] io::task<bool> begin_all();
    void end_sessions_of_before() noexcept;

    io::context& context_;
    const gateway_options& options_;
    const account_directory& accounts_;
    command_queue& commands_;
    const answer_log& answers_;
    session_table& sessions_;
    gateway_statistics& statistics_;
    std::vector<std::uint64_t> positions_;  ///< by session id: in the queue, behind the last reset
    bool is_paused_ = false;
};

}  // namespace corro::gateway
