// SPDX-License-Identifier: Apache-2.0
#include "api/web_session.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <span>
#include <utility>

#include "api/json_writer.hpp"
#include "api/private_methods.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::api {
namespace {

constexpr std::string_view heartbeat_text = R"({"jsonrpc":"2.0","method":"heartbeat","params":{"type":"heartbeat"}})";
constexpr std::string_view test_text = R"({"jsonrpc":"2.0","method":"heartbeat","params":{"type":"test_request"}})";

std::string list_text(std::span<const std::string> items) {
    std::string text;
    json_writer out(text);
    out.list([&] {
        for (const std::string& each : items) out.text(each);
    });
    return text;
}

}  // namespace

void web_session::take(std::string_view message) {
    peer_->queue(true, std::as_bytes(std::span(message.data(), message.size())));
    news_.set();
}

void web_session::end(websocket::close_code code, std::string_view reason) noexcept {
    if (ending_) return;
    ending_ = code;
    ending_reason_ = reason;
    news_.set();
}

io::task<> web_session::run() {
    io::task_scope beside(*state_->context);
    beside.spawn(write());
    beside.spawn(beat());
    while (!ending_) {
        const auto message = co_await peer_->receive();
        if (!message) break;
        co_await respond(*message);
        // A client that asks and does not read is not read from.
        if (waiting_bytes() <= waiting_bytes_slow) continue;
        const std::error_code error = co_await peer_->flush();
        if (error) break;
    }
    end_subscriptions();
    cancel_entered();
    // The writer sends the last response and the close frame.
    if (ending_) static_cast<void>(co_await written_.wait());
    beside.request_stop();
    co_await beside.join();
}

io::task<> web_session::write() {
    while (true) {
        const std::error_code stopped = co_await news_.wait();
        if (stopped) break;
        const std::error_code error = co_await peer_->flush();
        if (error) {
            peer_->abort();
            break;
        }
        if (ending_) {
            static_cast<void>(co_await peer_->close(*ending_, ending_reason_));
            break;
        }
    }
    written_.set();
}

io::task<> web_session::beat() {
    while (true) {
        if (heartbeat_s_ == 0) {
            const std::error_code stopped = co_await beat_changed_.wait();
            if (stopped) co_return;
            continue;
        }
        const auto changed = co_await io::with_timeout(std::chrono::seconds(heartbeat_s_), beat_changed_.wait());
        if (changed.has_value()) {
            if (*changed) co_return;
            continue;
        }
        if (changed.error() != io::condition::timed_out) co_return;
        if (test_owed_) co_return end(websocket::close_code::policy_violation, "no answer to test_request");
        take(heartbeat_text);
        if (!std::exchange(heard_, false)) {
            take(test_text);
            test_owed_ = true;
        }
    }
}

void web_session::end_subscriptions() noexcept {
    state_->publisher.leave(*this);
    for (const auto& each : state_->account_publishers) each->leave(*this);
}

void web_session::cancel_entered() {
    if (account_ != nullptr && !entered_.empty()) account_->cancel_all_of(entered_);
    if (account_ != nullptr && !quoted_.empty()) account_->withdraw_quotes(quoted_);
    entered_.clear();
    quoted_.clear();
}

io::task<> web_session::respond(websocket::message message) {
    heard_ = true;
    request_times times;
    times.in_us = state_->now_us();
    read_request read;
    if (message.is_text) {
        read = request_of_json(message.text());
    } else {
        read.what = std::unexpected(api_error(error_code::bad_request, {}, "expected a text message"));
    }
    const std::uint32_t cost = read.what ? cost_of(*read.what, state_->markets) : request_cost;
    const bool has_credits = credits_.take(cost, state_->context->now());
    answer result = std::unexpected(api_error(error_code::too_many_requests));
    if (has_credits && !read.what) result = std::unexpected(read.what.error());
    if (has_credits && read.what) result = co_await dispatch(&*read.what);
    times.out_us = state_->now_us();
    take(result ? response_text(read.id, *result, times, state_->is_test)
                : error_text(read.id, result.error(), times, state_->is_test));
    for (const std::string& name : std::exchange(joining_, {})) {
        const bool is_of_market = state_->publisher.subscribe(name, *this);
        if (!is_of_market && account_ != nullptr) state_->channels_of(*account_)->subscribe(name, *this);
    }
    if (!has_credits) end(websocket::close_code::policy_violation, describe(error_code::too_many_requests).message);
}

io::task<web_session::answer> web_session::dispatch(const request* r) {
    if (r->method->is_private()) co_return co_await dispatch_private(r);
    co_return dispatch_public(*r);
}

web_session::answer web_session::dispatch_public(const request& r) {
    switch (r.method->id) {
        case method_id::auth: return authenticate(r);
        case method_id::subscribe: return subscribe(r);
        case method_id::unsubscribe: return unsubscribe(r);
        case method_id::unsubscribe_all: end_subscriptions(); return "\"ok\"";
        case method_id::set_heartbeat: return set_heartbeat(r.integer("interval", 0));
        case method_id::disable_heartbeat: return set_heartbeat(0);
        case method_id::test: test_owed_ = false; break;
        default: break;
    }
    return answer_public(r, state_->seen_by_public());
}

