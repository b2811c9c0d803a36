// SPDX-License-Identifier: Apache-2.0
#include "apps/corro_fix_echo/echo.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "fix/codec/message_writer.hpp"
#include "fix/codec/tags.hpp"
#include "fix/dictionary/validator.hpp"

namespace corro::app {
namespace {

namespace tag = fix::tag;

constexpr std::uint32_t cl_ord_id = 11;
constexpr std::uint32_t unsupported_message_type = 3;

/// What the session writes into every header.
constexpr std::array<std::uint32_t, 11> of_the_session{
    tag::msg_type,          tag::msg_seq_num,        tag::poss_dup_flag,     tag::sender_comp_id,
    tag::sender_sub_id,     tag::sending_time,       tag::target_comp_id,    tag::target_sub_id,
    tag::orig_sending_time, tag::sender_location_id, tag::target_location_id};

/// The dictionary of the message's body.
const fix::dictionary& body_dictionary(const fix::session& on) {
    const fix::validation& rules = *on.settings().checked_by;
    if (!rules.session->is_transport()) return *rules.session;
    const std::string_view version =
        on.message().get(tag::appl_ver_id).value_or(on.settings().identity.default_appl_ver_id);
    const auto found = std::ranges::find(rules.applications, version, &fix::validation::application::first);
    return found != rules.applications.end() ? *found->second : *rules.session;
}

/// Behind the entries of the group whose count is the field at `at`.
std::size_t end_of_group(const fix::field_index& message, std::size_t at, const fix::dictionary& of,
                         fix::dictionary::row_number group) {
    const std::span<const fix::field> fields = message.fields();
    for (++at; at < fields.size();) {
        const auto number = of.find(fields[at].tag);
        const auto member = number != fix::dictionary::no_field ? of.entry(group, number) : fix::dictionary::member();
        if (!member) break;
        at = member.is_group() ? end_of_group(message, at, of, of.group(group, number)) : at + 1;
    }
    return at;
}

}  // namespace

void echo::on_message(fix::session& on, fix::instant now) {
    const std::string_view type = on.message().message_type();
    if (type != "D" && type != "d" && type != "B") {
        const std::string& version = on.settings().identity.begin_string;
        const bool is_old = version == "FIX.4.0" || version == "FIX.4.1";
        return on.reject_business(unsupported_message_type,
                                  is_old ? "Unsupported message type" : "Unsupported Message Type", now);
    }
    if (type == "D" && is_known_order(on)) return;
    send_back(on, now);
}

/// Whether it is sent again (97) and has come before. Remembers it.
bool echo::is_known_order(const fix::session& on) {
    const auto id = on.message().get(cl_ord_id);
    if (!id) return false;
    std::unordered_set<std::string>& known = orders_[&on];
    const bool is_known = known.contains(std::string(*id));
    if (!is_known && known.size() < orders_max) known.emplace(*id);
    return is_known && on.message().get(tag::poss_resend) == "Y";
}

// The fields of header and body, each sorted by tag, as QuickFIX writes them. Entries of groups stay as they came.
void echo::find_pieces(const fix::session& on) {
    header_.clear();
    body_.clear();
    const fix::field_index& message = on.message();
    const fix::dictionary& frame = *on.settings().checked_by->session;
    const fix::dictionary& of = body_dictionary(on);
    const auto row = of.find_message(message.message_type());
    for (std::size_t at = 0; at < message.fields().size();) {
        const std::uint32_t tag = message.fields()[at].tag;
        const auto in_frame = frame.find(tag);
        const fix::field_place stands_in =
            in_frame != fix::dictionary::no_field ? frame.field(in_frame).place : fix::field_place::body;
        const bool is_header = stands_in == fix::field_place::header;
        const fix::dictionary& owner = is_header ? frame : of;
        const auto owner_row = is_header ? fix::dictionary::header_row() : row;
        const auto number = owner.find(tag);
        const auto member = number != fix::dictionary::no_field && owner_row != fix::dictionary::no_row
                                ? owner.entry(owner_row, number)
                                : fix::dictionary::member();
        const std::size_t end =
            member.is_group() ? end_of_group(message, at, owner, owner.group(owner_row, number)) : at + 1;
        if (is_header && std::ranges::find(of_the_session, tag) == of_the_session.end()) {
            header_.push_back({tag, {at, end}});
        } else if (stands_in == fix::field_place::body) {
            body_.push_back({tag, {at, end}});
        }
        at = end;
    }
    const auto place = [](const piece& each) { return std::pair(each.tag, each.fields.begin); };
    std::ranges::sort(header_, {}, place);
    std::ranges::sort(body_, {}, place);
}

void echo::send_back(fix::session& on, fix::instant now) {
    find_pieces(on);
    const fix::field_index& message = on.message();
    fix::message_writer& writer = on.begin_message(message.message_type(), now);
    for (const std::vector<piece>* each : {&header_, &body_}) {
        for (const piece& some : *each) {
            for (std::size_t at = some.fields.begin; at < some.fields.end; ++at) {
                const fix::field& field = message.fields()[at];
                writer.put(field.tag, message.value(field));
            }
        }
    }
    static_cast<void>(on.send(now));
}

}  // namespace corro::app
