#include "api/web_session.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "api/json_writer.hpp"
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
        respond(*message);
        // A client that asks and does not read is not read from.
        if (waiting_bytes() <= waiting_bytes_slow) continue;
        const std::error_code error = co_await peer_->flush();
        if (error) break;
    }
    state_->publisher.leave(*this);
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

void web_session::respond(const websocket::message& message) {
    heard_ = true;
    request_times times;
    times.in_us = state_->now_us();
    read_request read;
    if (message.is_text) {
        read = request_of_json(message.text());
    } else {
        read.what = std::unexpected(api_error(error_code::bad_request, {}, "expected a text message"));
    }
    const std::uint32_t cost = read.what ? read.what->method->cost : request_cost;
    const bool has_credits = credits_.take(cost, state_->context->now());
    answer result = std::unexpected(api_error(error_code::too_many_requests));
    if (has_credits) result = read.what ? dispatch(*read.what) : std::unexpected(read.what.error());
    times.out_us = state_->now_us();
    take(result ? response_text(read.id, *result, times, state_->is_test)
                : error_text(read.id, result.error(), times, state_->is_test));
    for (const std::string& name : std::exchange(joining_, {})) state_->publisher.subscribe(name, *this);
    if (!has_credits) end(websocket::close_code::policy_violation, describe(error_code::too_many_requests).message);
}

web_session::answer web_session::dispatch(const request& r) {
    switch (r.method->id) {
        case method_id::subscribe: return subscribe(r);
        case method_id::unsubscribe: return unsubscribe(r);
        case method_id::unsubscribe_all: state_->publisher.leave(*this); return "\"ok\"";
        case method_id::set_heartbeat: return set_heartbeat(r.integer("interval", 0));
        case method_id::disable_heartbeat: return set_heartbeat(0);
        case method_id::test: test_owed_ = false; break;
        default: break;
    }
    return answer_public(r, state_->seen_by_public());
}

web_session::answer web_session::subscribe(const request& r) {
    if (!state_->is_joined()) return std::unexpected(api_error(error_code::system_maintenance));
    const std::vector<json_value>& wanted = r.params.find("channels")->items;
    const std::size_t now = state_->publisher.count_of(*this);
    if (wanted.size() > channels_per_request_max || now + wanted.size() > channels_per_connection_max) {
        return std::unexpected(api_error(error_code::invalid_params, "channels",
                                         "a connection has at most " + std::to_string(channels_per_connection_max)));
    }
    for (const json_value& each : wanted) {
        const bool is_new = std::ranges::find(joining_, each.text) == joining_.end();
        if (is_new && state_->publisher.exists(each.text)) joining_.push_back(each.text);
    }
    return list_text(joining_);
}

web_session::answer web_session::unsubscribe(const request& r) {
    std::vector<std::string> ended;
    for (const json_value& each : r.params.find("channels")->items) {
        if (state_->publisher.unsubscribe(each.text, *this)) ended.push_back(each.text);
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
