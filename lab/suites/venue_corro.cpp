// Suite `venue`, by Corro: the exchange that `corro serve` runs, on one thread or split over two.

#include <array>

#include "io/scope.hpp"
#include "io/unix_socket.hpp"
#include "lab/suites/corro_backends.hpp"
#include "lab/suites/corro_sockets.hpp"
#include "lab/suites/venue_suite.hpp"
#include "node/exchange.hpp"

namespace corro::lab {
namespace {

io::task<> end_with_the_clients(io::unix_stream control, node::exchange* serving) {
    std::array<std::byte, 1> nothing{};
    const io::io_result ended = co_await control.read_some(nothing);
    verify(static_cast<bool>(ended.error), "nothing comes over the control connection");
    serving->close();
}

void serve(io::backend_kind kind, node::threading_mode threading, const venue_settings& settings, venue_report& report,
           int control) {
    node::configuration configuration = settings.configuration;
    configuration.threading = threading;
    io::context_options options(kind);
    if (settings.busy_poll) options.busy_poll = std::chrono::seconds(1);
    io::context on(options);
    node::exchange serving(on, configuration);
    auto stream = io::unix_stream::adopt(on, control);
    verify(stream.has_value(), "the control connection");
    io::spawn(on, end_with_the_clients(std::move(*stream), &serving));
    io::spawn(on, serving.run());
    report.feed_port = serving.feed_endpoint().port();
    report.orders_port = serving.order_entry_endpoint().port();
    on.run();
    report.take(serving.latencies());
}

}  // namespace

void implement_venue_corro(registry& into) {
    for (const corro_backend& by : corro_backends()) {
        for (const node::threading_mode threading : {node::threading_mode::inline_, node::threading_mode::split}) {
            const bool split = threading == node::threading_mode::split;
            implement_venue(
                into, by.subject + (split ? "_split" : "_inline"),
                [kind = by.kind, threading](const venue_settings& settings, venue_report& report, int control) {
                    serve(kind, threading, settings, report, control);
                });
        }
    }
}

}  // namespace corro::lab
