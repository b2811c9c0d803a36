#include "node/facility_role.hpp"

#include <utility>
#include <vector>

#include "domain/private_event.hpp"
#include "gateway/order_entry_gateway.hpp"
#include "io/block_on.hpp"
#include "io/with_timeout.hpp"
#include "io/yield.hpp"
#include "node/limits.hpp"
#include "node/metrics.hpp"
#include "node/ports.hpp"

namespace corro::node {

facility_role::facility_role(io::context& context, const configuration& c)
    : context_(context),
      configuration_(c),
      log_(c.event_log.directory.empty() ? nullptr
                                         : std::make_unique<telemetry::event_log>(c.event_log, c.instruments)),
      events_log_(log_ == nullptr ? nullptr : &log_->add_producer()),
      accounts_(account_directory_of(c)),
      answers_(accounts_.sessions_count(), answer_options_of(c)),
      feed_(context, c, events_log_),
      links_(context, c.link_listen),
      host_(facility_options_of(c), c.instruments, clock_, *this),
      metrics_(context, [this](telemetry::metrics_page& page) { collect(page); }) {
    gateway::set_copies(accounts_, answers_);
    risk::throttle_options throttle;
    throttle.requests_max = c.requests_max;
    throttle.requests_end = c.requests_end;
    throttle.window_ns = std::chrono::nanoseconds(c.requests_window).count();
    host_.throttle(throttle, accounts_.sessions_count());
    // What the recovery repeats has been told to the log before.
    telemetry::producer* const told_later = std::exchange(events_log_, nullptr);
    if (!c.journal_directory.empty()) {
        journal_ = std::make_unique<host_journal>(context, context, c);
        io::block_on(context, journal_->recover(parts()));
    }
    events_log_ = told_later;
    if (c.metrics_listen.empty()) return;
    metrics_port_ = open_port(context, c.metrics_listen, "metrics.listen");
    metrics_endpoint_ = *metrics_port_.local_endpoint();
}

io::task<void> facility_role::run() {
    io::task_scope journaling(context_);
    if (journal_ != nullptr) {
        journaling.spawn(journal_->run());
        journaling.spawn(follow_journal());
    }
    io::task_scope publishing(context_);
    publishing.spawn(feed_.run());
    io::task_scope measuring(context_);
    if (metrics_endpoint_) measuring.spawn(metrics_.serve(std::move(metrics_port_)));
    say(telemetry::happening_kind::started);
    co_await serve_links();
    feed_.close();
    co_await publishing.join();
    if (journal_ != nullptr) journal_->close();
    co_await journaling.join();
    co_await save_last_snapshot();
    metrics_.close();
    co_await measuring.join();
    say(telemetry::happening_kind::stopped);
}

// As an exchange does: everything is answered, so that the state is that of the last command.
io::task<void> facility_role::save_last_snapshot() {
    if (journal_ == nullptr || host_.failed() || host_.released_count() != host_.emitted_count()) co_return;
    if (host_.sequence() == journal_->snapshot_sequence()) co_return;
    std::vector<std::byte> state = save_venue(parts());
    co_await journal_->save_snapshot(std::move(state));
}

void facility_role::say(telemetry::happening_kind what) const {
    if (events_log_ == nullptr) return;
    events_log_->note(
        {telemetry::component::venue, what, static_cast<std::int64_t>(host_.sequence()), context_.wall_now()});
}

void facility_role::collect(telemetry::metrics_page& page) const {
    add_metrics(feed_, page);
    page.gauge("corro_link_up", "Whether a gateway is linked.", gateway_ != nullptr ? 1 : 0);
    page.counter("corro_links_cut_total", "Links to gateways that fell silent.", links_cut_);
    page.counter("corro_wills_executed_total", "Sessions cancelled for because their gateway had gone.",
                 wills_executed_);
}

void facility_role::close() noexcept {
    closing_ = true;
    links_.close();
    if (taking_ != nullptr) taking_->request_stop();
}

// Everybody's events: public ones to the feed, private ones into the log and to the gateway.
std::size_t facility_role::accept(std::span<const domain::event> events) noexcept {
    if (events_log_ != nullptr) events_log_->note(events);
    for (const domain::event& event : events) {
        if (domain::is_public(event.kind)) {
            feed_.publish(event);
            continue;
        }
        answers_.append(event);
        if (gateway_ != nullptr) gateway_->put_record(link_message::events, event);
    }
    return events.size();
}

io::task<void> facility_role::serve_links() {
    io::task_scope serving(context_);
    while (!closing_) {
        auto accepted = co_await links_.accept();
        if (!accepted) break;
        serving.spawn(serve_link(std::move(*accepted)));
    }
    co_await serving.join();
}

// One link, from its greeting until what its gateway owed is done.
io::task<void> facility_role::serve_link(gateway::transport_stream stream) {
    const auto channel = std::make_unique<link_channel>(std::move(stream));
    io::task_scope writing(context_);
    writing.spawn(channel->write());
    const bool fits = co_await greet(channel.get());
    if (fits) {
        io::task_scope living(context_);
        living.spawn(channel->keep_alive());
        io::task_scope taking(context_);
        taking_ = &taking;
        if (closing_) taking.request_stop();
        taking.spawn(take_commands(channel.get()));
        co_await taking.join();
        taking_ = nullptr;
        if (!closing_) gateway_ = nullptr;
        co_await execute_wills();
        co_await settle();
        gateway_ = nullptr;
        gateway_is_there_ = false;
        if (channel->fell_silent()) ++links_cut_;
        if (!closing_) channel->close();
        living.request_stop();
        co_await living.join();
    }
    channel->finish();
    const auto written = co_await io::with_timeout(link_patience, writing.join());
    if (!written) channel->close();
    co_await writing.join();
}

// Exchanges greetings; true: the gateway is ours, and has been told what was answered so far.
io::task<bool> facility_role::greet(link_channel* channel) {
    link_frame frame;
    const auto came = co_await io::with_timeout(link_patience, channel->read(&frame));
    const link_greeting ours = greeting_of(configuration_);
    link_greeting theirs;
    if (came && *came && frame.kind == link_message::greeting && frame.count<link_greeting>() == 1)
        theirs = frame.record<link_greeting>(0);
    const std::string problem = mismatch(ours, theirs);
    const std::string_view busy = "another gateway is connected to this facility";
    if (!problem.empty()) {
        channel->put(link_message::refusal, std::as_bytes(std::span(problem)));
    } else if (gateway_is_there_ || closing_) {
        channel->put(link_message::busy, std::as_bytes(std::span(busy)));
    } else {
        welcome(*channel);
    }
    channel->flush();
    co_return gateway_ == channel;
}

void facility_role::welcome(link_channel& channel) {
    channel.put_record(link_message::greeting, greeting_of(configuration_));
    std::vector<std::byte> answers;
    answers_.save(answers);
    for (std::span<const std::byte> rest(answers); !rest.empty();) {
        const std::size_t piece = std::min(rest.size(), link_frame_bytes_max);
        channel.put(link_message::answers, rest.first(piece));
        rest = rest.subspan(piece);
    }
    channel.put(link_message::answers_end, {});
    gateway_ = &channel;
    gateway_is_there_ = true;
    marks_ = answer_marks();
    taken_count_ = answered_count_ = 0;
}

io::task<void> facility_role::take_commands(link_channel* channel) {
    link_frame frame;
    while (true) {
        const bool came = co_await channel->read(&frame);
        if (!came) co_return;
        switch (frame.kind) {
            case link_message::commands: {
                const bool taken = co_await execute_all(channel, frame);
                if (!taken) co_return;
                break;
            }
            case link_message::last_will:
            case link_message::will_revoked:
                for (std::size_t i = 0; i < frame.count<domain::command>(); ++i) {
                    const auto will = frame.record<domain::command>(i);
                    if (frame.kind == link_message::will_revoked) {
                        wills_.erase(will.session.value);
                    } else if (will.session.value != 0 && will.session.value <= accounts_.sessions_count()) {
                        wills_.insert_or_assign(will.session.value, will);
                    }
                }
                break;
            default: co_return;
        }
    }
}

// False: the link is to end.
io::task<bool> facility_role::execute_all(link_channel* channel, link_frame frame) {
    const std::size_t count = frame.count<domain::command>();
    for (std::size_t i = 0; i < count; ++i) {
        const auto command = frame.record<domain::command>(i);
        if (command.session.value == 0 || command.session.value > accounts_.sessions_count()) co_return false;
        if (!host_.has_room()) {
            const bool room = co_await wait_for_room();
            if (!room) co_return false;
        }
        ++taken_count_;
        domain::command sequenced = command;
        if (host_.execute(sequenced)) {
            answers_.note(sequenced);
        } else {
            channel->put_record(link_message::turned_away, command);
        }
        if (i + 1 != count && (i + 1) % commands_batch_max != 0) continue;
        marks_.note(taken_count_, host_.emitted_count());
        publish_progress();
        co_await io::yield();
        while (channel->is_full()) {
            channel->drained().reset();
            const std::error_code stopped = co_await channel->drained().wait();
            if (stopped) co_return false;
        }
    }
    co_return true;
}

// False: stopped before there was room.
io::task<bool> facility_role::wait_for_room() {
    marks_.note(taken_count_, host_.emitted_count());
    publish_progress();
    while (!host_.has_room()) {
        progressed_.reset();
        const std::error_code stopped = co_await progressed_.wait();
        if (stopped) co_return false;
    }
    co_return true;
}

// The gateway can cancel nothing any more: what it had been asked to is done here.
io::task<void> facility_role::execute_wills() {
    while (!wills_.empty()) {
        domain::command cancel = wills_.begin()->second;
        wills_.erase(wills_.begin());
        const bool room = co_await wait_for_room();
        if (!room) co_return;
        if (host_.execute(cancel)) ++wills_executed_;
    }
}

// Waits until everything that was taken is told.
io::task<void> facility_role::settle() {
    marks_.note(taken_count_, host_.emitted_count());
    publish_progress();
    while (host_.released_count() != host_.emitted_count() && !host_.failed()) {
        progressed_.reset();
        const std::error_code stopped = co_await progressed_.wait();
        if (stopped) co_return;
    }
}

// What the journal has made durable may leave, and commands that found no room may come.
io::task<void> facility_role::follow_journal() {
    while (!journal_->ended()) {
        const std::error_code stopped = co_await journal_->writer().progressed().wait();
        if (stopped) co_return;
        publish_progress();
        progressed_.set();
    }
}

// Lets leave what may leave, and says how far the commands are answered.
void facility_role::publish_progress() {
    host_.release();
    // What waits for a journal that has failed is never answered; nobody shall wait for it.
    const std::uint64_t answered = host_.failed() ? taken_count_ : marks_.answered(host_.released_count());
    if (gateway_ != nullptr) {
        if (answered != answered_count_) gateway_->put_record(link_message::answered, answered);
        gateway_->flush();
    }
    answered_count_ = answered;
    feed_.flush();
}

}  // namespace corro::node