web_session::answer web_session::authenticate(const request& r) {
    const io::steady_time now = state_->context->now();
    auto done = answer_auth(r, *state_->keys, state_->now_us() / 1'000, now);
    if (!done) return std::unexpected(std::move(done.error()));
    if (account_ != done->of && account_ != nullptr) {
        // Another key: what belongs to the first one ends.
        cancel_entered();
        state_->channels_of(*account_)->leave(*this);
        cancels_on_disconnect_ = false;
    }
    account_ = done->of;
    account_ends_ = now + access_token_life;
    return std::move(done->result);
}

std::expected<account*, api_error> web_session::account_of(const request& r) const {
    const io::steady_time now = state_->context->now();
    if (const std::string_view token = r.text("access_token"); !token.empty()) {
        account* const named = state_->keys->by_token(token, now);
        if (named == nullptr) return std::unexpected(api_error(error_code::invalid_token));
        return named;
    }
    if (account_ == nullptr) return std::unexpected(api_error(error_code::authorization_required));
    if (account_ends_ <= now) return std::unexpected(api_error(error_code::invalid_token, {}, "it has expired"));
    return account_;
}

io::task<web_session::answer> web_session::dispatch_private(const request* r) {
    const auto of = account_of(*r);
    if (!of) co_return std::unexpected(of.error());
    private_caller by;
    by.markets = &state_->markets;
    by.is_joined = state_->is_joined();
    switch (r->method->id) {
        case method_id::logout: end(websocket::close_code::normal, "logout"); co_return "\"ok\"";
        case method_id::private_subscribe: co_return subscribe(*r);
        case method_id::private_unsubscribe: co_return unsubscribe(*r);
        case method_id::enable_cancel_on_disconnect: cancels_on_disconnect_ = true; co_return "\"ok\"";
        case method_id::disable_cancel_on_disconnect: cancels_on_disconnect_ = false; co_return "\"ok\"";
        case method_id::get_cancel_on_disconnect:
            co_return std::string(R"({"enabled":)") + (cancels_on_disconnect_ ? "true" : "false") +
                R"(,"scope":"connection"})";
        default: break;
    }
    // Only of the connection's own key: the orders are cancelled by it.
    by.cancels_on_disconnect = cancels_on_disconnect_ && *of == account_;
    by.entered = &entered_;
    by.quoted = &quoted_;
    answer result = co_await answer_private(r, *of, &by);
    constexpr std::size_t entered_before_a_look = 1'000;
    if (entered_.size() >= entered_before_a_look) {
        std::erase_if(entered_, [this](domain::order_id id) {
            const own_order* const order = account_->orders().find(id);
            return order == nullptr || order->state != own_state::open;
        });
    }
    co_return result;
}

web_session::answer web_session::subscribe(const request& r) {
    if (!state_->is_joined()) return std::unexpected(api_error(error_code::system_maintenance));
    const std::vector<json_value>& wanted = r.params.find("channels")->items;
    account_channels* const own =
        r.method->is_private() && account_ != nullptr ? state_->channels_of(*account_) : nullptr;
    const std::size_t now = state_->publisher.count_of(*this) + (own == nullptr ? 0 : own->count_of(*this));
    if (wanted.size() > channels_per_request_max || now + wanted.size() > channels_per_connection_max) {
        return std::unexpected(api_error(error_code::invalid_params, "channels",
                                         "a connection has at most " + std::to_string(channels_per_connection_max)));
    }
    std::uint32_t extra = 0;
    std::set<std::string_view> seen;
    for (const json_value& each : wanted) {
        const bool is_new = seen.insert(each.text).second;
        const bool exists = state_->publisher.exists(each.text) || (own != nullptr && own->exists(each.text));
        if (!is_new || !exists) continue;
        joining_.push_back(each.text);
        extra += state_->publisher.snapshot_cost(each.text);
    }
    if (extra != 0 && !credits_.take(extra, state_->context->now())) {
        joining_.clear();
        end(websocket::close_code::policy_violation, describe(error_code::too_many_requests).message);
        return std::unexpected(api_error(error_code::too_many_requests));
    }
    return list_text(joining_);
}

web_session::answer web_session::unsubscribe(const request& r) {
    std::vector<std::string> ended;
    for (const json_value& each : r.params.find("channels")->items) {
        bool was_there = state_->publisher.unsubscribe(each.text, *this);
        if (account_ != nullptr) was_there = state_->channels_of(*account_)->unsubscribe(each.text, *this) || was_there;
        if (was_there) ended.push_back(each.text);
    }
    return list_text(ended);
}

web_session::answer web_session::set_heartbeat(std::int64_t seconds) {
    heartbeat_s_ = seconds;
    test_owed_ = false;
    beat_changed_.set();
    return "\"ok\"";
}

}  // namespace corro::api
