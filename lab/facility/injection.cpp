// SPDX-License-Identifier: Apache-2.0
#include "lab/facility/injection.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <deque>

#include "base/crc32c.hpp"
#include "lab/child_process.hpp"
#include "lab/facility/station_process.hpp"

namespace corro::lab {
namespace {

/// Derived messages per second that decide how many cycles an unbounded run makes.
constexpr double unbounded_messages_per_second = 8e6;
constexpr std::uint64_t cycles_min = 20;
constexpr std::size_t received_bytes_max = std::size_t{256} * 1024;
/// The bytes that an unbounded injector passes to the kernel at a time.
constexpr std::size_t burst_bytes = std::size_t{16} * 1024;
constexpr std::uint64_t silence_ns_max = 20'000'000'000;

struct amount {
    std::uint64_t cycles = 0;
    std::uint64_t warm_up_cycles = 0;
};

amount amount_of(const run_parameters& how, const facility_shape& shape, const canned_stream& stream) {
    double cycles = 0;
    if (shape.samples != 0) {
        cycles = shape.samples * std::min(1.0, how.seconds / facility_shape::samples_seconds) / stream.cycle_samples;
    } else if (shape.rate != 0) {
        cycles = shape.rate * how.seconds / static_cast<double>(stream.units.size());
    } else {
        cycles = unbounded_messages_per_second * how.seconds / stream.cycle_messages;
    }
    amount made;
    made.cycles = std::max(static_cast<std::uint64_t>(cycles), cycles_min);
    made.warm_up_cycles = static_cast<std::uint64_t>(static_cast<double>(made.cycles) * timed_run::warm_up_part) + 1;
    made.cycles += made.warm_up_cycles;
    return made;
}

/// Sends the requests at their times and receives the resulting messages.
class injector {
 public:
    injector(const canned_stream& stream, const facility_shape& shape, amount how_much, int to, int from)
        : stream_(stream), rate_(shape.rate), how_much_(how_much), to_(to), from_(from), buffer_(received_bytes_max) {}

    /// Fills the book. Not timed.
    void set_up() {
        std::size_t sent = 0;
        const std::uint64_t end = stream_.set_up_output_bytes;
        for (std::uint64_t began = clock().now_ticks(); sent != stream_.set_up.size() || received_ != end;) {
            sent += send_some(std::span(stream_.set_up).subspan(sent));
            if (receive() != 0) began = clock().now_ticks();
            verify(clock().between_ns(began, clock().now_ticks()) < silence_ns_max, "no answer to the set-up");
        }
    }

    void run() {
        units_end_ = how_much_.cycles * stream_.units.size();
        const std::uint64_t output_end = received_ + how_much_.cycles * stream_.cycle_output_bytes;
        output_begin_ = received_;
        began_ = last_ = clock().now_ticks();
        ticks_per_unit_ = rate_ == 0 ? 0 : clock().calibration().ticks_per_second / rate_;
        while (received_ != output_end) {
            const std::uint64_t now = clock().now_ticks();
            make_due(now);
            if (sent_ != due_) {
                const std::size_t at = sent_ % stream_.cycle_bytes;
                const std::size_t size = std::min<std::uint64_t>(due_ - sent_, canned_stream::block_bytes_min);
                sent_ += send_some(std::span(stream_.block).subspan(at, size));
            }
            if (receive() != 0) {
                last_ = clock().now_ticks();
                end_samples();
            }
            verify(clock().between_ns(last_, now) < silence_ns_max, "a station does not answer any more");
        }
        verify(received_ == output_end, "the stations said too much");
    }

    [[nodiscard]] measurement result() const {
        const double seconds = static_cast<double>(clock().between_ns(began_, last_)) / 1e9;
        measurement made;
        made.latency_ns = summary_of(latencies_);
        made.values = {made.latency_ns->mean, static_cast<double>(how_much_.cycles * stream_.cycle_messages) / seconds,
                       static_cast<double>(units_end_) / seconds};
        made.checksum = fmt::format("{:08x} over {} bytes", checksum_, received_);
        return made;
    }

 private:
    struct sample {
        std::uint64_t output_end;
        std::uint64_t intended;
        bool counts;
    };

    // Marks all requests whose time has come as due.
    void make_due(std::uint64_t now) {
        if (rate_ == 0) {
            // The kernel has the previous burst, so the next one is due.
            if (sent_ != due_) return;
            while (next_unit_ != units_end_ && due_ - sent_ < burst_bytes) add_unit(now);
            return;
        }
        while (next_unit_ != units_end_) {
            const canned_unit& unit = stream_.units[next_unit_ % stream_.units.size()];
            const auto slot = began_ + static_cast<std::uint64_t>(static_cast<double>(next_unit_) * ticks_per_unit_);
            if (slot > now && !(unit.with_previous && next_unit_ != 0)) return;
            add_unit(slot);
        }
    }

