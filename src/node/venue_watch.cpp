#include "node/venue_watch.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "io/sync/remote_event.hpp"
#include "io/task/block_on.hpp"
#include "node/metrics.hpp"
#include "node/ports.hpp"

namespace corro::node {

venue_watch::venue_watch(io::context& context, std::function<void(telemetry::metrics_page&)> collect,
                         std::function<std::string()> hindered)
    : context_(context),
      collect_(std::move(collect)),
      hindered_(std::move(hindered)),
      server_(
          context, [this](telemetry::metrics_page& page) { this->collect(page); }, [this] { return hindrance(); }),
      serving_(context) {}

venue_watch::~venue_watch() {
    if (!is_serving_) return;
    is_started_ = false;  // the functions' objects may be destroyed
    server_.close();
    serving_.request_stop();
    try {
        io::block_on(context_, serving_.join());
    } catch (const std::exception&) {
        // There is no one to report an error to.
    }
}

void venue_watch::open(const configuration& c) {
    if (c.metrics_listen.empty()) return;
    io::tcp_acceptor port = open_port(context_, c.metrics_listen, "metrics.listen");
    endpoint_ = *port.local_endpoint();
    is_serving_ = true;
    serving_.spawn(server_.serve(std::move(port)));
}

namespace {

/// Rings when it goes, whichever way.
struct ring_at_the_end {
    explicit ring_at_the_end(io::remote_event* what) noexcept : bell(what) {}
    ring_at_the_end(const ring_at_the_end&) = delete;
    ring_at_the_end& operator=(const ring_at_the_end&) = delete;
    ~ring_at_the_end() { bell->set(); }
    io::remote_event* bell;
};

io::task<void> ring_after(io::task<void> work, io::remote_event* done) {
    const ring_at_the_end bell(done);
    co_await std::move(work);
}

}  // namespace

void venue_watch::recover(io::worker& on, io::task<void> work) {
    io::remote_event done(context_);
    on.start(ring_after(std::move(work), &done));
    static_cast<void>(io::block_on(context_, done.wait()));
    on.join();
}

void venue_watch::recover(io::context& own, host_journal& journal, venue_parts parts) {
    const auto reading = context_.runs_on().make_worker(io::context_options());
    try {
        journal.replay_on(reading->where(), &progress_);
        io::block_on(own, journal.take_directory());
        recover(*reading, journal.replay().run(parts));
        io::block_on(own, journal.finish(parts.host, parts.answers));
    } catch (...) {
        journal.abandon_replay();  // its files belong to the context that ends here
        throw;
    }
}

io::task<void> venue_watch::end() {
    server_.close();
    co_await serving_.join();
    is_serving_ = false;
}

void venue_watch::collect(telemetry::metrics_page& page) const {
    add_metrics(progress_, page);
    if (is_started_) collect_(page);
}

std::string venue_watch::hindrance() const {
    if (is_started_) return hindered_();
    const std::uint64_t total = progress_.bytes_total.load(std::memory_order_relaxed);
    if (total == 0) return "The venue is recovering.";
    return fmt::format("The venue is recovering: {} of {} bytes of the journal, {} commands.",
                       progress_.bytes.load(std::memory_order_relaxed), total,
                       progress_.commands.load(std::memory_order_relaxed));
}

}  // namespace corro::node
