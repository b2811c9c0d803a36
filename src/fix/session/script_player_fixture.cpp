// SPDX-License-Identifier: Apache-2.0
#include "fix/session/script_player_fixture.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "fix/codec/tags.hpp"
#include "fix/codec/test_messages.hpp"
#include "fix/codec/values.hpp"
#include "fix/dictionary/test_dictionary.hpp"

namespace corro::fix::testing {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::size_t resend_bytes = 1'000;  ///< small, so that resends go in pieces

bool names(std::string_view body, std::uint32_t tag) {
    const std::string field = std::to_string(tag) + "=";
    return body.starts_with(field) || body.find("|" + field) != std::string_view::npos;
}

/// A message's body in words, without the fields of the header that every message has, unless `like` names them.
std::string body_of(std::string_view bytes, std::string_view like) {
    const frame_result frame = next_frame(bytes, message_bytes_max);
    if (frame.state != frame_state::complete) return "no sound message: " + in_words(bytes);
    field_index index;
    if (index.index(bytes, frame)) return "a message with a problem: " + in_words(bytes);
    std::string body;
    for (const field& each : index.fields()) {
        const bool is_everywhere =
            each.tag == tag::sender_comp_id || each.tag == tag::target_comp_id || each.tag == tag::sending_time;
        if (is_everywhere && !names(like, each.tag)) continue;
        body += std::to_string(each.tag) + "=" + in_words(index.value(each)) + "|";
    }
    return body;
}

bool is_yes(std::string_view value) {
    return value == "yes";
}

/// The small dictionaries of the tests: one for all messages, or those of FIXT and an application.
std::shared_ptr<const validation> rules_by_name(std::string_view name) {
    auto rules = rules_for(name == "fixt" ? transport_xml() : dictionary_xml());
    if (name == "fixt") rules->applications.emplace_back("9", dictionary::read(application_xml(), "FIX50SP2.xml"));
    rules->options.allows_user_fields = name == "user_fields";
    return rules;
}

}  // namespace

std::pair<std::string, std::string> split(std::string_view text) {
    const std::size_t end = std::min(text.find(' '), text.size());
    std::string_view rest = text.substr(end);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    return {std::string(text.substr(0, end)), std::string(rest)};
}

void PrintTo(const script& one, std::ostream* out) {
    *out << one.file << ": " << one.name;
}

std::vector<script> with_initiators(const std::vector<script>& all) {
    std::vector<script> turned;
    for (const script& each : all) {
        const auto is_for_acceptors = [](const script_line& line) {
            return line.rest.find("side=acceptor") != line.rest.npos;
        };
        if (std::ranges::any_of(each.lines, is_for_acceptors)) continue;
        const auto connect = std::ranges::find(each.lines, "connect", &script_line::verb);
        if (std::ranges::count(each.lines, "connect", &script_line::verb) != 1 || each.lines.end() - connect < 3)
            continue;
        const script_line& logon = connect[1];
        const bool is_acceptors = logon.verb == "send" && logon.rest.starts_with("35=A|34=1|98=0|108=") &&
                                  connect[2].verb == "expect" && connect[2].rest == logon.rest;
        if (!is_acceptors || logon.rest.find("141=") != std::string::npos) continue;
        script other = each;
        const auto at = other.lines.begin() + (connect - each.lines.begin());
        std::swap(at[1].verb, at[2].verb);
        const std::string interval = logon.rest.substr(logon.rest.find("108=") + 4);
        other.lines.insert(at,
                           {at->number, "with", "side=initiator heartbeat=" + interval.substr(0, interval.find('|'))});
        turned.push_back(std::move(other));
    }
    return turned;
}

script_player::script_player(const script& played, breakage how, std::size_t broken_at)
    : script_(played), how_(how), broken_at_(broken_at) {
    settings_.identity.sender_comp_id = "CORRO";
    settings_.identity.target_comp_id = "PEER";
    now_.steady = 1'000 * second;
    now_.wall = *timestamp_value("20261123-10:00:00");
}

std::vector<std::string> script_player::play() {
    for (const script_line& line : script_.lines) {
        line_ = &line;
        step(line);
        if (!failures_.empty()) return failures_;
    }
    expect_no_more();
    return failures_;
}

std::size_t script_player::count_of(breakage how) const {
    switch (how) {
        case breakage::none: return 0;
        case breakage::drops_a_message:
        case breakage::changes_a_message: return sent_count_;
        case breakage::drops_a_delivery: return delivered_count_;
        case breakage::stays_connected: return ends_count_;
    }
    return 0;
}

void script_player::fail(const std::string& what) {
    failures_.push_back(script_.file + ":" + std::to_string(line_->number) + ": " + line_->verb + " " + line_->rest +
                        ": " + what);
}

