// Order entry: sessions of the Corro Binary protocol over TCP, TLS, Unix sockets, WebSockets, or any stream of bytes.
//
// A session is one coroutine that reads like its specification: connect, log on, be active, leave. While it is active
// three children run in its scope: one reads requests, one writes what waits in the output buffer, one keeps the
// heartbeats. Whoever ends first ends the others.
//
// The sources are divided as the work is: order_entry_transport.cpp (networking and transport: connections come in and
// are greeted), order_entry_logon.cpp, order_entry_session.cpp and order_entry_bytes.cpp (session: its beginning, its
// course, its bytes), order_entry_pipeline.cpp (from bytes to commands), order_entry_gateway.cpp (from events to
// bytes), order_entry_day.cpp (the daily reset of numbers), order_entry_operator.cpp (what is asked about the venue
// itself). Only the first knows what a session travels over.
//
// The gateway never calls the engine: requests go into a command_queue, answers come back through `deliver`.
//
// Threads: one context. Limits: gateway/limits.hpp.
// Cost: no allocation per message; one read and one write system call per batch of messages of one session. What is
//       layered over a socket adds its own.
// Source: docs/spec/corro_binary.md (session rules), docs/spec/derived_messages.md (what is answered).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "gateway/accounts.hpp"
#include "gateway/admin_service.hpp"
#include "gateway/answer_log.hpp"
#include "gateway/command_queue.hpp"
#include "gateway/handshake_budget.hpp"
#include "gateway/limits.hpp"
#include "gateway/listener.hpp"
#include "gateway/session/end_reason.hpp"
#include "gateway/wrong_proofs.hpp"
#include "io/loop/context.hpp"
#include "io/loop/tick_clock.hpp"
#include "io/net/admission.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/stream.hpp"
#include "io/net/tcp.hpp"
#include "io/sync/event.hpp"
#include "io/sync/mutex.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "telemetry/event_log.hpp"
#include "wire/binary_codec.hpp"

namespace corro::http {
class exchange;
class server;
}  // namespace corro::http

namespace corro::gateway {

struct gateway_options {
    gateway_options() noexcept {}