    void add_unit(std::uint64_t intended) {
        const std::uint64_t cycle = next_unit_ / stream_.units.size();
        const canned_unit& unit = stream_.units[next_unit_ % stream_.units.size()];
        ++next_unit_;
        due_ += unit.end - unit.begin;
        if (!unit.measured) return;
        under_way_.push_back({output_begin_ + cycle * stream_.cycle_output_bytes + unit.sample_end, intended,
                              cycle >= how_much_.warm_up_cycles});
    }

    void end_samples() {
        while (!under_way_.empty() && under_way_.front().output_end <= received_) {
            const sample& ended = under_way_.front();
            if (ended.counts) latencies_.record(clock().between_ns(ended.intended, last_));
            under_way_.pop_front();
        }
    }

    std::size_t send_some(std::span<const std::byte> bytes) const {
        const ssize_t sent = ::send(to_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent >= 0) return static_cast<std::size_t>(sent);
        verify(errno == EAGAIN || errno == EINTR, "a station closed its input");
        return 0;
    }

    std::size_t receive() {
        const ssize_t got = ::recv(from_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
        if (got < 0) {
            verify(errno == EAGAIN || errno == EINTR, "a station closed its output");
            return 0;
        }
        verify(got != 0, "a station ended early");
        checksum_ = base::crc32c(std::span(buffer_).first(static_cast<std::size_t>(got)), checksum_);
        received_ += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
    }

    const canned_stream& stream_;
    std::uint32_t rate_;
    amount how_much_;
    int to_;
    int from_;
    std::vector<std::byte> buffer_;
    std::deque<sample> under_way_;
    base::latency_histogram latencies_;
    double ticks_per_unit_ = 0;
    std::uint64_t began_ = 0;
    std::uint64_t last_ = 0;
    std::uint64_t next_unit_ = 0;
    std::uint64_t units_end_ = 0;
    std::uint64_t due_ = 0;
    std::uint64_t sent_ = 0;
    std::uint64_t received_ = 0;
    std::uint64_t output_begin_ = 0;
    std::uint32_t checksum_ = 0;
};

}  // namespace

std::string facility_shape::row() const {
    std::string name = role == station_role::facility ? "" : fmt::format("{}_", to_string(role));
    name += fmt::format("scenario_{}_{}_{}", scenario, filled ? "filled" : "empty",
                        rate == 0 ? "unbounded" : fmt::format("{}", rate));
    if (samples != 0) name += fmt::format("_of_{}", samples);
    if (idle == idling::polls) name += "_polling";
    return name;
}

std::string facility_shape::does() const {
    return fmt::format("{}: {}; {} book, {}{}{}", to_string(role), scenario_text(scenario), filled ? "filled" : "empty",
                       rate == 0 ? "requests as fast as they go" : fmt::format("{} requests a second", rate),
                       samples == 0 ? "" : fmt::format(", {} samples and the warm-up", samples),
                       idle == idling::polls ? "; stations that never sleep" : "");
}

std::vector<facility_shape> facility_shapes() {
    static constexpr auto polling = [](facility_shape shape) {
        shape.idle = idling::polls;
        return shape;
    };
    static constexpr std::uint32_t rates[]{1'000, 10'000, 100'000, 200'000, 0};
    std::vector<facility_shape> made;
    for (int scenario = 1; scenario <= scenarios_count; ++scenario) {
        for (const bool filled : {false, true}) {
            for (const std::uint32_t rate : rates) {
                const facility_shape shape{station_role::facility, scenario, filled, rate};
                // The wake-up time of a sleeping station does not depend on its book.
                if (rate == 0 || !filled) made.push_back(shape);
                if (rate != 0) made.push_back(polling(shape));
            }
            if (scenario != 8) continue;
            for (const std::uint32_t samples : {500U, 10'000U, 20'000U}) {
                made.push_back({station_role::facility, scenario, filled, 0, samples});
            }
        }
    }
    for (const station_role role : {station_role::gateway, station_role::distributor, station_role::chain}) {
        for (const std::uint32_t rate : rates) made.push_back({role, 4, false, rate});
    }
    return made;
}

measurement run_facility(const run_parameters& how, const facility_shape& shape, const station_transport& transport) {
    const canned_stream stream = can(make_scenario(shape.scenario, shape.filled), shape.role);
    station_line line(shape.role, transport, shape.idle);
    injector one(stream, shape, amount_of(how, shape, stream), line.input(), line.output());
    one.set_up();
    one.run();
    line.finish();
    return one.result();
}

}  // namespace corro::lab