void script_player::configure(std::string_view settings) {
    std::istringstream words{std::string(settings)};
    std::string word;
    while (words >> word) {
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const std::string value = word.substr(equals + 1);
        const auto number = static_cast<std::uint64_t>(std::atoll(value.c_str()));
        if (name == "side") {
            settings_.side = value == "initiator" ? session_side::initiator : session_side::acceptor;
        } else if (name == "begin_string") {
            settings_.identity.begin_string = value;
            if (value == "FIXT.1.1") settings_.identity.default_appl_ver_id = "9";
        } else if (name == "heartbeat") {
            settings_.heartbeat = std::chrono::seconds(number);
        } else if (name == "reset_on_logon") {
            settings_.resets_on_logon = is_yes(value);
        } else if (name == "reset_on_logout") {
            settings_.resets_on_logout = is_yes(value);
        } else if (name == "reset_on_disconnect") {
            settings_.resets_on_disconnect = is_yes(value);
        } else if (name == "next_expected") {
            settings_.sends_next_expected = is_yes(value);
        } else if (name == "tolerance") {
            settings_.sending_time_tolerance = std::chrono::seconds(number);
        } else if (name == "style") {
            settings_.style = value == "quickfix" ? session_style::quickfix : session_style::corro;
        } else if (name == "dictionary") {
            settings_.checked_by = rules_by_name(value);
        } else if (name == "structure") {
            settings_.checks_structure = is_yes(value);
        } else if (name == "resend_request_max") {
            settings_.resend_request_max = number;
        } else if (name == "kept") {
            settings_.messages_kept_max = number;
        } else if (name == "schedule") {
            const auto time = [&value](std::size_t at) {
                return std::chrono::hours(std::atoi(value.substr(at, 2).c_str())) +
                       std::chrono::minutes(std::atoi(value.substr(at + 3, 2).c_str()));
            };
            settings_.schedule.emplace();
            settings_.schedule->begins = time(0);
            settings_.schedule->ends = time(6);
        } else if (name == "sub_ids") {
            settings_.identity.sender_sub_id = "DESK";
            settings_.identity.target_sub_id = "TRADER";
            settings_.identity.sender_location_id = "NY";
            settings_.identity.target_location_id = "LD";
        } else if (name == "sent") {
            static_cast<void>(store_.set_next_sent(number));
        } else if (name == "received") {
            static_cast<void>(store_.set_next_received(number));
        } else {
            fail("unknown setting " + name);
        }
    }
}

std::string script_player::now_text() const {
    std::array<char, timestamp_format::bytes_max> text;
    const std::size_t size = timestamp_format().write(now_.wall, time_precision::milliseconds, text.data());
    return {text.data(), size};
}

std::string script_player::whole(std::string_view body, std::string_view from, std::string_view to,
                                 std::string_view begin_string) const {
    // MsgType stays the third field, and the others follow it.
    const std::size_t type_end = body.find('|') + 1;
    std::string text(body.substr(0, type_end));
    if (!from.empty() && !names(body, tag::sender_comp_id)) text += "49=" + std::string(from) + "|";
    if (!to.empty() && !names(body, tag::target_comp_id)) text += "56=" + std::string(to) + "|";
    if (!names(body, tag::sending_time)) text += "52=" + now_text() + "|";
    text += body.substr(type_end);
    return framed(text, begin_string);
}

