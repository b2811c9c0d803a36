// Measures a session against a venue in another process, both polling: the time from a request to its last answer, and
// the requests per second of one session.
//
//     corro_client_bench [--smoke] [--seconds S] [--runs N] [TRANSPORT]
//
// TRANSPORT: tcp, unix or shm; otherwise all. --smoke: one short run of each, to check that the rows work. The venue is
// gateway, queue and facility, without journal and feed. It takes two processors; on a busy machine take the best of
// several runs.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/order_session.hpp"
#include "client/venue_endpoint.hpp"
#include "domain/private_event.hpp"
#include "gateway/venue_fixture.hpp"
#include "io/loop/machine.hpp"

namespace corro::client {
namespace {

using namespace std::chrono_literals;
using gateway::testing::test_transport;
using gateway::testing::test_venue;

struct settings {
    double seconds = 0.3;
    int runs_count = 3;
    unsigned outstanding_max = 64;
    std::string_view only;
};

constexpr std::array transports{std::pair("tcp", test_transport::tcp), std::pair("unix", test_transport::unix_socket),
                                std::pair("shm", test_transport::shared_memory)};

/// The venue's process serves until its client has left.
[[noreturn]] void be_venue(test_transport over, int tell) {
    gateway::testing::transport_under_test = over;
    gateway::testing::busy_poll_under_test = 1s;
    test_venue venue(gateway::testing::any_number_of_logons(), 4096);
    venue.run([over, tell](test_venue* v) {
        const std::string where = over == test_transport::tcp           ? v->endpoint.to_string()
                                  : over == test_transport::unix_socket ? "unix:" + v->unix_address().to_string()
                                                                        : "shm:" + v->unix_address().to_string();
        if (::write(tell, where.data(), where.size()) < 0) ::_exit(1);
        return [](test_venue* on) -> io::task<> {
            co_await on->until([](const test_venue& t) { return t.statistics().connections_now != 0; });
            co_await on->until([](const test_venue& t) { return t.statistics().connections_now == 0; });
        }(v);
    });
    ::_exit(0);
}

[[noreturn]] void fail(const std::string& what) {
    fmt::print(stderr, "corro_client_bench: {}\n", what);
    std::exit(1);
}

class measured_session {
 public:
    measured_session(order_session& session, double seconds)
        : session_(session), seconds_(seconds), clock_(io::default_platform().ticks()) {}

    /// One request at a time: orders and their cancels.
    io::task<> round_trips() {
        const std::uint64_t began = clock_.now_ticks();
        for (std::uint64_t i = 0; seconds_since(began) < seconds_; ++i) {
            const std::uint64_t sent = clock_.now_ticks();
            request(i);
            const std::error_code failed = co_await session_.flush();
            if (failed) fail(failed.message());
            bool is_done = false;
            while (!is_done) {
                const auto answer = co_await session_.next();
                if (!answer || answer->reject) fail("no answer");
                is_done = domain::completes_request(answer->event);
            }
            nanoseconds_.push_back(clock_.between_ns(sent, clock_.now_ticks()));
        }
    }
    /// As many as the session may have outstanding. @return  Requests per second.
    io::task<double> flood(unsigned outstanding_max) {
        const std::uint64_t began = clock_.now_ticks();
        std::uint64_t sent_count = 0;
        std::uint64_t answered_count = 0;
        while (seconds_since(began) < seconds_ || answered_count != sent_count) {
            while (sent_count - answered_count < outstanding_max && seconds_since(began) < seconds_) {
                request(flood_begins + sent_count++);
            }
            const std::error_code failed = co_await session_.flush();
            if (failed) fail(failed.message());
            const std::uint64_t before = answered_count;
            while (answered_count == before && answered_count != sent_count) {
                for (auto next = session_.poll(); !next || *next; next = session_.poll()) {
                    if (!next || (*next)->reject) fail("no answer");
                    if (domain::completes_request((*next)->event)) ++answered_count;
                }
                if (answered_count != before) break;
                const std::error_code ended = co_await session_.fill();
                if (ended) fail(ended.message());
            }
        }
        co_return static_cast<double>(answered_count) / seconds_since(began);
    }
    [[nodiscard]] std::uint64_t percentile_ns(double part) {
        std::ranges::sort(nanoseconds_);
        const auto at = static_cast<std::size_t>(part * static_cast<double>(nanoseconds_.size()));
        return nanoseconds_[std::min(at, nanoseconds_.size() - 1)];
    }

 private:
    static constexpr std::uint64_t flood_begins = std::uint64_t{1} << 40U;

    /// Orders far from each other's side, each followed by its cancel.
    void request(std::uint64_t number) {
        const std::uint64_t id = number / 2 + 1;
        const std::uint32_t sent = session_.send(
            number % 2 == 0 ? gateway::testing::order(domain::side::buy, 100, 1, id) : gateway::testing::cancel(id));
        if (sent == 0) fail("the output buffer is full");
    }
    [[nodiscard]] double seconds_since(std::uint64_t began) const {
        return static_cast<double>(clock_.between_ns(began, clock_.now_ticks())) / 1e9;
    }

    order_session& session_;
    double seconds_;
    const io::tick_clock& clock_;
    std::vector<std::uint64_t> nanoseconds_;
};

io::task<> measure(venue_endpoint at, const settings* how, std::string_view row) {
    credentials who;
    who.account = domain::account_id{1};
    who.key = gateway::testing::key_of(1);
    who.heartbeat = 60s;
    const auto session = co_await order_session::log_on(at, who);
    if (!session) fail(session.error().message());
    measured_session measured(**session, how->seconds);
    co_await measured.round_trips();
    const double rate = co_await measured.flood(how->outstanding_max);
    fmt::print(
        "{:<5} round trip ns: p50 {:>6}  p90 {:>6}  p99 {:>6}  p99.9 {:>7}   {} outstanding: {:>9.0f} requests/s\n",
        row, measured.percentile_ns(0.5), measured.percentile_ns(0.9), measured.percentile_ns(0.99),
        measured.percentile_ns(0.999), how->outstanding_max, rate);
    static_cast<void>(co_await (*session)->log_out());
}

void run(const settings& how, std::string_view row, test_transport over) {
    std::array<int, 2> told{};
    if (::pipe(told.data()) != 0) fail("no pipe");
    std::fflush(stdout);
    const pid_t venue = ::fork();
    if (venue == 0) be_venue(over, told[1]);
    std::array<char, 256> where{};
    const ssize_t size = ::read(told[0], where.data(), where.size());
    if (size <= 0) fail("the venue has not started");
    const auto at = venue_endpoint::parse(std::string_view(where.data(), static_cast<std::size_t>(size)));
    if (!at) fail(at.error().message());
    {
        io::context_options options;
        options.busy_poll = 1s;
        io::context context(options);
        io::block_on(context, measure(*at, &how, row));
    }
    ::waitpid(venue, nullptr, 0);
    for (const int file : told) ::close(file);
}

}  // namespace
}  // namespace corro::client

int main(int argc, char** argv) {
    corro::client::settings how;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--smoke") {
            how.seconds = 0.01;
            how.runs_count = 1;
        } else if (word == "--seconds" && i + 1 < argc) {
            how.seconds = std::atof(argv[++i]);
        } else if (word == "--runs" && i + 1 < argc) {
            how.runs_count = std::atoi(argv[++i]);
        } else {
            how.only = word;
        }
    }
    for (int i = 0; i < how.runs_count; ++i) {
        for (const auto& [name, over] : corro::client::transports) {
            if (how.only.empty() || how.only == name) corro::client::run(how, name, over);
        }
    }
    return 0;
}
