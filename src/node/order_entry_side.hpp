// The order-entry side of a process: accounts, port, sessions, the queue of their commands, and how long these take.
//
// It knows neither the facility nor where it runs: commands come out of `commands()`, and whoever brings the answers
// says with `answered` how far they go.
//
// Threads: one context. Limits: the configuration's, gateway/limits.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/tsc_clock.hpp"
#include "domain/event.hpp"
#include "gateway/accounts.hpp"
#include "gateway/answer_log.hpp"
#include "gateway/command_queue.hpp"
#include "gateway/order_entry_gateway.hpp"
#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/task.hpp"
#include "node/account_changes.hpp"
#include "node/answer_outlet.hpp"
#include "node/configuration.hpp"
#include "node/latency_tables.hpp"
#include "telemetry/event_log.hpp"

namespace corro::node {

/// The accounts of a configuration, with their sessions. @throws configuration_error
[[nodiscard]] gateway::account_directory account_directory_of(const configuration& c);
/// How much a configuration lets the answer log keep.
[[nodiscard]] gateway::answer_log_options answer_options_of(const configuration& c);

class order_entry_side final : public answer_outlet {
 public:
    /// `clock`, `log` and `desk` outlive the side; the latter two may be nullptr.
    /// @throws configuration_error as `exchange`.
    order_entry_side(io::context& context, const configuration& configuration, const base::tsc_clock& clock,
                     telemetry::producer* log, gateway::admin_service* desk = nullptr);

    /// Opens the ports: when the venue knows what it has to know, because from then on clients come.
    /// @throws std::system_error, configuration_error as `exchange`.
    void open(io::context& context, const configuration& c);

    /// Serves until `close` and until every session has said goodbye; then waits until every command is answered.
    [[nodiscard]] io::task<void> run();

    /// From now on every logon is refused, for this reason.
    void refuse_logons(wire::logout_reason why) noexcept { gateway_.refuse_logons(why); }

    /// Begins to leave.
    void close() noexcept { gateway_.close(); }

    /// Takes the accounts' keys from another configuration, and ends the sessions of keys that are no longer there.
    /// @return  Why not, as a sentence: something else differs. Nothing is changed then.
    [[nodiscard]] std::string change_keys(const configuration& changed);

    /// For set-up, after the recovery and before `open`: takes over what the journals know of accounts; see
    /// adopt_accounts. `journals` outlive the side.
    void adopt_accounts(std::vector<host_journal*> journals, std::span<const facility::facility* const> states);

    /// Takes keys, new accounts and limits from a configuration that was read again, and ends the sessions of keys that
    /// are no longer there. Before a new account can log on, its definition is in the journal.
    /// @suspend  Until the commands are answered. @overlap  One at a time. @cancel  Nothing is taken then, although it
    ///           may be in the journal.
    [[nodiscard]] io::task<reread_outcome> reread(configuration changed);

    [[nodiscard]] std::uint32_t sessions_count() const noexcept { return accounts_.sessions_count(); }
    /// The most that there can be while the venue runs.
    [[nodiscard]] std::uint32_t sessions_capacity() const noexcept { return accounts_.sessions_capacity(); }
    [[nodiscard]] gateway::command_queue& commands() noexcept { return commands_; }
    [[nodiscard]] const gateway::command_queue& commands() const noexcept { return commands_; }

    /// What the venue has said to each session; for recovery, and to be saved while no answer is under way.
    [[nodiscard]] gateway::answer_log& answers() noexcept { return answers_; }
    [[nodiscard]] const gateway::answer_log& answers() const noexcept { return answers_; }

    /// A private event for the session that it concerns.
    void deliver(const domain::event& event) noexcept override { gateway_.deliver(event); }

    /// A public event that defines an instrument; or the definition, when it is whole.
    void define(const domain::event& event) noexcept { gateway_.define(event); }
    void define(const domain::instrument& instrument) noexcept { gateway_.define(instrument); }

    /// A command of the queue that was not taken: it has no effect and no other answer.
    void reject_overloaded(const domain::command& command) noexcept override {
        // Session 0 has none: the venue's own.
        if (command.session.value == 0) was_refused_ = true;
        gateway_.reject_overloaded(command);
    }

    /// What the desk says to an operator.
    void deliver_admin_reply(const gateway::admin_reply& answer) { gateway_.deliver_admin_reply(answer); }

    /// For set-up: cancels on disconnect from before a restart; see order_entry_gateway.
    void set_absent_sessions(std::span<const domain::account_id> sessions,
                             std::optional<std::chrono::milliseconds> grace) {
        gateway_.set_absent_sessions(sessions, grace);
    }

    /// The first `count` commands of the queue are answered completely.
    void answered(std::uint64_t count) noexcept override {
        if (count == commands_.answered_count()) return;
        commands_.set_answered(count);
        gateway::request_timing timing;
        while (commands_.try_pop_timing(timing)) record(timing);
    }

    /// Starts sending: once per batch of answers.
    void flush() noexcept {
        commands_.room().set();
        gateway_.flush();
    }

    [[nodiscard]] io::endpoint endpoint() const noexcept { return endpoint_; }
    [[nodiscard]] const latency_tables& latencies() const noexcept { return latencies_; }
    [[nodiscard]] const gateway::gateway_statistics& statistics() const noexcept { return gateway_.statistics(); }
    [[nodiscard]] std::uint64_t handshake_steps_count() const noexcept { return gateway_.handshake_steps_count(); }

 private:
    io::task<bool> execute_all(std::vector<domain::command> commands);
    void record(const gateway::request_timing& timing) noexcept {
        latencies_.record(timing.kind, clock_.between_ns(timing.received_ticks, timing.decoded_ticks),
                          clock_.between_ns(timing.decoded_ticks, clock_.now_ticks()));
    }

    const base::tsc_clock& clock_;
    latency_tables latencies_;
    gateway::account_directory accounts_;
    gateway::command_queue commands_;
    gateway::answer_log answers_;
    gateway::order_entry_gateway gateway_;
    std::vector<gateway::listener> listeners_;
    io::endpoint endpoint_;                        ///< of the TCP port
    std::map<std::string, std::uint64_t> tables_;  ///< of the configuration at the start
    std::uint32_t accounts_max_;
    std::vector<host_journal*> journals_;
    std::vector<domain::command> first_commands_;  ///< before any session's
    bool was_refused_ = false;                     ///< a command of the venue's own
};

}  // namespace corro::node
