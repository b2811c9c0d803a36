// SPDX-License-Identifier: Apache-2.0
// Order entry of the same process: commands go from the gateway's queue to the partitions, and answers back.
//
// With one partition on this thread, a command is executed on the stack of its decoder. Its answers are then in the
// sessions' output buffers and are sent together with those of other sessions. With one partition on its own thread,
// that thread takes the commands from the queue. With several partitions, a task takes them and routes them.
//
// Threads: one context. Limits: the configuration's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "domain/command.hpp"
#include "domain/prefetch_hint.hpp"
#include "gateway/admin_service.hpp"
#include "gateway/command_queue.hpp"
#include "io/sync/event.hpp"
#include "io/task/task.hpp"
#include "node/configuration/configuration.hpp"
#include "node/venue/answer_progress.hpp"
#include "node/venue/command_source.hpp"
#include "node/venue/event_router.hpp"
#include "node/venue/merged_answers.hpp"
#include "node/venue/order_entry.hpp"
#include "node/venue/venue_core.hpp"

namespace corro::node {

class local_order_entry final : public command_source,
                                private gateway::command_consumer,
                                private gateway::admin_service {
 public:
    /// @param core  Without partitions yet; outlives this. @throws configuration_error
    explicit local_order_entry(venue_core& core);

    [[nodiscard]] const order_entry& orders() const noexcept { return orders_; }

    [[nodiscard]] std::uint32_t sessions_capacity() const noexcept override { return orders_.sessions_capacity(); }
    [[nodiscard]] gateway::answer_log& answers() noexcept override { return orders_.answers(); }
    [[nodiscard]] gateway::command_queue* queue_of_thread() noexcept override { return &orders_.commands(); }
    [[nodiscard]] std::unique_ptr<partition_sink> make_sink(market_data_server& feed) override;
    [[nodiscard]] outcome_sink& merged_sink() noexcept override { return merged_; }
    void begin(std::vector<host_journal*> journals, std::span<const facility::facility* const> states) override;
    [[nodiscard]] io::task<void> open() override;

    [[nodiscard]] io::task<void> run() override;
    void close() noexcept override;
    [[nodiscard]] io::task<reread_outcome> reread(configuration changed) override {
        return orders_.reread(std::move(changed));
    }
    void define(const domain::instrument& instrument) override { orders_.define(instrument); }
    [[nodiscard]] bool drain(facility_thread& from) override { return from.drain(*router_, orders_); }
    void report_progress() override;
    void resume() noexcept override { orders_.commands().filled().set(); }
    void refuse_after_failure() override { orders_.refuse_logons(gateway::end_reason::journal_failed); }
    void collect(telemetry::metrics_page& page) const override;

 private:
    bool take(const domain::command& command) noexcept override;
    void expect(std::span<domain::prefetch_hint> coming) noexcept override;
    [[nodiscard]] gateway::request_refusal ask(const gateway::admin_request& question) override;
    void execute(domain::command& command) noexcept;
    io::task<void> execute_commands();
    io::task<void> route_commands();
    io::task<void> wait_for_refusals();
    void forget_commands() noexcept;

    venue_core& core_;
    order_entry orders_;
    merged_answers merged_;
    event_router<order_entry>* router_ = nullptr;  ///< with one partition
    partition* only_ = nullptr;                    ///< with one partition, from `begin` on
    answer_progress progress_;                     ///< with one partition on this thread, and a journal
    std::uint64_t taken_count_ = 0;                ///< with one partition on this thread
    io::manual_event refusals_settled_;            ///< with several partitions: of lost requests
    bool is_closing_ = false;
    bool forgets_commands_ = false;  ///< with several partitions: nothing more is answered
};

}  // namespace corro::node
