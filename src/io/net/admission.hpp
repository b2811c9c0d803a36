// SPDX-License-Identifier: Apache-2.0
// Admission: the number of unauthenticated connections, in all and from each address.
//
// A new connection is not refused when the limit is reached: the oldest one is evicted instead. So a peer with a key
// only has to log on quickly enough. The oldest one is:
//
// - for an address that has its maximum, the oldest of that address;
// - when the newcomer's kind (from an address that has proven something, or not) has its maximum, the oldest of that
//   kind;
// - otherwise the oldest from an address that has not proven anything, or, without any, the oldest of all.
//
// An address has proven something once `prove` was called for a guest from there; the newest such addresses are
// kept. An address is an IPv4 address, the first 64 bits of an IPv6 address, or this machine for local sockets.
//
// Threads: one context. Limits: admission_options.
// Cost:    one or two searches among the addresses that have guests for each connection; nothing per message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "io/net/endpoint.hpp"

namespace corro::io {

struct admission_options {
    std::size_t guests_max = 4'000;
    std::size_t per_address_max = 1'000;
    /// Part of `guests_max` that is reserved for addresses that have proven something.
    std::size_t reserved_for_proven = 1'000;
    /// Part of `guests_max` that is reserved for other addresses, so that one key does not open all places.
    std::size_t reserved_for_unproven = 0;
    std::size_t proven_addresses_max = 4'096;
};

class admission {
 public:
    class guest;

    /// @pre When it is empty, a newcomer of either kind finds a place (asserted).
    explicit admission(const admission_options& options = admission_options());
    admission(const admission&) = delete;
    admission& operator=(const admission&) = delete;
    /// @pre It has no guest (asserted).
    ~admission();

    /// Admits a guest, and evicts another one if necessary. Connections of a local socket come from nullopt.
    /// @return False when none can be evicted, because all have settled. The guest is not admitted then.
    [[nodiscard]] bool enter(guest& newcomer, const std::optional<endpoint>& from);
    /// The guest has authenticated: it is not counted any more, and its address has proven something.
    void prove(guest& known);
    /// The guest can no longer be evicted; it still counts.
    void settle(guest& known) noexcept;
    /// Evicts the oldest guest, to make place for connections that are not counted here. False when there is none.
    [[nodiscard]] bool evict_oldest();
    /// Removes the guest.
    void leave(guest& gone) noexcept;

    [[nodiscard]] std::size_t admitted_count() const noexcept { return guests_count_; }
    [[nodiscard]] std::uint64_t evicted_count() const noexcept { return turned_out_count_; }

 private:
    struct origin;
    struct link {
        link* previous = this;
        link* next = this;
        [[nodiscard]] bool alone() const noexcept { return next == this; }
        void unlink() noexcept {
            previous->next = next;
            next->previous = previous;
            previous = next = this;
        }
        void link_before(link& other) noexcept {
            previous = other.previous;
            next = &other;
            previous->next = this;
            other.previous = this;
        }
    };
    /// A guest is in two lists: of all guests of a kind, and of its address.
    struct age_link : link {};
    struct address_link : link {};
    struct origin {
        address_link guests;      ///< that have not settled, the oldest first
        std::size_t count = 0;    ///< of all
        std::uint64_t proof = 0;  ///< number of the last one; 0 for none
    };
    using origins = std::map<std::uint64_t, origin>;

    [[nodiscard]] static std::uint64_t key_of(const std::optional<endpoint>& from) noexcept;
    [[nodiscard]] bool make_room(origin& from);
    void evict(guest& oldest);
    [[nodiscard]] std::size_t proven_max() const noexcept;
    void forget(origins::iterator from) noexcept;
    void remember(origins::iterator from);

    admission_options options_;
    origins origins_;
    std::map<std::uint64_t, origins::iterator> proofs_;  ///< proven addresses by the number of their last proof
    age_link unproven_;                                  ///< guests that have not settled, the oldest first
    age_link proven_;                                    ///< the same from addresses that have proven something
    std::size_t guests_count_ = 0;
    std::size_t unproven_count_ = 0;
    std::uint64_t proofs_count_ = 0;
    std::uint64_t turned_out_count_ = 0;

 public:
    /// One connection. It is removed when it is destroyed.
    class guest : age_link, address_link {
     public:
        guest() noexcept = default;
        guest(const guest&) = delete;
        guest& operator=(const guest&) = delete;

        [[nodiscard]] bool is_in() const noexcept { return where_ != nullptr; }
        /// Whether its address has proven something. @pre is_in().
        [[nodiscard]] bool is_from_proven() const noexcept { return from_->second.proof != 0; }

     protected:
        virtual ~guest() {
            if (where_ != nullptr) where_->leave(*this);
        }
        /// Ends the connection at once; it is not counted any more. Must not call the admission.
        virtual void evict() noexcept = 0;

     private:
        friend class admission;
        admission* where_ = nullptr;
        origins::iterator from_{};
        bool is_unproven_ = false;
    };
};

}  // namespace corro::io
