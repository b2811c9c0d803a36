// A venue of several partitions in one process: one order entry, and for each partition a facility, a journal and a
// feed.
//
// Requests come from the gateway's queue in one order, which is the order of arrivals; a lookup finds the partition.
// Commands for all partitions go to each. Public events go to their partition's feed at once, answers through the
// merger, which sorts them by arrival. `threading` selects the threads: inline, everything is on one context; split,
// each facility has a thread of its own.
//
// A venue of one facility is `exchange`, which has none of this cost.
//
// Threads: one context, and one per partition when split. Limits: the configuration's, node/limits.hpp.
// Cost: one more copy of each command and of each private event than in a venue of one facility.
// Source: docs/spec/segments.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/loop/context.hpp"
#include "io/loop/tick_clock.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "node/answer_merger.hpp"
#include "node/configuration.hpp"
#include "node/journal_watch.hpp"
#include "node/order_entry_side.hpp"
#include "node/segment.hpp"
#include "node/segment_map.hpp"
#include "node/snapshot_maker.hpp"
#include "node/venue_watch.hpp"
#include "telemetry/event_log.hpp"
#include "telemetry/metrics.hpp"

namespace corro::node {

class segmented_exchange final : private gateway::admin_service {
 public:
    /// Recovers from the journals, and then opens the ports, as `exchange` does.
    /// @throws as `exchange`.
    /// @pre    The configuration has partitions; `context` is not running.
    segmented_exchange(io::context& context, const configuration& configuration);
    ~segmented_exchange();
    segmented_exchange(const segmented_exchange&) = delete;
    segmented_exchange& operator=(const segmented_exchange&) = delete;

    /// Serves until `close`; ends when every session has ended and every accepted request is answered.
    [[nodiscard]] io::task<void> run();

    /// Starts to shut down.
    void close() noexcept {
        closing_ = true;
        orders_.close();
        // Rejects may be waiting for disk space.
        orders_.commands().filled().set();
    }

    /// Takes keys, new accounts and limits from a configuration that was read again; see order_entry_side.
    [[nodiscard]] io::task<reread_outcome> reread(configuration changed) { return orders_.reread(std::move(changed)); }

    /// Why the venue ended by itself, as a sentence: the journal of a partition has failed, possibly only when it was
    /// sealed. nullptr while none has.
    [[nodiscard]] const std::string* failure() const noexcept;

    /// Starts to write a snapshot of all partitions, without interrupting trading. No effect without journals.
    void write_snapshot() noexcept {
        if (snapshots_ != nullptr) snapshots_->ask();
    }

    [[nodiscard]] io::endpoint order_entry_endpoint() const noexcept { return orders_.endpoint(); }
    /// Nothing without a metrics port.
    [[nodiscard]] std::optional<io::endpoint> metrics_endpoint() const noexcept { return watch_.endpoint(); }
    [[nodiscard]] const order_entry_side& orders() const noexcept { return orders_; }

    [[nodiscard]] std::size_t segments_count() const noexcept { return segments_.size(); }
    /// When split its host and journal belong to its thread while `run` runs.
    [[nodiscard]] const segment& at(std::size_t index) const noexcept { return *segments_[index]; }

 private:
    /// The last submitted request of a session, and the number of its commands.
    struct passed_request {
        std::uint32_t request = 0;
        std::uint16_t legs_count = 0;
    };

    io::task<void> route_all();
    [[nodiscard]] bool take_next(domain::command& into);
    /// Whether all rejects of lost requests are executed, but not all are answered.
    [[nodiscard]] bool waits_for_refusals() const noexcept {
        return refusals_.empty() && merger_.next_arrival() < first_request_;
    }
    io::task<void> make_snapshots();
    [[nodiscard]] std::optional<std::size_t> target_of(const domain::command& command) const noexcept;
    [[nodiscard]] bool route(domain::command& command);
    void note_place(domain::command& command) noexcept;
    [[nodiscard]] bool has_room(std::size_t segment) noexcept;
    void pass_on(domain::command command, std::size_t segment);
    io::task<void> follow_thread(segment* s);
    io::task<void> follow_journal(segment* s);
    void publish_progress(segment& s);
    void advance();
    void end_by_failure(const segment& s) noexcept;
    void forget_commands() noexcept;
    void flush() noexcept;
    [[nodiscard]] gateway::request_refusal ask(const gateway::admin_request& question) override;
    io::task<void> save_last_snapshot();
    void collect(telemetry::metrics_page& page) const;
    [[nodiscard]] std::string hindrance() const {
        if (failure() != nullptr) return "A journal has failed: " + *failure();
        for (const auto& s : segments_) {
            if (s->journal != nullptr && s->journal->stalled().count() != 0) return stall_message(*s->journal);
        }
        return closing_ || failed_ != nullptr ? "The venue closes." : "";
    }
    void say(telemetry::log_record_kind what) const;

    const io::tick_clock& clock_;
    io::context& context_;
    std::unique_ptr<telemetry::event_log> log_;  ///< nullptr without an event log
    telemetry::producer* events_log_;            ///< this thread's producer, or nullptr
    order_entry_side orders_;
    segment_map map_;
    answer_merger merger_;
    std::vector<std::unique_ptr<segment>> segments_;
    std::uint64_t next_arrival_ = 1;
    std::vector<passed_request> passed_;  ///< by session
    bool closing_ = false;
    std::uint64_t first_request_ = 1;            ///< the arrival of a gateway's first command
    std::deque<domain::command> refusals_;       ///< rejects of lost requests, not executed yet
    const segment* failed_ = nullptr;            ///< the first one whose journal has failed
    std::unique_ptr<journal_watch> disk_watch_;  ///< with a journal
    std::unique_ptr<snapshot_maker> snapshots_;  ///< with journals
    venue_watch watch_;                          ///< last: it reads all of the above
};

}  // namespace corro::node
