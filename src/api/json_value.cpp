// SPDX-License-Identifier: Apache-2.0
#include "api/json_value.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/limits.hpp"

namespace corro::api {
namespace {

/// Builds a value from the parser's calls; stops the parser at a limit.
class builder {
 public:
    using number_integer_t = nlohmann::json::number_integer_t;
    using number_unsigned_t = nlohmann::json::number_unsigned_t;
    using number_float_t = nlohmann::json::number_float_t;
    using string_t = nlohmann::json::string_t;
    using binary_t = nlohmann::json::binary_t;

    bool null() { return add(json_value()); }
    bool boolean(bool is) {
        json_value v;
        v.kind = json_kind::boolean;
        v.truth = is;
        return add(std::move(v));
    }
    bool number_integer(number_integer_t is) { return add_number(std::to_string(is)); }
    bool number_unsigned(number_unsigned_t is) { return add_number(std::to_string(is)); }
    bool number_float(number_float_t, const string_t& written) { return add_number(written); }
    bool string(string_t& is) {
        json_value v;
        v.kind = json_kind::text;
        v.text = std::move(is);
        return add(std::move(v));
    }
    bool binary(binary_t&) { return false; }

    bool start_object(std::size_t) { return open(json_kind::object); }
    bool start_array(std::size_t) { return open(json_kind::list); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool key(string_t& name) {
        std::vector<std::string>& names = open_.back().names;
        if (std::ranges::find(names, name) != names.end()) return stop(json_problem::repeated_name);
        names.push_back(std::move(name));
        return true;
    }
    template <class Exception>
    bool parse_error(std::size_t, const std::string&, const Exception&) {
        return false;
    }

    json_problem problem = json_problem::malformed;
    json_value whole;

 private:
    bool stop(json_problem why) {
        problem = why;
        return false;
    }
    bool add_number(std::string written) {
        json_value v;
        v.kind = json_kind::number;
        v.text = std::move(written);
        return add(std::move(v));
    }
    bool add(json_value v) {
        if (++count_ > json_values_max) return stop(json_problem::too_large);
        if (open_.empty()) {
            whole = std::move(v);
        } else {
            open_.back().items.push_back(std::move(v));
        }
        return true;
    }
    bool open(json_kind kind) {
        if (open_.size() == json_depth_max) return stop(json_problem::too_large);
        open_.emplace_back().kind = kind;
        return true;
    }
    bool close() {
        json_value done = std::move(open_.back());
        open_.pop_back();
        return add(std::move(done));
    }

    std::vector<json_value> open_;  ///< the objects and lists that have not ended, the innermost last
    std::size_t count_ = 0;
};

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// Takes the digits at the beginning of a text.
std::string_view take_digits(std::string_view& text) noexcept {
    std::size_t count = 0;
    while (count < text.size() && is_digit(text[count])) ++count;
    const std::string_view digits = text.substr(0, count);
    text.remove_prefix(count);
    return digits;
}

/// The exponent behind "e"; nothing if it is malformed. An exponent of more than four digits counts as 9,999.
std::optional<int> take_exponent(std::string_view& text) noexcept {
    if (text.empty()) return 0;
    if (text.front() != 'e' && text.front() != 'E') return std::nullopt;
    text.remove_prefix(1);
    const bool is_negative = text.starts_with('-');
    if (is_negative || text.starts_with('+')) text.remove_prefix(1);
    std::string_view digits = take_digits(text);
    if (digits.empty()) return std::nullopt;
    while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
    int value = 0;
    for (const char c : digits.substr(0, 4)) value = value * 10 + (c - '0');
    if (digits.size() > 4) value = 9'999;
    return is_negative ? -value : value;
}

/// Appends a digit. False if the magnitude does not fit.
bool append_digit(std::uint64_t& magnitude, int digit) noexcept {
    constexpr std::uint64_t max = INT64_MAX;
    if (magnitude > (max - static_cast<std::uint64_t>(digit)) / 10) return false;
    magnitude = magnitude * 10 + static_cast<std::uint64_t>(digit);
    return true;
}

}  // namespace

const json_value* json_value::find(std::string_view name) const noexcept {
    for (std::size_t k = 0; k < names.size(); ++k) {
        if (names[k] == name) return &items[k];
    }
    return nullptr;
}

std::expected<json_value, json_problem> parse_json(std::string_view text) {
    builder made;
    if (!nlohmann::json::sax_parse(text, &made)) return std::unexpected(made.problem);
    return std::move(made.whole);
}

std::optional<std::int64_t> scaled_integer(std::string_view number, int decimals) noexcept {
    const bool is_negative = number.starts_with('-');
    if (is_negative) number.remove_prefix(1);
    const std::string_view whole = take_digits(number);
    if (whole.empty()) return std::nullopt;
    std::string_view fraction;
    if (number.starts_with('.')) {
        number.remove_prefix(1);
        fraction = take_digits(number);
        if (fraction.empty()) return std::nullopt;
    }
    const std::optional<int> exponent = take_exponent(number);
    if (!exponent || !number.empty()) return std::nullopt;

    // The digits that count stand before this place; those behind it must be zero.
    const auto whole_size = static_cast<std::int64_t>(whole.size());
    const auto all_size = whole_size + static_cast<std::int64_t>(fraction.size());
    const std::int64_t point = whole_size + *exponent + decimals;
    std::uint64_t magnitude = 0;
    for (std::int64_t k = 0; k < all_size; ++k) {
        const char c =
            k < whole_size ? whole[static_cast<std::size_t>(k)] : fraction[static_cast<std::size_t>(k - whole_size)];
        if (k < point ? !append_digit(magnitude, c - '0') : c != '0') return std::nullopt;
    }
    for (std::int64_t k = all_size; k < point && magnitude != 0; ++k) {
        if (!append_digit(magnitude, 0)) return std::nullopt;
    }
    const auto value = static_cast<std::int64_t>(magnitude);
    return is_negative ? -value : value;
}

}  // namespace corro::api
