// SPDX-License-Identifier: Apache-2.0
#include "sim/stored_bytes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace corro::sim {
namespace {

bool has_only_zeros(std::span<const std::byte> bytes) noexcept {
    return std::ranges::all_of(bytes, [](std::byte each) { return each == std::byte{}; });
}

}  // namespace

/// Makes the undo records of the sectors that are about to change; `end_byte` is greater than `first_byte`.
void stored_bytes::remember(std::uint64_t first_byte, std::uint64_t end_byte) {
    undo_records& before = generations_.back().before;
    const std::uint64_t end = (end_byte + sector_bytes - 1) / sector_bytes;
    for (std::uint64_t number = first_byte / sector_bytes; number < end; ++number) {
        const auto next = before.lower_bound(number);
        if (next != before.end() && next->first == number) {
            next->second.is_forgotten = false;
            continue;
        }
        sector content;
        now_.read(number * sector_bytes, content);
        undo record;
        if (!has_only_zeros(content)) record.bytes = std::make_unique<const sector>(content);
        before.emplace_hint(next, number, std::move(record));
    }
}

void stored_bytes::write(std::uint64_t offset, std::span<const std::byte> from) {
    if (from.empty()) return;
    const std::uint64_t end = offset + from.size();
    remember(offset, end);
    if (end > now_.size()) now_.resize(end);
    now_.write(offset, from);
}

void stored_bytes::resize(std::uint64_t bytes) {
    if (bytes < now_.size()) remember_what_is_cut_off(bytes);
    now_.resize(bytes);
}

/// Of what is cut off, only what was written changes, and what has a record: a forgotten sector may be a hole by now.
void stored_bytes::remember_what_is_cut_off(std::uint64_t bytes) {
    for (const generation& each : generations_) {
        const auto end = each.before.lower_bound((now_.size() + sector_bytes - 1) / sector_bytes);
        for (auto at = each.before.lower_bound(bytes / sector_bytes); at != end; ++at) {
            remember(at->first * sector_bytes, at->first * sector_bytes + 1);
        }
    }
    for (std::uint64_t at = now_.next_written(bytes); at < now_.size();) {
        const std::uint64_t end = std::min(now_.size(), (at / sparse_bytes::page_bytes + 1) * sparse_bytes::page_bytes);
        remember(at, end);
        at = now_.next_written(end);
    }
}

std::uint64_t stored_bytes::begin_sync() {
    generations_.back().number = ++syncs_count_;
    generations_.back().size_after = now_.size();
    generations_.emplace_back();
    return syncs_count_;
}

/// Adds older records to newer ones; the older content counts.
void stored_bytes::put_under(undo_records&& older, undo_records& newer) {
    if (newer.empty()) {
        newer = std::move(older);
        return;
    }
    for (auto& [number, record] : older) {
        const auto [at, is_new] = newer.try_emplace(number);
        at->second.bytes = std::move(record.bytes);
        if (is_new) at->second.is_forgotten = record.is_forgotten;
    }
}

void stored_bytes::end_sync(std::uint64_t number, bool succeeds) {
    const auto found = std::ranges::find(generations_, number, &generation::number);
    if (found == generations_.end()) return;  // a later sync has ended before it, and made its bytes durable
    if (!succeeds) {
        for (auto& [sector_number, record] : found->before) record.is_forgotten = true;
        put_under(std::move(found->before), std::next(found)->before);
        generations_.erase(found);
        return;
    }
    // Forgotten sectors stay as they are on the disk, unless they were written again.
    undo_records forgotten;
    for (auto each = generations_.begin(); each != std::next(found); ++each) {
        for (auto& [sector_number, record] : each->before) {
            if (record.is_forgotten) {
                forgotten.try_emplace(sector_number, std::move(record));
            } else if (!forgotten.empty()) {
                forgotten.erase(sector_number);
            }
        }
    }
    durable_size_ = found->size_after;
    // What is behind the durable length is not on the disk any more.
    forgotten.erase(forgotten.lower_bound((durable_size_ + sector_bytes - 1) / sector_bytes), forgotten.end());
    const auto last = forgotten.find(durable_size_ / sector_bytes);
    if (last != forgotten.end() && last->second.bytes != nullptr) {
        sector content = *last->second.bytes;
        std::fill(content.begin() + static_cast<std::ptrdiff_t>(durable_size_ % sector_bytes), content.end(),
                  std::byte{});
        last->second.bytes = std::make_unique<const sector>(content);
    }
    const auto next = generations_.erase(generations_.begin(), std::next(found));
    if (!forgotten.empty()) put_under(std::move(forgotten), next->before);
}

