// The gateway's ends: what goes in from the configuration, what comes out of the facility.
#include "gateway/order_entry_gateway.hpp"

#include <algorithm>

#include "domain/private_event.hpp"
#include "gateway/order_entry_connection.hpp"
#include "http/server.hpp"

namespace corro::gateway {

void set_copies(const account_directory& accounts, answer_log& answers) {
    for (const account& a : accounts.accounts()) {
        for (const domain::account_id copied : a.copies_of) {
            for (std::uint32_t i = 0; i < a.sessions_count; ++i) {
                answers.copy(copied, domain::session_id{a.first_session.value + i});
            }
        }
    }
}

namespace {

io::admission_options door_of(const gateway_options& options) {
    io::admission_options door;
    door.guests_max = options.strangers_max;
    door.per_address_max = std::min(options.strangers_per_address_max, options.strangers_max);
    door.reserved_for_proven = std::min(options.strangers_reserved, options.strangers_max / 4);
    door.reserved_for_unproven = door.reserved_for_proven;
    door.proven_addresses_max = proven_addresses_max;
    return door;
}

io::admission_options handshakes_door_of(const gateway_options& options) {
    io::admission_options door;
    door.guests_max = options.handshakes_max;
    door.per_address_max = std::min(options.handshakes_per_address_max, options.handshakes_max);
    door.reserved_for_proven = 0;
    return door;
}

}  // namespace

order_entry_gateway::order_entry_gateway(io::context& context, const gateway_options& options,
                                         std::span<const domain::instrument> instruments,
                                         const account_directory& accounts, command_queue& commands,
                                         answer_log& answers, const io::tick_clock& clock)
    : context_(context),
      options_(options),
      accounts_(accounts),
      commands_(commands),
      answers_(answers),
      clock_(clock),
      sessions_(accounts.sessions_capacity() + 1),
      handshakes_(context, options.handshakes),
      handshake_admission_(handshakes_door_of(options)),
      admission_(door_of(options)) {
    CORRO_ASSERT(answers.sessions_count() == accounts.sessions_capacity());
    set_copies(accounts, answers);
    for (const domain::instrument& i : instruments) instruments_.define(i);
    pending_.reserve(options_.connections_max);
    connections_.reserve(options_.connections_max);
}

void order_entry_gateway::set_absent_sessions(std::span<const domain::account_id> sessions,
                                              std::optional<std::chrono::milliseconds> grace) {
    grace_ = grace.value_or(std::chrono::milliseconds{0});
    for (std::size_t id = 1; id < std::min(sessions.size(), sessions_.size()); ++id) {
        if (sessions[id].value == 0) continue;
        sessions_[id].cancel_is_journaled = true;
        if (grace) sessions_[id].old_cancel = sessions[id];
    }
}

order_entry_gateway::~order_entry_gateway() {
    CORRO_ASSERT(connections_.empty(), "serve() has ended before the gateway is destroyed");
}

void order_entry_gateway::close() noexcept {
    closing_ = true;
    for (listener& each : listeners_) each.close();
    for (io::task_scope* greeting : greetings_) greeting->request_stop();
    for (http::server* pages : pages_) pages->drain();
    for (connection* c : connections_) end(*c, end_reason::shutting_down);
}

void order_entry_gateway::end_withdrawn() noexcept {
    for (connection* c : connections_) {
        if (c->session == nullptr || has_key(*accounts_.find(c->account), c->key_id)) continue;
        end(*c, end_reason::authentication_failed);
    }
}

void order_entry_gateway::end(connection& c, end_reason reason) noexcept {
    if (c.ended) return;
    c.ended = reason;
    if (c.scope != nullptr) c.scope->request_stop();
}

// There is no room for somebody who has not logged on. On a plain socket that is said at once. What is layered over a
// socket may have to wait for it, which a few may do at the same time.
void order_entry_gateway::evict(connection& c, unauthenticated_connection& who) noexcept {
    if (c.ended) {
        // Its farewell takes too long.
        c.peer_gone = true;
        if (c.plain != nullptr) return c.plain->close();
        return c.stream.layered().close();
    }
    end(c, end_reason::capacity);
    if (c.plain == nullptr && who.reserve_refusal()) return;
    if (c.plain != nullptr && c.output.empty()) {
        wire::logout logout;
        logout.logout_reason = wire_reason(*c.ended);
        put(c, logout);
        static_cast<void>(c.plain->try_write(c.output.readable()));
    }
    c.peer_gone = true;
}

// The peer does not read: from here on it gets nothing, so that it never sees a message with others missing before it.
void order_entry_gateway::overflow(connection& c) noexcept {
    if (!c.overflowed) ++statistics_.slow_cut;
    c.overflowed = true;
    // What it misses of a day that ends it cannot fetch any more.
    if (c.ended == end_reason::session_day_ended) c.ended = end_reason::slow_consumer;
    end(c, end_reason::slow_consumer);
}

void order_entry_gateway::mark_pending(connection& c) {
    c.said = true;
    c.output_ready.set();
}

void order_entry_gateway::deliver(const domain::event& event) noexcept {
    const domain::session_id id = domain::session_of(event);
    const std::uint64_t number = answers_.append(event);
    if (number == 0) [[unlikely]]
        return take_reset(event);
    hand_over(id, event, number);
    for (const domain::session_id copy : answers_.copies_of(domain::account_of(event))) {
        // A copy that nobody listens to is in the log, and nobody is owed it now.
        if (copy != id && sessions_[copy.value].active != nullptr) {
            hand_over(copy, event, answers_.next_answer(copy) - 1);
        }
    }
    if (event.reason != domain::reject_reason::none) [[unlikely]] {
        if (event.kind == domain::event_kind::order_rejected)
            ++statistics_.refusals_by[static_cast<std::uint8_t>(event.reason)];
        if (event.reason != domain::reject_reason::flooded) return;
        connection* const c = sessions_[id.value].active;
        if (c == nullptr || c->ended) return;
        ++statistics_.throttled_cut;
        end(*c, end_reason::throttled);
    }
}

// Puts an answer, which the log has, into the buffer of its session.
void order_entry_gateway::hand_over(domain::session_id to, const domain::event& event, std::uint64_t number) noexcept {
    connection* const c = sessions_[to.value].active;
    if (c == nullptr || c->peer_gone || c->overflowed || c->day_is_over) {
        ++statistics_.answers_undelivered;
        return;
    }
    if (c->resending) return;  // its turn comes
    const auto room = c->output.reserve(wire::message_bytes_max);
    if (room.empty()) {
        ++statistics_.answers_undelivered;
        return overflow(*c);
    }
    c->output.commit(wire::encode(event, instruments_.find_or_nameless(event.instrument), number, room));
    ++statistics_.answers;
    if (!c->pending) {
        c->pending = true;
        pending_.push_back(c);
    }
}

void order_entry_gateway::define(const domain::event& event) noexcept {
    if (!definitions_.take(event)) return;
    const domain::instrument* const made = instruments_.define(definitions_.get());
    if (made != nullptr) send_definition(*made);
}

void order_entry_gateway::define(const domain::instrument& instrument) noexcept {
    instruments_.define(instrument);
    send_definition(instrument);
}

void order_entry_gateway::send_definition(const domain::instrument& i) noexcept {
    for (connection* c : connections_) {
        if (c->session != nullptr && !c->ended && !c->peer_gone && !c->overflowed) send_definition(*c, i);
    }
}

// Not numbered: who logs on later gets it with the others.
void order_entry_gateway::send_definition(connection& c, const domain::instrument& i) noexcept {
    const auto room =
        c.output.reserve(wire::instrument_definition::frame_bytes + i.legs_count * wire::instrument_leg::frame_bytes);
    if (room.empty()) return overflow(c);
    std::size_t size = wire::encode(i, 0, room);
    for (std::size_t leg = 0; leg < i.legs_count; ++leg) size += wire::encode_leg(i, leg, 0, room.subspan(size));
    c.output.commit(size);
    mark_pending(c);
}

void order_entry_gateway::reject_overloaded(const domain::command& command) noexcept {
    connection* const c = sessions_[command.session.value].active;
    if (command.request() == 0 || c == nullptr || c->peer_gone || c->overflowed) return;
    ++statistics_.turned_away;
    wire::reject reject;
    reject.refused_sequence = domain::sequence_number{command.request()};
    reject.session_reject_reason = wire_reason(
        no_logons_ == end_reason::journal_failed ? request_refusal::journal_failed : request_refusal::overloaded);
    put(*c, reject);
}

void order_entry_gateway::flush() noexcept {
    for (std::size_t i = 0; i < pending_.size(); ++i) {
        // With many sessions none of this is in a near cache.
        if (i + 1 < pending_.size()) __builtin_prefetch(&pending_[i + 1]->output);
        connection& c = *pending_[i];
        c.pending = false;
        if (!send_now(c)) mark_pending(c);
    }
    pending_.clear();
}

}  // namespace corro::gateway
