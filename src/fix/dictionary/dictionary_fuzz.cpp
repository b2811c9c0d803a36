// SPDX-License-Identifier: Apache-2.0
// Any bytes are read as a data dictionary: they are one, or the error has words. Of a dictionary, every table is
// consistent, and a message of it is checked.
//
// The committed corpus: src/fix/fuzz_corpus/dictionary

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "fix/codec/test_messages.hpp"
#include "fix/dictionary/dictionary.hpp"
#include "fix/dictionary/validator.hpp"

namespace {

using namespace corro::fix;

/// Every member leads to a field, and every group to a row with members.
void look_at(const dictionary& of, dictionary::row_number row) {
    unsigned place = 0;
    for (const auto member : of.members(row)) {
        const dictionary::member entry = of.entry(row, member);
        CORRO_ASSERT(entry && entry.place() == ++place);
        CORRO_ASSERT(of.find(of.field(member).tag) == member);
        if (entry.is_group()) CORRO_ASSERT(!of.members(of.group(row, member)).empty());
    }
    for (const auto required : of.required(row)) CORRO_ASSERT(of.entry(row, required).is_required());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view xml(reinterpret_cast<const char*>(data), size);
    auto rules = std::make_shared<validation>();
    try {
        rules->session = dictionary::read(xml, "fuzzed.xml");
    } catch (const dictionary_error& error) {
        CORRO_ASSERT(std::string_view(error.what()).size() > sizeof "fuzzed.xml");
        return 0;
    }
    const dictionary& made = *rules->session;
    look_at(made, dictionary::header_row());
    look_at(made, dictionary::trailer_row());
    rules->applications.emplace_back("9", rules->session);
    validator checking(rules);
    field_index index;
    for (const auto& [type, row] : made.messages()) {
        look_at(made, row);
        CORRO_ASSERT(made.find_message(type) == row);
        // All its fields, twice, so that the entries of groups begin and end.
        std::string body = "35=" + type + "|1128=9|";
        for (int i = 0; i < 2 && body.size() < 8'000; ++i) {
            for (const auto member : made.members(row)) body += std::to_string(made.field(member).tag) + "=1|";
        }
        const std::string bytes = testing::framed(body);
        const frame_result frame = next_frame(bytes, message_bytes_max);
        if (frame.state != frame_state::complete) continue;
        static_cast<void>(index.index(bytes, frame));
        static_cast<void>(checking.check(index));
    }
    return 0;
}
