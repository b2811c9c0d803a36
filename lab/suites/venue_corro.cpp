// SPDX-License-Identifier: Apache-2.0
// Suite `venue`, by Corro: the exchange that `corro serve` runs, on one thread or split over two, without a journal and
// with one, and with an event log.

#include <array>
#include <optional>

#include "base/test_folder.hpp"
#include "io/net/unix_socket.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "lab/child_process.hpp"
#include "lab/suites/corro_backends.hpp"
#include "lab/suites/corro_sockets.hpp"
#include "lab/suites/venue_suite.hpp"
#include "node/venue/venue.hpp"

namespace corro::lab {
namespace {

io::task<> end_with_the_clients(io::unix_stream control, node::venue* serving) {
    std::array<std::byte, 1> nothing{};
    const io::io_result ended = co_await control.read_some(nothing);
    verify(static_cast<bool>(ended.error), "nothing comes over the control connection");
    serving->close();
}

struct variant {
    std::string subject;
    io::platform* kind;
    node::threading_mode threading = node::threading_mode::inline_;
    std::optional<journal::durability> durability{};  ///< empty: no journal
    bool logs_events = false;
};

std::vector<variant> variants() {
    std::vector<variant> made;
    for (const corro_backend& by : corro_backends()) {
        made.push_back({by.subject + "_inline", by.kind});
        made.push_back({by.subject + "_split", by.kind, node::threading_mode::split});
    }
    const corro_backend first = corro_backends().front();
    for (const journal::durability mode : {journal::durability::group, journal::durability::each}) {
        made.push_back({first.subject + "_inline_" + std::string(journal::name_of(mode)), first.kind,
                        node::threading_mode::inline_, mode});
    }
    made.push_back({first.subject + "_inline_logged", first.kind, node::threading_mode::inline_, {}, true});
    return made;
}

void serve(const variant& which, const venue_settings& settings, venue_report& report, int control) {
    node::configuration configuration = settings.configuration;
    configuration.threading = which.threading;
    std::optional<base::test_folder> folder;
    if (which.durability) {
        configuration.journal_directory = folder.emplace().path();
        configuration.durability = *which.durability;
    }
    if (which.logs_events) configuration.event_log.directory = folder.emplace().path();
    io::context_options options(*which.kind);
    // A loop that never sleeps would take the processor from the thread that waits for the disk.
    if (settings.busy_poll && !which.durability) options.busy_poll = std::chrono::seconds(1);
    io::context on(options);
    node::venue serving(on, configuration);
    io::block_on(on, serving.start());
    // As in production, the thread of matching and sessions has its own processor. The threads that wait for the disk
    // or write the event log exist already and may run on any processor, as may both threads of a split venue.
    if (which.threading == node::threading_mode::inline_) bind_to_processor(quiet_processor());
    auto stream = io::unix_stream::adopt(on, control);
    verify(stream.has_value(), "the control connection");
    io::spawn(on, end_with_the_clients(std::move(*stream), &serving));
    io::spawn(on, serving.run());
    report.feed_port = serving.feed_endpoint().port();
    const auto fix = serving.fix_endpoint();
    if (fix) report.fix_port = fix->port();
    report.orders_port = serving.order_entry_endpoint().port();
    on.run();
    report.take(serving.latencies());
}

}  // namespace

venue_server corro_venue(const corro_backend& by) {
    return [one = variant{by.subject, by.kind}](const venue_settings& settings, venue_report& report, int control) {
        serve(one, settings, report, control);
    };
}

void implement_venue_corro(registry& into) {
    for (const variant& one : variants()) {
        implement_venue(into, one.subject, [one](const venue_settings& settings, venue_report& report, int control) {
            serve(one, settings, report, control);
        });
    }
    implement_venue_transports(into);
    implement_venue_feed(into);
    implement_venue_recovery(into);
}

}  // namespace corro::lab
