// The facility's data of each open order beside the engine's, and the look-up of orders by clients' ids.
//
// A record has the slot that the engine assigned to the order. Two indices lead from a client's ids to slots:
// client order id per account, and request number per session (the "sequencing id"). The number 0 is not an id in
// either.
//
// Limits: as many orders as the engine holds.
// Clients choose both ids, so the hashes of the indices use a secret: no choice of ids makes them slow. The
// secret has no other effect.
//
// Cost: allocates at construction only; expected constant time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/archive.hpp"
#include "base/hash.hpp"
#include "base/hashed_index.hpp"
#include "base/large_array.hpp"
#include "base/page_touch.hpp"
#include "domain/command.hpp"
#include "domain/prefetch_hint.hpp"
#include "domain/types.hpp"
#include "facility/orders/expiry_queue.hpp"

namespace corro::facility {

/// Set in `order_record::flags`: the order is one side of a quote. It is found by its place in the quote table, not by
/// a client's id.
inline constexpr std::uint8_t quote_mark = 0x80;

struct order_record {
    domain::client_order_id client_order{};
    domain::session_id session{};
    domain::account_id account{};
    std::uint32_t request = 0;
    std::uint32_t total = 0;     ///< lots, filled plus open
    std::uint32_t position = 0;  ///< slot in risk::positions
    domain::side side = domain::side::buy;
    domain::time_in_force time_in_force = domain::time_in_force::day;
    domain::self_match_prevention self_match = domain::self_match_prevention::none;
    std::uint8_t flags = 0;
};
static_assert(sizeof(order_record) == 32, "two records in a cache line");

/// Bits of `order_record::flags` beside domain::order_flag.
namespace record_flag {
inline constexpr std::uint8_t counted = 1U << 6U;  ///< in risk::exposures
inline constexpr std::uint8_t grouped = 1U << 5U;  ///< extended_terms has a self-match group
inline constexpr std::uint8_t own = counted | grouped;
}  // namespace record_flag

/// Terms that few orders have.
struct extended_terms {
    std::int64_t expire_time = 0;        ///< of a gtd order
    std::uint64_t self_match_group = 0;  ///< of a grouped order
};

/// The order that a waiting order becomes when its trigger price trades.
struct waiting_terms {
    domain::price_ticks limit{};  ///< no_price if it becomes a market order
    std::uint32_t display = 0;
    domain::order_type type = domain::order_type::stop;
};

class order_directory {
 public:
    static constexpr std::uint32_t none = base::hashed_index::none;

    explicit order_directory(std::uint32_t orders_max, base::page_touch touch = base::page_touch::yes,
                             std::uint64_t hash_key = 0)
        : records_(orders_max, touch),
          waiting_(orders_max, touch),
          rare_(orders_max, touch),
          by_client_order_(orders_max, touch),
          by_request_(orders_max, touch),
          expiries_(orders_max, touch),
          hash_(hash_key) {}

    /// @pre The directory is empty.
    void set_hash_key(std::uint64_t key) noexcept { hash_ = base::keyed_hash(key); }
    [[nodiscard]] order_record& operator[](std::uint32_t slot) noexcept { return records_[slot]; }
    [[nodiscard]] const order_record& operator[](std::uint32_t slot) const noexcept { return records_[slot]; }

    /// The terms of a waiting order.
    [[nodiscard]] waiting_terms& waiting(std::uint32_t slot) noexcept { return waiting_[slot]; }
    [[nodiscard]] const waiting_terms& waiting(std::uint32_t slot) const noexcept { return waiting_[slot]; }

    [[nodiscard]] extended_terms& rare(std::uint32_t slot) noexcept { return rare_[slot]; }
    [[nodiscard]] const extended_terms& rare(std::uint32_t slot) const noexcept { return rare_[slot]; }
    [[nodiscard]] const expiry_queue& expiries() const noexcept { return expiries_; }
    /// The self-match group of an order, or 0.
    [[nodiscard]] std::uint64_t group_of(std::uint32_t slot) const noexcept {
        return (records_[slot].flags & record_flag::grouped) != 0 ? rare_[slot].self_match_group : 0;
    }

    /// The account's open order with this client order id, or `none`.
    [[nodiscard]] std::uint32_t find(domain::account_id account, domain::client_order_id name) const noexcept {
        if (name.value == 0) return none;
        return by_client_order_.find(hash(account, name), [&](std::uint32_t slot) {
            return records_[slot].client_order == name && records_[slot].account == account;
        });
    }
    /// The open order that this session entered with this request number, or `none`. If it used the number several
    /// times, the newest order.
    [[nodiscard]] std::uint32_t find(domain::session_id session, std::uint32_t request) const noexcept {
        if (request == 0) return none;
        return by_request_.find(hash(session, request), [&](std::uint32_t slot) {
            return records_[slot].request == request && records_[slot].session == session;
        });
    }

    /// Prefetches the index entries of the order that a request names or enters.
    void prefetch(const domain::prefetch_hint& f) const noexcept {
        by_client_order_.prefetch(hash(f.account, f.client_order));
        if (f.enters) by_request_.prefetch(hash(f.session, f.request));
    }
    /// Second step: prefetches the record of the order that `f` names. Returns its likely slot, or `none`.
    [[nodiscard]] std::uint32_t prefetch_record(const domain::prefetch_hint& f) const noexcept {
        const std::uint32_t slot = by_client_order_.likely(hash(f.account, f.client_order));
        if (slot != none) __builtin_prefetch(&records_[slot]);
        return slot;
    }
    /// Prefetches what removing an open order reads beside its record, and the record of an order that is removed
    /// later.
    void prefetch_leaving(std::uint32_t slot, std::uint32_t later) const noexcept {
        __builtin_prefetch(&records_[later]);
        const order_record& r = records_[slot];
        by_client_order_.prefetch(hash(r.account, r.client_order));
        by_request_.prefetch(hash(r.session, r.request));
    }
    /// Prefetches what removing an open order reads beside its record.
    void prefetch_request(std::uint32_t slot) const noexcept {
        by_request_.prefetch(hash(records_[slot].session, records_[slot].request));
    }

