// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/reference_requests.hpp"

#include <array>
#include <optional>
#include <span>

#include "fix/codec/values.hpp"
#include "fix_gateway/request_reader.hpp"
#include "fix_gateway/tags.hpp"

namespace corro::fix_gateway {
namespace {

request_problem problem_with(std::uint32_t tag, fix::reject_reason reason) noexcept {
    return {.tag = tag, .reason = reason, .business_reason = 0, .text = {}};
}

/// A text that an answer repeats. @return Whether it is there and sound; `problem` otherwise.
bool read_text(const fix::field_index& message, std::uint32_t tag, std::string_view& into, request_problem& problem) {
    const auto value = message.get(tag);
    into = value.value_or(std::string_view());
    if (!value) {
        problem = missing(tag);
    } else if (value->size() > reference_text_max) {
        problem = out_of_range(tag);
    }
    return !problem.is_there();
}

/// The tags of a group of legs.
struct leg_tags {
    std::uint32_t count;
    std::uint32_t symbol;
    std::uint32_t ratio;
    std::uint32_t side;
};

leg_tags leg_tags_of(fix_version version) noexcept {
    if (version == fix_version::v4_2) return {tag::no_related_sym, tag::underlying_symbol, tag::ratio_qty, tag::side};
    return {tag::no_legs, tag::leg_symbol, tag::leg_ratio_qty, tag::leg_side};
}

/// The legs of a request.
struct wanted_legs {
    std::array<domain::leg, domain::legs_max> legs{};
    std::size_t count = 0;      ///< may be more than fit
    bool are_known = true;      ///< all are instruments of this venue
    bool has_side = true;       ///< the last one
    request_problem problem{};  ///< the first one

