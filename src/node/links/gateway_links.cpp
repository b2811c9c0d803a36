// SPDX-License-Identifier: Apache-2.0
// The links to gateways, from the handshake until the gateway's last command and cancel are done.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/defect.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/task/with_timeout.hpp"
#include "node/configuration/limits.hpp"
#include "node/links/linked_instrument.hpp"
#include "node/links/linked_order_entry.hpp"

namespace corro::node {

io::task<void> linked_order_entry::serve_links() {
    io::task_scope serving(core_.context);
    io::task_scope waiting(core_.context);
    waiting.spawn(cancel_absent_sessions());
    while (!closing_) {
        auto accepted = co_await links_->accept();
        if (!accepted) break;
        serving.spawn(serve_link(std::move(*accepted)));
    }
    waiting.request_stop();
    co_await waiting.join();
    co_await serving.join();
}

// Serves one link, from the handshake until the gateway's last command and cancel are done.
io::task<void> linked_order_entry::serve_link(gateway::transport_stream stream) {
    const auto link = std::make_unique<gateway_link>(std::move(stream));
    io::task_scope writing(core_.context);
    writing.spawn(link->channel.write());
    if (unauthenticated_.size() == link_strangers_max) {
        // Removed from the list at once: many links may come before this one's task notices the close.
        unauthenticated_.front()->close();
        unauthenticated_.erase(unauthenticated_.begin());
    }
    unauthenticated_.push_back(&link->channel);
    const bool fits = co_await greet(link.get());
    std::erase(unauthenticated_, &link->channel);
    if (fits) {
        io::task_scope living(core_.context);
        living.spawn(link->channel.keep_alive());
        io::task_scope taking(core_.context);
        link->taking = &taking;
        if (closing_) taking.request_stop();
        taking.spawn(take_commands(link.get()));
        co_await taking.join();
        link->taking = nullptr;
        if (!closing_) link->hears = false;
        co_await execute_cancels(link.get());
        co_await settle(link.get());
        gateways_[link->gateway] = nullptr;
        if (link->channel.fell_silent()) ++links_cut_;
        if (!closing_) link->channel.close();
        living.request_stop();
        co_await living.join();
    }
    link->channel.finish();
    const auto written = co_await io::with_timeout(link_patience, writing.join());
    if (!written) link->channel.close();
    co_await writing.join();
}

// Receives the gateway's proof and greeting. True when the gateway is accepted and has been sent the answers so far.
io::task<bool> linked_order_entry::greet(gateway_link* link) {
    link_frame frame;
    const auto came = co_await io::with_timeout(link_patience, link->channel.read(&frame));
    if (!came || !*came) co_return false;
    link_hello theirs;
    // An end of another version may send another message first. It begins with the same magic.
    if (frame.payload.size() >= sizeof theirs) theirs = frame.record<link_hello>(0);
    std::string problem = mismatch(theirs);
    if (problem.empty() && frame.kind != link_message::hello)
        problem = "the two ends of the link run different versions of Corro";
    if (!problem.empty()) {
        refuse_link(*link, link_message::refusal, problem);
        co_return false;
    }
    const link_hello ours = make_link_hello(core_.context.runs_on());
    link->channel.put_record(link_message::hello, ours);
    link->channel.flush();
    const link_proofs proofs(configuration_.link_secret, theirs.nonce, ours.nonce);
    const auto greeted = co_await io::with_timeout(link_patience, link->channel.read(&frame));
    if (!greeted || !*greeted) co_return false;
    proven_greeting greeting;
    if (frame.kind == link_message::greeting && frame.count<proven_greeting>() == 1)
        greeting = frame.record<proven_greeting>(0);
    if (!proofs.check(link_claim::gateway_greets, greeting)) {
        refuse_link(*link, link_message::unauthenticated_connection,
                    "the gateway has not proved that it has this facility's link.secret");
        co_return false;
    }
    link->channel.trust();
    co_return admit(*link, greeting.greeting, proofs);
}

// The reply contains nothing that is of use without the secret.
void linked_order_entry::refuse_link(gateway_link& link, link_message how, std::string_view why) {
    ++links_refused_;
    link.channel.put(how, std::as_bytes(std::span(why)));
    link.channel.flush();
}

// Accepts a gateway that has proved the secret, or refuses it by its name.
bool linked_order_entry::admit(gateway_link& link, link_greeting theirs, const link_proofs& proofs) {
    link_greeting ours = greeting_of(configuration_);
    if (const host_journal* const journal = core_.first().journal.get()) {
        ours.epoch = journal->epoch();
        ours.id = journal->writer().birth().id;
    }
    ours.life = process_id_;
    theirs.gateway.back() = 0;
    const std::string name = theirs.gateway.data();
    const std::optional<std::size_t> gateway = shares_.find(name);
    std::string problem = mismatch(ours, theirs);
    if (problem.empty() && !gateway) problem = fmt::format("no account is served by a gateway named \"{}\"", name);
    bool fits = false;
    if (!problem.empty()) {
        const std::string refusal = proofs.sign_refusal(problem);
        link.channel.put(link_message::refusal, std::as_bytes(std::span(refusal)));
    } else if (gateways_[*gateway] != nullptr || closing_) {
        const std::string_view busy = "another gateway of this name is connected to this facility";
        link.channel.put(link_message::busy, std::as_bytes(std::span(busy)));
    } else {
        link.gateway = *gateway;
        link.greeting = theirs;
        link.channel.put_record(link_message::greeting, proofs.sign(link_claim::facility_greets, ours));
        welcome(link);
        fits = true;
    }
    link.channel.flush();
    return fits;
}

void linked_order_entry::welcome(gateway_link& link) {
    for (const domain::instrument& i : defined_) link.channel.put_record(link_message::definition, to_linked(i));
    for (const auto& [session, account] : absent_sessions_) {
        const domain::session_id id{session};
        if (!shares_.serves(link.gateway, id)) continue;
        link.channel.put_record(link_message::noted_cancel, noted_cancel{id, account});
    }
    std::vector<std::byte> answers;
    answers_.save(answers, shares_.sessions_of(link.gateway));
    for (std::span<const std::byte> rest(answers); !rest.empty();) {
        const std::size_t piece = std::min(rest.size(), link_frame_bytes_max);
        link.channel.put(link_message::answers, rest.first(piece));
        rest = rest.subspan(piece);
    }
    if (core_.failure() != nullptr) link.channel.put(link_message::journal_failed, {});
    link.channel.put(link_message::answers_end, {});
    link.waiting_bytes_max = link.channel.waiting_bytes() + link_backlog_bytes_max;
    link.hears = true;
    gateways_[link.gateway] = &link;
}

io::task<void> linked_order_entry::take_commands(gateway_link* link) {
    link_frame frame;
    while (true) {
        const bool came = co_await link->channel.read(&frame);
        if (!came) co_return;
        switch (frame.kind) {
            case link_message::commands: {
                const bool taken = co_await execute_all(link, frame);
                if (!taken) co_return;
                break;
            }
            case link_message::question:
                if (!answer_questions(*link, frame)) co_return;
                break;
            case link_message::read_again:
                if (frame.count<link_greeting>() != 1 || !take_reading(*link, frame.record<link_greeting>(0)))
                    co_return;
                break;
            default: co_return;
        }
    }
}

// The gateway has read its file again. It may have a newer one than the facility; the link then stays until the
// facility has read its own.
bool linked_order_entry::take_reading(gateway_link& link, const link_greeting& theirs) {
    if (theirs.gateway != link.greeting.gateway) return false;
    link.greeting = theirs;
    const std::string problem = mismatch(greeting_of(configuration_), theirs);
    if (!problem.empty() && noticed_) {
        noticed_(fmt::format(
            "gateway \"{}\" has read its file again: {}. The link will end when the facility reads its file "
            "and they still differ",
            theirs.gateway.data(), problem));
    }
    return true;
}

// Closes links of gateways with an older file, because they would still accept removed keys. Their sessions are
// cancelled as if the gateway had died; it links again when it has the same accounts and keys.
void linked_order_entry::close_superseded_links() {
    const link_greeting ours = greeting_of(configuration_);
    for (gateway_link* link : gateways_) {
        if (link == nullptr || link->taking == nullptr) continue;
        const std::string problem = mismatch(ours, link->greeting);
        if (problem.empty()) continue;
        if (noticed_)
            noticed_(fmt::format("the link to gateway \"{}\" ends: {}", link->greeting.gateway.data(), problem));
        ++links_refused_;
        link->taking->request_stop();
    }
}

// Records that a session of this gateway has logged on, or has ended and its orders are cancelled if required.
void linked_order_entry::keep_cancel(gateway_link& link, const domain::command& note) {
    if (!CORRO_DEFECT(returned_session_cancelled)) absent_sessions_.erase(note.session.value);
    if (note.cancel_on_disconnect().state == domain::switch_state::on) {
        link.cancels.insert_or_assign(note.session.value, note.account);
    } else {
        link.cancels.erase(note.session.value);
    }
}

// Answers what sessions ask about the venue. False when the link must end.
bool linked_order_entry::answer_questions(gateway_link& link, const link_frame& frame) {
    for (std::size_t i = 0; i < frame.count<gateway::admin_request>(); ++i) {
        const auto question = frame.record<gateway::admin_request>(i);
        if (!shares_.serves(link.gateway, question.session)) return false;
        const bool is_operator = accounts_.owner_of(question.session)->is_operator;
        if (gateway::is_for_operators(question.wish) && !is_operator) return false;
        core_.reply(question,
                    [&](const gateway::admin_reply& answer) { link.channel.put_record(link_message::reply, answer); });
    }
    link.channel.flush();
    return true;
}

// Executes the commands of a frame. False when the link must end.
io::task<bool> linked_order_entry::execute_all(gateway_link* link, link_frame frame) {
    const std::size_t count = frame.count<domain::command>();
    for (std::size_t i = 0; i < count; ++i) {
        auto command = frame.record<domain::command>(i);
        if (!take_over(*link, command)) co_return false;
        if (!try_submit(link->gateway, command, source_kind::request)) {
            const bool goes_on = co_await submit(link->gateway, command, source_kind::request);
            if (!goes_on) co_return false;
        }
        if (command.kind == domain::command_kind::cancel_on_disconnect) keep_cancel(*link, command);
        if (i + 1 != count && (i + 1) % commands_batch_max != 0) continue;
        core_.publish_progress();
        co_await io::yield();
        while (link->channel.is_full()) {
            link->channel.drained().reset();
            const std::error_code stopped = co_await link->channel.drained().wait();
            if (stopped) co_return false;
        }
    }
    co_return true;
}

// Fills in the session's account and rights from the own configuration, not from the peer. False when the session does
// not belong to this gateway, or may not enter requests.
bool linked_order_entry::take_over(const gateway_link& link, domain::command& command) const noexcept {
    if (!shares_.serves(link.gateway, command.session)) return false;
    const gateway::account& owner = *accounts_.owner_of(command.session);
    const bool is_about_numbers = command.kind == domain::command_kind::reset_session_numbers ||
                                  command.kind == domain::command_kind::count_messages;
    if (!owner.copies_of.empty() && !is_about_numbers) return false;
    command.account = owner.id;
    command.set_operator(owner.is_operator);
    return true;
}

}  // namespace corro::node
