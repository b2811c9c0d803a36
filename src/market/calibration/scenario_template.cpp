// SPDX-License-Identifier: Apache-2.0
#include "market/calibration/scenario_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/assert.hpp"
#include "market/number.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::market {
namespace {

constexpr std::size_t parameters_max = 64;
constexpr double value_max = 1e12;
constexpr int digits = 4;  // of a number in the text

bool is_logarithmic(const open_parameter& of) noexcept {
    return of.least > 0;
}

/// Digits after the point, so that all have `digits`.
int decimals_of(double value) noexcept {
    int left = digits - 1;
    for (double size = std::fabs(value); size >= 10 && left > 0; size /= 10) --left;
    for (double size = std::fabs(value); size != 0 && size < 1 && left < 12; size *= 10) ++left;
    return left;
}

/// Takes what is expected from the front of a text.
class cut_text {
 public:
    explicit cut_text(std::string_view left) : left_(left) {}
    bool takes(std::string_view wanted) {
        if (!left_.starts_with(wanted)) return false;
        left_.remove_prefix(wanted.size());
        return true;
    }
    std::optional<double> number() {
        double value = 0;
        const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), value);
        if (error != std::errc() || !(std::fabs(value) <= value_max)) return std::nullopt;
        left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
        return value;
    }
    [[nodiscard]] bool is_empty() const { return left_.empty(); }

 private:
    std::string_view left_;
};

std::optional<open_parameter> parse(std::string_view text) {
    cut_text from(text);
    open_parameter made;
    const std::optional<double> begin = from.number();
    if (!begin || !from.takes(" in ")) return std::nullopt;
    const std::optional<double> least = from.number();
    if (!least || !from.takes(" to ")) return std::nullopt;
    const std::optional<double> most = from.number();
    if (!most) return std::nullopt;
    made.is_whole = from.takes(", whole");
    if (!from.is_empty()) return std::nullopt;
    made.begin = *begin;
    made.least = *least;
    made.most = *most;
    return made;
}

}  // namespace

double open_parameter::at(double place) const noexcept {
    const double value =
        is_logarithmic(*this) ? least * exp_of(place * log_of(most / least)) : least + place * (most - least);
    if (is_whole) return std::clamp(static_cast<double>(rounded(value)), std::ceil(least), std::floor(most));
    return std::clamp(value, least, most);
}

double open_parameter::place_of(double value) const noexcept {
    if (least == most) return 0;
    const double place =
        is_logarithmic(*this) ? log_of(value / least) / log_of(most / least) : (value - least) / (most - least);
    return std::clamp(place, 0.0, 1.0);
}

scenario_template::scenario_template(std::string_view text, const std::string& file) {
    std::uint32_t line = 1;
    const auto fail = [&](const std::string& what) {
        throw node::configuration_error(fmt::format("{}:{}: {}", file, line, what));
    };
    for (;;) {
        const std::size_t begin = text.find("${");
        const std::string_view before = text.substr(0, begin);
        texts_.emplace_back(before);
        line += static_cast<std::uint32_t>(std::ranges::count(before, '\n'));
        if (begin == std::string_view::npos) return;
        const std::size_t end = text.find_first_of("}\n", begin);
        if (end == std::string_view::npos || text[end] == '\n') fail("expected a '}' after \"${\"");
        const std::string_view inner = text.substr(begin + 2, end - begin - 2);
        std::optional<open_parameter> one = parse(inner);
        if (!one)
            fail(fmt::format("expected NUMBER in NUMBER to NUMBER, as ${{80 in 20 to 500}}; found \"{}\"", inner));
        if (one->least > one->begin || one->begin > one->most) fail("expected a number between its bounds");
        if (one->is_whole && std::ceil(one->least) > std::floor(one->most))
            fail("no whole number is between the bounds");
        if (parameters_.size() == parameters_max) fail(fmt::format("expected at most {} parameters", parameters_max));
        one->line = line;
        parameters_.push_back(*one);
        text.remove_prefix(end + 1);
    }
}

std::string scenario_template::filled(std::span<const double> places) const {
    CORRO_ASSERT(places.size() == parameters_.size(), "each parameter has a place");
    std::string made = texts_.front();
    for (std::size_t i = 0; i < places.size(); ++i) {
        const double value = parameters_[i].at(places[i]);
        made += fmt::format("{:.{}f}", value, parameters_[i].is_whole ? 0 : decimals_of(value));
        made += texts_[i + 1];
    }
    return made;
}

std::vector<double> scenario_template::begin() const {
    std::vector<double> made;
    for (const open_parameter& each : parameters_) made.push_back(each.place_of(each.begin));
    return made;
}

}  // namespace corro::market
