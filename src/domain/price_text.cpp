// SPDX-License-Identifier: Apache-2.0
#include "domain/price_text.hpp"

#include <string_view>

namespace corro::domain {

std::size_t price_decimals(const instrument& i) noexcept {
    const decimal_text tick = format_decimal(i.tick_size.value);
    const std::size_t point = tick.view().find('.');
    return point == std::string_view::npos ? 0 : tick.size - point - 1;
}

decimal_text price_text(const instrument& i, price_ticks ticks) noexcept {
    return format_decimal(to_nano(i, ticks).value, price_decimals(i));
}

}  // namespace corro::domain