void script_player::step(const script_line& line) {
    const std::string& rest = line.rest;
    if (line.verb == "with") return configure(rest);
    if (line.verb == "connect") {
        expect_no_more();
        if (session_ == nullptr) session_ = std::make_unique<session>(settings_, store_);
        input_.clear();
        is_connected_ = true;
        session_->begin(now_);
        return collect();
    }
    if (session_ == nullptr) return fail("there is no connection");
    const session_identity& ids = settings_.identity;
    if (line.verb == "send") {
        return receive(whole(rest, ids.target_comp_id, ids.sender_comp_id, ids.begin_string));
    }
    if (line.verb == "send_from") {
        const auto [from, behind] = split(rest);
        const auto [to, body] = split(behind);
        return receive(whole(body, from, to, ids.begin_string));
    }
    if (line.verb == "send_as") {
        const auto [begin_string, body] = split(rest);
        return receive(whole(body, ids.target_comp_id, ids.sender_comp_id, begin_string));
    }
    if (line.verb == "raw") return receive(with_soh(rest));
    if (line.verb == "expect" || line.verb == "deliver") {
        std::deque<std::string>& from = line.verb == "expect" ? sent_ : delivered_;
        if (from.empty()) return fail("there is none");
        const std::string came = body_of(from.front(), rest);
        from.pop_front();
        if (came != rest) fail("it is " + came);
        return;
    }
    if (line.verb == "version") {
        if (session_->application_version() != rest) fail("it is " + std::string(session_->application_version()));
        return;
    }
    if (line.verb == "application") {
        if (!session_->may_send()) return fail("it may not send now");
        field_index fields;
        const std::string message = framed(rest);
        static_cast<void>(fields.index(message, next_frame(message, message_bytes_max)));
        message_writer& writer = session_->begin_message(fields.message_type(), now_);
        for (const field& each : fields.fields().subspan(1)) writer.put(each.tag, fields.value(each));
        static_cast<void>(session_->send(now_));
        return collect();
    }
    if (line.verb == "reject") {
        const auto [reason, tag] = split(rest);
        session_->reject(
            {static_cast<reject_reason>(std::atoi(reason.c_str())), static_cast<std::uint32_t>(std::atoi(tag.c_str()))},
            now_);
        return collect();
    }
    if (line.verb == "business_reject") {
        const auto [reason, text] = split(rest);
        session_->reject_business(static_cast<std::uint32_t>(std::atoi(reason.c_str())), text, now_);
        return collect();
    }
    if (line.verb == "refuse") {
        refusal_ = rest;
        return;
    }
    if (line.verb == "log_out") {
        session_->log_out(rest, now_);
        return collect();
    }
    if (line.verb == "wait") return pass_time(static_cast<std::int64_t>(std::atof(rest.c_str()) * 1e9));
    if (line.verb == "clock") {
        now_.wall += static_cast<std::int64_t>(std::atof(rest.c_str()) * 1e9);
        return;
    }
    if (line.verb == "disconnect") {
        is_connected_ = false;
        return session_->end();
    }
    if (line.verb == "closed") {
        if (is_connected_) fail("it is open");
        return;
    }
    if (line.verb == "numbers") {
        const auto [sent, received] = split(rest);
        if (std::to_string(store_.next_sent()) != sent || std::to_string(store_.next_received()) != received) {
            fail("they are " + std::to_string(store_.next_sent()) + " " + std::to_string(store_.next_received()));
        }
        return;
    }
    fail("no such step");
}

void script_player::receive(std::string_view bytes) {
    if (!is_connected_) return fail("the connection is closed");
    input_ += bytes;
    while (is_connected_) {
        const frame_result frame = next_frame(input_, message_bytes_max_default);
        if (frame.state == frame_state::incomplete) break;
        if (frame.state == frame_state::complete) {
            taken what = session_->take(input_, frame, now_);
            if (what == taken::restart && refusal_.empty()) {
                session_->restart(now_);
                what = session_->take(input_, frame, now_);
            }
            act_on(what);
            while (const auto kept = session_->take_kept(now_)) act_on(*kept);
        }
        input_.erase(0, frame.bytes);
        collect();
    }
}

void script_player::act_on(taken what) {
    if (what == taken::logon || what == taken::restart) {
        if (refusal_.empty()) {
            session_->accept_logon(now_);
        } else {
            session_->refuse_logon(std::exchange(refusal_, {}), now_);
        }
    }
    if (what != taken::by_application) return;
    const bool is_broken = how_ == breakage::drops_a_delivery && delivered_count_ == broken_at_;
    ++delivered_count_;
    if (!is_broken) delivered_.emplace_back(session_->message().bytes());
}

// What the session has written, message by message, and whether it closes the connection.
void script_player::collect() {
    do {
        session_->resend(resend_bytes, now_);
        while (!session_->output().empty()) {
            const frame_result frame = next_frame(session_->output(), message_bytes_max);
            if (frame.state != frame_state::complete) return fail("the session sends no sound message");
            std::string message(session_->output().substr(0, frame.bytes));
            session_->consume(frame.bytes);
            const bool is_hit = sent_count_ == broken_at_;
            ++sent_count_;
            if (is_hit && how_ == breakage::drops_a_message) continue;
            if (is_hit && how_ == breakage::changes_a_message) {
                message =
                    framed(in_words(message.substr(frame.body_begin, frame.body_end - frame.body_begin)) + "9999=x|",
                           settings_.identity.begin_string);
            }
            sent_.push_back(std::move(message));
        }
    } while (session_->is_resending());
    if (session_->phase() != session_phase::over || !is_connected_) return;
    const bool is_broken = how_ == breakage::stays_connected && ends_count_ == broken_at_;
    ++ends_count_;
    if (is_broken) return;
    is_connected_ = false;
    session_->end();
}

// From one moment at which the session has something to do to the next.
void script_player::pass_time(std::int64_t nanoseconds) {
    const std::int64_t until = now_.steady + nanoseconds;
    while (is_connected_ && session_->next_time() <= until) {
        const std::int64_t step = std::max<std::int64_t>(session_->next_time() - now_.steady, 0);
        now_.steady += step;
        now_.wall += step;
        session_->pass(now_);
        collect();
    }
    now_.wall += until - now_.steady;
    now_.steady = until;
}

void script_player::expect_no_more() {
    if (!sent_.empty()) fail("the session has sent " + body_of(sent_.front(), {}));
    if (!delivered_.empty()) fail("the application has got " + body_of(delivered_.front(), {}));
}

}  // namespace corro::fix::testing