    std::chrono::milliseconds logon_timeout = gateway::logon_timeout;
    std::size_t output_buffer_bytes = gateway::output_buffer_bytes;
    std::chrono::milliseconds wrong_proof_wait_max = gateway::wrong_proof_wait_max;
    std::uint32_t connections_max = gateway::connections_max;
    std::uint32_t strangers_max = gateway::strangers_max;
    std::uint32_t strangers_per_address_max = gateway::strangers_per_address_max;
    std::uint32_t strangers_reserved =
        gateway::strangers_reserved;  ///< for addresses that have proven a key, at most a quarter
    std::uint32_t farewells_max = gateway::farewells_max;
    std::uint32_t handshakes_max = gateway::handshakes_max;
    std::uint32_t handshakes_per_address_max = gateway::handshakes_per_address_max;
    handshake_budget_options handshakes;
    std::uint32_t answers_per_turn_max = gateway::answers_per_turn_max;
    std::uint32_t logons_max = gateway::logons_max;
    std::chrono::milliseconds logons_window = gateway::logons_window;
    std::chrono::milliseconds crowd_look_interval = gateway::crowd_look_interval;
    std::optional<std::chrono::seconds> session_day_begins;  ///< after midnight UTC; empty: no reset
    std::chrono::milliseconds day_look_interval = gateway::day_look_interval;
    std::uint32_t timing_sample_every = 0;      ///< stamp one request of so many; 0: none
    telemetry::producer* log = nullptr;         ///< of the gateway's thread; outlives the gateway; nullptr: no log
    admin_service* desk = nullptr;              ///< outlives the gateway; nullptr: nobody knows how the venue is
    std::uint32_t requests_per_second_max = 0;  ///< as the throttle allows; only told to the clients
};

/// Counts since the gateway was made.
struct gateway_statistics {
    std::uint64_t connections_accepted = 0;
    std::uint64_t connections_refused = 0;   ///< closed at once: too many sessions
    std::uint64_t strangers_turned_out = 0;  ///< closed before they had logged on, to make room for newer ones
    std::uint64_t logons = 0;
    std::uint64_t logons_refused = 0;
    std::uint64_t refusals_held_back = 0;                 ///< of these: for a while, because of wrong proofs before
    std::uint64_t logons_throttled = 0;                   ///< of these: the session had logged on too often
    std::array<std::uint64_t, 32> logons_refused_by{};    ///< by end_reason, of those that said hello
    std::array<std::uint64_t, 256> session_rejects_by{};  ///< by the protocol's own reason
    std::array<std::uint64_t, 256> refusals_by{};         ///< of the facility, by domain::reject_reason
    std::uint64_t requests = 0;                           ///< passed on to the facility
    std::uint64_t answers = 0;                            ///< private messages put into a session's buffer
    std::uint64_t answers_undelivered = 0;                ///< private messages whose session was not connected
    std::uint64_t answers_resent = 0;                     ///< private messages sent out of the answer log
    std::uint64_t gaps_announced = 0;                     ///< logons that asked for answers that were no longer kept
    std::uint64_t session_rejects = 0;
    std::uint64_t turned_away = 0;      ///< requests that the facility could not take
    std::uint64_t protocol_errors = 0;  ///< connections closed because their bytes were not the protocol
    std::uint64_t idle_cut = 0;
    std::uint64_t taken_over = 0;  ///< connections whose session another one has taken over
    std::uint64_t slow_cut = 0;
    std::uint64_t throttled_cut = 0;  ///< sessions ended because they sent far more than they may
    std::uint64_t cancels_on_disconnect = 0;
    std::uint64_t cancels_after_start = 0;  ///< for sessions that a restart disconnected and that did not come back
    std::uint64_t days_ended = 0;           ///< sessions that were logged out for a reset
    std::uint64_t numbers_reset = 0;        ///< resets of a session's numbers
    std::uint64_t crowds_left = 0;          ///< after which idle memory was given back
    std::uint32_t sessions_now = 0;
    std::uint32_t connections_now = 0;
};

/// Has the log give copies to the accounts that ask for them: before the first answer, wherever a log of these accounts
/// is kept.
void set_copies(const account_directory& accounts, answer_log& answers);

class order_entry_gateway {
 public:
    /// `accounts`, `commands`, `answers` and `clock` outlive the gateway. `answers` has the sessions of `accounts`;
    /// what it holds already, from before a restart, is there for the clients that come back.
    order_entry_gateway(io::context& context, const gateway_options& options,
                        std::span<const domain::instrument> instruments, const account_directory& accounts,
                        command_queue& commands, answer_log& answers, const io::tick_clock& clock);
    ~order_entry_gateway();
    order_entry_gateway(const order_entry_gateway&) = delete;
    order_entry_gateway& operator=(const order_entry_gateway&) = delete;

    /// Accepts and serves connections of every listener until `close`; then says goodbye to every session and ends when
    /// all have left. Once (asserted).
    [[nodiscard]] io::task<void> serve(std::vector<listener> listeners);
    /// The same for one TCP port.
    [[nodiscard]] io::task<void> serve(io::tcp_acceptor acceptor);

    /// Serves one connection that is there already, whatever it travels over, until it has ended.
    [[nodiscard]] io::task<void> serve_stream(io::any_stream stream);

    /// Ends the sessions that were opened with a key that their account has no longer: after the directory has changed.
    void end_withdrawn() noexcept;

    /// From now on every logon is refused, for this reason.
    void refuse_logons(end_reason why) noexcept { no_logons_ = why; }

    /// Begins to leave: no new connections, a logout to every session.
    void close() noexcept;

    /// For set-up, after a recovery: sessions, by id with their accounts, whose orders were to be cancelled when they
    /// were not connected; account 0 for the others. Those that have not logged on again when `serve` has run for
    /// `grace` are cancelled for; without a grace somebody else does that.
    void set_absent_sessions(std::span<const domain::account_id> sessions,
                             std::optional<std::chrono::milliseconds> grace);

