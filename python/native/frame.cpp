// SPDX-License-Identifier: Apache-2.0
#include "native/frame.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace corro::python {
namespace {

constexpr std::array<double, 10> powers_of_ten{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

std::size_t size_of(const column_values& values) noexcept {
    return std::visit([](const auto& each) { return each.size(); }, values);
}

template <class Codes>
bool has_foreign_code(const Codes& codes, std::size_t categories) {
    return std::ranges::any_of(codes, [&](auto code) {
        return code < -1 || (code >= 0 && static_cast<std::size_t>(code) >= categories);
    });
}

void check(const column& c) {
    const auto refuse = [&](const char* why) { throw std::invalid_argument("column \"" + c.name + "\": " + why); };
    switch (c.what) {
        case meaning::number: break;
        case meaning::time:
        case meaning::duration:
            if (!std::holds_alternative<std::vector<std::int64_t>>(c.values)) refuse("times are 64-bit integers");
            break;
        case meaning::flag: {
            const auto* const flags = std::get_if<std::vector<std::uint8_t>>(&c.values);
            if (flags == nullptr) {
                refuse("flags are bytes");
            } else if (std::ranges::any_of(*flags, [](std::uint8_t flag) { return flag > 1; })) {
                refuse("a flag is 0 or 1");
            }
            break;
        }
        case meaning::category: {
            bool is_foreign = true;
            if (const auto* small = std::get_if<std::vector<std::int8_t>>(&c.values)) {
                is_foreign = has_foreign_code(*small, c.categories.size());
            } else if (const auto* large = std::get_if<std::vector<std::int32_t>>(&c.values)) {
                is_foreign = has_foreign_code(*large, c.categories.size());
            }
            if (is_foreign) refuse("a code is not that of a category");
            break;
        }
    }
}

}  // namespace

frame::frame(std::vector<column> columns) : columns_(std::move(columns)) {
    if (!columns_.empty()) rows_ = size_of(columns_.front().values);
    for (const column& each : columns_) {
        if (size_of(each.values) != rows_) throw std::invalid_argument("column \"" + each.name + "\": another length");
        check(each);
    }
}

const column* frame::find(std::string_view name) const noexcept {
    const auto found = std::ranges::find(columns_, name, [](const column& c) { return std::string_view(c.name); });
    return found == columns_.end() ? nullptr : &*found;
}

std::int32_t code_book::code_of(std::string_view text) {
    const auto known = codes_.find(text);
    if (known != codes_.end()) return known->second;
    const auto code = static_cast<std::int32_t>(texts_.size());
    texts_.emplace_back(text);
    codes_.emplace(text, code);
    return code;
}

decimal_scale::decimal_scale(std::int64_t step_nano) noexcept : factor_(step_nano), decimals_(9) {
    while (decimals_ > 0 && factor_ % 10 == 0) {
        factor_ /= 10;
        --decimals_;
    }
    divisor_ = powers_of_ten[static_cast<std::size_t>(decimals_)];
}

double double_of_nano(std::int64_t nano) noexcept {
    // Below 2^53 both are exact, so that the division rounds once.
    return nano == 0 ? 0 : decimal_scale(nano)(1);
}

}  // namespace corro::python
