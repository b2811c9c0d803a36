// SPDX-License-Identifier: Apache-2.0
// Order entry of other processes: gateways send commands over links and receive private events.
//
// A peer without the link's secret receives nothing and can do nothing. A gateway's command may only name a session
// that the gateway serves; its account and rights come from this process's configuration.
//
// It has the answer log, which is a function of the journals like the feeds. A gateway that connects gets the earlier
// answers of its sessions, and then all later ones, so that gateways can die and restart. When one dies, the cancels on
// disconnect of its sessions are executed before the next gateway of that name is served. The other gateways continue:
// the commands of all gateways are in one order, and none waits for another.
//
// The sources: linked_order_entry.cpp (commands and answers), gateway_links.cpp (its gateways).
//
// Threads: one context. Limits: the configuration's, node/links/link_messages.hpp, gateways_max; one process for each
// gateway in the accounts.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/definition.hpp"
#include "gateway/accounts.hpp"
#include "gateway/answer_log.hpp"
#include "io/sync/event.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "node/configuration/configuration.hpp"
#include "node/links/gateway_shares.hpp"
#include "node/links/link_channel.hpp"
#include "node/links/link_handshake.hpp"
#include "node/venue/answer_progress.hpp"
#include "node/venue/command_source.hpp"
#include "node/venue/event_router.hpp"
#include "node/venue/venue_core.hpp"
#include "wire/instrument_table.hpp"

namespace corro::node {

class linked_order_entry final : public command_source {
 public:
    /// @param core     Without partitions yet; outlives this.
    /// @param noticed  Called with a sentence when a gateway has other accounts or keys than this process.
    /// @throws configuration_error
    linked_order_entry(venue_core& core, std::function<void(const std::string&)> noticed);

    /// The address of the link. @pre Open.
    [[nodiscard]] std::string link_address() const { return links_->address(); }
    /// Cancels for sessions whose gateway died, or that did not log on again after a start.
    [[nodiscard]] std::uint64_t cancels_executed() const noexcept { return cancels_executed_; }

    [[nodiscard]] std::uint32_t sessions_capacity() const noexcept override { return accounts_.sessions_capacity(); }
    [[nodiscard]] gateway::answer_log& answers() noexcept override { return answers_; }
    [[nodiscard]] gateway::command_queue* queue_of_thread() noexcept override { return nullptr; }
    [[nodiscard]] std::unique_ptr<partition_sink> make_sink(market_data_server& feed) override;
    [[nodiscard]] outcome_sink& merged_sink() noexcept override { return merged_; }
    void begin(std::vector<host_journal*> journals, std::span<const facility::facility* const> states) override;
    [[nodiscard]] io::task<void> open() override;

    [[nodiscard]] io::task<void> run() override;
    void close() noexcept override;
    /// Closes links of gateways with other accounts or keys; they link again when they have the same.
    [[nodiscard]] io::task<reread_outcome> reread(configuration changed) override;
    void define(const domain::instrument& instrument) override;
    [[nodiscard]] bool drain(facility_thread& from) override { return from.drain(*router_); }
    void report_progress() override;
    void resume() noexcept override { progressed_.set(); }
    void refuse_after_failure() override;
    void collect(telemetry::metrics_page& page) const override;

    // For the router of the only partition.

    /// A private event.
    void deliver(const domain::event& event);
    /// A public event of a definition.
    void define(const domain::event& event);
    /// The outcome of the oldest submitted command.
    void executed(const executed_command& what);

 private:
    /// A connected gateway, until its last command and cancel are done.
    struct gateway_link {
        explicit gateway_link(gateway::transport_stream stream) : channel(std::move(stream)) {}

        link_channel channel;
        std::size_t gateway = 0;            ///< its index in the shares
        link_greeting greeting;             ///< of the configuration that it has read
        bool hears = false;                 ///< whether the channel sends its sessions' private events
        io::task_scope* taking = nullptr;   ///< reads its commands
        std::size_t waiting_bytes_max = 0;  ///< beyond this it counts as dead
        answer_progress progress;
        std::uint64_t under_way_count = 0;  ///< submitted commands and cancels that are not done
        std::uint64_t taken_count = 0;      ///< commands that are done or were rejected
        std::uint64_t marked_count = 0;     ///< of these, those before the last note of progress
        std::uint64_t emitted_count = 0;    ///< events of the host when the last one was done
        std::uint64_t answered_count = 0;
        /// Cancels on disconnect to execute when the gateway dies: accounts by session.
        std::map<std::uint32_t, domain::account_id> cancels;
    };

