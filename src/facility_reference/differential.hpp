// SPDX-License-Identifier: Apache-2.0
// Runs the venue and its reference side by side and compares every byte of every event and the state after every
// command. For tests and for the tool `differential`.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "facility/command_generator.hpp"
#include "facility/facility.hpp"
#include "facility/recorder.hpp"
#include "facility_reference/facility_reference.hpp"

namespace corro::facility::testing {

/// A venue with its reference.
class twin {
 public:
    twin(const facility_options& options, std::span<const domain::instrument> instruments,
         defect mistake = defect::none)
        : venue_(options, instruments, recorder_), reference_(options, instruments, mistake) {}

    /// Executes a command on both. Returns an empty text when they agree, otherwise what differs.
    [[nodiscard]] std::string apply(const domain::command& c) {
        recorder_.events.clear();
        venue_.apply(c);
        const auto [first, second] = new_ids();
        const std::vector<domain::event>& expected = reference_.apply(c, first, second);
        const std::vector<domain::event>& actual = recorder_.events;
        for (std::size_t i = 0; i < expected.size() || i < actual.size(); ++i) {
            const bool same = i < expected.size() && i < actual.size() &&
                              std::memcmp(&expected[i], &actual[i], sizeof(domain::event)) == 0;
            if (!same) return difference(c, i, expected, actual);
        }
        if (venue_.state_hash() != reference_.state_hash()) {
            return "after command " + std::to_string(c.sequence.value) + " the events agree but the states differ";
        }
        return {};
    }
    [[nodiscard]] const std::vector<domain::event>& events() const noexcept { return recorder_.events; }
    [[nodiscard]] const facility& venue() const noexcept { return venue_; }

 private:
    /// The ids of new orders in the venue's last events: those that no earlier event had. A quote may have two.
    [[nodiscard]] std::array<domain::order_id, 2> new_ids() const {
        std::array<domain::order_id, 2> ids{};
        for (const domain::event& e : recorder_.events) {
            const domain::order_id id = e.kind == domain::event_kind::order_executed  ? e.execution.order
                                        : e.kind < domain::event_kind::order_executed ? e.order.order
                                                                                      : domain::order_id{};
            if (id.value == 0 || reference_.was_issued(id) || id == ids[0]) continue;
            if (ids[0].value != 0) return {ids[0], id};
            ids[0] = id;
        }
        return ids;
    }
    static std::string text_of(const std::vector<domain::event>& events, std::size_t i) {
        if (i >= events.size()) return "nothing";
        std::string text = name_of(events[i].kind);
        const auto* bytes = reinterpret_cast<const unsigned char*>(&events[i]);
        for (std::size_t b = 0; b < sizeof(domain::event); ++b) {
            constexpr const char* digits = "0123456789abcdef";
            if (b % 8 == 0) text += ' ';
            text += digits[bytes[b] >> 4];
            text += digits[bytes[b] & 15];
        }
        return text;
    }
    static std::string difference(const domain::command& c, std::size_t i, const std::vector<domain::event>& expected,
                                  const std::vector<domain::event>& actual) {
        return "command " + std::to_string(c.sequence.value) + " of kind " + std::to_string(static_cast<int>(c.kind)) +
               ", event " + std::to_string(i) + ":\n  reference " + text_of(expected, i) + "\n  venue     " +
               text_of(actual, i);
    }

    recorder recorder_;
    facility venue_;
    facility_reference reference_;
};

/// Runs `operations` random commands of one seed. Returns an empty text when both agree throughout.
[[nodiscard]] inline std::string run_differential(std::uint64_t seed, std::uint64_t operations,
                                                  defect mistake = defect::none) {
    command_generator generator(seed);
    twin both(generator.profile().options, generator.profile().instruments, mistake);
    for (std::uint64_t i = 0; i < operations; ++i) {
        const std::string difference = both.apply(generator.next());
        if (!difference.empty()) return "seed " + std::to_string(seed) + ": " + difference;
        generator.learn(both.events());
    }
    return {};
}

}  // namespace corro::facility::testing
