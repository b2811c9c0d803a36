// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/order_record.hpp"

#include <fmt/format.h>

#include <utility>

#include "recorded/replay/limits.hpp"

namespace corro::recorded::replay {

std::string place_of(const std::vector<order_record>& group) {
    if (group.empty()) return "no record";
    const order_record& first = group.front();
    const order_record& last = group.back();
    if (first.record == last.record) return fmt::format("file {}, record {}", first.file, first.record);
    return fmt::format("file {}, records {} to {}", first.file, first.record, last.record);
}

group_reader::group_reader(std::unique_ptr<order_record_source> source) : source_(std::move(source)) {}

bool group_reader::fetch() {
    if (!has_ahead_) has_ahead_ = source_->next(ahead_);
    return has_ahead_;
}

bool group_reader::next(std::vector<order_record>& group) {
    group.clear();
    while (fetch()) {
        if (!group.empty()) {
            const order_record& before = group.back();
            // A snapshot ends where live records or another file begin; its own marks do not matter. An unfinished
            // group ends with its file.
            if (before.file != ahead_.file || before.is_snapshot != ahead_.is_snapshot) return true;
            if (group.size() == group_records_max) {
                throw replay_error(
                    fmt::format("{}: an event group of more than {} records", place_of(group), group_records_max));
            }
        }
        group.push_back(ahead_);
        has_ahead_ = false;
        if (ahead_.is_last && !ahead_.is_snapshot) return true;
    }
    return !group.empty();
}

}  // namespace corro::recorded::replay
