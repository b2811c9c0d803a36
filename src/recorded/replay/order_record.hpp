// SPDX-License-Identifier: Apache-2.0
// A recorded change of a book, order by order, in the venue's units: the input of a replay of market-by-order flow.
//
// A group is one event of the recording venue: all records up to the one marked as the last. A snapshot is one group,
// whether or not its last record is marked.
//
// Source: Databento, schema MBO.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "domain/types.hpp"

namespace corro::recorded::replay {

enum class record_action : std::uint8_t {
    add,
    cancel,  ///< removes `size`
    modify,  ///< sets the order's price and open quantity
    clear,   ///< the whole book
    trade,   ///< names the aggressor; the fills that follow are its own
    fill,    ///< names a resting order; the book changes by the cancel or modify of it that follows
    none,
};

enum class record_side : std::uint8_t { buy, sell, none };

[[nodiscard]] constexpr domain::side side_of(record_side s) noexcept {
    return s == record_side::sell ? domain::side::sell : domain::side::buy;
}

struct order_record {
    std::uint32_t file = 0;    ///< from 1
    std::uint64_t record = 0;  ///< in its file, from 0
    domain::time_ns time{};
    std::uint64_t order = 0;  ///< the recording venue's id of the order
    domain::price_ticks price{};
    std::uint32_t size = 0;  ///< lots
    record_action action = record_action::none;
    record_side side = record_side::none;
    bool is_snapshot = false;
    bool is_last = false;  ///< of its group

    [[nodiscard]] bool changes_book() const noexcept {
        return action == record_action::add || action == record_action::cancel || action == record_action::modify ||
               action == record_action::clear;
    }
};

/// The recording cannot be read, or cannot be expressed at the venue; `what()` has the position and the reason.
class replay_error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A source of records, in order over all files.
class order_record_source {
 public:
    virtual ~order_record_source() = default;
    /// False at the end. @throws replay_error
    [[nodiscard]] virtual bool next(order_record& into) = 0;
};

/// "file 2, record 8725" or "file 2, records 8725 to 8730".
[[nodiscard]] std::string place_of(const std::vector<order_record>& group);

/// Assembles records into groups. Limits: group_records_max.
class group_reader {
 public:
    explicit group_reader(std::unique_ptr<order_record_source> source);
    /// Replaces `group` by the next one; false at the end. @throws replay_error
    [[nodiscard]] bool next(std::vector<order_record>& group);

 private:
    [[nodiscard]] bool fetch();

    std::unique_ptr<order_record_source> source_;
    order_record ahead_{};
    bool has_ahead_ = false;
};

}  // namespace corro::recorded::replay
