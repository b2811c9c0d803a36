// One exchange of several segments in one process: one order-entry side, and for each segment a facility, a journal and
// a feed.
//
// Requests come out of the gateway's queue in one order, which gives each its arrival; a lookup tells its segment. What
// concerns all segments goes to all. Public events go to their segment's feed at once, answers through the merger,
// which brings them into the order of the arrivals. `threading` says on how many threads: inline, all of it on one
// context; split, each facility on a thread of its own.
//
// What a venue of one segment is stands in exchange.hpp, and pays nothing for this.
//
// Threads: one context, and one per segment when split. Limits: the configuration's, node/limits.hpp.
// Cost: a copy of each command and of each private event more than in a venue of one segment.
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

#include "base/tsc_clock.hpp"
#include "io/loop/context.hpp"
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
    /// Recovers what the journals hold, and then opens the ports, as `exchange` does.
    /// @throws as `exchange`.
    /// @pre    The configuration has segments; `context` is not running.
    segmented_exchange(io::context& context, const configuration& configuration);
    ~segmented_exchange();
    segmented_exchange(const segmented_exchange&) = delete;
    segmented_exchange& operator=(const segmented_exchange&) = delete;

    /// Serves until `close`; ends when every session has said goodbye and every accepted request is answered.
    [[nodiscard]] io::task<void> run();

    /// Begins to leave.
    void close() noexcept {
        closing_ = true;
        orders_.close();
        // Refusals may wait for room on a disk.
        orders_.commands().filled().set();
    }

    /// Takes keys, new accounts and limits from a configuration that was read again; see order_entry_side.
    [[nodiscard]] io::task<reread_outcome> reread(configuration changed) { return orders_.reread(std::move(changed)); }

    /// Why the venue ended by itself, as a sentence: the journal of a segment has failed. nullptr while none has.
    /// Also when it failed at its end, while it was sealed.
    [[nodiscard]] const std::string* failure() const noexcept;

    /// Has a snapshot of all segments written soon, while trading goes on. Nothing without journals.
    void write_snapshot() noexcept {
        if (snapshots_ != nullptr) snapshots_->ask();
    }

    [[nodiscard]] io::endpoint order_entry_endpoint() const noexcept { return orders_.endpoint(); }
    /// Nothing when metrics are not served.
    [[nodiscard]] std::optional<io::endpoint> metrics_endpoint() const noexcept { return watch_.endpoint(); }
    [[nodiscard]] const order_entry_side& orders() const noexcept { return orders_; }

    [[nodiscard]] std::size_t segments_count() const noexcept { return segments_.size(); }
    /// When split its host and journal belong to its thread while `run` runs.
    [[nodiscard]] const segment& at(std::size_t index) const noexcept { return *segments_[index]; }

 private:
    /// The last request of a session that was passed on, and how many commands of it were.
    struct passed_request {
        std::uint32_t request = 0;
        std::uint16_t legs_count = 0;
    };

    io::task<void> route_all();
    [[nodiscard]] bool take_next(domain::command& into);
    /// All are executed, and not all are answered.
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
    [[nodiscard]] wire::session_reject_reason ask(const gateway::admin_request& question) override;
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

    base::tsc_clock clock_;
    io::context& context_;
    std::unique_ptr<telemetry::event_log> log_;  ///< when there is one
    telemetry::producer* events_log_;            ///< this thread's end of it, or nullptr
    order_entry_side orders_;
    segment_map map_;
    answer_merger merger_;
    std::vector<std::unique_ptr<segment>> segments_;
    std::uint64_t next_arrival_ = 1;
    std::vector<passed_request> passed_;  ///< by session
    bool closing_ = false;
    std::uint64_t first_request_ = 1;            ///< the arrival of the first command of a gateway
    std::deque<domain::command> refusals_;       ///< of lost requests, not executed yet
    const segment* failed_ = nullptr;            ///< the first one whose journal has failed
    std::unique_ptr<journal_watch> disk_watch_;  ///< with a journal
    std::unique_ptr<snapshot_maker> snapshots_;  ///< with journals
    venue_watch watch_;                          ///< last: it looks at all of the above
};

}  // namespace corro::node
