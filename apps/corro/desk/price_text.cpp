// SPDX-License-Identifier: Apache-2.0
#include "apps/corro/desk/price_text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "domain/decimal.hpp"

namespace corro::app {
namespace {

constexpr double nano = 1e9;

std::size_t decimals_of(const domain::instrument& i) {
    const domain::decimal_text tick = domain::format_decimal(i.tick_size.value);
    const std::size_t point = tick.view().find('.');
    return point == std::string_view::npos ? 0 : tick.size - point - 1;
}

}  // namespace

std::string format_price(const domain::instrument& i, domain::price_ticks ticks) {
    if (ticks == domain::no_price) return "-";
    return std::string(domain::format_decimal(domain::to_nano(i, ticks).value, decimals_of(i)).view());
}

std::string format_average(const domain::instrument& i, double ticks) {
    return fmt::format("{:.{}f}", ticks * static_cast<double>(i.tick_size.value) / nano, decimals_of(i) + 2);
}

std::string format_result(const domain::instrument& i, double ticks_lots) {
    const double amount = ticks_lots * static_cast<double>(i.tick_size.value) / nano * i.lot_size;
    return fmt::format("{:+.{}f}", amount == 0 ? 0.0 : amount, decimals_of(i));
}

}  // namespace corro::app
