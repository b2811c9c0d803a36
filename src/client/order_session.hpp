// SPDX-License-Identifier: Apache-2.0
// A client's order entry session: log on, send requests, receive typed answers, log out, reconnect.
//
// Sending only queues; `flush` writes everything queued at once. Receiving is `poll` until it returns nothing, then
// `fill`. The venue's heartbeats and tests are answered by the way; run `keep_alive` in parallel, so that heartbeats
// are sent while no request is.
//
// A session outlives its connections. When one breaks, `reconnect` opens the next: the venue resends missed answers,
// and reports which requests it has not accepted; `resend_not_accepted` sends those again. A request sent twice counts
// once.
//
// A venue may reset a session's numbers every day. It answers all requests and logs the session out for that
// (session_day_ended). After the next `reconnect` requests and answers count from 1, and `began_again()` is true.
//
// A session stands on any stream: `log_on` connects to a venue_endpoint (TCP, TLS, a Unix socket, a WebSocket), or
// takes a stream that is connected already. Each reconnection may use another transport.
//
// Threads: one context. Limits: the output buffer's size; requests that do not fit are refused, not lost.
// Cost: no allocation per message.
// Source: docs/spec/corro_binary.md.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "client/sent_requests.hpp"
#include "client/venue_connection.hpp"
#include "client/venue_endpoint.hpp"
#include "domain/command.hpp"
#include "domain/event.hpp"
#include "io/net/transport_stream.hpp"
#include "io/task/task.hpp"
#include "wire/authentication.hpp"
#include "wire/binary_codec.hpp"

