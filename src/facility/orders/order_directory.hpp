// SPDX-License-Identifier: Apache-2.0
// The facility's data of each open order beside the engine's, and the look-up of orders by clients' ids.
//
// A record has the slot that the engine assigned to the order, and lies in the order's line there. Two sets of names
// lead from a client's ids to slots: client order id per account, and request number per session (the "sequencing id").
// The number 0 is not an id in either.
//
// Limits: as many orders as the engine holds.
//
// Cost: allocates at construction only; expected constant time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/archive.hpp"
#include "base/large_array.hpp"
#include "base/page_touch.hpp"
#include "domain/command.hpp"
#include "domain/prefetch_hint.hpp"
#include "domain/types.hpp"
#include "facility/limits.hpp"
#include "facility/orders/expiry_queue.hpp"
#include "facility/orders/order_names.hpp"
#include "matching/order_record.hpp"

namespace corro::facility {

/// Set in `order_record::flags`: the order is one side of a quote. It is found by its place in the quote table, not by
/// a client's id.
inline constexpr std::uint8_t quote_mark = 0x80;

using matching::order_record;

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
    static constexpr std::uint32_t none = order_names::none;

    /// @param records  Of the engine, which must outlive the directory.
    order_directory(matching::order_records records, std::uint32_t orders_max, std::uint32_t accounts_max,
                    base::page_touch touch = base::page_touch::yes, std::uint64_t hash_key = 0)
        : records_(records),
          waiting_(orders_max, touch, base::array_use::few_elements),
          rare_(orders_max, touch, base::array_use::few_elements),
          names_seen_(accounts_max),
          requests_seen_(sessions_counted_max),
          by_client_order_(orders_max, touch, hash_key),
          by_request_(orders_max, touch, hash_key),
          expiries_(orders_max, touch) {}

    /// @pre The directory is empty.
    void set_hash_key(std::uint64_t key) noexcept {
        by_client_order_.set_hash_key(key);
        by_request_.set_hash_key(key);
    }
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
    [[nodiscard, gnu::always_inline]] std::uint32_t find(domain::account_id account,
                                                         domain::client_order_id name) const noexcept {
        if (name.value == 0) return none;
        return by_client_order_.find(account.value, name.value, [&](std::uint32_t slot) {
            return records_[slot].client_order == name && records_[slot].account == account;
        });
    }
    /// Whether an open order of the account has this client order id.
    [[nodiscard, gnu::always_inline]] bool is_taken(domain::account_id account,
                                                    domain::client_order_id name) const noexcept {
        if (name.value > names_seen_[account.value]) [[likely]]
            return false;
        return find(account, name) != none;
    }
    /// The open order that this session entered with this request number, or `none`. If it used the number several
    /// times, the newest order.
    [[nodiscard]] std::uint32_t find(domain::session_id session, std::uint32_t request) const noexcept {
        if (request == 0) return none;
        return by_request_.find(session.value, request, [&](std::uint32_t slot) {
            return records_[slot].request == request && records_[slot].session == session;
        });
    }

    /// Prefetches the names of the order that a request names or enters.
    void prefetch(const domain::prefetch_hint& f) const noexcept {
        by_client_order_.prefetch(f.account.value, f.client_order.value);
        if (f.enters) by_request_.prefetch(f.session.value, f.request);
    }
    void prefetch_name(domain::account_id account, domain::client_order_id name) const noexcept {
        by_client_order_.prefetch(account.value, name.value);
    }
    void prefetch_request(domain::session_id session, std::uint32_t request) const noexcept {
        by_request_.prefetch(session.value, request);
    }
    /// The slot that `find` is likely to return. Reads no record.
    [[nodiscard]] std::uint32_t likely(domain::account_id account, domain::client_order_id name) const noexcept {
        return by_client_order_.likely(account.value, name.value);
    }
    [[nodiscard]] std::uint32_t likely(domain::session_id session, std::uint32_t request) const noexcept {
        return by_request_.likely(session.value, request);
    }
    /// Second step: prefetches the record of the order that `f` names. Returns its likely slot, or `none`.
    [[nodiscard]] std::uint32_t prefetch_record(const domain::prefetch_hint& f) const noexcept {
        const std::uint32_t slot = likely(f.account, f.client_order);
        if (slot != none) __builtin_prefetch(&records_[slot]);
        return slot;
    }
    /// Prefetches what removing an open order reads beside its record, and the record of an order that is removed
    /// later.
    void prefetch_leaving(std::uint32_t slot, std::uint32_t later) const noexcept {
        __builtin_prefetch(&records_[later]);
        prefetch_names(slot);
    }
    /// Prefetches what removing an open order reads beside its record.
    void prefetch_names(std::uint32_t slot) const noexcept {
        const order_record& r = records_[slot];
        by_client_order_.prefetch(r.account.value, r.client_order.value);
        by_request_.prefetch(r.session.value, r.request);
    }

