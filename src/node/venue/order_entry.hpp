// SPDX-License-Identifier: Apache-2.0
// Order entry in a process: accounts, ports, sessions, the queue of their commands, and the latency of these.
//
// It does not depend on the facility: commands leave by `commands()`, and the source of the answers reports with
// `answered` how many commands are answered.
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

#include "domain/event.hpp"
#include "fix_gateway/fix_order_entry.hpp"
#include "gateway/accounts.hpp"
#include "gateway/answer_log.hpp"
#include "gateway/command_queue.hpp"
#include "gateway/order_entry_gateway.hpp"
#include "io/loop/context.hpp"
#include "io/loop/tick_clock.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/task.hpp"
#include "node/configuration/configuration.hpp"
#include "node/venue/account_changes.hpp"
#include "node/venue/latency_tables.hpp"
#include "telemetry/event_log.hpp"

namespace corro::node {

/// The accounts of a configuration, with their sessions. @throws configuration_error
[[nodiscard]] gateway::account_directory account_directory_of(const configuration& c);
/// The answer log's options from a configuration.
[[nodiscard]] gateway::answer_log_options answer_options_of(const configuration& c);

class order_entry final {
 public:
    /// `clock`, `log` and `desk` must outlive this; the latter two may be nullptr.
    /// @throws configuration_error as `exchange`.
    order_entry(io::context& context, const configuration& configuration, const io::tick_clock& clock,
                telemetry::producer* log, gateway::admin_service* desk = nullptr);

    /// Opens the ports. To be called when the venue is ready, because clients connect from then on.
    /// @throws std::system_error, configuration_error as `exchange`.
    void open(io::context& context, const configuration& c);

    /// Serves until `close` and until every session has ended; then waits until every command is answered.
    [[nodiscard]] io::task<void> run();

    /// Refuses every logon from now on, with this reason.
    void refuse_logons(gateway::end_reason why) noexcept { gateway_.refuse_logons(why); }

    /// Starts to shut down.
    void close() noexcept {
        fix_.close();
        gateway_.close();
    }

    /// Takes the accounts' keys from another configuration, and ends the sessions of removed keys.
    /// @return  An error as a sentence when other settings differ, and then nothing is changed; empty on success.
    [[nodiscard]] std::string change_keys(const configuration& changed);

    /// For set-up, after the recovery and before `open`: takes over the accounts of the journals; see adopt_accounts.
    /// `journals` must outlive this.
    void adopt_accounts(std::vector<host_journal*> journals, std::span<const facility::facility* const> states);

    /// Takes keys, new accounts and limits from a configuration that was read again, and ends the sessions of removed
    /// keys. A new account can log on when its definition is in the journal.
    /// @suspend  Until the commands are answered. @overlap One at a time. @cancel Nothing is changed then, although
    ///           the commands may be in the journal.
    [[nodiscard]] io::task<reread_outcome> reread(configuration changed);

    [[nodiscard]] std::uint32_t sessions_count() const noexcept { return accounts_.sessions_count(); }
    /// The largest number of sessions while the venue runs.
    [[nodiscard]] std::uint32_t sessions_capacity() const noexcept { return accounts_.sessions_capacity(); }
    [[nodiscard]] gateway::command_queue& commands() noexcept { return commands_; }
    [[nodiscard]] const gateway::command_queue& commands() const noexcept { return commands_; }

    /// The answers to each session; for recovery, and for saving while no answer is outstanding.
    [[nodiscard]] gateway::answer_log& answers() noexcept { return answers_; }
    [[nodiscard]] const gateway::answer_log& answers() const noexcept { return answers_; }

    /// A private event for the session that it concerns.
    void deliver(const domain::event& event) noexcept { gateway_.deliver(event); }

    /// A public event that is part of a definition; or the complete definition.
    void define(const domain::event& event) noexcept { gateway_.define(event); }
    void define(const domain::instrument& instrument) noexcept { gateway_.define(instrument); }

    /// A command of the queue that was not accepted: it has no effect and no other answer.
    void reject_overloaded(const domain::command& command) noexcept {
        // Session 0 marks the venue's own commands.
        if (command.session.value == 0) was_refused_ = true;
        gateway_.reject_overloaded(command);
    }

    /// Delivers the admin service's reply to an operator.
    void deliver_admin_reply(const gateway::admin_reply& answer) { gateway_.deliver_admin_reply(answer); }

    /// For set-up: cancels on disconnect from before a restart; see order_entry_gateway.
    void set_absent_sessions(std::span<const domain::account_id> sessions,
                             std::optional<std::chrono::milliseconds> grace) {
        gateway_.set_absent_sessions(sessions, grace);
    }

    /// The first `count` commands of the queue are answered completely.
    void answered(std::uint64_t count) noexcept {
        if (count == commands_.answered_count()) return;
        commands_.set_answered(count);
        gateway::request_timing timing;
        while (commands_.try_pop_timing(timing)) record(timing);
    }

    /// Starts sending. To be called once per batch of answers.
    void flush() noexcept {
        commands_.room().set();
        gateway_.flush();
    }

    [[nodiscard]] io::endpoint endpoint() const noexcept { return endpoint_; }
    /// Of FIX; nothing without a port for it.
    [[nodiscard]] std::optional<io::endpoint> fix_endpoint() const noexcept { return fix_endpoint_; }
    [[nodiscard]] const latency_tables& latencies() const noexcept { return latencies_; }
    [[nodiscard]] const gateway::gateway_statistics& statistics() const noexcept { return gateway_.statistics(); }
    [[nodiscard]] std::uint64_t handshake_steps_count() const noexcept { return gateway_.handshake_steps_count(); }

 private:
    io::task<bool> execute_all(std::vector<domain::command> commands);
    void record(const gateway::request_timing& timing) noexcept {
        latencies_.record(timing.kind, clock_.between_ns(timing.received_ticks, timing.decoded_ticks),
                          clock_.between_ns(timing.decoded_ticks, clock_.now_ticks()));
    }

    const io::tick_clock& clock_;
    latency_tables latencies_;
    gateway::account_directory accounts_;
    gateway::command_queue commands_;
    gateway::answer_log answers_;
    gateway::order_entry_gateway gateway_;
    fix_gateway::fix_order_entry fix_;
    std::vector<gateway::listener> listeners_;
    std::vector<gateway::listener> fix_listeners_;
    io::context& context_;
    io::endpoint endpoint_;  ///< of the TCP port
    std::optional<io::endpoint> fix_endpoint_;
    std::map<std::string, std::uint64_t> tables_;  ///< of the configuration at the start
    std::uint32_t accounts_max_;
    std::vector<host_journal*> journals_;
    std::vector<domain::command> first_commands_;  ///< before any session's
    bool was_refused_ = false;                     ///< whether a command of the venue's own was refused
};

}  // namespace corro::node
