// SPDX-License-Identifier: Apache-2.0
// The texts of client order ids that stand for one (domain/long_name.hpp), for sessions whose protocol has texts.
//
// A text is kept as long as an answer that is kept, or an open order, has its id. When the last of them is gone it is
// idle: the newest `idle_max` idle texts stay, so that a request that is under way finds the text of its order.
//
// Texts are a function of the events of the venue, like the numbers of answers.
//
// Layout: order_texts.cpp has the table of what `save` writes.
// Limits: a text takes up 96 bytes and its places in two tables. Texts in use are bounded by three for each answer of a
//         session with detailed answers, and by the open orders.
// Threads: one. Cost: nothing until the first text; then one look-up for each use. Memory is allocated as texts come.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/flat_map.hpp"
#include "domain/event.hpp"
#include "domain/long_name.hpp"
#include "domain/types.hpp"
#include "gateway/limits.hpp"

namespace corro::gateway {

class order_texts {
 public:
    /// As many as commands may be under way.
    static constexpr std::size_t idle_max = command_queue_capacity;

    /// Takes a part of a text. An id that has a text keeps it.
    void take(const domain::name_part& part);
    /// Follows the open orders whose ids have texts.
    void follow(const domain::event& e);

    [[nodiscard]] bool is_empty() const noexcept { return count_ == 0; }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    /// The text that an id of the account stands for; empty if it is not known. Valid until the next `take`.
    [[nodiscard]] std::string_view find(domain::account_id account, domain::client_order_id name) const noexcept;

    /// Open orders whose ids have texts.
    [[nodiscard]] std::size_t orders_count() const noexcept { return open_.size(); }

    /// Another answer or order has the id. @return  False: it has no text, and nothing has changed.
    bool hold(domain::account_id account, domain::client_order_id name) noexcept;
    /// One that held it has gone. @pre `hold` was true for it.
    void release(domain::account_id account, domain::client_order_id name) noexcept;

    void clear() noexcept;

    /// Whether an order of this session and account is saved, and whether a text is that only answers hold.
    struct filter {
        std::function<bool(domain::session_id, domain::account_id)> order;
        std::function<bool(domain::account_id, domain::client_order_id)> text;
    };
    /// Appends the texts and the open orders. @param only  Empty functions: all.
    void save(std::vector<std::byte>& into, const filter& only) const;
    /// Replaces everything by what was saved. What answers hold is to be held again.
    /// @return  How many bytes it was; 0: they contradict each other, and nothing is kept.
    [[nodiscard]] std::size_t load(std::span<const std::byte> saved);

 private:
    static constexpr std::uint32_t none = 0xffffffffU;

    struct entry {
        domain::client_order_id name{};
        domain::account_id account{};
        std::uint32_t uses = 0;          ///< by answers and orders
        std::uint32_t next_idle = none;  ///< towards the newest; of a free entry, the next free one
        std::uint32_t before_idle = none;
        std::uint8_t length = 0;
        std::uint8_t parts_missing = 0;  ///< a bit for each
        std::array<char, domain::long_name_characters_max> text{};
    };
    struct open_order {
        domain::client_order_id name{};
        domain::account_id account{};
        domain::session_id session{};
    };

    [[nodiscard]] std::uint32_t place_of(domain::account_id account, domain::client_order_id name) const noexcept;
    [[nodiscard]] std::uint32_t make(domain::account_id account, domain::client_order_id name);
    void make_idle(std::uint32_t place) noexcept;
    void leave_idle(std::uint32_t place) noexcept;
    void forget(std::uint32_t place) noexcept;
    void open(const domain::private_order& order);
    void amend(const domain::private_order& order);
    void give(const open_order& order, domain::account_id to);
    void close(domain::order_id order) noexcept;

    std::vector<entry> entries_;
    std::uint32_t free_ = none;
    std::uint32_t oldest_idle_ = none;
    std::uint32_t newest_idle_ = none;
    std::size_t idle_count_ = 0;
    std::size_t count_ = 0;
    std::unordered_map<std::uint32_t, base::flat_map<std::uint32_t>> places_;  ///< by account, then by id
    base::flat_map<open_order> open_;                                          ///< by order
};

}  // namespace corro::gateway
