// SPDX-License-Identifier: Apache-2.0
#include "lab/facility/canned.hpp"

#include <algorithm>
#include <cstring>

#include "base/byte_order.hpp"
#include "lab/measurement.hpp"
#include "wire/frame.hpp"

namespace corro::lab {
namespace {

using bytes = std::vector<std::byte>;

/// Returns a station's output for an input.
bytes through(station& one, std::span<const std::byte> input) {
    bytes output;
    while (!input.empty()) {
        const std::span<std::byte> room = one.room();
        const std::size_t size = std::min(room.size(), input.size());
        std::memcpy(room.data(), input.data(), size);
        input = input.subspan(size);
        one.received(size);
        output.insert(output.end(), one.pending().begin(), one.pending().end());
        one.sent(one.pending().size());
    }
    return output;
}

std::uint32_t frames_count(std::span<const std::byte> of) {
    std::uint32_t count = 0;
    while (!of.empty()) {
        of = of.subspan(wire::header_bytes + base::load_be<std::uint16_t>(of.data()));
        ++count;
    }
    return count;
}

/// Runs a scenario's commands, and returns the input and the output of a role's stations for each.
class rehearsal {
 public:
    explicit rehearsal(station_role role)
        : role_(role), instruments_(scenario_instruments()), facility_(make_facility_station()) {
        if (role == station_role::gateway || role == station_role::chain) gateway_ = make_gateway_station();
        if (role == station_role::distributor || role == station_role::chain) distributor_ = make_distributor_station();
    }

    struct result {
        bytes input;
        bytes output;
        std::uint32_t messages = 0;  ///< derived
    };

    result step(const domain::command& command) {
        result made;
        const std::uint32_t id = command.instrument.value;
        append_request(command, id == 0 ? domain::instrument() : instruments_[id - 1], made.input);
        if (gateway_ != nullptr) made.output = through(*gateway_, made.input);
        const bytes derived = through(*facility_, made.input);
        made.messages = frames_count(derived);
        if (role_ == station_role::gateway) return made;
        if (role_ == station_role::distributor) made.input = derived;
        made.output = distributor_ != nullptr ? through(*distributor_, derived) : derived;
        return made;
    }

 private:
    station_role role_;
    std::vector<domain::instrument> instruments_;
    std::unique_ptr<station> gateway_;
    std::unique_ptr<station> facility_;
    std::unique_ptr<station> distributor_;
};

/// One cycle: its input and its units, `sample_end` filled in.
bytes rehearse_cycle(rehearsal& stage, const scenario& what, station_role role, canned_stream& into) {
    bytes cycle;
    std::vector<std::size_t> output_ends;
    std::vector<std::uint32_t> messages;
    into.units.clear();
    into.cycle_output_bytes = into.cycle_messages = into.cycle_samples = 0;
    for (const scenario_step& step : what.cycle) {
        const rehearsal::result one = stage.step(step.command);
        into.cycle_output_bytes += one.output.size();
        into.cycle_messages += role == station_role::gateway ? 1 : one.messages;
        into.cycle_samples += step.measured ? 1 : 0;
        into.units.push_back({cycle.size(), cycle.size() + one.input.size(), step.with_previous, step.measured, 0});
        cycle.insert(cycle.end(), one.input.begin(), one.input.end());
        output_ends.push_back(into.cycle_output_bytes);
        messages.push_back(one.messages);
    }
    for (std::size_t i = 0; i < what.cycle.size(); ++i) {
        const scenario_step& step = what.cycle[i];
        if (!step.measured) continue;
        std::uint32_t caused = 0;
        for (std::size_t j = i; j <= i + step.ends_after; ++j) caused += messages[j];
        verify_equal(caused, what.messages, "messages of a sample");
        into.units[i].sample_end = output_ends[i + step.ends_after];
    }
    return cycle;
}

}  // namespace

std::string_view to_string(station_role role) noexcept {
    switch (role) {
        case station_role::facility: return "facility";
        case station_role::gateway: return "gateway";
        case station_role::distributor: return "distributor";
        default: return "chain";
    }
}

std::vector<std::unique_ptr<station>> make_stations(station_role role) {
    std::vector<std::unique_ptr<station>> made;
    if (role == station_role::gateway || role == station_role::chain) made.push_back(make_gateway_station());
    if (role == station_role::facility || role == station_role::chain) made.push_back(make_facility_station());
    if (role == station_role::distributor || role == station_role::chain) made.push_back(make_distributor_station());
    return made;
}

canned_stream can(const scenario& what, station_role role) {
    canned_stream made;
    rehearsal stage(role);
    for (const scenario_step& step : what.fill) {
        const rehearsal::result one = stage.step(step.command);
        made.set_up.insert(made.set_up.end(), one.input.begin(), one.input.end());
        made.set_up_output_bytes += one.output.size();
    }
    const bytes first = rehearse_cycle(stage, what, role, made);
    const std::size_t output_bytes = made.cycle_output_bytes;
    const std::uint32_t messages = made.cycle_messages;
    const bytes second = rehearse_cycle(stage, what, role, made);
    verify(first.size() == second.size() && (role == station_role::distributor || first == second), "cycles are alike");
    verify_equal(made.cycle_output_bytes, output_bytes, "bytes that a cycle causes");
    verify_equal(made.cycle_messages, messages, "messages that a cycle causes");
    made.cycle_bytes = first.size();
    while (made.block.size() < canned_stream::block_bytes_min + first.size()) {
        made.block.insert(made.block.end(), first.begin(), first.end());
    }
    return made;
}

}  // namespace corro::lab
