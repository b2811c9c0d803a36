// SPDX-License-Identifier: Apache-2.0
// Decodes any bytes as a stream of Corro Binary messages. The codec reads nothing beyond the input and fails no
// assertion. A decoded message encodes to a message that decodes to the same.
//
// The committed corpus: corro_wire_samples corpus src/wire/fuzz_corpus/wire_binary

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/assert.hpp"
#include "wire/binary_codec.hpp"
#include "wire/messages_fixture.hpp"

namespace {

using namespace corro;

const wire::instrument_table& instruments() {
    static const wire::instrument_table table = wire::made_instruments();
    return table;
}

template <class Record>
bool same_bytes(const Record& a, const Record& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

/// The frame that `bytes` hold and nothing else.
wire::frame whole_frame(std::span<const std::byte> bytes) {
    const auto found = wire::next_frame(bytes);
    CORRO_ASSERT(found && *found && (*found)->size() == bytes.size());
    return **found;
}

void try_command(const wire::frame& from) {
    domain::command first;
    if (wire::decode_command(from, instruments(), first) || first.verdict() != domain::reject_reason::none) return;
    std::array<std::byte, wire::message_bytes_max> buffer;
    const auto size = wire::encode(first, instruments().find_or_nameless(first.instrument), buffer);
    CORRO_ASSERT(size > 0);
    domain::command second;
    const auto wrong = wire::decode_command(whole_frame(std::span{buffer}.first(size)), instruments(), second);
    CORRO_ASSERT(!wrong && same_bytes(first, second));
}

void try_event(const wire::frame& from) {
    domain::event first;
    if (wire::decode_event(from, instruments(), first)) return;
    std::array<std::byte, wire::message_bytes_max> buffer;
    const auto size = wire::encode(first, instruments().find_or_nameless(first.instrument), from.sequence, buffer);
    CORRO_ASSERT(size > 0);
    domain::event second;
    const auto error = wire::decode_event(whole_frame(std::span{buffer}.first(size)), instruments(), second);
    CORRO_ASSERT(!error && same_bytes(first, second));
}

void try_instrument(const wire::frame& from) {
    const auto first = wire::decode_instrument(from);
    if (!first) return;
    std::array<std::byte, wire::message_bytes_max> buffer;
    const auto size = wire::encode(*first, from.sequence, buffer);
    CORRO_ASSERT(size > 0);
    const auto second = wire::decode_instrument(whole_frame(std::span{buffer}.first(size)));
    CORRO_ASSERT(second && second->name == first->name && second->tick_size == first->tick_size &&
                 second->price_low == first->price_low && second->price_high == first->price_high);
}

/// Checks that a session message is the same after it is read, written and read again.
template <class Message, class View>
void try_session(const wire::frame& from) {
    if (from.message != Message::message_id || wire::check(from)) return;
    const Message first = View{from}.value();
    std::array<std::byte, Message::frame_bytes> buffer;
    CORRO_ASSERT(wire::encode(first, from.sequence, buffer) == buffer.size());
    CORRO_ASSERT(View{whole_frame(buffer)}.value() == first);
}

void try_all(const wire::frame& from) {
    try_command(from);
    try_event(from);
    try_instrument(from);
    try_session<wire::challenge, wire::challenge_view>(from);
    try_session<wire::hello, wire::hello_view>(from);
    try_session<wire::hello_ack, wire::hello_ack_view>(from);
    try_session<wire::heartbeat, wire::heartbeat_view>(from);
    try_session<wire::logout, wire::logout_view>(from);
    try_session<wire::logout_ack, wire::logout_ack_view>(from);
    try_session<wire::reject, wire::reject_view>(from);
    try_session<wire::snapshot_begin, wire::snapshot_begin_view>(from);
    try_session<wire::snapshot_end, wire::snapshot_end_view>(from);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::span<const std::byte> rest = std::as_bytes(std::span{data, size});
    while (true) {
        const auto found = wire::next_frame(rest);
        if (!found || !*found) return 0;
        CORRO_ASSERT((*found)->size() >= wire::header_bytes && (*found)->size() <= rest.size());
        // A heap copy of the exact size, so that the address sanitizer sees a read past the frame.
        const std::vector<std::byte> exact(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>((*found)->size()));
        try_all(whole_frame(exact));
        rest = rest.subspan(exact.size());
    }
}
