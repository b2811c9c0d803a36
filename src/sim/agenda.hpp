// SPDX-License-Identifier: Apache-2.0
// Which contexts of a world have something to do now, and when the others will.
//
// A turn takes the listed members in the order in which they joined. A member that is listed during a turn is taken in
// it if it comes behind the one that was taken last, else in the next turn.
//
// Units:   nanoseconds of the world's time.
// Threads: one.
// Cost:    logarithmic in the members that are listed, or that have a due time; leaving is linear in them. No other
//          member is looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace corro::sim {

class agenda {
 public:
    static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

    /// A context, as the agenda knows it: a base class of its backend.
    class member {
     public:
        member() = default;
        member(const member&) = delete;
        member& operator=(const member&) = delete;

     protected:
        ~member() = default;

     private:
        friend class agenda;
        std::uint64_t number_ = 0;  // in the order of joining
        std::uint64_t due_ns_ = never;
        std::size_t due_place_ = 0;     // in `due_`, unless never
        std::size_t member_place_ = 0;  // in `members_`
        bool is_listed_ = false;
    };

    /// Joins, and is listed.
    void join(member& one);
    void leave(member& one) noexcept;
    [[nodiscard]] bool empty() const noexcept { return members_.empty(); }

    /// `one` has something to do. Does nothing if it is listed.
    void list(member& one);
    /// Lists every member: cost linear in their number.
    void list_all();
    /// Lists those whose time has come; they have no due time then.
    void list_due(std::uint64_t now_ns);

    /// Begins a turn. Members that a turn in progress has not taken are in it.
    void begin_turn();
    /// Takes the next member of this turn off the list; null at its end.
    [[nodiscard]] member* take_next() noexcept;

    /// When `one` has something to do if nothing else happens, or `never`.
    void set_due(member& one, std::uint64_t at_ns);
    /// The first of these times.
    [[nodiscard]] std::uint64_t next_due_ns() const noexcept { return due_.empty() ? never : due_.front()->due_ns_; }

 private:
    struct comes_later {
        bool operator()(const member* a, const member* b) const noexcept { return a->number_ > b->number_; }
    };
    void put(std::size_t place, member* one) noexcept {
        due_[place] = one;
        one->due_place_ = place;
    }
    void rise(std::size_t place) noexcept;
    void sink(std::size_t place) noexcept;

    std::vector<member*> members_;
    std::vector<member*> now_;    // a heap: of this turn
    std::vector<member*> later_;  // of the next turn, in no order
    std::vector<member*> due_;    // a heap by time
    std::uint64_t joined_count_ = 0;
    std::uint64_t last_taken_ = 0;  // number; of this turn
    bool is_in_turn_ = false;
};

}  // namespace corro::sim