    /// The source of a submitted command.
    enum class source_kind : std::uint8_t {
        request,
        cancel,   ///< an own one, for a session whose gateway or former facility died
        note,     ///< an own one, which records that the cancel is done
        account,  ///< an own one, from the configuration
    };
    struct submitted {
        std::size_t gateway = 0;
        source_kind kind = source_kind::request;
        bool is_waited_for = false;  ///< by the gateway's link
    };

    /// The receiver of the merged answers of several partitions.
    class merged_answers_of_links final : public outcome_sink {
     public:
        explicit merged_answers_of_links(linked_order_entry& to) noexcept : to_(to) {}
        std::size_t accept(std::span<const domain::event> events) noexcept override;
        void executed(const executed_command& what) override;

     private:
        linked_order_entry& to_;
    };

    void notify_gateways(const domain::event& event);

    io::task<void> submit_first_commands();
    io::task<void> submit_refusals();
    io::task<void> wait_for_refusals();
    [[nodiscard]] bool has_room() noexcept;
    [[nodiscard]] bool gives_up() const noexcept;
    [[nodiscard]] bool try_submit(std::size_t gateway, const domain::command& command, source_kind kind);
    io::task<bool> wait_for_progress();
    io::task<bool> submit(std::size_t gateway, domain::command command, source_kind kind);
    io::task<bool> execute_own(std::vector<domain::command> commands);
    io::task<void> execute_cancels(gateway_link* link);
    io::task<bool> execute_cancel(std::size_t gateway, std::uint32_t session, domain::account_id account);
    io::task<bool> end_cancel(std::size_t gateway, std::uint32_t session, domain::account_id account);
    io::task<void> cancel_absent_sessions();
    io::task<void> settle(gateway_link* link);
    void send_progress(gateway_link& link);
    [[nodiscard]] std::uint64_t delivered_count() const noexcept;

    io::task<void> serve_links();
    io::task<void> serve_link(gateway::transport_stream stream);
    io::task<bool> greet(gateway_link* link);
    void refuse_link(gateway_link& link, link_message how, std::string_view why);
    [[nodiscard]] bool admit(gateway_link& link, link_greeting theirs, const link_proofs& proofs);
    void welcome(gateway_link& link);
    io::task<void> take_commands(gateway_link* link);
    void close_superseded_links();
    [[nodiscard]] bool take_reading(gateway_link& link, const link_greeting& theirs);
    void keep_cancel(gateway_link& link, const domain::command& note);
    [[nodiscard]] bool answer_questions(gateway_link& link, const link_frame& frame);
    io::task<bool> execute_all(gateway_link* link, link_frame frame);
    [[nodiscard]] bool take_over(const gateway_link& link, domain::command& command) const noexcept;

    venue_core& core_;
    configuration configuration_;  ///< with the accounts that were read last
    gateway::account_directory accounts_;
    gateway_shares shares_;
    gateway::answer_log answers_;
    merged_answers_of_links merged_;
    event_router<linked_order_entry>* router_ = nullptr;  ///< with one partition
    std::uint64_t process_id_;                            ///< a random id of this process
    std::optional<link_acceptor> links_;                  ///< from `open` on

    wire::instrument_table instruments_;       ///< all published ones
    std::vector<domain::instrument> defined_;  ///< those of them that were defined while the venue ran
    domain::definition_reader definition_;
    std::vector<gateway_link*> gateways_;         ///< by index; nullptr when not connected
    std::vector<link_channel*> unauthenticated_;  ///< without a proof of the secret yet; the oldest first
    std::map<std::uint32_t, domain::account_id>
        absent_sessions_;  ///< of sessions that have not logged on since the start
    std::uint64_t cancels_executed_ = 0;
    std::uint64_t links_cut_ = 0;        ///< because they sent nothing or did not read
    std::uint64_t links_refused_ = 0;    ///< because they did not prove the secret
    std::deque<submitted> under_way_;    ///< the commands that are not done, oldest first
    std::uint64_t recovered_count_ = 0;  ///< events of the only partition in its recovery
    io::manual_event refusals_settled_;  ///< of lost requests
    io::manual_event progressed_;        ///< set when a partition has progressed
    bool has_begun_ = false;             ///< the recovery is done
    bool is_starting_ = true;            ///< the first commands are not done
    bool drops_refusals_ = false;        ///< closed while no journal took the rejects of lost requests
    bool closing_ = false;
    std::function<void(const std::string&)> noticed_;
    std::vector<domain::command> first_commands_;  ///< before any gateway's
    std::uint64_t own_under_way_count_ = 0;        ///< commands of the configuration that are not done
    std::uint64_t own_emitted_count_ = 0;          ///< events of the host when the last one was done
    bool own_was_refused_ = false;
};

}  // namespace corro::node
