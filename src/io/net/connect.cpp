// SPDX-License-Identifier: Apache-2.0
#include "io/net/connect.hpp"

#include <algorithm>
#include <utility>

#include "io/errors.hpp"
#include "io/net/resolver.hpp"
#include "io/sync/event.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::io {
namespace {

/// A member of the frame that waits for the attempts, so it outlives them.
struct race {
    race(std::vector<endpoint> to, connect_options how) noexcept
        : addresses(std::move(to)), options(how), last_error(make_error_code(errc::host_not_found)) {}

    [[nodiscard]] bool is_decided() const noexcept { return winner.is_open() || pending_count == 0; }

    std::vector<endpoint> addresses;
    connect_options options;
    tcp_stream winner;
    std::error_code last_error;
    std::size_t pending_count = 0;
    auto_event one_ended;
};

task<> attempt(race* in, endpoint address) {
    context& here = co_await this_context();
    auto connected = co_await tcp_stream::connect(here, address);
    --in->pending_count;
    if (connected) {
        // A second connection in the same turn is closed with this frame.
        if (!in->winner.is_open()) in->winner = std::move(*connected);
    } else if (connected.error() != condition::canceled) {
        in->last_error = connected.error();
        if (in->options.failures != nullptr) in->options.failures->emplace_back(address, connected.error());
    }
    in->one_ended.set();
}

/// Begins the attempts. @return When one has won, when all have failed, or on a stop.
task<> run(race* in, task_scope* attempts) {
    for (std::size_t next = 0; next < in->addresses.size(); ++next) {
        ++in->pending_count;
        attempts->spawn(attempt(in, in->addresses[next]));
        if (next + 1 == in->addresses.size()) break;
        const auto waited = co_await with_timeout(in->options.attempt_delay, in->one_ended.wait());
        if (in->winner.is_open()) break;
        if (waited.has_value() && *waited) co_return;  // stopped
    }
    while (!in->is_decided()) {
        const std::error_code stopped = co_await in->one_ended.wait();
        if (stopped) co_return;
    }
    attempts->request_stop();
}

}  // namespace

task<std::expected<tcp_stream, std::error_code>> connect_to_first(std::vector<endpoint> addresses,
                                                                  connect_options options) {
    race state(detail::interleaved(addresses), options);
    co_await with_scope([in = &state](task_scope& attempts) { return run(in, &attempts); });
    if (state.winner.is_open()) co_return std::move(state.winner);
    const stop_token stop = co_await this_stop_token();
    if (stop.stop_requested()) co_return std::unexpected(operation_canceled());
    co_return std::unexpected(state.last_error);
}

task<std::expected<tcp_stream, std::error_code>> connect_by_name(std::string host, std::uint16_t port,
                                                                 connect_options options) {
    auto addresses = co_await resolve(std::move(host), port);
    if (!addresses) co_return std::unexpected(addresses.error());
    co_return co_await connect_to_first(std::move(*addresses), options);
}

namespace detail {

std::vector<endpoint> interleaved(const std::vector<endpoint>& addresses) {
    std::vector<endpoint> ordered;
    if (addresses.empty()) return ordered;
    address_family turn = addresses.front().family();
    std::size_t next[2] = {0, 0};  // by family
    while (ordered.size() < connect_attempts_max) {
        // The next address of the family whose turn it is; when it has no more, of the other.
        bool is_found = false;
        for (int tried = 0; tried < 2 && !is_found; ++tried) {
            std::size_t& at = next[static_cast<std::size_t>(turn)];
            while (at < addresses.size() &&
                   (addresses[at].family() != turn || std::ranges::find(ordered, addresses[at]) != ordered.end())) {
                ++at;
            }
            is_found = at < addresses.size();
            if (is_found) ordered.push_back(addresses[at]);
            turn = turn == address_family::ipv4 ? address_family::ipv6 : address_family::ipv4;
        }
        if (!is_found) break;
    }
    return ordered;
}

}  // namespace detail
}  // namespace corro::io