    /// Adds an order by the ids in its record. No other open order of the account may have its client order id.
    [[gnu::always_inline]] void add(std::uint32_t slot) noexcept {
        const order_record& r = records_[slot];
        if (r.time_in_force == domain::time_in_force::gtd) [[unlikely]]
            expiries_.add(slot, rare_[slot].expire_time);
        add_names(slot, {r.account, r.client_order, r.session, r.request});
    }
    /// The same for an order that has just entered and is good for the day or till cancelled.
    [[gnu::always_inline]] void add_plain(std::uint32_t slot, const domain::command& c) noexcept {
        add_names(slot, {c.account, c.client_order, c.session, c.request()});
    }
    [[gnu::always_inline]] void remove(std::uint32_t slot) noexcept {
        const order_record& r = records_[slot];
        if ((r.flags & quote_mark) != 0) [[unlikely]]
            return;
        if (r.time_in_force == domain::time_in_force::gtd) [[unlikely]]
            expiries_.remove(slot);
        if (r.client_order.value != 0) by_client_order_.erase(r.account.value, r.client_order.value, slot);
        if (r.request != 0) by_request_.erase(r.session.value, r.request, slot);
    }

    /// The order loses its request number. No effect for a side of a quote.
    void forget_request(std::uint32_t slot) noexcept {
        order_record& r = records_[slot];
        if (r.request == 0 || (r.flags & quote_mark) != 0) return;
        by_request_.erase(r.session.value, r.request, slot);
        r.request = 0;
    }

    /// Moves the order to another account, where it has the client order id `name`; no open order of the account may
    /// have it. Removes its request number, because a later reset of the session's numbers looks only at orders of the
    /// session's account.
    void move(std::uint32_t slot, domain::account_id account, std::uint32_t position,
              domain::client_order_id name) noexcept {
        forget_request(slot);
        name_as(slot, account, name);
        records_[slot].position = position;
    }
    /// Gives the order another client order id, which no open order of its account may have.
    void rename(std::uint32_t slot, domain::client_order_id name) noexcept {
        name_as(slot, records_[slot].account, name);
    }

    /// Saves the record of an open order, or loads it and adds the order by its names.
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
        // Of forged bytes, two orders may claim one name; the state hash then differs.
        a.require(r.account.value < names_seen_.size());
        if (a.failed()) return;
        if (by_name) insert_client_order(slot, r.account, r.client_order);
        if (by_request) insert_request(slot, r);
    }
    /// The most names that one bucket of a table of names has sent on to the next. Reads both tables completely.
    [[nodiscard]] std::uint32_t passed_max() const noexcept {
        return std::max(by_client_order_.passed_max(), by_request_.passed_max());
    }
    /// Saves or loads the data that is not part of a single order.
    void transfer(base::archive& a) noexcept { expiries_.transfer(a); }

 private:
    /// What an order's two names consist of.
    struct two_names {
        domain::account_id account;
        domain::client_order_id client_order;
        domain::session_id session;
        std::uint32_t request;
    };

    [[gnu::always_inline]] void add_names(std::uint32_t slot, two_names n) noexcept {
        insert_client_order(slot, n.account, n.client_order);
        if (n.request == 0) return;
        if (n.session.value < sessions_counted_max) [[likely]] {
            std::uint32_t& seen = requests_seen_[n.session.value];
            if (n.request > seen) [[likely]] {
                by_request_.insert(n.session.value, n.request, slot);
                seen = n.request;
                return;
            }
        }
        release_request(n.session, n.request);
        by_request_.insert(n.session.value, n.request, slot);
    }
    void name_as(std::uint32_t slot, domain::account_id account, domain::client_order_id name) noexcept {
        order_record& r = records_[slot];
        if (r.client_order.value != 0) by_client_order_.erase(r.account.value, r.client_order.value, slot);
        r.account = account;
        r.client_order = name;
        insert_client_order(slot, account, name);
    }
    [[gnu::always_inline]] void insert_client_order(std::uint32_t slot, domain::account_id account,
                                                    domain::client_order_id name) noexcept {
        if (name.value == 0) return;
        by_client_order_.insert(account.value, name.value, slot);
        std::uint64_t& seen = names_seen_[account.value];
        if (name.value > seen) seen = name.value;
    }
    [[gnu::always_inline]] void insert_request(std::uint32_t slot, const order_record& r) noexcept {
        by_request_.insert(r.session.value, r.request, slot);
        if (r.session.value >= sessions_counted_max) [[unlikely]]
            return;
        std::uint32_t& seen = requests_seen_[r.session.value];
        if (r.request > seen) seen = r.request;
    }
    /// The number will find a newer order.
    [[gnu::noinline]] void release_request(domain::session_id session, std::uint32_t request) noexcept {
        const std::uint32_t older = find(session, request);
        if (older != none) by_request_.erase(session.value, request, older);
    }

    matching::order_records records_;
    base::large_array<waiting_terms> waiting_;
    base::large_array<extended_terms> rare_;
    // The highest numbers that open orders have had, so that higher ones need no search; changes no result.
    std::vector<std::uint64_t> names_seen_;     ///< by account
    std::vector<std::uint32_t> requests_seen_;  ///< by session
    order_names by_client_order_;
    order_names by_request_;
    expiry_queue expiries_;
};
static_assert(sizeof(order_directory) == 64 + 8 + 4 * 24 + 2 * sizeof(order_names) && sizeof(waiting_terms) == 16 &&
                  sizeof(extended_terms) == 16,
              "the transfers know every member; then correct the size here");

}  // namespace corro::facility
