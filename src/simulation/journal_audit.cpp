// SPDX-License-Identifier: Apache-2.0
#include "simulation/journal_audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "base/hash.hpp"
#include "io/file/storage.hpp"
#include "journal/reader.hpp"

namespace corro::simulation {
namespace {

/// A request that a crash took from one partition while others went on is rejected by a later command.
bool is_lost(const domain::command& c) noexcept {
    return c.verdict() == domain::reject_reason::request_lost;
}

std::string name_of(domain::session_id session, std::uint64_t request) {
    return fmt::format("request {} of session {}", request, session.value);
}

class requests_check {
 public:
    requests_check(const std::vector<session_history>& clients, findings* found) : clients_(clients), found_(found) {
        for (std::size_t k = 0; k < clients_.size(); ++k) index_[clients_[k].session.value] = k;
        seen_.resize(clients_.size());
        for (std::size_t k = 0; k < clients_.size(); ++k) seen_[k].resize(clients_[k].requests->size());
        lost_ = seen_;
    }

    void check(const journal_commands& journal) {
        std::map<std::uint32_t, std::uint32_t> last;  // request of each session in this journal
        for (std::size_t i = 0; i < journal.size(); ++i) {
            const domain::command& c = journal[i];
            if (c.sequence.value != i + 1) return add("the commands of the journal have a gap");
            if (c.request() == 0) continue;  // the venue's own
            const sent_request* const sent = find(c);
            if (is_lost(c) && is_own_number(c)) continue;
            if (sent == nullptr) return add(name_of(c.session, c.request()) + " is in a journal and was never sent");
            const std::size_t client = index_[c.session.value];
            if (is_lost(c)) {
                lost_[client][c.request() - 1] = 1;
                continue;
            }
            const std::uint32_t parts = ++seen_[client][c.request() - 1];
            const bool has_name = sent->parts > 1 || sent->what.client_order == c.client_order;
            if (sent->what.kind != c.kind || !has_name) {
                return add(name_of(c.session, c.request()) + " is another one in the journal");
            }
            if (sent->is_refused && sent->parts == 1 && !is_for_all_partitions(c.kind)) {
                return add(name_of(c.session, c.request()) + " was refused, and is in the journal");
            }
            const std::uint32_t before = std::exchange(last[c.session.value], c.request());
            const bool is_next_part = c.request() == before && parts <= sent->parts;
            if (c.request() <= before && !is_next_part) {
                return add(name_of(c.session, c.request()) + " is in the journal twice, or behind a later one");
            }
        }
        check_times(journal);
    }

    void finish() {
        for (std::size_t k = 0; k < clients_.size(); ++k) {
            const auto& requests = *clients_[k].requests;
            for (std::size_t i = 0; i < requests.size(); ++i) {
                if (requests[i].is_refused || requests[i].answered_ns == 0) continue;
                if (seen_[k][i] + lost_[k][i] == 0) {
                    return add(name_of(clients_[k].session, i + 1) + " was answered and is in no journal");
                }
            }
        }
    }

 private:
    void add(std::string words) { found_->add("C3", std::move(words)); }

    [[nodiscard]] const sent_request* find(const domain::command& c) const {
        const auto client = index_.find(c.session.value);
        if (client == index_.end()) return nullptr;
        const auto& requests = *clients_[client->second].requests;
        if (c.request() > requests.size()) return nullptr;
        const sent_request& sent = requests[c.request() - 1];
        return sent.what.kind == domain::command_kind{} ? nullptr : &sent;
    }

    /// Of a message of a FIX session that is no request. A crash that takes it looks like that of a request.
    [[nodiscard]] bool is_own_number(const domain::command& c) const {
        const auto client = index_.find(c.session.value);
        return client != index_.end() && c.request() <= clients_[client->second].requests->size() && find(c) == nullptr;
    }

    /// No later command was answered before this one was sent.
    void check_times(const journal_commands& journal) {
        std::int64_t answered_first = std::numeric_limits<std::int64_t>::max();
        for (std::size_t i = journal.size(); i-- > 0;) {
            if (journal[i].request() == 0 || is_lost(journal[i])) continue;
            const sent_request& sent = *find(journal[i]);
            if (answered_first < sent.sent_ns) {
                return add(name_of(journal[i].session, journal[i].request()) +
                           " precedes a request that was answered before it was sent");
            }
            // One answer leaves the other parts of a request open.
            if (sent.answered_ns != 0 && sent.parts == 1) answered_first = std::min(answered_first, sent.answered_ns);
        }
    }

    const std::vector<session_history>& clients_;
    findings* found_;
    std::map<std::uint32_t, std::size_t> index_;    // of clients, by session
    std::vector<std::vector<std::uint32_t>> seen_;  // commands of each request
    std::vector<std::vector<std::uint32_t>> lost_;  // likewise: whether a crash took it somewhere
};

bool lessens_risk(domain::command_kind kind) noexcept {
    return kind == domain::command_kind::cancel_order || kind == domain::command_kind::cancel_orders ||
           kind == domain::command_kind::kill_switch;
}

}  // namespace

std::uint64_t digest_of(const domain::event& answer) noexcept {
    return base::hash_bytes(std::as_bytes(std::span(&answer, 1)));
}

io::task<std::expected<journal_commands, std::string>> read_journal(io::context* on, std::string directory) {
    const std::unique_ptr<io::storage> files = on->runs_on().make_storage(*on, nullptr);
    const journal::reader_options anybody;
    auto opened = co_await journal::reader::open(files.get(), std::move(directory), anybody);
    if (!opened) co_return std::unexpected(opened.error().text);
    journal_commands all;
    while (true) {
        const auto commands = co_await (*opened)->next();
        if (!commands) co_return std::unexpected(commands.error().text);
        if (commands->empty()) break;
        all.insert(all.end(), commands->begin(), commands->end());
    }
    co_return all;
}

void check_requests(const std::vector<journal_commands>& journals, const std::vector<session_history>& clients,
                    findings* found) {
    requests_check check(clients, found);
    for (const journal_commands& each : journals) check.check(each);
    if (found->empty()) check.finish();
}

void check_throttle(const std::vector<journal_commands>& journals, std::uint32_t requests_max, std::int64_t window_ns,
                    findings* found) {
    if (requests_max == 0) return;
    for (const journal_commands& journal : journals) {
        std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> accepted;  // by session and window
        std::map<std::uint32_t, std::uint32_t> last;  // request of each session; a request of several commands is one
        for (const domain::command& c : journal) {
            if (c.request() == 0 || lessens_risk(c.kind) || c.verdict() != domain::reject_reason::none) continue;
            if (std::exchange(last[c.session.value], c.request()) == c.request()) continue;
            if (++accepted[{c.session.value, c.time.value / window_ns}] <= requests_max) continue;
            return found->add("S5", fmt::format("session {} had more than {} requests accepted in a window",
                                                c.session.value, requests_max));
        }
    }
}

}  // namespace corro::simulation