    /// Adds an order to the indices by the ids in its record. No other open order of the account may have its client
    /// order id.
    void add(std::uint32_t slot) noexcept {
        const order_record& r = records_[slot];
        if (r.time_in_force == domain::time_in_force::gtd) [[unlikely]]
            expiries_.add(slot, rare_[slot].expire_time);
        if (r.client_order.value != 0) by_client_order_.insert(hash(r.account, r.client_order), slot);
        if (r.request == 0) return;
        const std::uint32_t key = hash(r.session, r.request);
        const std::uint32_t older = find(r.session, r.request);
        if (older != none) {
            by_request_.replace(key, older, slot);
        } else {
            by_request_.insert(key, slot);
        }
    }
    void remove(std::uint32_t slot) noexcept {
        const order_record& r = records_[slot];
        if ((r.flags & quote_mark) != 0) [[unlikely]]
            return;
        if (r.time_in_force == domain::time_in_force::gtd) [[unlikely]]
            expiries_.remove(slot);
        if (r.client_order.value != 0) by_client_order_.erase(hash(r.account, r.client_order), slot);
        if (r.request != 0) by_request_.erase(hash(r.session, r.request), slot);
    }

    /// Removes the order from the index of request numbers. No effect for a side of a quote.
    void forget_request(std::uint32_t slot) noexcept {
        order_record& r = records_[slot];
        if (r.request == 0 || (r.flags & quote_mark) != 0) return;
        by_request_.erase(hash(r.session, r.request), slot);
        r.request = 0;
    }

    /// Moves the order to another account, where it has the client order id `name`; no open order of the account may
    /// have it. Removes its request number, because a later reset of the session's numbers looks only at orders of the
    /// session's account.
    void move(std::uint32_t slot, domain::account_id account, std::uint32_t position,
              domain::client_order_id name) noexcept {
        forget_request(slot);
        index_as(slot, account, name);
        records_[slot].position = position;
    }
    /// Gives the order another client order id, which no open order of its account may have.
    void rename(std::uint32_t slot, domain::client_order_id name) noexcept {
        index_as(slot, records_[slot].account, name);
    }

    /// Saves the record of an open order, or loads it and adds the order to the indices.
    void transfer_order(base::archive& a, std::uint32_t slot, bool is_waiting) noexcept {
        order_record& r = records_[slot];
        // When a session has used a request number again, the number finds only the newer order.
        bool by_name = !a.loads() && find(r.account, r.client_order) == slot;
        bool by_request = !a.loads() && find(r.session, r.request) == slot;
        a.value(r);
        a.value(by_name, by_request);
        if (is_waiting) a.value(waiting_[slot].limit, waiting_[slot].display, waiting_[slot].type);
        if (r.time_in_force == domain::time_in_force::gtd || (r.flags & record_flag::grouped) != 0) {
            a.value(rare_[slot]);
        }
        if (!a.loads() || a.failed()) return;
        if (by_name) by_client_order_.insert(hash(r.account, r.client_order), slot);
        if (by_request) by_request_.insert(hash(r.session, r.request), slot);
    }
    /// The most ids that one bucket of an index has sent on to the next. Reads both indices completely.
    [[nodiscard]] std::uint32_t passed_max() const noexcept {
        return std::max(by_client_order_.passed_max(), by_request_.passed_max());
    }
    /// Saves or loads the data that is not part of a single order.
    void transfer(base::archive& a) noexcept { expiries_.transfer(a); }

 private:
    void index_as(std::uint32_t slot, domain::account_id account, domain::client_order_id name) noexcept {
        order_record& r = records_[slot];
        if (r.client_order.value != 0) by_client_order_.erase(hash(r.account, r.client_order), slot);
        r.account = account;
        r.client_order = name;
        if (name.value != 0) by_client_order_.insert(hash(account, name), slot);
    }

    // Most clients count their ids: four consecutive ids have their home in one bucket, so that one cache line has the
    // newest orders of a client. The index finds homes by the low bits of a hash and compares all bits.
    static constexpr unsigned neighbours_bits = 2;
    [[nodiscard]] std::uint32_t hash_of(std::uint64_t owner, std::uint64_t name) const noexcept {
        constexpr unsigned shift = 32 - neighbours_bits;
        return (hash_(name >> neighbours_bits, owner) >> neighbours_bits) | static_cast<std::uint32_t>(name) << shift;
    }
    [[nodiscard]] std::uint32_t hash(domain::account_id account, domain::client_order_id name) const noexcept {
        return hash_of(account.value, name.value);
    }
    [[nodiscard]] std::uint32_t hash(domain::session_id session, std::uint32_t request) const noexcept {
        return hash_of(session.value, request);
    }

    base::large_array<order_record> records_;
    base::large_array<waiting_terms> waiting_;
    base::large_array<extended_terms> rare_;
    base::hashed_index by_client_order_;
    base::hashed_index by_request_;
    expiry_queue expiries_;
    base::keyed_hash hash_;
};
static_assert(sizeof(order_directory) == 64 + 3 * 24 + 2 * 48 + 24 && sizeof(waiting_terms) == 16 &&
                  sizeof(extended_terms) == 16,
              "the transfers know every member; then correct the size here");

}  // namespace corro::facility
