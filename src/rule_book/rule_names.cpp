// SPDX-License-Identifier: Apache-2.0
#include "rule_book/rule_names.hpp"

namespace corro::rule_book {

bool rule_names::find(const std::string& name, domain::command& c) const {
    if (name == "bid" || name == "ask") {
        const std::string side = name_of(c.account) + "'s " + name;
        for (const auto& [id, known] : quote_sides_) {
            if (known == side) c.named_order() = domain::order_id{id};
        }
        return c.named_order().value != 0;
    }
    const auto number = numbers_.find(name);
    if (number == numbers_.end()) return false;
    const auto id = ids_.find(number->second);
    if (id == ids_.end()) return false;
    c.named_order() = id->second;
    return true;
}

std::string rule_names::name_of_order(domain::client_order_id number, domain::account_id account, domain::order_id id,
                                      domain::side side) {
    if (number.value < quotes_from) return names_.at(number.value);
    return quote_sides_[id.value] = name_of(account) + (side == domain::side::buy ? "'s bid" : "'s ask");
}

std::string rule_names::name_of_order(domain::order_id id) const {
    if (const auto quote = quote_sides_.find(id.value); quote != quote_sides_.end()) return quote->second;
    for (const auto& [number, known] : ids_) {
        if (known == id) return names_.at(number);
    }
    return "?";
}

}  // namespace corro::rule_book
