// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a stream of FIX messages. Nothing is read beyond the input, every look makes progress, and a sound
// message is written and read again as the same fields. Values are read as whatever they may be, rules of time zones
// and signed Logons among them.
//
// The committed corpus: src/fix/fuzz_corpus/codec

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.hpp"
#include "fix/codec/field_index.hpp"
#include "fix/codec/group.hpp"
#include "fix/codec/message_writer.hpp"
#include "fix/codec/values.hpp"
#include "fix/dictionary/structure.hpp"
#include "fix/session/schedule.hpp"
#include "fix/session/signed_logon.hpp"

namespace {

using namespace corro::fix;

constexpr std::uint32_t leg_members[] = {524, 525, 538, 539, 545, 600, 602, 623};
constexpr group_layout legs{555, 600, leg_members};

// A schedule in any zone has sound periods.
void try_zone(std::string_view rule) {
    session_schedule schedule;
    const auto zone = time_zone::parse(rule);
    if (!zone) return;
    schedule.zone = *zone;
    schedule.begins = std::chrono::hours(3);
    schedule.ends = std::chrono::hours(2);
    for (std::int64_t day = 20'000; day < 20'400; day += 13) {
        const std::int64_t wall = day * 86'400'000'000'000;
        CORRO_ASSERT(schedule.next_begin(wall) > wall);
        const auto period = schedule.at(wall);
        CORRO_ASSERT(!period || (period->begin <= wall && wall < period->end));
    }
}

void try_values(std::string_view text) {
    try_zone(text);
    static_cast<void>(signed_value(text));
    static_cast<void>(boolean_value(text));
    static_cast<void>(date_value(text));
    static_cast<void>(time_of_day_value(text));
    if (const auto value = decimal_value(text)) {
        static_cast<void>(steps_of(*value, {25, 2}));
        std::vector<char> room(256);
        message_writer writer(room, "FIX.4.4");
        writer.begin("0");
        writer.put(44, *value);
        const std::string_view written = writer.finish();
        field_index index(4);
        CORRO_ASSERT(!index.index(written, next_frame(written, room.size())));
        CORRO_ASSERT(decimal_value(*index.get(44)) == value);
    }
    if (const auto time = timestamp_value(text)) {
        char form[timestamp_format::bytes_max];
        const std::size_t size = timestamp_format().write(*time, time_precision::nanoseconds, form);
        CORRO_ASSERT(timestamp_value({form, size}) == time);
    }
}

/// Whether this tag is there twice, searched in the plain way.
bool repeats(const field_index& index, std::uint32_t tag) {
    return std::ranges::count(index.fields(), tag, &field::tag) > 1;
}

// What the quick look lets pass has no tag twice that the close look would find.
void try_structure(const field_index& index) {
    const auto problem = check_structure(index);
    bool is_any_repeated = false;
    for (const field& each : index.fields()) is_any_repeated = is_any_repeated || repeats(index, each.tag);
    CORRO_ASSERT(!is_any_repeated || index.may_repeat());
    if (!problem) return;
    CORRO_ASSERT(problem->tag != 0);
    if (problem->reason == reject_reason::tag_appears_twice) {
        CORRO_ASSERT(repeats(index, problem->tag) || problem->tag <= 10);
    } else {
        CORRO_ASSERT(index.find(problem->tag) != nullptr);
    }
}

void try_message(std::string_view received, const frame_result& frame) {
    field_index index(200);
    const auto problem = index.index(received, frame);
    CORRO_ASSERT(!index.fields().empty() || problem);
    for (const field& each : index.fields()) {
        const std::string_view value = index.value(each);
        CORRO_ASSERT(!value.empty() && value.data() + value.size() < received.data() + frame.body_end);
        CORRO_ASSERT(index.find(each.tag) != nullptr);
        try_values(value);
    }
    if (const auto logon = read_signed_logon(index)) {
        CORRO_ASSERT(logon->time >= 0 && index.get(96) == logon->signed_text);
        static_cast<void>(is_signed_with(*logon, std::as_bytes(std::span(logon->signed_text))));
    }
    group_reader group(index, {0, index.fields().size()}, legs);
    for (auto entry = group.next(); entry; entry = group.next()) CORRO_ASSERT(entry->begin < entry->end);
    if (!problem) try_structure(index);
    if (problem || index.begin_string().size() > begin_string_bytes_max) return;
    std::vector<char> room(received.size() + 256);
    message_writer writer(room, index.begin_string());
    writer.begin(index.message_type());
    for (const field& each : index.fields().subspan(1)) writer.put(each.tag, index.value(each));
    const std::string_view written = writer.finish();
    const frame_result again = next_frame(written, room.size());
    CORRO_ASSERT(again.state == frame_state::complete && again.bytes == written.size());
    field_index second(200);
    CORRO_ASSERT(!second.index(written, again) && second.fields().size() == index.fields().size());
    for (std::size_t i = 0; i < index.fields().size(); ++i) {
        CORRO_ASSERT(second.fields()[i].tag == index.fields()[i].tag);
        CORRO_ASSERT(second.value(second.fields()[i]) == index.value(index.fields()[i]));
    }
}

/// Makes length and checksum of a body right, so that inputs reach the index.
std::string framed(std::string_view body) {
    std::string text =
        "8=FIX.4.4\x01"
        "9=" +
        std::to_string(body.size() + 6) +
        "\x01"
        "35=D\x01";
    text += body;
    text += soh;
    const unsigned sum = sum_of(text);
    text += "10=" + std::to_string(1'000 + sum).substr(1) + soh;
    return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // On the heap, with its exact size, so that a sanitizer sees every byte that is read beyond it.
    const std::vector<char> bytes(data, data + size);
    std::string_view left(bytes.data(), bytes.size());
    while (!left.empty()) {
        const frame_result frame = next_frame(left, 4'096);
        if (frame.state == frame_state::incomplete) break;
        CORRO_ASSERT(frame.bytes != 0 && frame.bytes <= left.size());
        if (frame.state == frame_state::complete) try_message(left, frame);
        left.remove_prefix(frame.bytes);
    }
    const std::string whole = framed({bytes.data(), bytes.size()});
    const std::vector<char> exact(whole.begin(), whole.end());
    const std::string_view text(exact.data(), exact.size());
    const frame_result frame = next_frame(text, message_bytes_max);
    CORRO_ASSERT(frame.state == frame_state::complete && frame.bytes == text.size());
    try_message(text, frame);
    return 0;
}
