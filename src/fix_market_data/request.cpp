// SPDX-License-Identifier: Apache-2.0
#include "fix_market_data/request.hpp"

#include <array>
#include <optional>

#include "fix/codec/values.hpp"
#include "fix_market_data/limits.hpp"
#include "fix_market_data/tags.hpp"

namespace corro::fix_market_data {
namespace {

constexpr std::array<char, entry_types_count> letters{'0', '1', '2', '4', '6', '7', '8', 'A', 'B', 'C', 'Q'};

request_problem rejected(fix::reject_reason reason, std::uint32_t tag) noexcept {
    return {.tag = tag, .reason = reason, .text = {}, .refusal = refusal_reason::none};
}
request_problem missing(std::uint32_t tag) noexcept {
    return rejected(fix::reject_reason::required_tag_missing, tag);
}
request_problem out_of_range(std::uint32_t tag) noexcept {
    return rejected(fix::reject_reason::value_out_of_range, tag);
}
request_problem malformed(std::uint32_t tag) noexcept {
    return rejected(fix::reject_reason::incorrect_format, tag);
}

/// The type of a letter, if the version has it.
std::optional<entry_type> type_of(char letter, fix_version version) noexcept {
    for (std::size_t i = 0; i < letters.size(); ++i) {
        if (letters[i] != letter) continue;
        const auto type = static_cast<entry_type>(i);
        if (version == fix_version::v4_2 && type >= entry_type::imbalance) return std::nullopt;
        if (version == fix_version::v4_4 && type == entry_type::auction_price) return std::nullopt;
        return type;
    }
    return std::nullopt;
}

request_problem read_kind(const fix::field_index& message, market_data_request& into) noexcept {
    const auto value = message.get(tag::subscription_request_type);
    if (!value) return missing(tag::subscription_request_type);
    if (value->size() != 1) return malformed(tag::subscription_request_type);
    switch (value->front()) {
        case '0': into.kind = request_kind::snapshot; return {};
        case '1': into.kind = request_kind::updates; return {};
        case '2': into.kind = request_kind::end; return {};
        default: return refused(refusal_reason::unsupported_kind, "SubscriptionRequestType (263) is 0, 1 or 2");
    }
}

request_problem read_depth(const fix::field_index& message, market_data_request& into) noexcept {
    const auto value = message.get(tag::market_depth);
    if (!value) return missing(tag::market_depth);
    const auto read = fix::unsigned_value(*value);
    if (!read) return malformed(tag::market_depth);
    if (*read > levels_max) return refused(refusal_reason::unsupported_depth, "MarketDepth (264) is 0 to 50");
    into.levels = *read == 0 ? levels_max : static_cast<std::uint32_t>(*read);
    return {};
}

request_problem read_form(const fix::field_index& message, market_data_request& into) noexcept {
    const auto update_type = message.get(tag::md_update_type);
    if (update_type && *update_type != "0" && *update_type != "1") {
        return refused(refusal_reason::unsupported_update_type, "MDUpdateType (265) is 0 or 1");
    }
    if (!update_type && into.kind == request_kind::updates) return missing(tag::md_update_type);
    into.is_incremental = into.kind == request_kind::updates && update_type == "1";
    const auto aggregated = message.get(tag::aggregated_book);
    if (aggregated && !fix::boolean_value(*aggregated)) return malformed(tag::aggregated_book);
    if (aggregated == "N") {
        return refused(refusal_reason::unsupported_aggregation, "books are by level: AggregatedBook (266) is Y");
    }
    const auto aggressor = message.get(tag::wants_aggressor_side);
    if (aggressor && !fix::boolean_value(*aggressor)) return malformed(tag::wants_aggressor_side);
    into.wants_aggressor = aggressor == "Y";
    return {};
}

request_problem read_types(const fix::field_index& message, fix_version version, market_data_request& into) noexcept {
    const fix::field* const counted = message.find(tag::no_md_entry_types);
    if (counted == nullptr) return missing(tag::no_md_entry_types);
    const auto count = fix::unsigned_value(message.value(*counted));
    if (!count) return malformed(tag::no_md_entry_types);
    const fix::field* const end = message.fields().data() + message.fields().size();
    std::uint64_t found = 0;
    bool is_supported = true;
    for (const fix::field* at = counted + 1; at != end && at->tag == tag::md_entry_type; ++at, ++found) {
        const std::string_view value = message.value(*at);
        const auto type = value.size() == 1 ? type_of(value.front(), version) : std::nullopt;
        if (type) into.types.add(*type);
        is_supported = is_supported && type;
    }
    if (found != *count) return rejected(fix::reject_reason::incorrect_group_count, tag::no_md_entry_types);
    if (found == 0) return out_of_range(tag::no_md_entry_types);
    if (!is_supported) {
        return refused(refusal_reason::unsupported_entry_type, "an MDEntryType (269) is not served in this version");
    }
    return {};
}

// An entry begins with Symbol (55), which stands nowhere else in the message. What follows it up to the next one
// describes the instrument further, and is not needed.
request_problem read_symbols(const fix::field_index& message, market_data_request& into) {
    const fix::field* const counted = message.find(tag::no_related_sym);
    if (counted == nullptr) return missing(tag::no_related_sym);
    const auto count = fix::unsigned_value(message.value(*counted));
    if (!count) return malformed(tag::no_related_sym);
    const fix::field* const end = message.fields().data() + message.fields().size();
    if (*count != 0 && (counted + 1 == end || counted[1].tag != tag::symbol)) return missing(tag::symbol);
    for (const fix::field* at = counted + 1; at != end; ++at) {
        if (at->tag == tag::symbol) into.symbols.push_back(message.value(*at));
    }
    if (into.symbols.size() != *count) {
        return rejected(fix::reject_reason::incorrect_group_count, tag::no_related_sym);
    }
    return into.symbols.empty() ? out_of_range(tag::no_related_sym) : request_problem{};
}

}  // namespace

char letter_of(entry_type type) noexcept {
    return letters[static_cast<std::size_t>(type)];
}

request_problem read_request(const fix::field_index& message, fix_version version, market_data_request& into) {
    into = {};
    const auto id = message.get(tag::md_req_id);
    if (!id) return missing(tag::md_req_id);
    if (id->size() > name_bytes_max) return out_of_range(tag::md_req_id);
    into.id = *id;
    request_problem problem = read_kind(message, into);
    if (problem.is_there() || into.kind == request_kind::end) return problem;
    problem = read_depth(message, into);
    if (problem.is_there()) return problem;
    problem = read_form(message, into);
    if (problem.is_there()) return problem;
    problem = read_types(message, version, into);
    if (problem.is_there()) return problem;
    return read_symbols(message, into);
}

}  // namespace corro::fix_market_data
