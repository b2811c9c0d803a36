// SPDX-License-Identifier: Apache-2.0
#include "node/links/gateway_role.hpp"

#include <fmt/format.h>

#include <exception>
#include <system_error>
#include <utility>

#include "base/assert.hpp"
#include "domain/private_event.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/task/with_timeout.hpp"
#include "node/configuration/limits.hpp"
#include "node/links/linked_instrument.hpp"
#include "node/venue/metrics.hpp"
#include "node/venue/ports.hpp"
#include "node/venue/venue_core.hpp"

namespace corro::node {
namespace {

/// Tries to open an address that is in use, link_retry_interval apart: two seconds.
constexpr int open_tries_max = 40;

bool is_in_use(const std::exception_ptr& not_opened) {
    if (!not_opened) return false;
    try {
        std::rethrow_exception(not_opened);
    } catch (const std::system_error& e) {
        return e.code() == std::errc::address_in_use;
    } catch (...) {
        return false;
    }
}

}  // namespace

gateway_role::gateway_role(io::context& context, const configuration& c, std::function<void(io::endpoint)> opened,
                           std::function<void(const std::string&)> noticed)
    : context_(context),
      clock_(context.runs_on().ticks()),
      configuration_(c),
      log_(make_event_log(context, c)),
      events_log_(log_ == nullptr ? nullptr : &log_->add_producer()),
      facility_(link_address_of(c.link_connect, place_of(c, "link.connect"))),
      opened_(std::move(opened)),
      noticed_(std::move(noticed)),
      metrics_(
          context, [this](telemetry::metrics_page& page) { collect(page); },
          [this] { return std::string(channel_ == nullptr || broken_ ? "The facility is not connected." : ""); }) {
    require_link_secret(c);
    for (gateway::account& a : configuration_.accounts) a.is_other_gateway = a.gateway != c.link_gateway;
    if (c.metrics_listen.empty()) return;
    metrics_port_ = open_port(context, c.metrics_listen, place_of(c, "metrics.listen"));
    metrics_endpoint_ = *metrics_port_.local_endpoint();
}

io::task<void> gateway_role::run() {
    if (log_ != nullptr) co_await log_->start();
    io::task_scope measuring(context_);
    if (metrics_endpoint_) measuring.spawn(metrics_.serve(std::move(metrics_port_)));
    io::task_scope finding(context_);
    finding_ = &finding;
    finding.spawn(find_facility());
    std::exception_ptr failed;
    try {
        co_await finding.join();
    } catch (...) {
        failed = std::current_exception();
    }
    finding_ = nullptr;
    metrics_.close();
    co_await measuring.join();
    if (failed) std::rethrow_exception(failed);
}

void gateway_role::collect(telemetry::metrics_page& page) const {
    page.gauge("corro_link_up", "1 when the gateway is linked to its facility.", orders_ != nullptr ? 1 : 0);
    page.counter("corro_links_total", "Links established to the facility.", links_made_);
    page.counter("corro_links_cut_total", "Links to the facility closed because it sent nothing.", links_cut_);
    page.counter("corro_facilities_refused_total", "Links closed because the facility was not the same as before.",
                 facilities_refused_);
    if (orders_ != nullptr) add_metrics(*orders_, page);
    if (log_ != nullptr) add_metrics(*log_, page);
}

io::task<reread_outcome> gateway_role::reread(configuration changed) {
    for (gateway::account& a : changed.accounts) a.is_other_gateway = a.gateway != configuration_.link_gateway;
    const gateway::account_directory accounts = account_directory_of(configuration_);
    // Only the facility applies limits.
    reread_outcome outcome = look_at(accounts, changed, configuration_.tables, UINT32_MAX);
    if (!outcome.problems.empty()) co_return outcome;
    outcome.accounts_added = changed.accounts.size() - configuration_.accounts.size();
    configuration_.accounts = std::move(changed.accounts);
    if (channel_ == nullptr || orders_ == nullptr) co_return outcome;
    if (outcome.accounts_added != 0) {
        channel_->close();
        co_return outcome;
    }
    const std::string problem = orders_->change_keys(configuration_);
    CORRO_ASSERT(problem.empty(), "both directories are from the same configuration");
    channel_->put_record(link_message::read_again, greeting_of(configuration_));
    channel_->flush();
    co_return outcome;
}

void gateway_role::close() noexcept {
    closing_ = true;
    if (orders_ != nullptr) {
        orders_->close();
    } else if (finding_ != nullptr) {
        finding_->request_stop();
    }
}

io::task<void> gateway_role::find_facility() {
    while (!closing_ && failure_.empty()) {
        auto connected = co_await connect_link(&context_, facility_);
        if (connected) co_await serve_link(std::move(*connected));
        if (closing_ || !failure_.empty()) break;
        const std::error_code stopped = co_await io::sleep_for(link_retry_interval);
        if (stopped) break;
    }
}

// Serves one link, from the handshake until it breaks or the gateway shuts down.
io::task<void> gateway_role::serve_link(gateway::transport_stream stream) {
    const auto channel = std::make_unique<link_channel>(std::move(stream));
    io::task_scope writing(context_);
    writing.spawn(channel->write());
    std::vector<std::byte> answers;
    std::exception_ptr not_opened;
    const bool fits = co_await greet(channel.get(), &answers);
    if (fits && !closing_) {
        taken_count_ = 0;
        broken_ = served_ = false;
        not_opened = open_orders(answers);
        // The sockets of a gateway that was killed may be free a moment after its end (those of an io_uring).
        for (int tries = 1; is_in_use(not_opened) && tries < open_tries_max; ++tries) {
            const std::error_code stopped = co_await io::sleep_for(link_retry_interval);
            if (stopped) break;
            not_opened = open_orders(answers);
        }
        answers = {};
        if (orders_ != nullptr) co_await serve_sessions(channel.get());
        orders_.reset();
    }
    if (broken_) channel->close();
    channel->finish();
    const auto written = co_await io::with_timeout(link_patience, writing.join());
    if (!written) channel->close();
    co_await writing.join();
    if (not_opened) std::rethrow_exception(not_opened);
}

// Opens the ports, with the answers so far; returns the error when that fails.
std::exception_ptr gateway_role::open_orders(std::span<const std::byte> answers) {
    gateway::admin_service* const desk = this;
    try {
        orders_ = std::make_unique<order_entry>(context_, configuration_, clock_, events_log_, desk);
        orders_->set_absent_sessions(absent_sessions_, std::nullopt);
        if (journal_has_failed_) orders_->refuse_logons(gateway::end_reason::journal_failed);
        orders_->open(context_, configuration_);
    } catch (const std::exception&) {
        orders_.reset();
        return std::current_exception();
    }
    for (const domain::instrument& i : defined_) {
        if (domain::validate(i).empty()) orders_->define(i);
    }
    // A port that the system chose is kept, so that clients find it again.
    configuration_.order_entry_listen = orders_->endpoint().to_string();
    if (const std::string problem = orders_->answers().load(answers); !problem.empty()) {
        failure_ = "the facility's answers cannot be loaded: " + problem;
        orders_.reset();
    }
    return nullptr;
}

// Proves the secret, checks the facility's proof, and receives the answers so far. A message from a peer without a
// proof ends only the link, never the gateway, because any process may have taken the address. Its text is not
// printed either.
io::task<bool> gateway_role::greet(link_channel* channel, std::vector<std::byte>* answers) {
    const link_greeting ours = greeting_of(configuration_);
    const link_hello hello = make_link_hello(context_.runs_on());
    defined_.clear();
    absent_sessions_.clear();
    journal_has_failed_ = false;
    channel->put_record(link_message::hello, hello);
    channel->flush();
    link_frame frame;
    std::optional<link_proofs> proofs;
    bool greeted = false;
    while (true) {
        const auto came = co_await io::with_timeout(link_patience, channel->read(&frame));
        if (!came || !*came) co_return false;
        if (!proofs) {
            if (frame.kind == link_message::refusal) note_problem("the facility runs another version of Corro");
            if (frame.kind != link_message::hello || frame.count<link_hello>() != 1) co_return false;
            const auto theirs = frame.record<link_hello>(0);
            if (!mismatch(theirs).empty()) co_return false;
            proofs.emplace(configuration_.link_secret, hello.nonce, theirs.nonce);
            channel->put_record(link_message::greeting, proofs->sign(link_claim::gateway_greets, ours));
            channel->flush();
        } else if (frame.kind == link_message::unauthenticated_connection) {
            note_problem("the facility has another link.secret than this gateway");
            co_return false;
        } else if (!greeted && frame.kind == link_message::greeting && frame.count<proven_greeting>() == 1) {
            const auto theirs = frame.record<proven_greeting>(0);
            if (!proofs->check(link_claim::facility_greets, theirs)) {
                note_problem("the facility has not proved that it has this gateway's link.secret");
                co_return false;
            }
            const std::string problem = mismatch(ours, theirs.greeting);
            if (!problem.empty()) refused(problem);
            if (!problem.empty() || !is_the_same_venue(theirs.greeting)) co_return false;
            problem_.clear();
            channel->trust();
            greeted = true;
        } else if (!greeted && frame.kind == link_message::refusal) {
            const std::string sentence = proofs->check_refusal(frame.payload);
            if (!sentence.empty()) refused("the facility has refused this gateway: " + sentence);
            co_return false;
        } else if (greeted && frame.kind == link_message::noted_cancel) {
            for (std::size_t i = 0; i < frame.count<noted_cancel>(); ++i)
                journal_cancel_on_disconnect(frame.record<noted_cancel>(i));
        } else if (greeted && frame.kind == link_message::definition) {
            for (std::size_t i = 0; i < frame.count<linked_instrument>(); ++i) {
                defined_.push_back(from_linked(frame.record<linked_instrument>(i)));
            }
        } else if (greeted && frame.kind == link_message::journal_failed) {
            journal_has_failed_ = true;
        } else if (greeted && frame.kind == link_message::answers) {
            answers->insert(answers->end(), frame.payload.begin(), frame.payload.end());
        } else {
            co_return greeted&& frame.kind == link_message::answers_end;
        }
    }
}

// A refused gateway ends, unless it was linked before: one of the two has then read a newer file than the other.
void gateway_role::refused(std::string problem) {
    if (known_facility_.magic == 0) {
        failure_ = std::move(problem);
    } else {
        note_problem(std::move(problem));
    }
}

void gateway_role::journal_cancel_on_disconnect(const noted_cancel& cancel) {
    constexpr std::size_t sessions_max = std::size_t{1} << 24U;  // far more than accounts can have
    const std::size_t id = cancel.session.value;
    if (id >= sessions_max) return;
    if (id >= absent_sessions_.size()) absent_sessions_.resize(id + 1);
    absent_sessions_[id] = cancel.account;
}

// Every start of a facility has a larger epoch than the ones before. A smaller epoch than the last, or the same one
// in another process, means that the facility has recovered from an older copy of the journal. The gateway then
// waits for the former facility instead of ending, because after a restart it could not recognise the difference.
bool gateway_role::is_the_same_venue(const link_greeting& theirs) {
    const link_greeting& known = known_facility_;
    std::string problem;
    if (known.epoch != 0 && theirs.id != known.id) {
        problem = "the facility has another journal than the facility that this gateway was linked to";
    } else if (theirs.epoch < known.epoch ||
               (theirs.epoch != 0 && theirs.epoch == known.epoch && theirs.life != known.life)) {
        problem = fmt::format(
            "the facility has epoch {}, but this gateway was linked to one with epoch {}: this "
            "facility runs on an older copy of the journal",
            theirs.epoch, known.epoch);
    }
    if (!problem.empty()) {
        ++facilities_refused_;
        note_problem(std::move(problem));
        return false;
    }
    known_facility_ = theirs;
    return true;
}

// Reports each problem once, also when the gateway retries often.
void gateway_role::note_problem(std::string problem) {
    if (problem == problem_) return;
    problem_ = std::move(problem);
    if (noticed_) noticed_(problem_);
}

io::task<void> gateway_role::serve_sessions(link_channel* channel) {
    io::task_scope pumping(context_);
    pumping.spawn(send_commands(channel));
    pumping.spawn(receive(channel));
    pumping.spawn(channel->keep_alive());
    ++links_made_;
    channel_ = channel;
    if (opened_) opened_(orders_->endpoint());
    co_await orders_->run();
    served_ = true;
    pumping.request_stop();
    co_await pumping.join();
    channel_ = nullptr;
    if (channel->fell_silent()) ++links_cut_;
}

// Sends the request to the facility. Its answers come back by `take`.
gateway::request_refusal gateway_role::ask(const gateway::admin_request& question) {
    if (channel_ == nullptr || broken_ || channel_->is_full()) return gateway::request_refusal::overloaded;
    channel_->put_record(link_message::question, question);
    channel_->flush();
    return gateway::request_refusal::none;
}

// Sends the commands of the queue over the link.
io::task<void> gateway_role::send_commands(link_channel* channel) {
    gateway::command_queue& commands = orders_->commands();
    domain::command command;
    while (true) {
        std::size_t count = 0;
        while (!broken_ && count < commands_batch_max && !channel->is_full() && commands.try_pop(command)) {
            channel->put_record(link_message::commands, command);
            ++taken_count_;
            ++count;
        }
        channel->flush();
        if (broken_) forget_commands();
        if (count != 0) commands.room().set();
        std::error_code stopped;
        if (count == commands_batch_max) {
            co_await io::yield();
        } else if (!broken_ && channel->is_full()) {
            channel->drained().reset();
            stopped = co_await channel->drained().wait();
        } else {
            stopped = co_await commands.filled().wait();
        }
        if (stopped) co_return;
    }
}

// These commands will never be answered, so closing sessions do not wait for them.
void gateway_role::forget_commands() {
    domain::command command;
    while (orders_->commands().try_pop(command)) ++taken_count_;
    orders_->answered(taken_count_);
    orders_->flush();
}

// Delivers the answers from the link to the sessions.
io::task<void> gateway_role::receive(link_channel* channel) {
    link_frame frame;
    while (true) {
        const bool came = co_await channel->read(&frame);
        if (!came || !take(frame)) break;
        if (channel->has_frame()) continue;
        orders_->flush();
        co_await io::yield();
    }
    if (served_) co_return;
    broken_ = true;
    channel->close();
    orders_->close();
    orders_->commands().filled().set();
}

// False when the frame is not one that a facility sends.
bool gateway_role::take(const link_frame& frame) {
    switch (frame.kind) {
        case link_message::events:
            for (std::size_t i = 0; i < frame.count<domain::event>(); ++i) {
                const auto event = frame.record<domain::event>(i);
                if (domain::is_public(event.kind)) return false;
                const std::uint32_t session = domain::session_of(event).value;
                if (session == 0 || session > orders_->sessions_count()) return false;
                orders_->deliver(event);
            }
            return true;
        case link_message::definition:
            for (std::size_t i = 0; i < frame.count<linked_instrument>(); ++i) {
                const domain::instrument instrument = from_linked(frame.record<linked_instrument>(i));
                if (!domain::validate(instrument).empty()) return false;
                orders_->define(instrument);
            }
            return true;
        case link_message::reply:
            for (std::size_t i = 0; i < frame.count<gateway::admin_reply>(); ++i) {
                const auto answer = frame.record<gateway::admin_reply>(i);
                if (answer.to.session.value == 0 || answer.to.session.value > orders_->sessions_count()) return false;
                orders_->deliver_admin_reply(answer);
            }
            return true;
        case link_message::journal_failed: orders_->refuse_logons(gateway::end_reason::journal_failed); return true;
        case link_message::overloaded:
            for (std::size_t i = 0; i < frame.count<domain::command>(); ++i) {
                orders_->reject_overloaded(frame.record<domain::command>(i));
            }
            return true;
        case link_message::answered:
            if (frame.count<std::uint64_t>() == 0) return false;
            orders_->answered(frame.record<std::uint64_t>(frame.count<std::uint64_t>() - 1));
            return true;
        default: return false;
    }
}

}  // namespace corro::node
