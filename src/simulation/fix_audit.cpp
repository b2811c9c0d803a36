// SPDX-License-Identifier: Apache-2.0
#include "simulation/fix_audit.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "domain/command.hpp"
#include "fix/codec/field_index.hpp"
#include "fix/codec/frame.hpp"
#include "fix/limits.hpp"
#include "fix/session/settings.hpp"
#include "fix_gateway/answer_store.hpp"
#include "fix_gateway/order_names.hpp"
#include "fix_gateway/quote_names.hpp"
#include "wire/instrument_table.hpp"

namespace corro::simulation {
namespace {

using domain::command_kind;

command_kind kind_of(std::string_view type) noexcept {
    if (type == "D") return command_kind::enter_order;
    if (type == "G") return command_kind::amend_order;
    if (type == "F") return command_kind::cancel_order;
    if (type == "Z") return command_kind::cancel_orders;
    if (type == "H" || type == "AF") return command_kind::query_order;
    CORRO_ASSERT(type == "S" || type == "i", "a FIX client of a run sends no other requests");
    return command_kind::enter_quote;
}

/// The name in the command; of several, in the first.
domain::client_order_id order_of(const fix_request& request) noexcept {
    if (request.type == "S") return fix_gateway::quote_name(request.name, fix_gateway::quote_request::quote);
    if (request.type == "i") return fix_gateway::quote_name(request.name, 1, 1);
    const std::uint64_t name = request.type == "D" ? request.name : request.original;
    if (name == 0) return {};
    const auto order = fix_gateway::order_name(request_text(name));
    CORRO_ASSERT(order, "a client of a run sends no other names");
    return *order;
}

class messages_check {
 public:
    messages_check(const gateway::answer_log& answers, const market_replay& market, findings* found)
        : answers_(answers), found_(found) {
        for (const domain::instrument& i : market.state().instruments()) instruments_.define(i);
    }

    void check(const fix_client& client) {
        const domain::session_id id = client.settings().session;
        fix::session_identity names;
        names.sender_comp_id = client.settings().who.venue_name;
        names.target_comp_id = client.settings().who.name;
        std::uint64_t next_received = 1;
        fix_gateway::answer_store store(answers_, instruments_, id, names, next_received);
        std::uint64_t last = 0;  // answer
        for (const auto& [number, content] : client.trader().contents()) {
            const std::uint64_t answer = answers_.numbers(id).answer_at(number);
            const bool is_given = answer != 0 && answer <= answers_.detailed_count(id);
            if (client.trader().is_unkept(number)) {
                if (is_given) return add("D1", id, number, "was a refusal, and is an answer in the journal");
                continue;
            }
            if (!is_given) return add("D1", id, number, "is no answer in the journal: " + content);
            if (answer != ++last) {
                return add("C3", id, number, fmt::format("is answer {}, and answer {} did not come", answer, last));
            }
            const std::string given = content_of_answer(store, id, number, answer);
            if (given != content) return add("C3", id, number, "was: " + content + ", and the journal gives: " + given);
        }
    }

 private:
    void add(std::string_view promise, domain::session_id id, std::uint64_t number, const std::string& words) {
        found_->add(promise, fmt::format("message {} of FIX session {} {}", number, id.value, words));
    }

    std::string content_of_answer(fix_gateway::answer_store& store, domain::session_id id, std::uint64_t number,
                                  std::uint64_t answer) {
        gateway::answer_log::cursor near;
        const auto kept = answers_.find_detailed(id, answer, near);
        if (!kept) return "nothing";
        const std::string_view bytes = store.write(number, *kept);
        const auto problem = index_.index(bytes, fix::next_frame(bytes, fix::message_bytes_max));
        CORRO_ASSERT(!problem, "what the venue writes is a message");
        return content_of(index_);
    }

    const gateway::answer_log& answers_;
    findings* found_;
    wire::instrument_table instruments_;
    fix::field_index index_;
};

}  // namespace

std::vector<sent_request> requests_of(const fix_trader& from) {
    std::vector<sent_request> all;
    sent_request no_request;
    no_request.what.kind = command_kind{};
    for (const auto& [number, request] : from.requests()) {
        all.resize(number, no_request);
        sent_request& sent = all.back();
        sent.what.kind = kind_of(request.type);
        sent.what.client_order = order_of(request);
        sent.sent_ns = request.sent_ns;
        sent.answered_ns = request.answered_ns;
        sent.is_refused = request.is_refused;
        sent.parts = request.parts;
    }
    return all;
}

void check_messages(const gateway::answer_log& answers, const market_replay& market,
                    const std::vector<fix_client*>& clients, findings* found) {
    messages_check check(answers, market, found);
    for (const fix_client* each : clients) check.check(*each);
}

}  // namespace corro::simulation