namespace corro::client {

/// The time limit of a logon. A venue may take 5 seconds to end another connection of the session, and as long again to
/// reset its numbers.
inline constexpr std::chrono::milliseconds logon_timeout{15'000};

/// Who logs on, and how.
struct credentials {
    credentials() noexcept {}

    domain::account_id account{};                                     ///< as configured
    std::uint32_t session_number = 1;                                 ///< the number of the session among the account's
    wire::api_key key{};                                              ///< the account's secret
    std::chrono::milliseconds heartbeat{5'000};                       ///< between heartbeats, both ways
    std::chrono::milliseconds logon_timeout = client::logon_timeout;  ///< for the connection and the logon together; 0
                                                                      ///< for no limit. A venue that dies or hangs may
                                                                      ///< leave a connection on which nothing comes
    bool cancel_on_disconnect = true;  ///< whether the venue cancels open orders when the connection is lost
    bool take_over = false;  ///< whether to end another connection of the session; otherwise the logon is refused
    std::uint64_t next_answer = 0;  ///< the first answer to resend, for a client that has stored its
                                    ///< `next_answer`; 0 for new answers only
    std::uint8_t session_day = 0;   ///< the `session_day` that belongs to this `next_answer`; 0 when
                                    ///< unknown
};

/// The venue's reply to an operator's request.
using admin_command = std::variant<wire::venue_status, wire::snapshot_answer>;

/// A message of the venue: an event about an order, the reject of a message, a notice of lost answers, or a reply to an
/// operator.
struct answer {
    std::optional<wire::reject> reject;         ///< set: the message itself was rejected; `event` is unused
    std::optional<wire::resend_gap> gap;        ///< set: the venue no longer has answers that this client missed
    std::shared_ptr<const admin_command> told;  ///< set: the answer to `ask_status` or `ask_snapshot`
    domain::event event;                        ///< what happened to an order
    std::uint64_t sequence = 0;                 ///< of the venue's numbered messages; 0 for the others
};

class order_session {
 public:
    static constexpr std::size_t output_bytes = 256 * 1024;  ///< that may wait to be sent
    static constexpr std::size_t input_bytes = 64 * 1024;    ///< received and not read yet

    /// Connects, proves the key and waits for the venue's hello_ack with its instruments.
    ///
    /// @error   As venue_endpoint::connect; logged_out(reason) when the venue refuses; wire errors;
    ///          session_errc::logon_timed_out after `credentials::logon_timeout`, and the connection is closed.
    /// @suspend Until the logon is complete. @cancel Ends with operation_canceled.
    [[nodiscard]] static io::task<std::expected<std::unique_ptr<order_session>, std::error_code>> log_on(
        venue_endpoint venue, credentials who);
    /// The same over a connected stream.
    [[nodiscard]] static io::task<std::expected<std::unique_ptr<order_session>, std::error_code>> log_on(
        io::transport_stream connected, credentials who);

    order_session(const order_session&) = delete;
    order_session& operator=(const order_session&) = delete;

    /// Connects again and continues where the broken connection ended: answers from `next_answer()` on follow.
    /// `not_accepted_count()` is then the number of requests that the venue has not accepted.
    ///
    /// @error   As `log_on`; it may be retried. already_logged_on until the venue has noticed the end of the
    ///          old connection; sequence_unknown when it is another venue than before.
    /// @overlap No other operation may run on the session, including keep_alive.
    /// @suspend Until the logon is complete. @cancel Ends with operation_canceled.
    [[nodiscard]] io::task<std::error_code> reconnect(venue_endpoint venue);
    /// The same over a connected stream.
    [[nodiscard]] io::task<std::error_code> reconnect(io::transport_stream connected);

    /// Whether the session's numbers were reset since the connection before this one, or since
    /// `credentials::session_day`. Missed answers of an earlier day are not resent, and its requests neither count as
    /// not accepted nor are sent again: a query of all orders returns the open orders. `target_request` cannot name an
    /// order of an earlier day.
    [[nodiscard]] bool began_again() const noexcept { return began_again_; }
    /// The number of the session's numbering, for a client that stores `next_answer`.
    [[nodiscard]] std::uint8_t session_day() const noexcept { return who_.session_day; }

    /// After `reconnect`: sent requests that the venue has not accepted, and that are not queued again yet.
    [[nodiscard]] std::uint32_t not_accepted_count() const noexcept {
        return static_cast<std::uint32_t>(sent_end_ - next_request_);
    }

    /// Sends them again, under their old numbers; a cancel of no order in place of each that a reject has refused.
    /// Queues as many as fit the output buffer; each `flush` queues more, and `send` returns 0 until all are queued.
    /// False when some are too old to be kept; none is sent again then. Calling `send` first drops them instead.
    [[nodiscard]] bool resend_not_accepted() noexcept;

    /// Queues a request. Its kind, instrument, side and so on are taken from `command`; session and account are the
    /// session's own.
    ///
    /// @return  The request's number, echoed in the answers; 0 when the output buffer is full or earlier requests are
    ///          still to be sent again (flush first), when the session's numbers are used up, or when the command has a
    ///          price or a quantity in an instrument that is not one of `instruments()`: only its definition converts
    ///          them, and the venue decides when it comes.
    [[nodiscard]] std::uint32_t send(const domain::command& command) noexcept;

    /// Queues 1 to wire::mass_quote_max quotes (commands of kind enter_quote) as one mass quote; otherwise as `send`.
    /// Each is answered by a quote_entered or an order_rejected with the number that this returns. 0 also when one of
    /// the instruments is not known.
    [[nodiscard]] std::uint32_t send_mass_quote(std::span<const domain::command> quotes) noexcept;

    /// Queues raw bytes unchanged; for tests of the venue. False when the output buffer is full.
    [[nodiscard]] bool send_raw(std::span<const std::byte> bytes) noexcept;

    /// Queues a heartbeat. False when the output buffer is full: what waits there serves as one.
    bool queue_heartbeat() noexcept;

    /// Queues a heartbeat that the venue answers with an echo; `test_id` is not 0.
    [[nodiscard]] bool send_test(std::uint64_t test_id) noexcept;

    /// Requests the venue's status, for operators, and the phase of an instrument unless it is 0. The replies, one for
    /// each partition, repeat `question`. The request is not numbered, and is lost with the connection. False when the
    /// output buffer is full.
    [[nodiscard]] bool ask_status(std::uint64_t question, domain::instrument_id instrument = {}) noexcept;

    /// Requests a snapshot beside the venue's journal, for operators; otherwise as `ask_status`.
    [[nodiscard]] bool ask_snapshot(std::uint64_t question) noexcept;

    /// Writes everything that is queued. One at a time (asserted by the stream). While requests are sent again, repeat
    /// it until there is no output, and take answers in between; `next` does so.
    /// @return The connection's error, if any.
    [[nodiscard]] io::task<std::error_code> flush() {
        if (is_resending_) queue_not_accepted();
        return connection_.flush();
    }

    /// The next answer in the bytes received so far; nothing when there is none.
    /// @error wire errors, session_errc, or logged_out(reason); the session is over.
    [[nodiscard]] std::expected<std::optional<answer>, std::error_code> poll();

    /// Reads some more bytes. @error end_of_stream, operation_canceled, connection errors.
    [[nodiscard]] io::task<std::error_code> fill() { return connection_.fill(); }

    /// `poll`, and `fill` when needed: the next answer.
    [[nodiscard]] io::task<std::expected<answer, std::error_code>> next();

    /// Sends a heartbeat whenever nothing else was sent for an interval. Ends when stopped or when the connection
    /// fails.
    [[nodiscard]] io::task<void> keep_alive();

    /// Logs out and waits for the venue's acknowledgement, dropping answers that come in between.
    [[nodiscard]] io::task<std::error_code> log_out();

    /// Closes the connection at once, without a logout.
    void abandon() noexcept { connection_.close(); }

    /// The venue's instruments, including those defined since the logon: the table grows in `poll`, which invalidates
    /// the results of `find`.
    [[nodiscard]] const wire::instrument_table& instruments() const noexcept { return instruments_; }
    /// Uses these definitions for messages until the next `reconnect` or definition: one table for many sessions of a
    /// program stays in the cache. Ignored when their number differs from that of `instruments()`, because the venue
    /// has defined more since. @pre Those that both have are equal.
    void share_instruments(std::shared_ptr<const wire::instrument_table> same) noexcept {
        CORRO_ASSERT(same != nullptr);
        if (same->count() == instruments_.count()) shared_instruments_ = std::move(same);
    }
    [[nodiscard]] domain::session_id session() const noexcept { return session_; }
    [[nodiscard]] domain::account_id account() const noexcept { return who_.account; }
    /// Requests per second that the venue allows, from the logon; 0 for no limit.
    [[nodiscard]] std::uint32_t requests_per_second_max() const noexcept { return requests_per_second_max_; }
    /// Open orders that the venue allows each account, from the logon; 0 for no limit. An operator may have set another
    /// limit for this account, and each partition of the venue counts by itself.
    [[nodiscard]] std::uint32_t orders_max() const noexcept { return orders_max_; }
    /// Whether something is queued, or requests are still to be sent again.
    [[nodiscard]] bool has_output() noexcept { return is_resending_ || !connection_.output().empty(); }
    /// The number of the next request.
    [[nodiscard]] std::uint64_t next_request() const noexcept { return next_request_; }
    /// Whether the numbers of requests are used up: the session can then only receive and log out.
    [[nodiscard]] bool numbers_have_ended() const noexcept { return next_request_ > request_number_max; }
    /// The number of the first answer not received yet.
    [[nodiscard]] std::uint64_t next_answer() const noexcept { return next_answer_; }
    /// The test_id of the last echo received, 0 for none.
    [[nodiscard]] std::uint64_t last_echo() const noexcept { return last_echo_; }

 private:
    order_session(io::transport_stream connected, const credentials& who)
        : connection_(std::move(connected), input_bytes, output_bytes), who_(who) {}

    [[nodiscard]] const wire::instrument_table& definitions() const noexcept {
        return shared_instruments_ != nullptr ? *shared_instruments_ : instruments_;
    }
    io::task<std::expected<wire::frame, std::error_code>> next_frame();
    static io::task<std::expected<std::unique_ptr<order_session>, std::error_code>> log_on_patiently(
        venue_endpoint venue, credentials who);
    static io::task<std::expected<std::unique_ptr<order_session>, std::error_code>> log_on_patiently(
        io::transport_stream connected, credentials who);
    io::task<std::error_code> reconnect_patiently(venue_endpoint venue);
    io::task<std::error_code> reconnect_patiently(io::transport_stream connected);
    io::task<std::error_code> end_in_time(io::task<std::error_code> reconnecting);
    io::task<std::error_code> complete_logon();
    [[nodiscard]] bool may_send() noexcept;
    void queue_not_accepted() noexcept;
    void keep(std::span<const std::byte> request) noexcept;
    void give_up(const wire::reject& refusal) noexcept;
    template <class Message>
    [[nodiscard]] bool queue(const Message& message) noexcept;

    venue_connection connection_;
    credentials who_;
    wire::instrument_table instruments_;
    std::shared_ptr<const wire::instrument_table> shared_instruments_;
    domain::session_id session_{};
    sent_requests sent_;
    static constexpr std::uint64_t request_number_max = UINT32_MAX;

    std::uint64_t next_request_ = 1;
    std::uint64_t sent_end_ =
        1;  ///< one more than the last request sent; above next_request_ while some are not accepted
    std::uint64_t next_answer_ = 1;
    std::uint64_t last_echo_ = 0;
    std::uint32_t requests_per_second_max_ = 0;
    std::uint32_t orders_max_ = 0;
    bool acknowledged_ = false;
    bool is_resending_ = false;
    bool began_again_ = false;
};

}  // namespace corro::client
