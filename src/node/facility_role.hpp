// The facility in a process of its own: host, journal and market data, and links over which gateways send commands and
// receive private events.
//
// A peer without the link's secret receives nothing and can do nothing. A gateway's command may only name a session
// that the gateway serves; its account and rights come from this process's configuration.
//
// It has the answer log, which is a function of the journal like the feed. A gateway that connects gets the earlier
// answers of its sessions, and then all later ones, so that gateways can die and restart. When one dies, the facility
// executes the cancels on disconnect of its sessions before it serves the next gateway of that name. The other gateways
// continue: the commands of all gateways are in one order, and none waits for another.
//
// `threading` selects the host's thread: that of the links, or its own. Split, the commands of all gateways go to it
// through one ring, and their outcomes return through another, in the same order.
//
// The sources: facility_role.cpp (the venue), facility_links.cpp (its gateways).
//
// Threads: one context, and the facility's thread when split. Limits: the configuration's, node/link_messages.hpp,
// gateways_max; one process for each gateway in the accounts.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/accounts.hpp"
#include "gateway/answer_log.hpp"
#include "gateway/command_queue.hpp"
#include "io/loop/context.hpp"
#include "io/loop/tick_clock.hpp"
#include "io/net/endpoint.hpp"
#include "io/sync/event.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "node/account_changes.hpp"
#include "node/answer_marks.hpp"
#include "node/command_outlet.hpp"
#include "node/configuration.hpp"
#include "node/facility_thread.hpp"
#include "node/gateway_shares.hpp"
#include "node/host_journal.hpp"
#include "node/journal_watch.hpp"
#include "node/link_channel.hpp"
#include "node/link_handshake.hpp"
#include "node/market_data_side.hpp"
#include "node/matching_host.hpp"
#include "node/snapshot_maker.hpp"
#include "node/venue_watch.hpp"
#include "telemetry/event_log.hpp"
#include "telemetry/metrics.hpp"
#include "wire/instrument_table.hpp"

namespace corro::node {

class facility_role final : private command_outlet {
 public:
    /// Opens the metrics port, locks the journal and recovers from it, then opens the ports of market data and, last,
    /// the link.
    /// @throws As `exchange`.
    /// @param noticed  Called with a sentence when a gateway has other accounts or keys than the facility.
    facility_role(io::context& context, const configuration& configuration,
                  std::function<void(const std::string&)> noticed = {});
    ~facility_role();
    facility_role(const facility_role&) = delete;
    facility_role& operator=(const facility_role&) = delete;

    /// Serves until `close`; ends when every accepted command is answered.
    [[nodiscard]] io::task<void> run();

    /// Starts to shut down.
    void close() noexcept;

    /// Takes keys, new accounts and limits from a configuration that was read again; see order_entry_side. Closes links
    /// of gateways with other accounts or keys; they link again when they have the same.
    [[nodiscard]] io::task<reread_outcome> reread(configuration changed);

    /// Why the journal has failed; see exchange.
    [[nodiscard]] const std::string* failure() const noexcept {
        return journal_ == nullptr ? nullptr : journal_->failure();
    }

    /// Starts to write a snapshot beside the journal, without interrupting trading. No effect without a journal.
    void write_snapshot() noexcept {
        if (snapshots_ != nullptr) snapshots_->ask();
    }

    [[nodiscard]] std::string link_address() const { return links_->address(); }
    [[nodiscard]] io::endpoint feed_endpoint() const noexcept { return feed_.feed_endpoint(); }
    [[nodiscard]] io::endpoint snapshot_endpoint() const noexcept { return feed_.snapshot_endpoint(); }
    /// Nothing without a metrics port.
    [[nodiscard]] std::optional<io::endpoint> metrics_endpoint() const noexcept { return watch_.endpoint(); }
    [[nodiscard]] const host_journal* journal() const noexcept { return journal_.get(); }
    /// Commands sequenced so far. When split, to be called only while no request is outstanding, as is the hash.
    [[nodiscard]] std::uint64_t commands_count() const noexcept { return host_.sequence(); }
    [[nodiscard]] std::uint64_t state_hash() const { return host_.state().state_hash(); }
    [[nodiscard]] market_data_statistics feed_statistics() const noexcept { return feed_.statistics(); }
    /// Cancels for sessions whose gateway died, or that did not log on again after a start.
    [[nodiscard]] std::uint64_t cancels_executed() const noexcept { return cancels_executed_; }

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
        answer_marks marks;
        std::uint64_t under_way_count = 0;  ///< submitted commands and cancels that are not done
        std::uint64_t taken_count = 0;      ///< commands that are done or were rejected
        std::uint64_t marked_count = 0;     ///< of these, those before the last mark
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
    struct source {
        std::size_t gateway = 0;
        source_kind kind = source_kind::request;
        bool is_waited_for = false;  ///< by the gateway's link
    };