    /// Keeps a private event under its session's next answer number, and puts it into the output buffer if the session
    /// is connected. The session is cut off when its buffer is full; nobody else waits for it. Public events are not
    /// for here (asserted).
    void deliver(const domain::event& event) noexcept;

    /// One of the public events that define an instrument. With the last of them the instrument is known here, and
    /// every session that is logged on is sent its definition. One like an instrument that is not known here is passed
    /// over: in a recovery, at whose end all are defined.
    void define(const domain::event& event) noexcept;
    /// The same for a definition that is whole. It is sound: domain::validate says nothing.
    void define(const domain::instrument& instrument) noexcept;

    /// The venue could not take this command: tells the session, if it is connected and the command was its request,
    /// that it had no effect. Nothing of this is numbered, and nothing is kept.
    void reject_overloaded(const domain::command& command) noexcept;

    /// The desk's answer, for the operator who asked if he is still there. Nothing of this is numbered, and nothing is
    /// kept. @pre The session is one of the accounts' (asserted).
    void deliver_admin_reply(const admin_reply& answer);

    /// Starts sending what `deliver` has buffered: once per batch of commands.
    void flush() noexcept;

    [[nodiscard]] const gateway_statistics& statistics() const noexcept { return statistics_; }
    /// Steps of handshakes that were computed.
    [[nodiscard]] std::uint64_t handshake_steps_count() const noexcept { return handshakes_.steps_count(); }
    /// Buffers for sessions that are kept for the next ones.
    [[nodiscard]] std::size_t spare_buffers_count() const noexcept { return spare_buffers_.size(); }

 private:
    struct connection;
    struct session_state;
    struct unauthenticated_connection;
    using admitted = std::unique_ptr<unauthenticated_connection>;

    io::task<void> return_idle_memory();
    io::task<void> accept_all(listener* from, io::task_scope* conversations);
    io::task<void> receive(accepted_stream accepted, const listener* from, admitted who);
    io::task<void> greet(io::tcp_stream accepted, const listener* from, unauthenticated_connection* who);
    io::task<void> secure(io::tcp_stream accepted, const listener* from, unauthenticated_connection* who,
                          io::any_stream* secured);
    io::task<void> upgrade(http::exchange* on, unauthenticated_connection* who);
    [[nodiscard]] admitted admit(const std::optional<io::endpoint>& from);
    [[nodiscard]] admitted refuse_for_capacity(accepted_stream& accepted, transport_kind kind,
                                               const std::optional<io::endpoint>& from);
    io::task<void> converse(std::unique_ptr<connection> c, unauthenticated_connection* who);
    io::task<void> log_on(connection* c);
    io::task<void> read_requests(connection* c);
    io::task<void> write_pending(connection* c);
    io::task<bool> resend(connection* c);
    io::task<void> keep_alive(connection* c);
    io::task<void> settle(connection* c);
    io::task<void> leave(connection* c);
    io::task<bool> fill(connection* c);
    io::task<bool> drain(connection* c);
    [[nodiscard]] bool send_now(connection& c) noexcept;
    [[nodiscard]] static std::span<std::byte> make_room(connection& c) noexcept;
    [[nodiscard]] static bool take_in(connection& c, const io::io_result& read) noexcept;
    io::task<bool> submit(domain::command command, std::uint64_t received_ticks, std::uint64_t decoded_ticks);

