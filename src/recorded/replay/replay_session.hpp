// SPDX-License-Identifier: Apache-2.0
// A replay over TCP: one order entry session and one feed session drive a `replay_run`.
//
// Requests are pipelined as far as the run allows. Answers and feed arrive on separate connections; the run combines
// them.
//
// Threads: one context. Limits: those of the run and of the sessions.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "client/venue_endpoint.hpp"
#include "io/sync/event.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "recorded/replay/replay_run.hpp"

namespace corro::recorded::replay {

/// The addresses of a venue.
struct venue_addresses {
    venue_addresses() noexcept {}

    client::venue_endpoint order_entry;
    client::venue_endpoint feed;
    client::venue_endpoint snapshots;
};

class replay_session {
 public:
    /// A venue that sends nothing for this time while an answer or public event is due counts as unresponsive.
    static constexpr std::chrono::seconds silence_max{10};

    /// Logs on and joins the feed.
    ///
    /// @return  The session.
    /// @throws  replay_error with the failed connection and the reason.
    [[nodiscard]] static io::task<std::unique_ptr<replay_session>> join(venue_addresses venue, client::credentials who);

    replay_session(const replay_session&) = delete;
    replay_session& operator=(const replay_session&) = delete;

    /// The instrument of that name. @throws replay_error when there is none, or when its book is not empty.
    [[nodiscard]] const domain::instrument& instrument(std::string_view name) const;

    /// Passes the number and the recorded time of each sent request to `listener` from now on. Requests without a
    /// record are left out.
    void note_times(std::function<void(std::uint32_t, domain::time_ns)> listener) { noted_ = std::move(listener); }
    [[nodiscard]] domain::session_id session() const noexcept { return orders_->session(); }

    /// Waits until this many sessions beside the replay's own are logged on. @pre The account is an operator's.
    /// @return  Why it cannot be known any more, as a sentence; empty when they are there.
    /// @cancel  Returns "stopped".
    [[nodiscard]] io::task<std::string> wait_for_others(std::uint32_t count);

    /// Drives the run to its end.
    ///
    /// @param run    Of that instrument; must stay valid until the await returns.
    /// @param speed  Multiple of recorded time; 0: as fast as the venue answers.
    /// @return       Why the replay ended early, as a sentence; empty when it is complete.
    /// @throws       The exceptions of the run's flow.
    /// @suspend      Until the run is finished or fails.
    /// @cancel       Ends early; the sessions stay as they are.
    [[nodiscard]] io::task<std::string> drive(replay_run* run, domain::instrument_id instrument, double speed);

    /// Cancels the session's resting orders in the instrument, ends an auction that the replay began there, and logs
    /// out.
    [[nodiscard]] io::task<void> leave(domain::instrument_id instrument);

 private:
    /// The state that the tasks of one `drive` share.
    struct driving {
        driving(replay_run& r, domain::instrument_id i, double s, io::task_scope& all)
            : run(r), instrument(i), speed(s), scope(all) {}

        void end(std::string why) {
            if (failure.empty()) failure = std::move(why);
            scope.request_stop();
        }

        replay_run& run;
        domain::instrument_id instrument;
        double speed;
        io::task_scope& scope;
        io::auto_event moved;  ///< bytes arrived: the run may continue
        std::string failure;
        int queued_count = 0;  ///< requests since the last flush
        domain::time_ns first_time{};
        std::chrono::steady_clock::time_point started;
    };

    replay_session(std::unique_ptr<client::order_session> orders, std::unique_ptr<client::feed_session> feed) noexcept
        : orders_(std::move(orders)), feed_(std::move(feed)) {}

    io::task<std::string> ask_for_others(std::uint32_t count);
    io::task<void> send(driving* d);
    io::task<bool> flush(driving* d);
    io::task<bool> keep_pace(driving* d, domain::time_ns recorded);
    io::task<void> receive(driving* d);
    io::task<void> follow_feed(driving* d);
    io::task<void> detect_timeout(driving* d);
    [[nodiscard]] domain::command command_of(const request& r, domain::instrument_id instrument) const noexcept;

    std::function<void(std::uint32_t, domain::time_ns)> noted_;
    std::unique_ptr<client::order_session> orders_;
    std::unique_ptr<client::feed_session> feed_;
    /// The phase into which the replay put the instrument last.
    domain::trading_phase phase_ = domain::trading_phase::continuous;
};

}  // namespace corro::recorded::replay