    [[nodiscard]] venue_parts parts() noexcept { return {&host_, &answers_, &feed_.publisher(), feed_.lines()}; }
    std::size_t accept(std::span<const domain::event> events) noexcept override;
    void executed(const executed_command& what) override;
    // Answers to a slow gateway wait in its channel, or end the link.
    [[nodiscard]] bool has_room() const noexcept override { return true; }
    bool give_up() noexcept override { return !std::exchange(given_up_, true); }
    void notify_gateways(const domain::event& event);
    void take_definition(const domain::event& event);
    io::task<void> serve_links();
    io::task<void> serve_link(gateway::transport_stream stream);
    io::task<bool> greet(gateway_link* link);
    void reject_overloaded(gateway_link& link, link_message how, std::string_view why);
    [[nodiscard]] bool admit(gateway_link& link, link_greeting theirs, const link_proofs& proofs);
    void welcome(gateway_link& link);
    io::task<void> take_commands(gateway_link* link);
    void close_superseded_links();
    [[nodiscard]] bool take_reading(gateway_link& link, const link_greeting& theirs);
    io::task<bool> execute_own(std::vector<domain::command> commands);
    void keep_cancel(gateway_link& link, const domain::command& note);
    [[nodiscard]] bool answer_questions(gateway_link& link, const link_frame& frame);
    io::task<bool> execute_all(gateway_link* link, link_frame frame);
    [[nodiscard]] bool take_over(const gateway_link& link, domain::command& command) const noexcept;
    [[nodiscard]] bool takes_commands() noexcept;
    void pass_on(std::size_t gateway, const domain::command& command, source_kind kind);
    io::task<bool> wait_for_room();
    io::task<void> execute_cancels(gateway_link* link);
    io::task<bool> execute_cancel(std::size_t gateway, std::uint32_t session, domain::account_id account);
    io::task<void> cancel_absent_sessions();
    io::task<void> settle(gateway_link* link);
    void send_progress(gateway_link& link);
    io::task<void> follow_journal();
    io::task<void> follow_thread();
    [[nodiscard]] bool has_failed() const noexcept { return thread_ != nullptr ? given_up_ : host_.failed(); }
    void publish_progress();
    void look_at_journal();
    [[nodiscard]] std::string hindrance() const;
    void collect(telemetry::metrics_page& page) const;
    void say(telemetry::log_record_kind what) const;

    io::context& context_;
    const io::tick_clock& clock_;
    configuration configuration_;
    std::unique_ptr<telemetry::event_log> log_;  ///< nullptr without an event log
    telemetry::producer* events_log_;            ///< this thread's producer, or nullptr
    gateway::account_directory accounts_;
    gateway_shares shares_;
    gateway::answer_log answers_;
    market_data_side feed_;
    std::uint64_t life_;                       ///< a random id of this process
    std::optional<link_acceptor> links_;       ///< set at the end of the constructor
    gateway::command_queue commands_;          ///< split: to the thread
    std::unique_ptr<facility_thread> thread_;  ///< when split
    matching_host host_;
    std::unique_ptr<host_journal> journal_;
    std::unique_ptr<journal_watch> disk_watch_;  ///< with a journal
    std::unique_ptr<snapshot_maker> snapshots_;  ///< with a journal

    wire::instrument_table instruments_;       ///< all published ones
    std::vector<domain::instrument> defined_;  ///< those of them that were defined while the venue ran
    domain::definition_reader definitions_;
    std::vector<gateway_link*> gateways_;         ///< by index; nullptr when not connected
    std::vector<link_channel*> unauthenticated_;  ///< without a proof of the secret yet; the oldest first
    std::map<std::uint32_t, domain::account_id>
        absent_sessions_;  ///< of sessions that have not logged on since the start
    std::uint64_t cancels_executed_ = 0;
    std::uint64_t links_cut_ = 0;        ///< because they sent nothing or did not read
    std::uint64_t links_refused_ = 0;    ///< because they did not prove the secret
    std::deque<source> under_way_;       ///< of the commands that are not done, oldest first
    std::uint64_t delivered_count_ = 0;  ///< events received from the host
    io::manual_event progressed_;        ///< set by the journal or the facility's thread
    bool given_up_ = false;              ///< split: the journal has failed, and all released events are here
    bool closing_ = false;
    bool failure_is_known_ = false;
    std::function<void(const std::string&)> noticed_;
    std::vector<domain::command> first_commands_;  ///< before any gateway's
    std::uint64_t own_under_way_count_ = 0;        ///< commands of the configuration that are not done
    std::uint64_t own_emitted_count_ = 0;          ///< events of the host when the last one was done
    bool own_was_refused_ = false;
    venue_watch watch_;  ///< last: it reads all of the above
};

}  // namespace corro::node