    io::task<const account*> verify(connection* c, wire::frame frame, wire::hello* into);
    io::task<void> free_session(const account* a, const wire::hello* hello);
    io::task<void> enter_day(const wire::hello* hello);
    io::task<void> wait_until_given_up(domain::session_id id, const connection* by);
    [[nodiscard]] std::chrono::milliseconds wait_after_wrong_proof(const connection& c) noexcept;
    [[nodiscard]] std::unique_ptr<std::byte[]> take_buffers();
    [[nodiscard]] bool may_log_on(const session_state& session) const noexcept;
    void count_logon(session_state& session) const noexcept;
    [[nodiscard]] std::optional<end_reason> refusal_of(const wire::hello& hello,
                                                                const account& a) const noexcept;
    void open(connection& c, const wire::hello& hello, const account& a);
    void buffer_kept(connection& c);
    std::vector<std::byte> welcome(const connection& c) const;
    io::task<bool> submit_mass_quote(connection* c, wire::frame frame);
    [[nodiscard]] bool pass_on(connection& c, const wire::frame& frame, std::uint64_t received_ticks,
                               std::uint64_t& decoded_ticks);
    void prefetch_ahead(connection& c) noexcept;
    bool handle(connection& c, const wire::frame& frame, domain::command& command);
    bool take_number(connection& c, const wire::frame& frame);
    bool handle_session_message(connection& c, const wire::frame& frame);
    void submit_admin_request(connection& c, const wire::frame& frame);
    void refuse(connection& c, const wire::frame& frame, wire::refusal refusal);
    void hand_over(domain::session_id to, const domain::event& event, std::uint64_t number) noexcept;
    void send_definition(const domain::instrument& i) noexcept;
    void send_definition(connection& c, const domain::instrument& i) noexcept;
    void overflow(connection& c) noexcept;
    void end(connection& c, end_reason reason) noexcept;
    io::task<void> journal_cancel_on_disconnect(connection* c);
    io::task<void> cancel_absent_sessions();
    // The daily reset of numbers: order_entry_day.cpp.
    io::task<void> end_days();
    io::task<bool> begin_days();
    io::task<bool> begin_day(domain::session_id id, const connection* by);
    io::task<bool> wait_until_answered(std::uint64_t position);
    [[nodiscard]] domain::time_ns day_begin() const noexcept;
    [[nodiscard]] bool is_of_before(domain::session_id id) const noexcept;
    [[nodiscard]] bool is_beginning_day(domain::session_id id) const noexcept;
    [[nodiscard]] bool asks_for_all(const wire::hello& hello, domain::session_id id) const noexcept;
    [[nodiscard]] bool is_of_later(const wire::hello& hello, domain::session_id id) const noexcept;
    void take_reset(const domain::event& event) noexcept;
    void evict(connection& c, unauthenticated_connection& who) noexcept;
    void log(const connection& c, telemetry::log_record_kind what, std::int64_t number) const;
    template <class Message>
    void put(connection& c, const Message& message);
    void mark_pending(connection& c);

    io::context& context_;
    gateway_options options_;
    wire::instrument_table instruments_;
    domain::definition_reader definitions_;
    const account_directory& accounts_;
    command_queue& commands_;
    answer_log& answers_;
    const io::tick_clock& clock_;
    std::vector<session_state> sessions_;   ///< by session id
    std::vector<connection*> pending_;      ///< connections whose writer is to be woken by `flush`
    std::vector<connection*> connections_;  ///< all that are open, in no order
    std::vector<listener> listeners_;
    std::vector<std::unique_ptr<std::byte[]>> spare_buffers_;  ///< of sessions that have left
    handshake_budget handshakes_;
    io::admission handshake_admission_;       ///< of those who shake hands
    io::admission admission_;                 ///< of those who have not logged on
    std::vector<io::task_scope*> greetings_;  ///< handshakes under way
    std::vector<http::server*> pages_;        ///< of WebSockets, before and while they are open
    gateway_statistics statistics_;
    wrong_proofs wrong_proofs_;
    io::manual_event session_freed_;      ///< a connection has given a session up
    domain::command late_;                ///< what found no room, until `submit` has its copy
    std::chrono::milliseconds grace_{0};  ///< for `set_absent_sessions`
    std::optional<end_reason> no_logons_;
    io::mutex resend_turn_;  ///< of the session whose turn it is to be sent its past
    std::uint32_t sample_countdown_ = 0;
    std::uint32_t connections_peak_ = 0;    ///< since a crowd has left
    std::uint32_t refusals_under_way_ = 0;  ///< connections without a place that are being told why
    bool closing_ = false;
};

}  // namespace corro::gateway
