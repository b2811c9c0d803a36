// SPDX-License-Identifier: Apache-2.0
// The names in a scenario: of orders with their ids, and of the sides of quotes.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "domain/command.hpp"
#include "domain/types.hpp"

namespace corro::rule_book {

/// A, B, C, for the accounts from 0.
[[nodiscard]] inline std::string name_of(domain::account_id account) {
    return {static_cast<char>('A' + account.value)};
}
[[nodiscard]] inline domain::account_id account_named(char letter) {
    return domain::account_id{static_cast<std::uint32_t>(letter - 'A')};
}

class rule_names {
 public:
    /// A new client order id, which is also the order's name until it gets one.
    [[nodiscard]] domain::client_order_id next_order() {
        ++entries_;
        names_[entries_] = "order " + std::to_string(entries_);
        return domain::client_order_id{entries_};
    }
    void name_last_order(const std::string& name) {
        names_[entries_] = name;
        numbers_[name] = entries_;
    }
    /// The client order id of an account's quotes.
    [[nodiscard]] static domain::client_order_id quote_of(domain::account_id account) {
        return domain::client_order_id{quotes_from + account.value};
    }
    /// The client order id of a name that a request has: that of the order with this name, or a new one.
    [[nodiscard]] domain::client_order_id request_name(const std::string& name) {
        const auto known = numbers_.find(name);
        if (known != numbers_.end()) return domain::client_order_id{known->second};
        const domain::client_order_id made = next_order();
        name_last_order(name);
        return made;
    }
    /// The client order id that had this name last; 0 for an unknown name.
    [[nodiscard]] domain::client_order_id number_of(const std::string& name) const {
        const auto known = numbers_.find(name);
        return domain::client_order_id{known == numbers_.end() ? 0 : known->second};
    }
    /// Records the venue's id of an order, which has no other name from now on.
    void learn(domain::client_order_id number, domain::order_id id) {
        if (number.value >= quotes_from) return;
        std::erase_if(ids_, [&](const auto& known) { return known.second == id; });
        ids_[number.value] = id;
    }

    /// Makes a command name an order by its id, so that closed orders can be named too. False for an unknown name.
    [[nodiscard]] bool find(const std::string& name, domain::command& c) const;
    /// The name of an order with these ids.
    [[nodiscard]] std::string name_of_order(domain::client_order_id number, domain::account_id account,
                                            domain::order_id id, domain::side side);
    [[nodiscard]] std::string name_of_order(domain::order_id id) const;

 private:
    /// Client order ids from here on belong to quotes; those of orders count from 1.
    static constexpr std::uint64_t quotes_from = 1'000'000;

    std::uint64_t entries_ = 0;
    std::map<std::uint64_t, std::string> names_;    // client order id to name
    std::map<std::string, std::uint64_t> numbers_;  // and back
    std::map<std::uint64_t, domain::order_id> ids_;
    std::map<std::uint64_t, std::string> quote_sides_;  // order id to name
};

}  // namespace corro::rule_book
