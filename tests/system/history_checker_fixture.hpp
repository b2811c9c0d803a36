// SPDX-License-Identifier: Apache-2.0
// Test support: checks that the venue's own sequence explains the histories of concurrent clients (C3).
//
// The input is the clients' histories (the times of each request and its complete answer, and all received messages)
// and the commands of the journal. The history is linearizable if the journal's order explains it: every answered
// request is in the journal once; a request that was answered before another one was sent comes before it; and an
// execution of the journal alone gives every session exactly the messages that it received.
//
// Cost: linear in the history, except for sorting.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/private_event.hpp"
#include "facility/facility.hpp"
#include "wire/binary_codec.hpp"

namespace corro::testing {

/// A request of a client. All clients share the clock of both times.
struct operation {
    std::uint32_t session = 0;
    std::uint32_t request = 0;
    std::uint64_t left = 0;
    std::uint64_t answered = 0;  ///< 0: never
};

struct client_history {
    std::vector<operation> operations;
    std::map<std::uint32_t, std::vector<domain::event>> heard;  ///< by session, in the order of arrival
};

/// Returns each session's private events in the form that a client receives.
class told_by_sequence final : public facility::event_consumer {
 public:
    explicit told_by_sequence(const wire::instrument_table& instruments) : instruments_(instruments) {}

    void consume(std::span<const domain::event> events) noexcept override {
        for (const domain::event& e : events) {
            if (domain::is_public(e.kind)) continue;
            std::array<std::byte, wire::message_bytes_max> buffer;
            const auto size = wire::encode(e, instruments_.find_or_nameless(e.instrument), 1, buffer);
            const auto frame = wire::next_frame(std::span(buffer).first(size));
            domain::event arrived;
            if (!frame || !*frame || wire::decode_event(**frame, instruments_, arrived)) continue;
            told[domain::session_of(e).value].push_back(arrived);
        }
    }

    std::map<std::uint32_t, std::vector<domain::event>> told;

 private:
    const wire::instrument_table& instruments_;
};

/// Returns the first violation as a sentence; empty if the sequence explains everything.
[[nodiscard]] inline std::string unexplained(const client_history& history, const std::vector<domain::command>& journal,
                                             const facility::facility_options& options,
                                             const std::vector<domain::instrument>& instruments,
                                             const wire::instrument_table& table) {
    const auto name = [](std::uint32_t session, std::uint32_t request) {
        return "request " + std::to_string(request) + " of session " + std::to_string(session);
    };
    // Every request is there once, in the order of its session's numbers.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> place;
    std::map<std::uint32_t, std::uint32_t> last;
    for (std::size_t i = 0; i < journal.size(); ++i) {
        const domain::command& c = journal[i];
        if (c.sequence.value != i + 1) return "the sequence has a gap";
        if (c.request() == 0) continue;  // a command of the venue itself, at the end of a session
        if (!place.emplace(std::pair(c.session.value, c.request()), i).second)
            return name(c.session.value, c.request()) + " was executed twice";
        if (c.request() <= std::exchange(last[c.session.value], c.request()))
            return name(c.session.value, c.request()) + " was executed after a later one";
    }
    // Real time: no later request in the sequence was answered before this one was sent.
    std::vector<const operation*> in_sequence(journal.size());
    for (const operation& o : history.operations) {
        const auto found = place.find({o.session, o.request});
        if (found != place.end()) {
            in_sequence[found->second] = &o;
        } else if (o.answered != 0) {
            return name(o.session, o.request) + " was answered and not executed";
        }
    }
    std::uint64_t answered_first = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = journal.size(); i-- > 0;) {
        const operation* const o = in_sequence[i];
        if (o == nullptr && journal[i].request() != 0)
            return name(journal[i].session.value, journal[i].request()) + " was executed and never sent";
        if (o == nullptr) continue;
        if (answered_first < o->left)
            return name(o->session, o->request) + " is in the sequence before one that was answered before it left";
        if (o->answered != 0) answered_first = std::min(answered_first, o->answered);
    }
    // The received messages equal those of the sequence, as far as they were received.
    told_by_sequence sequence(table);
    facility::facility alone(options, instruments, sequence);
    for (const domain::command& c : journal) alone.apply(c);
    for (const auto& [session, heard] : history.heard) {
        const auto& told = sequence.told[session];
        if (heard.size() > told.size()) return "session " + std::to_string(session) + " heard more than was said";
        for (std::size_t i = 0; i < heard.size(); ++i) {
            if (std::memcmp(&heard[i], &told[i], sizeof heard[i]) != 0)
                return "session " + std::to_string(session) + " heard another message " + std::to_string(i);
        }
    }
    return {};
}

}  // namespace corro::testing