bool stored_bytes::is_durable() const noexcept {
    return durable_size_ == now_.size() && unsynced_sectors_count() == 0;
}

std::size_t stored_bytes::unsynced_sectors_count() const noexcept {
    std::size_t count = 0;
    for (const generation& each : generations_) count += each.before.size();
    return count;
}

bool stored_bytes::is_unsynced(std::uint64_t sector_number) const noexcept {
    return std::ranges::any_of(generations_,
                               [&](const generation& each) { return each.before.contains(sector_number); });
}

/// Gives a sector the content that it has after the power cut.
/// @param bytes     How many of its bytes a file can have.
/// @param versions  Its contents before the present one, the durable one first; at least one.
void stored_bytes::decide(std::uint64_t sector_number, std::size_t bytes, std::span<const undo* const> versions,
                          base::prng& random) {
    enum : std::uint8_t { kept, dropped, torn, outcomes_count };
    const std::uint64_t outcome = random.below(outcomes_count);
    const std::uint64_t version = versions.size() == 1 ? 1 : 1 + random.below(versions.size());
    if (outcome == kept && version == versions.size()) return;
    const auto content_of = [](const undo& record) { return record.bytes != nullptr ? *record.bytes : sector{}; };
    sector after = content_of(*versions.front());
    if (outcome != dropped) {
        sector newer;
        if (version == versions.size()) {
            now_.read(sector_number * sector_bytes, newer);
        } else {
            newer = content_of(*versions[version]);
        }
        const std::size_t new_bytes = outcome == torn && bytes > 1 ? 1 + random.below(bytes - 1) : sector_bytes;
        std::copy_n(newer.begin(), new_bytes, after.begin());
    }
    now_.write(sector_number * sector_bytes, after);
}

void stored_bytes::cut_power(base::prng& random) {
    if (is_durable()) {
        generations_ = std::vector<generation>(1);
        return;
    }
    const std::uint64_t new_size = now_.size();
    std::uint64_t size = new_size;
    if (new_size != durable_size_) {
        const auto [least, most] = std::minmax(new_size, durable_size_);
        const std::uint64_t sizes[] = {durable_size_, new_size, least + random.below(most - least + 1)};
        size = sizes[random.below(std::size(sizes))];
    }
    std::map<std::uint64_t, std::vector<const undo*>> versions;
    for (const generation& each : generations_) {
        for (const auto& [number, record] : each.before) versions[number].push_back(&record);
    }
    // Whole sectors are written, also at the end and behind it.
    if (!versions.empty()) now_.resize(std::max(new_size, (versions.rbegin()->first + 1) * sector_bytes));
    const std::uint64_t end = std::max(new_size, durable_size_);
    for (const auto& [number, each] : versions) {
        const std::uint64_t begin = number * sector_bytes;
        decide(number, std::min<std::uint64_t>(end > begin ? end - begin : 0, sector_bytes), each, random);
    }
    now_.resize(size);
    durable_size_ = size;
    generations_ = std::vector<generation>(1);
}

std::optional<std::uint64_t> stored_bytes::damage(base::prng& random) {
    constexpr int tries = 32;
    for (int i = 0; i < tries && now_.pages_count() != 0; ++i) {
        const std::uint64_t page = now_.offset_of_page(random.below(now_.pages_count()));
        const std::uint64_t number = page / sector_bytes + random.below(sparse_bytes::page_bytes / sector_bytes);
        const std::uint64_t begin = number * sector_bytes;
        if (begin >= std::min(now_.size(), durable_size_) || is_unsynced(number)) continue;
        sector content;
        const std::span<std::byte> part =
            std::span(content).first(std::min<std::uint64_t>(sector_bytes, now_.size() - begin));
        now_.read(begin, part);
        if (random.below(2) == 0) {
            const std::uint64_t at = random.below(part.size());
            part[at] ^= std::byte{1} << random.below(8);
            now_.write(begin, part);
            return begin + at;
        }
        const auto first = std::ranges::find_if(part, [](std::byte each) { return each != std::byte{}; });
        if (first == part.end()) continue;
        const auto changed = static_cast<std::uint64_t>(first - part.begin());
        std::ranges::fill(part, std::byte{});
        now_.write(begin, part);
        return begin + changed;
    }
    return std::nullopt;
}

}  // namespace corro::sim