    [[nodiscard]] std::span<const domain::leg> used() const noexcept { return std::span(legs).first(count); }
};

void begin_leg(wanted_legs& wanted, const leg_tags& tags, std::string_view name, reference_directory& instruments) {
    if (!wanted.has_side && !wanted.problem.is_there()) wanted.problem = missing(tags.side);
    wanted.has_side = false;
    ++wanted.count;
    const domain::instrument* const found = instruments.find(name);
    wanted.are_known = wanted.are_known && found != nullptr && wanted.count <= wanted.legs.size();
    if (wanted.are_known) wanted.legs[wanted.count - 1].instrument = found->id;
}

/// A field of a leg behind its name. Those of legs beyond legs_max are not kept.
void read_leg_field(wanted_legs& wanted, const leg_tags& tags, std::uint32_t tag, std::string_view value) {
    domain::leg beyond;
    domain::leg& leg = wanted.count <= wanted.legs.size() ? wanted.legs[wanted.count - 1] : beyond;
    request_problem problem;
    if (tag == tags.side) {
        wanted.has_side = true;
        leg.side = value == "2" ? domain::side::sell : domain::side::buy;
        if (value != "1" && value != "2") problem = out_of_range(tag);
    } else {
        const auto read = fix::decimal_value(value);
        const fix::decimal ratio = fix::shortened(read.value_or(fix::decimal{}));
        if (!read) {
            problem = malformed(tag);
        } else if (ratio.digits != 0 || ratio.mantissa < 1 || ratio.mantissa > domain::leg_ratio_max) {
            problem = out_of_range(tag);
        } else {
            leg.ratio = static_cast<std::uint32_t>(ratio.mantissa);
        }
    }
    if (problem.is_there() && !wanted.problem.is_there()) wanted.problem = problem;
}

/// Reads the group of legs; nothing if the message has none.
std::optional<wanted_legs> read_legs(const fix::field_index& message, const leg_tags& tags,
                                     reference_directory& instruments) {
    const fix::field* const first = message.find(tags.count);
    if (first == nullptr) return std::nullopt;
    wanted_legs wanted;
    const std::span<const fix::field> fields = message.fields();
    for (auto at = static_cast<std::size_t>(first - fields.data()) + 1; at != fields.size(); ++at) {
        const std::uint32_t tag = fields[at].tag;
        const std::string_view value = message.value(fields[at]);
        if (tag == tags.symbol) {
            begin_leg(wanted, tags, value, instruments);
        } else if (wanted.count != 0 && (tag == tags.ratio || tag == tags.side)) {
            read_leg_field(wanted, tags, tag, value);
        }
    }
    if (!wanted.has_side && !wanted.problem.is_there()) wanted.problem = missing(tags.side);
    if (fix::unsigned_value(message.value(*first)) != wanted.count) {
        wanted.problem = problem_with(tags.count, fix::reject_reason::incorrect_group_count);
    }
    if (wanted.count == 0) return std::nullopt;
    return wanted;
}

void find_one(reference_directory& instruments, reference_request& into) {
    into.instrument = instruments.find(into.symbol);
    into.finding = into.instrument != nullptr ? reference_finding::found : reference_finding::unknown;
}

/// A strategy with these legs, or the one whose legs all have the other side.
void find_strategy(reference_directory& instruments, const wanted_legs& wanted, reference_request& into) {
    into.finding = reference_finding::unknown;
    if (!wanted.are_known) return;
    into.instrument = instruments.find_strategy(wanted.used());
    if (into.instrument != nullptr) {
        into.finding = reference_finding::found;
        return;
    }
    wanted_legs opposite = wanted;
    for (domain::leg& each : opposite.legs) {
        each.side = each.side == domain::side::buy ? domain::side::sell : domain::side::buy;
    }
    into.instrument = instruments.find_strategy(opposite.used());
    if (into.instrument != nullptr) into.finding = reference_finding::reversed;
}

request_problem read_list_request(const fix::field_index& message, reference_directory& instruments,
                                  reference_request& into) {
    constexpr std::uint64_t by_symbol = 0;
    constexpr std::uint64_t all = 4;
    into.question = reference_question::list;
    const auto type = message.get(tag::security_list_request_type);
    if (!type) return missing(tag::security_list_request_type);
    const auto read = fix::unsigned_value(*type);
    if (!read) return malformed(tag::security_list_request_type);
    request_problem problem;
    if (*read == by_symbol) {
        if (read_text(message, tag::symbol, into.symbol, problem)) find_one(instruments, into);
    } else {
        into.finding = *read == all ? reference_finding::all : reference_finding::unsupported;
    }
    return problem;
}

request_problem read_definition_request(const fix::field_index& message, fix_version version,
                                        reference_directory& instruments, reference_request& into) {
    constexpr std::uint64_t specification = 0;
    constexpr std::uint64_t identity = 1;
    constexpr std::uint64_t all = 3;
    into.question = reference_question::definition;
    const auto type = message.get(tag::security_request_type);
    if (!type) return missing(tag::security_request_type);
    const auto read = fix::unsigned_value(*type);
    if (!read) return malformed(tag::security_request_type);
    request_problem problem;
    if (*read == specification || *read == identity) {
        if (const auto legs = read_legs(message, leg_tags_of(version), instruments)) {
            if (legs->problem.is_there()) return legs->problem;
            into.symbol = message.get(tag::symbol).value_or(std::string_view()).substr(0, reference_text_max);
            find_strategy(instruments, *legs, into);
        } else if (read_text(message, tag::symbol, into.symbol, problem)) {
            find_one(instruments, into);
        }
    } else if (*read == all && version == fix_version::v4_2) {
        into.question = reference_question::definitions;
        into.finding = reference_finding::all;
    }
    return problem;
}

// FIX 4.2 cannot say that there is no such session.
request_problem read_session_request(const fix::field_index& message, fix_version version, reference_request& into) {
    into.question = reference_question::session;
    into.finding = reference_finding::found;
    request_problem problem;
    if (!message.get(tag::trading_session_id) || !read_text(message, tag::trading_session_id, into.symbol, problem)) {
        return problem;
    }
    if (into.symbol == trading_session_name) return problem;
    if (version == fix_version::v4_2) return out_of_range(tag::trading_session_id);
    into.finding = reference_finding::unknown;
    return problem;
}

std::uint32_t id_tag_of(char type) noexcept {
    switch (type) {
        case 'e': return tag::security_status_req_id;
        case 'g': return tag::trad_ses_req_id;
        default: return tag::security_req_id;
    }
}

}  // namespace

bool is_reference_request(std::string_view type, fix_version version) noexcept {
    return type == "c" || type == "e" || type == "g" || (type == "x" && version != fix_version::v4_2);
}

request_problem read_reference_request(const fix::field_index& message, fix_version version,
                                       reference_directory& instruments, reference_request& into) {
    into = reference_request{};
    const char type = message.message_type().front();
    request_problem problem;
    if (!read_text(message, id_tag_of(type), into.id, problem)) return problem;
    // What is asked for is answered once.
    const std::string_view subscription = message.get(tag::subscription_request_type).value_or("0");
    if (subscription != "0") return out_of_range(tag::subscription_request_type);
    if (type == 'x') return read_list_request(message, instruments, into);
    if (type == 'c') return read_definition_request(message, version, instruments, into);
    if (type == 'g') return read_session_request(message, version, into);
    into.question = reference_question::status;
    if (read_text(message, tag::symbol, into.symbol, problem)) find_one(instruments, into);
    return problem;
}

}  // namespace corro::fix_gateway
