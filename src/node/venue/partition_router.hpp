// SPDX-License-Identifier: Apache-2.0
// The way of commands to the partitions of a divided venue, and of their answers back.
//
// Commands are submitted in one order, which is the order of arrivals; a lookup finds the partition, and commands for
// all partitions go to each. Public events go to their partition's feed at once, answers through the merger, which
// sorts them by arrival.
//
// An instrument that is defined while the venue runs belongs to the partition of the instrument that it is like. The
// router knows the ids and names of all partitions: a definition with one of another partition gets its reason here, in
// the command, so that a replay rejects it too. While a definition is on its way, another one with the same id or name
// waits if it is for another partition; commands about the new instrument already go to its partition.
//
// Threads: the context of order entry. Limits: node/configuration/limits.hpp.
// Cost: one more copy of each command and of each private event than in a venue of one partition.
// Source: docs/spec/partitions.md, docs/spec/definitions.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "domain/command.hpp"
#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "node/configuration/configuration.hpp"
#include "node/venue/answer_merger.hpp"
#include "node/venue/event_router.hpp"
#include "node/venue/partition.hpp"
#include "node/venue/partition_map.hpp"
#include "wire/instrument_table.hpp"

namespace corro::node {

class partition_router {
 public:
    /// @param answers  Receives the merged answers; outlives the router.
    /// @param defined  Called for each instrument that is defined after `begin`, before any event about it.
    partition_router(const configuration& c, outcome_sink& answers,
                     std::function<void(const domain::instrument&)> defined);

    /// The sink of a partition; refers to the router.
    [[nodiscard]] std::unique_ptr<partition_sink> make_sink(std::size_t index, market_data_server& feed);

    /// For set-up, when the partitions are recovered: they outlive the router's use.
    /// @param last_arrival  In the state; 0 for a new venue.
    /// @param refusals      Rejects of lost requests, to be submitted before all other commands.
    void begin(std::span<const std::unique_ptr<partition>> partitions, std::uint64_t last_arrival,
               std::deque<domain::command> refusals);

    enum class refusals_state : std::uint8_t {
        answered,  ///< all rejects of lost requests are answered: `try_submit` may be called
        more,      ///< call again soon
        stuck,     ///< no journal takes one now; call again when a partition has progressed
        waiting,   ///< all are submitted; call again when a partition has progressed
    };
    /// Submits rejects of lost requests. No other command is executed before all of them are durable, so that the next
    /// start can find the rest after a crash.
    [[nodiscard]] refusals_state submit_refusals();
    /// Drops those that wait for disk space; the next start finds them again.
    /// Whether they wait for disk space, and not for commands in progress.
    [[nodiscard]] bool refusals_wait_for_space() const noexcept {
        return !refusals_.empty() && next_arrival_ == merger_.next_arrival() && !target_of_refusal();
    }
    void drop_refusals() noexcept { refusals_.clear(); }
    [[nodiscard]] bool owes_refusals() const noexcept { return merger_.next_arrival() < first_request_; }

    /// Submits a command of order entry. False when one of its partitions has no room for it, or when it must wait for
    /// a definition; try again when a partition has progressed.
    /// @pre The refusals are answered.
    [[nodiscard]] bool try_submit(domain::command& command);

    /// Inline: releases events whose command is durable. Then delivers all answers that are next in order.
    void release();
    /// Split: moves events and outcomes of a partition's thread here. @return Whether there were any.
    [[nodiscard]] bool drain(partition& from);

    /// Commands of order entry that are answered, without the rejects of lost requests.
    [[nodiscard]] std::uint64_t answered_count() const noexcept { return merger_.answered_count(); }
    /// Whether every submitted command is answered.
    [[nodiscard]] bool is_idle() const noexcept { return merger_.next_arrival() == next_arrival_; }
    /// Whether the command with this arrival is a reject of a lost request.
    [[nodiscard]] bool is_refusal(std::uint64_t arrival) const noexcept { return arrival < first_request_; }
    [[nodiscard]] std::uint64_t last_arrival() const noexcept { return next_arrival_ - 1; }
    [[nodiscard]] answer_merger& merger() noexcept { return merger_; }
    [[nodiscard]] const answer_merger& merger() const noexcept { return merger_; }

    /// The first partition whose journal has failed, nullptr while there is none. Nothing is answered any more: a
    /// command that waited for the failed journal may or may not be in its file, and only the next start can find out.
    /// Later answers could get other numbers then.
    [[nodiscard]] const partition* failed() const noexcept { return failed_; }

 private:
    class sink;

    /// The last submitted request of a session, and the number of its commands.
    struct passed_request {
        std::uint32_t request = 0;
        std::uint16_t legs_count = 0;
    };
    /// A definition that is not answered yet.
    struct pending_definition {
        domain::instrument_id id{};
        domain::symbol name{};
        std::size_t partition = 0;
        std::uint64_t arrival = 0;
    };

    [[nodiscard]] std::optional<std::size_t> target_of_refusal() const noexcept;
    void forget_answered_definitions();
    [[nodiscard]] bool may_define(domain::command& command, std::size_t target);
    [[nodiscard]] bool is_name_elsewhere(const domain::symbol& name, std::size_t target) const noexcept;
    [[nodiscard]] bool submit_to(domain::command& command, std::size_t target);
    void note_place(domain::command& command) noexcept;
    [[nodiscard]] bool has_room(std::size_t index) noexcept;
    void pass_on(domain::command command, std::size_t index);
    void define(std::size_t index, const domain::definition& d);
    void advance();

    partition_map map_;
    answer_merger merger_;
    std::function<void(const domain::instrument&)> defined_;
    std::span<const std::unique_ptr<partition>> partitions_;
    wire::instrument_table instruments_;  ///< of all partitions, from `begin` on
    std::vector<pending_definition> pending_;
    std::uint64_t next_arrival_ = 1;
    std::uint64_t first_request_ = 1;       ///< the arrival of the first command of order entry
    std::vector<passed_request> passed_;    ///< by session
    std::deque<domain::command> refusals_;  ///< rejects of lost requests, not submitted yet
    const partition* failed_ = nullptr;
};

}  // namespace corro::node
