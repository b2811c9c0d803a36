// SPDX-License-Identifier: Apache-2.0
#include "apps/corro/desk/price_text.hpp"

#include <fmt/format.h>

#include "domain/price_text.hpp"

namespace corro::app {
namespace {

constexpr double nano = 1e9;

}  // namespace

std::string format_price(const domain::instrument& i, domain::price_ticks ticks) {
    if (ticks == domain::no_price) return "-";
    return std::string(domain::price_text(i, ticks).view());
}

std::string format_average(const domain::instrument& i, double ticks) {
    return fmt::format("{:.{}f}", ticks * static_cast<double>(i.tick_size.value) / nano, domain::price_decimals(i) + 2);
}

std::string format_result(const domain::instrument& i, double ticks_lots) {
    const double amount = ticks_lots * static_cast<double>(i.tick_size.value) / nano * i.lot_size;
    return fmt::format("{:+.{}f}", amount == 0 ? 0.0 : amount, domain::price_decimals(i));
}

}  // namespace corro::app
