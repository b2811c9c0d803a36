// SPDX-License-Identifier: Apache-2.0
// Suite `facility`, by Corro: one coroutine reads, works and writes in turn.

#include <chrono>

#include "io/task/scope.hpp"
#include "lab/facility/station.hpp"
#include "lab/suites/corro_backends.hpp"
#include "lab/suites/corro_sockets.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {
namespace {

io::tcp_stream adopted(io::context& on, int file) {
    auto stream = io::tcp_stream::adopt(on, file);
    verify_io(stream ? std::error_code() : stream.error(), "adopting");
    return std::move(*stream);
}

io::task<> move_bytes(station* through, io::tcp_stream from, io::tcp_stream to) {
    for (;;) {
        const io::io_result got = co_await from.read_some(through->room());
        if (got.error == io::condition::end_of_stream) co_return;
        verify_io(got.error, "reading");
        through->received(got.bytes);
        if (through->pending().empty()) continue;
        const io::io_result written = co_await to.write_all(through->pending());
        verify_io(written.error, "writing");
        through->sent(written.bytes);
    }
}

}  // namespace

void implement_facility_corro(registry& into) {
    for (const corro_backend& by : corro_backends()) {
        io::platform* const kind = by.kind;
        implement_facility(into, by.subject, [kind](station& through, int input, int output, idling idle) {
            io::context_options options(*kind);
            if (idle == idling::polls) options.busy_poll = std::chrono::seconds(1);
            io::context on(options);
            io::spawn(on, move_bytes(&through, adopted(on, input), adopted(on, output)));
            on.run();
        });
    }
}

}  // namespace corro::lab
