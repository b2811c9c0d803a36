// SPDX-License-Identifier: Apache-2.0
#include "lab/venue/venue_run.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <new>
#include <system_error>

#include "lab/child_process.hpp"
#include "lab/suites/raw_sockets.hpp"
#include "lab/venue/venue_clients.hpp"

namespace corro::lab {
namespace {

constexpr std::uint32_t instruments_count = 10;
// Prime to the requests of a read, so that every place in it is sampled alike.
constexpr std::uint32_t timing_sample_every = 17;
constexpr std::uint32_t sessions_max = 1'000;

venue_settings settings_of(const venue_shape& shape) {
    venue_settings made;
    made.configuration = venue_configuration();
    made.configuration.timing_sample_every = shape.rate > 0 ? 1 : timing_sample_every;
    made.busy_poll = shape.rate > 0;
    if (shape.by_fix) {
        made.configuration.fix_listen = "127.0.0.1:0";
        for (gateway::account& each : made.configuration.accounts) {
            for (std::uint32_t number = 1; number <= each.sessions_count; ++number) {
                each.fix_names.push_back(fmt::format("CLIENT{}", number));
            }
        }
    }
    return made;
}

/// Memory that this process and its children see.
class shared_report {
 public:
    shared_report()
        : at_(mmap(nullptr, sizeof(venue_report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
        if (at_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
        report_ = new (at_) venue_report();
    }
    ~shared_report() { munmap(at_, sizeof(venue_report)); }
    shared_report(const shared_report&) = delete;
    shared_report& operator=(const shared_report&) = delete;
    venue_report& operator*() const noexcept { return *report_; }
    venue_report* operator->() const noexcept { return report_; }

 private:
    void* at_;
    venue_report* report_ = nullptr;
};

void allow_many_descriptors() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/// The venue's process.
class venue_process {
 public:
    venue_process(const venue_settings& settings, venue_report& report, const venue_server& server) {
        raw_pair control = connected_pair(wire::unix_stream);
        pid_ = fork();
        if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
        if (pid_ == 0) {
            control.client.reset();
            try {
                server(settings, report, control.server.release());
                _exit(0);
            } catch (const std::exception& e) {
                std::fprintf(stderr, "the venue failed: %s\n", e.what());
                _exit(1);
            }
        }
        control_ = std::move(control.client);
    }
    ~venue_process() {
        if (pid_ <= 0) return;
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    venue_process(const venue_process&) = delete;
    venue_process& operator=(const venue_process&) = delete;

    [[nodiscard]] pid_t id() const noexcept { return pid_; }

    /// @return Its resource usage.
    rusage finish() {
        control_.reset();
        int status = 0;
        rusage used{};
        while (wait4(pid_, &status, 0, &used) < 0 && errno == EINTR) {
        }
        pid_ = -1;
        verify(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the venue failed");
        return used;
    }

 private:
    pid_t pid_ = -1;
    owned_descriptor control_;
};

std::uint32_t awaited(const std::atomic<std::uint32_t>& port) {
    for (int i = 0; i < 10'000 && port.load() == 0; ++i) usleep(1'000);
    verify(port.load() != 0, "the venue does not listen");
    return port.load();
}

io::endpoint local(std::uint32_t port) {
    return *io::endpoint::parse(fmt::format("127.0.0.1:{}", port));
}

double seconds_of(const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
}

void append_stages(std::vector<double>& values, const venue_report& report) {
    for (const auto& kind : report.stages) {
        for (const auto& stage : kind) values.insert(values.end(), stage.begin(), stage.end());
    }
}

struct venue_outcome {
    client_figures figures;
    rusage used{};  ///< of the venue's process
};

venue_outcome run_both(const run_parameters& how, const venue_shape& shape, const venue_server& server,
                       const shared_report& report) {
    allow_many_descriptors();
    static_cast<void>(clock());
    const venue_settings settings = settings_of(shape);
    venue_process venue(settings, *report, server);
    bind_to_processor(other_processor());
    const std::uint32_t orders = awaited(report->orders_port);
    const std::uint32_t feed = awaited(report->feed_port);
    const std::uint32_t port = shape.by_fix ? report->fix_port.load() : orders;
    venue_outcome made;
    made.figures = run_venue_clients(shape, how.seconds, local(port), local(feed), settings.configuration, venue.id());
    made.used = venue.finish();
    verify(made.figures.feed_bytes != 0, "the feed said something");
    return made;
}

}  // namespace

std::string venue_shape::row() const {
    return rate > 0 ? "wire_to_wire_new" : fmt::format("clients_{}_outstanding_{}", clients, outstanding);
}

std::vector<venue_shape> venue_shapes() {
    return {{1'000, 1, 0}, {1'000, 4, 0}, {1'000, 16, 0}, {1, 1, 2'000}};
}

node::configuration venue_configuration() {
    node::configuration c;
    c.touch = base::page_touch::yes;
    c.order_entry_listen = c.feed_listen = c.snapshot_listen = "127.0.0.1:0";
    for (std::uint32_t id = 1; id <= instruments_count; ++id) {
        domain::instrument i;
        i.id = domain::instrument_id{id};
        i.product = domain::product_id{1};
        i.name = domain::symbol(fmt::format("M{}", id));
        i.price_low = domain::price_ticks{9'000};
        i.price_high = domain::price_ticks{11'000};
        c.instruments.push_back(i);
    }
    gateway::account account;
    account.id = domain::account_id{1};
    account.name = "clients";
    account.key.fill(std::byte{0x5a});
    account.sessions_count = sessions_max;
    c.accounts.push_back(account);
    return c;
}

void venue_report::take(const node::latency_tables& tables) {
    for (std::size_t kind = 0; kind < venue_kinds.size(); ++kind) {
        for (std::size_t stage = 0; stage < 3; ++stage) {
            for (std::size_t p = 0; p < venue_percentiles.size(); ++p) {
                stages[kind][stage][p] = static_cast<double>(
                    tables.stage(venue_kinds[kind], stage).value_at_percentile(venue_percentiles[p]));
            }
        }
    }
}

void run_beside_venue(const venue_settings& settings, const venue_server& server,
                      const std::function<void(const venue_report&)>& clients) {
    const shared_report report;
    static_cast<void>(clock());
    venue_process venue(settings, *report, server);
    bind_to_processor(other_processor());
    static_cast<void>(awaited(report->orders_port));
    clients(*report);
    static_cast<void>(venue.finish());
}

measurement run_venue_briefly(const run_parameters& how, const venue_shape& shape, const venue_server& server) {
    const shared_report report;
    const venue_outcome outcome = run_both(how, shape, server, report);
    measurement made;
    made.values = {static_cast<double>(outcome.figures.answered) / outcome.figures.seconds,
                   100.0 * outcome.figures.venue_busy, 100.0 * outcome.figures.client_busy};
    return made;
}

measurement run_venue(const run_parameters& how, const venue_shape& shape, const venue_server& server) {
    const shared_report report;
    const auto [figures, used] = run_both(how, shape, server, report);

    measurement made;
    if (shape.rate > 0) {
        for (const base::latency_histogram& kind : figures.round_trips) {
            for (const double p : {50.0, 95.0, 99.0})
                made.values.push_back(static_cast<double>(kind.value_at_percentile(p)));
        }
        made.latency_ns = summary_of(figures.round_trips.front());
        return made;
    }
    const double user = seconds_of(used.ru_utime);
    made.values = {
        static_cast<double>(figures.answered) / figures.seconds,
        100.0 * static_cast<double>(figures.requests.refused) / static_cast<double>(figures.requests.answered),
        100.0 * user / (user + seconds_of(used.ru_stime)),
        100.0 * figures.venue_busy,
        100.0 * figures.client_busy,
        figures.system_calls_per_request};
    append_stages(made.values, *report);
    return made;
}

}  // namespace corro::lab
