// SPDX-License-Identifier: Apache-2.0
// Suite `churn`, the rows that fan out, by Corro.

#include <array>
#include <deque>

#include "io/task/scope.hpp"
#include "lab/suites/churn_shapes.hpp"
#include "lab/suites/corro_backends.hpp"
#include "lab/suites/corro_sockets.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {
namespace {

using pairs = std::deque<tcp_pair>;

io::task<> request(io::tcp_stream* with, int* answered) {
    std::array<std::byte, fan_out_bytes> bytes{};
    bytes.back() = churn_byte;
    const io::io_result sent = co_await with->write_all(bytes);
    verify_io(sent.error, "writing");
    bytes.back() = std::byte{0};
    const io::io_result got = co_await with->read_exact(bytes);
    verify_io(got.error, "reading");
    verify(bytes.back() == churn_byte, "another message came back");
    ++*answered;
}

io::task<> group(pairs* of, std::size_t first, int requests, int* answered) {
    io::task_scope children(co_await io::this_context());
    for (int i = 0; i < requests; ++i)
        children.spawn(request(&(*of)[first + static_cast<std::size_t>(i)].client, answered));
    co_await children.join();
}

io::task<> parent(pairs* of, std::size_t first, const fan_out_shape* shape, timed_run* run) {
    io::task_scope children(co_await io::this_context());
    const auto requests = static_cast<std::size_t>(shape->requests);
    const auto groups = static_cast<std::size_t>(shape->groups);
    for (std::uint64_t at = run->now(); at != 0; at = run->lap(at)) {
        int answered = 0;
        if (groups == 1) {
            for (std::size_t i = 0; i < requests; ++i) children.spawn(request(&(*of)[first + i].client, &answered));
        } else {
            for (std::size_t g = 0; g < groups; ++g) {
                children.spawn(group(of, first + g * requests, shape->requests, &answered));
            }
        }
        co_await children.join();
        verify_equal(static_cast<std::uint64_t>(answered), groups * requests, "answers");
    }
    for (std::size_t i = 0; i < groups * requests; ++i) {
        verify_io((*of)[first + i].client.shutdown_send(), "shutting down");
    }
}

measurement fan_out(const run_parameters& how, io::platform* kind, const fan_out_shape& shape) {
    io::context on{io::context_options(*kind)};
    pairs connections = connected_pairs<io::tcp_stream>(on, shape.connections());
    timed_run whole(how.seconds);
    std::deque<timed_run> runs;
    for (tcp_pair& one : connections) io::spawn(on, echo(&one.server, fan_out_bytes));
    const auto each = connections.size() / static_cast<std::size_t>(shape.parents);
    for (std::size_t first = 0; first < connections.size(); first += each) {
        io::spawn(on, parent(&connections, first, &shape, &runs.emplace_back(whole, 0)));
    }
    on.run();
    for (const timed_run& one : runs) whole.merge(one);
    return rate_with_latencies(whole);
}

}  // namespace

void implement_fan_out_corro(registry& into) {
    for (const corro_backend& by : corro_backends()) {
        io::platform* const kind = by.kind;
        for (const fan_out_shape& shape : fan_out_shapes()) {
            into.implement("churn", shape.row(), by.subject,
                           [kind, shape](const run_parameters& how) { return fan_out(how, kind, shape); });
        }
    }
}

}  // namespace corro::lab
