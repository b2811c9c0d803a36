// SPDX-License-Identifier: Apache-2.0
#include "fix_market_data/fix_market_data_server.hpp"

#include <utility>

#include "base/assert.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"

namespace corro::fix_market_data {
namespace {

/// How often connections without room are looked at.
constexpr std::chrono::milliseconds room_interval{1'000};

market_data::registry_options registry_options_of(const server_options& from) {
    market_data::registry_options options;
    options.subscribers_max = from.connections_max;
    options.subscribers_per_address_max = from.connections_per_address_max;
    options.log = from.log;
    return options;
}

}  // namespace

fix_market_data_server::fix_market_data_server(io::context& context, const server_options& options,
                                               market_data::feed_publisher& publisher)
    : context_(context),
      options_(options),
      distribution_(publisher),
      registry_(context, registry_options_of(options)),
      around_{context, options_.comp_id, options_.blocked_max, distribution_, registry_, publisher, work_} {
    publisher.follow(*this);
}

fix_market_data_server::~fix_market_data_server() {
    CORRO_ASSERT(sessions_.empty(), "the serving task must end before the server is destroyed");
}

io::task<void> fix_market_data_server::serve(io::tcp_acceptor acceptor) {
    distribution_.all().begin();
    is_serving_ = true;
    io::task_scope conversations(context_);
    io::task_scope working(context_);
    working.spawn(take_turns());
    working.spawn(watch_room());
    {
        io::task_scope accepting(context_);
        accepting_ = &accepting;
        if (registry_.is_closed()) accepting.request_stop();
        accepting.spawn(accept_all(&acceptor, &conversations));
        co_await accepting.join();
        accepting_ = nullptr;
    }
    acceptor.close();
    co_await conversations.join();
    is_serving_ = false;
    working.request_stop();
    co_await working.join();
}

io::task<void> fix_market_data_server::accept_all(io::tcp_acceptor* from, io::task_scope* conversations) {
    while (!registry_.is_closed()) {
        auto stream = co_await from->accept();
        if (!stream) co_return;  // stopped, or the listener has failed
        auto made = std::make_unique<market_data_session>(around_, std::move(*stream));
        if (!registry_.enter(*made, made->origin())) continue;
        conversations->spawn(converse(std::move(made)));
    }
}

io::task<void> fix_market_data_server::converse(std::unique_ptr<market_data_session> s) {
    const auto place = sessions_.insert(sessions_.end(), s.get());
    if (s->phase() == market_data::subscriber_phase::logging_in) {
        io::task_scope logging_in(context_);
        s->run_in(&logging_in);
        logging_in.spawn(s->wait_for_logon());
        co_await logging_in.join();
        s->run_in(nullptr);
    }
    if (s->phase() == market_data::subscriber_phase::logging_in) co_await s->talk();
    sessions_.erase(place);
    registry_.leave(*s);
}

io::task<void> fix_market_data_server::take_turns() {
    while (true) {
        const std::error_code stopped = co_await work_.wait();
        if (stopped) co_return;
        bool is_more = true;
        while (is_more) {
            distribution_.catch_up();
            is_more = distribution_.take_turn();
            if (is_more) co_await io::yield();
        }
    }
}

io::task<void> fix_market_data_server::watch_room() {
    while (true) {
        const std::error_code stopped = co_await io::sleep_for(room_interval);
        if (stopped) co_return;
        for (market_data_session* const each : sessions_) each->check_room();
    }
}

void fix_market_data_server::flush() noexcept {
    if (!is_serving_) return;
    distribution_.catch_up();
    if (distribution_.has_work()) work_.set();
}

void fix_market_data_server::keep_up() noexcept {
    if (is_serving_) distribution_.catch_up();
}

void fix_market_data_server::close() noexcept {
    if (is_serving_) {
        distribution_.catch_up();
        static_cast<void>(distribution_.take_turn());
    }
    for (market_data_session* const each : sessions_) each->log_out("The venue closes");
    registry_.close();
    if (accepting_ != nullptr) accepting_->request_stop();
}

}  // namespace corro::fix_market_data
