// SPDX-License-Identifier: Apache-2.0
#include "node/recovery/venue_snapshot.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "base/assert.hpp"
#include "base/byte_order.hpp"
#include "base/byte_stream.hpp"
#include "base/defect.hpp"
#include "node/configuration/limits.hpp"

namespace corro::node {
namespace {

using size_bytes = std::array<std::byte, sizeof(std::uint64_t)>;

/// "CORROCUT", then the arrival and each partition's sequence number: the last bytes of a snapshot with a cut.
constexpr std::uint64_t mark_of_a_cut = 0x5455'434f'5252'4f43;

/// "CORROCOD", then the number of sessions with a cancel on disconnect, and the id and account of each in one number.
/// Follows the feed; missing when there are none.
constexpr std::uint64_t mark_of_cancels = 0x444f'434f'5252'4f43;

void append(std::vector<std::byte>& bytes, std::uint64_t value) {
    size_bytes stored;
    base::store_le<std::uint64_t>(stored.data(), value);
    bytes.insert(bytes.end(), stored.begin(), stored.end());
}

void append_cancels(std::vector<std::byte>& bytes, const matching_host& host) {
    const std::span<const domain::account_id> of = host.disconnect_cancels();
    const auto count = static_cast<std::uint64_t>(
        std::ranges::count_if(of, [](domain::account_id account) { return account.value != 0; }));
    if (count == 0 || CORRO_DEFECT(cancels_missing_in_snapshot)) return;
    append(bytes, mark_of_cancels);
    append(bytes, count);
    for (std::uint64_t session = 1; session < of.size(); ++session) {
        if (of[session].value != 0) append(bytes, session << 32U | of[session].value);
    }
}

void take_cancels(std::span<const std::byte> rest, matching_host& host) {
    const auto number = [&](std::size_t i) { return base::load_le<std::uint64_t>(rest.data() + i * sizeof i); };
    if (rest.size() < 2 * sizeof(std::uint64_t) || number(0) != mark_of_cancels) return;
    const std::size_t count = std::min<std::uint64_t>(number(1), rest.size() / sizeof(std::uint64_t) - 2);
    for (std::size_t i = 0; i < count; ++i) {
        host.set_disconnect_cancel(domain::session_id{static_cast<std::uint32_t>(number(2 + i) >> 32U)},
                                   domain::account_id{static_cast<std::uint32_t>(number(2 + i))});
    }
}

}  // namespace

std::vector<std::byte> save_venue(const venue_parts& parts) {
    std::vector<std::byte> bytes;
    base::memory_sink sink(bytes);
    const bool host_saved = parts.host->save(sink);
    const std::size_t size_at = bytes.size();
    bytes.resize(size_at + sizeof(size_bytes));
    if (parts.answers != nullptr) parts.answers->save(bytes);
    base::store_le<std::uint64_t>(bytes.data() + size_at, bytes.size() - size_at - sizeof(size_bytes));
    const bool feed_saved = parts.feed->save(sink, snapshot_feed_bytes_max);
    CORRO_ASSERT(host_saved && feed_saved, "a memory sink cannot fail");
    append_cancels(bytes, *parts.host);
    if (parts.cut == nullptr) return bytes;
    append(bytes, mark_of_a_cut);
    append(bytes, parts.cut->arrival);
    for (const std::uint64_t sequence : parts.cut->sequences) append(bytes, sequence);
    return bytes;
}

load_failure load_venue(const venue_parts& parts, std::span<const std::byte> saved) {
    base::memory_source source(saved);
    if (const std::error_code unfit = parts.host->load(source)) return {unfit, {}};
    for (const domain::instrument& i : parts.host->state().defined()) parts.feed->define(i);
    size_bytes size{};
    if (!source.read(size)) return {{}, "it ends before the answers"};
    const std::uint64_t answers_bytes = base::load_le<std::uint64_t>(size.data());
    if (answers_bytes > source.left()) return {{}, "it ends in the answers"};
    const std::span<const std::byte> answers = saved.last(source.left()).first(static_cast<std::size_t>(answers_bytes));
    if (parts.answers != nullptr) {
        if (std::string problem = parts.answers->load(answers); !problem.empty()) return {{}, problem};
    }
    base::memory_source rest(saved.last(source.left()).subspan(answers.size()));
    if (!parts.feed->load(rest)) return {{}, "the feed is one of other instruments"};
    take_cancels(saved.last(rest.left()), *parts.host);
    if (parts.lines != nullptr) parts.lines->begin_at_end();
    return {};
}

std::size_t cut_bytes(std::size_t partitions_count) noexcept {
    return (2 + partitions_count) * sizeof(std::uint64_t);
}

std::optional<venue_cut> cut_of(std::span<const std::byte> saved, std::size_t partitions_count) {
    if (saved.size() < cut_bytes(partitions_count)) return std::nullopt;
    const std::span<const std::byte> end = saved.last(cut_bytes(partitions_count));
    const auto number = [&](std::size_t i) { return base::load_le<std::uint64_t>(end.data() + i * sizeof i); };
    if (number(0) != mark_of_a_cut) return std::nullopt;
    venue_cut cut;
    cut.arrival = number(1);
    for (std::size_t i = 0; i < partitions_count; ++i) cut.sequences.push_back(number(2 + i));
    return cut;
}

facility::snapshot_header facility_header_of(std::span<const std::byte> saved) noexcept {
    facility::snapshot_header header;
    if (saved.size() >= sizeof header) std::memcpy(&header, saved.data(), sizeof header);
    return header;
}

}  // namespace corro::node
