// Admission: how many connections there may be of peers that have not shown yet who they are, in all and from each
// address.
//
// A newcomer is not refused because others came before it: the oldest of them is turned out instead. So a peer that has
// a key needs no more luck than the time that its logon takes. Which one is the oldest:
//
// - of an address that has as many as one may have, the oldest of that address;
// - of those from addresses that have not proven anything, or of those from addresses that have, the oldest, when its
//   kind has all the places that it may have and the newcomer is of the same kind;
// - otherwise the oldest from an address that has not proven anything, or, without any, the oldest of all.
//
// An address has proven something once a guest from there was `prove`d; the newest of such addresses are remembered.
// An address is an IPv4 address, the first 64 bits of an IPv6 address, or this machine for local sockets.
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
    /// Of `guests_max`, kept for addresses from which something was proven.
    std::size_t reserved_for_proven = 1'000;
    /// Of `guests_max`, kept for addresses from which nothing was proven: one key does not open all places.
    std::size_t reserved_for_unproven = 0;
    std::size_t proven_addresses_max = 4'096;
};

class admission {
 public:
    class guest;

    /// @pre A newcomer of any kind finds a place when nobody is there (asserted).
    explicit admission(const admission_options& options = admission_options());
    admission(const admission&) = delete;
    admission& operator=(const admission&) = delete;
    /// @pre No guest is there any more (asserted).
    ~admission();

    /// Lets a guest in, and turns out whom it must for that. Connections of a local socket come from nullopt.
    /// @return False: there is nobody to turn out, because all have settled. The guest is not in then.
    [[nodiscard]] bool enter(guest& newcomer, const std::optional<endpoint>& from);
    /// The guest has shown who it is: it counts here no more, and its address has proven something.
    void prove(guest& known);
    /// The guest stays as long as it wishes; it counts as before.
    void settle(guest& known) noexcept;
    /// Turns out who would be next, for the sake of connections that are not counted here. False: there is nobody.
    [[nodiscard]] bool evict_oldest();
    /// The guest goes.
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
        std::uint64_t proof = 0;  ///< number of the last; 0: none that is remembered
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
    std::map<std::uint64_t, origins::iterator> proofs_;  ///< remembered addresses by the number of their last proof
    age_link unproven_;                                  ///< guests that have not settled, the oldest first
    age_link proven_;                                    ///< the same from addresses that have proven something
    std::size_t guests_count_ = 0;
    std::size_t unproven_count_ = 0;
    std::uint64_t proofs_count_ = 0;
    std::uint64_t turned_out_count_ = 0;

 public:
    /// One connection. It leaves when it is destroyed.
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
        /// The connection is to end at once; it counts no more. Must not call into the admission.
        virtual void evict() noexcept = 0;

     private:
        friend class admission;
        admission* where_ = nullptr;
        origins::iterator from_{};
        bool is_unproven_ = false;
    };
};

}  // namespace corro::io
