// SPDX-License-Identifier: Apache-2.0
#include "io/net/admission.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/byte_order.hpp"

namespace corro::io {

admission::admission(const admission_options& options) : options_(options) {
    CORRO_ASSERT(options_.guests_max > options_.reserved_for_proven && options_.per_address_max != 0);
    CORRO_ASSERT(options_.guests_max >= options_.reserved_for_proven + options_.reserved_for_unproven);
    CORRO_ASSERT(proven_max() != 0);
}

admission::~admission() {
    CORRO_ASSERT(guests_count_ == 0, "an admission must outlive its guests");
}

std::uint64_t admission::key_of(const std::optional<endpoint>& from) noexcept {
    // The keys of IPv4 and of this machine are prefixes of reserved IPv6 addresses (RFC 4291, section 4). Mapped IPv4
    // addresses and loopback get these keys too.
    constexpr std::uint64_t of_ipv4 = std::uint64_t{1} << 32U;
    constexpr std::uint64_t of_this_machine = 2 * of_ipv4;
    if (!from) return of_this_machine;
    const std::byte* const bytes = reinterpret_cast<const std::byte*>(from->address().data());
    if (from->family() == address_family::ipv4) return of_ipv4 | base::load_be<std::uint32_t>(bytes);
    constexpr std::array<std::uint8_t, 12> mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (std::memcmp(bytes, mapped.data(), mapped.size()) == 0) {
        return of_ipv4 | base::load_be<std::uint32_t>(bytes + mapped.size());
    }
    const auto prefix = base::load_be<std::uint64_t>(bytes);
    return prefix == 0 ? of_this_machine : prefix;
}

bool admission::enter(guest& newcomer, const std::optional<endpoint>& from) {
    CORRO_ASSERT(newcomer.where_ == nullptr, "a guest can enter only once");
    const auto at = origins_.try_emplace(key_of(from)).first;
    origin& mine = at->second;
    ++mine.count;  // from here on `make_room` cannot forget the address
    if (!make_room(mine)) {
        forget(at);
        return false;
    }
    newcomer.where_ = this;
    newcomer.from_ = at;
    newcomer.is_unproven_ = mine.proof == 0;
    static_cast<age_link&>(newcomer).link_before(mine.proof == 0 ? unproven_ : proven_);
    static_cast<address_link&>(newcomer).link_before(mine.guests);
    ++guests_count_;
    if (newcomer.is_unproven_) ++unproven_count_;
    return true;
}

// Evicts guests until a newcomer from this address has a place. `from` counts the newcomer already. False if no guest
// can be evicted.
bool admission::make_room(origin& from) {
    if (from.count > options_.per_address_max) {
        if (from.guests.alone()) return false;
        evict(static_cast<guest&>(static_cast<address_link&>(*from.guests.next)));
    }
    if (from.proof == 0 && unproven_count_ + options_.reserved_for_proven >= options_.guests_max) {
        if (unproven_.alone()) return false;
        evict(static_cast<guest&>(static_cast<age_link&>(*unproven_.next)));
    }
    if (from.proof != 0 && guests_count_ - unproven_count_ >= proven_max()) {
        if (proven_.alone()) return false;
        evict(static_cast<guest&>(static_cast<age_link&>(*proven_.next)));
    }
    return guests_count_ < options_.guests_max || evict_oldest();
}

std::size_t admission::proven_max() const noexcept {
    return options_.guests_max - options_.reserved_for_unproven;
}

bool admission::evict_oldest() {
    if (unproven_.alone() && proven_.alone()) return false;
    evict(static_cast<guest&>(static_cast<age_link&>(*(unproven_.alone() ? proven_.next : unproven_.next))));
    return true;
}

void admission::evict(guest& oldest) {
    ++turned_out_count_;
    leave(oldest);
    oldest.evict();
}

void admission::leave(guest& gone) noexcept {
    if (gone.where_ == nullptr) return;
    gone.where_ = nullptr;
    static_cast<age_link&>(gone).unlink();
    static_cast<address_link&>(gone).unlink();
    --guests_count_;
    if (gone.is_unproven_) --unproven_count_;
    forget(gone.from_);
}

// Counts one guest fewer from this address.
void admission::forget(origins::iterator from) noexcept {
    if (--from->second.count == 0 && from->second.proof == 0) origins_.erase(from);
}

void admission::settle(guest& known) noexcept {
    if (known.where_ == nullptr) return;
    static_cast<age_link&>(known).unlink();
    static_cast<address_link&>(known).unlink();
}

void admission::prove(guest& known) {
    if (known.where_ == nullptr) return;
    const origins::iterator from = known.from_;
    ++from->second.count;  // keeps the address until `forget`
    leave(known);
    remember(from);
    forget(from);
}

// Records that the address has proven itself. Its guests are evicted after unproven ones. Their number stays limited
// per address.
void admission::remember(origins::iterator from) {
    origin& mine = from->second;
    if (mine.proof != 0) {
        proofs_.erase(mine.proof);
    } else {
        for (link* each = mine.guests.next; each != &mine.guests; each = each->next) {
            auto& one = static_cast<guest&>(static_cast<address_link&>(*each));
            static_cast<age_link&>(one).unlink();
            static_cast<age_link&>(one).link_before(proven_);
            if (std::exchange(one.is_unproven_, false)) --unproven_count_;
        }
    }
    // With these guests there may be more proven ones than allowed.
    while (guests_count_ - unproven_count_ > proven_max() && !proven_.alone()) {
        evict(static_cast<guest&>(static_cast<age_link&>(*proven_.next)));
    }
    mine.proof = ++proofs_count_;
    proofs_.emplace(mine.proof, from);
    if (proofs_.size() <= options_.proven_addresses_max) return;
    const origins::iterator forgotten = proofs_.begin()->second;
    proofs_.erase(proofs_.begin());
    forgotten->second.proof = 0;
    if (forgotten->second.count == 0) origins_.erase(forgotten);
}

}  // namespace corro::io
