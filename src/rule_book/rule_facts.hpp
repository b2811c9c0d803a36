// SPDX-License-Identifier: Apache-2.0
// The events of a scenario as lines of text.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "rule_book/rule_names.hpp"

namespace corro::rule_book {

class fact_writer {
 public:
    explicit fact_writer(rule_names& names) : names_(names) {}

    /// Prices of legs are written in ticks of this size.
    void count_in(domain::price_nano tick_size) noexcept { tick_size_ = tick_size; }
    void write_down(const domain::event& e);

    /// The lines since the last call.
    [[nodiscard]] std::vector<std::string> take() { return std::exchange(said_, {}); }
    /// The last published implied prices, by instrument.
    [[nodiscard]] const std::map<std::uint32_t, domain::top>& implied() const noexcept { return implied_; }

 private:
    void write_execution(const domain::event& e);
    void write_implied(const domain::event& e, const std::string& name);

    rule_names& names_;
    domain::price_nano tick_size_{1};
    std::string aggressor_;
    std::vector<std::string> said_;
    std::map<std::uint32_t, domain::top> implied_;
};

}  // namespace corro::rule_book
