// SPDX-License-Identifier: Apache-2.0
#include "simulation/scale_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "base/assert.hpp"
#include "sim/link.hpp"
#include "sim/world.hpp"

namespace corro::simulation {
namespace {

double part(std::uint64_t of, std::uint64_t whole) noexcept {
    return static_cast<double>(of) / static_cast<double>(whole);
}

/// The servers of one host: each message is served by the one that is free first.
class station {
 public:
    explicit station(std::size_t threads) : free_ns_(threads, 0) {}

    /// @return When a message that arrives now begins to be served.
    std::uint64_t begin(std::uint64_t now_ns, std::uint64_t cost_ns) {
        const auto first = std::ranges::min_element(free_ns_);
        const std::uint64_t begin_ns = std::max(now_ns, *first);
        *first = begin_ns + cost_ns;
        while (!begins_.empty() && begins_.front() <= now_ns) begins_.pop_front();
        if (begin_ns > now_ns) begins_.push_back(begin_ns);
        return begin_ns;
    }
    [[nodiscard]] std::size_t waiting_count() const noexcept { return begins_.size(); }
    void add_busy(std::uint64_t ns) noexcept { busy_ns_ += ns; }
    [[nodiscard]] double busy(std::uint64_t of_ns) const noexcept { return part(busy_ns_, of_ns * free_ns_.size()); }
    [[nodiscard]] std::size_t threads_count() const noexcept { return free_ns_.size(); }

 private:
    std::vector<std::uint64_t> free_ns_;  // of each server
    std::deque<std::uint64_t> begins_;    // of the messages that wait, in their order
    std::uint64_t busy_ns_ = 0;           // in the measured time
};

struct stage {
    std::string name;
    std::vector<station>* at;
    service_time cost;
    base::prng random;
    std::uint64_t served_count = 0;
    std::uint64_t wait_ns = 0;
    std::uint64_t queue_most = 0;
    base::latency_histogram waits;
};

/// A host's way out.
struct way_out {
    sim::link link;
    std::uint64_t sent_bytes = 0;
};

struct request {
    std::uint64_t sent_ns = 0;
    std::uint32_t client = 0;
    std::uint32_t partition = 0;
    std::uint32_t waits_for = 0;  // partitions
    bool is_mass_cancel = false;
};

struct scale_journal {
    std::vector<std::uint32_t> waiting;  // requests, for the next sync
    std::vector<std::uint32_t> in_sync;
    bool syncs = false;
};

struct feed_packet {
    std::uint64_t executed_ns = 0;
    std::uint32_t partition = 0;
    std::uint32_t messages_count = 0;
};

class model {
 public:
    explicit model(const scale_plan& plan)
        : plan_(plan),
          world_(plan.seed),
          measured_from_ns_(world_.now_ns() + plan.warm_up_us * 1'000),
          end_ns_(measured_from_ns_ + plan.measured_us * 1'000),
          journals_(plan.partitions_count),
          outstanding_(plan.clients_count, 0),
          gateways_(plan.gateways_count, station(plan.gateway_threads_count)),
          partitions_(plan.partitions_count, station(1)),
          disks_(plan.partitions_count, station(1)),
          requests_in_(make_stage("gateway: requests", gateways_, plan.gateway_request)),
          commands_(make_stage("facility", partitions_, plan.command)),
          syncs_(make_stage("journal: syncs", disks_, plan.sync)),
          answers_(make_stage("gateway: answers", gateways_, plan.gateway_answer)),
          client_link_(make_way("clients", 0, plan.client_link)) {
        for (std::size_t i = 0; i < plan.gateways_count; ++i) {
            gateway_ways_.push_back(make_way("gateway", i, plan.venue_link));
        }
        for (std::size_t i = 0; i < plan.partitions_count; ++i) {
            partition_ways_.push_back(make_way("partition", i, plan.venue_link));
        }
        distributors_.reserve(plan.distributors.size());
        feed_.reserve(plan.distributors.size());
        for (std::size_t level = 0; level < plan.distributors.size(); ++level) {
            distributors_.emplace_back(plan.distributors[level], station(1));
            feed_.push_back(
                make_stage(fmt::format("distributors, level {}", level + 1), distributors_[level], plan.feed_message));
            std::vector<way_out>& ways = distributor_ways_.emplace_back();
            for (std::size_t i = 0; i < plan.distributors[level]; ++i) {
                ways.push_back(make_way(fmt::format("distributor {}.", level), i, plan.venue_link));
            }
        }
    }

    scale_report run() {
        if (plan_.requests_per_second != 0) {
            plan_next_arrival();
        } else {
            // Not all in the same moment.
            for (std::uint32_t client = 0; client < plan_.clients_count; ++client) {
                for (std::uint64_t i = 0; i < plan_.outstanding_max; ++i) {
                    after(arrivals_.below(100'000), [this, client] { issue(client); });
                }
            }
        }
        world_.run_until(io::steady_time(std::chrono::nanoseconds(end_ns_)));
        return report();
    }

 private:
    stage make_stage(std::string name, std::vector<station>& at, service_time cost) {
        base::prng random = world_.stream(name);
        return {std::move(name), &at, cost, random, 0, 0, 0, {}};
    }
    way_out make_way(const std::string& of, std::size_t number, const link_plan& as) {
        way_out made{sim::link(world_.seed_of(fmt::format("way of {} {}", of, number)))};
        sim::link_options& options = made.link.options();
        options.latency_min = std::chrono::nanoseconds(as.latency_ns_min);
        options.latency_max = std::chrono::nanoseconds(as.latency_ns_max);
        options.bytes_per_second = as.megabits_per_second * 1'000'000 / 8;
        return made;
    }

    [[nodiscard]] std::uint64_t now() const noexcept { return world_.now_ns(); }
    [[nodiscard]] bool is_measured() const noexcept { return now() >= measured_from_ns_; }
    /// How much of a time lies in the measured one.
    [[nodiscard]] std::uint64_t measured_part(std::uint64_t from_ns, std::uint64_t to_ns) const noexcept {
        const std::uint64_t begin = std::max(from_ns, measured_from_ns_);
        const std::uint64_t end = std::min(to_ns, end_ns_);
        return end > begin ? end - begin : 0;
    }
    template <class Action>
    void after(std::uint64_t ns, Action what) {
        world_.plan_inside(now() + ns, std::move(what));
    }
    template <class Action>
    void send(way_out& over, std::uint64_t bytes, Action what) {
        if (is_measured()) over.sent_bytes += bytes;
        world_.plan_inside(over.link.arrival_ns(now(), bytes), std::move(what));
    }
    void count_messages(std::uint64_t more) noexcept {
        if (is_measured()) messages_count_ += more;
    }

    /// A number with this mean, in hundredths: 340 is 3, or 4 in two of five cases.
    std::uint32_t draw_count(std::uint64_t percent) noexcept {
        return static_cast<std::uint32_t>((percent + counts_.below(100)) / 100);
    }
    static double exponential(base::prng& random) noexcept { return -std::log1p(-random.unit()); }
    static std::uint64_t draw(service_time cost, std::uint64_t times, base::prng& random) noexcept {
        const double mean = static_cast<double>(cost.ns * times);
        if (cost.spread_percent == 0) return cost.ns * times;
        const double spread = static_cast<double>(cost.spread_percent) / 100;
        return static_cast<std::uint64_t>(mean * (1 - spread) + mean * spread * exponential(random) + 0.5);
    }

    /// Serves a message at a station, then goes on.
    template <class Action>
    void serve(stage& at, std::size_t which, std::uint64_t cost_ns, Action then) {
        station& here = (*at.at)[which];
        const std::uint64_t begin_ns = here.begin(now(), cost_ns);
        const std::uint64_t end_ns = begin_ns + cost_ns;
        here.add_busy(measured_part(begin_ns, end_ns));
        at.wait_ns += measured_part(now(), begin_ns);
        if (end_ns >= measured_from_ns_ && end_ns < end_ns_) ++at.served_count;
        if (is_measured()) {
            at.waits.record(begin_ns - now());
            at.queue_most = std::max<std::uint64_t>(at.queue_most, here.waiting_count());
        }
        world_.plan_inside(end_ns, std::move(then));
    }

    // Clients.

    void plan_next_arrival() {
        const double mean_ns = 1e9 / static_cast<double>(plan_.requests_per_second);
        next_arrival_ns_ += mean_ns * exponential(arrivals_);
        const auto at = static_cast<std::uint64_t>(next_arrival_ns_);
        world_.plan_inside(std::max(at, now()), [this] {
            const auto client = static_cast<std::uint32_t>(arrivals_.below(plan_.clients_count));
            if (outstanding_[client] < plan_.outstanding_max) {
                issue(client);
            } else if (is_measured()) {
                ++held_back_count_;
            }
            plan_next_arrival();
        });
    }

    void issue(std::uint32_t client) {
        ++outstanding_[client];
        std::uint32_t id = static_cast<std::uint32_t>(requests_.size());
        if (free_.empty()) {
            requests_.emplace_back();
        } else {
            id = free_.back();
            free_.pop_back();
        }
        request& made = requests_[id];
        made.sent_ns = now();
        made.client = client;
        made.is_mass_cancel = kinds_.below(1'000'000) < plan_.mass_cancels_per_million;
        const bool is_hot = kinds_.below(100) < plan_.hot_percent;
        made.partition = is_hot ? 0 : static_cast<std::uint32_t>(kinds_.below(plan_.partitions_count));
        made.waits_for = made.is_mass_cancel ? static_cast<std::uint32_t>(plan_.partitions_count) : 1;
        count_messages(1);
        send(client_link_, 0, [this, id] {
            serve(requests_in_, gateway_of(id), draw(plan_.gateway_request, 1, requests_in_.random),
                  [this, id] { forward(id); });
        });
    }
    [[nodiscard]] std::size_t gateway_of(std::uint32_t id) const noexcept {
        return requests_[id].client % plan_.gateways_count;
    }

    // The venue.

    void forward(std::uint32_t id) {
        const request& one = requests_[id];
        const auto to = [this, id](std::uint32_t partition) {
            send(gateway_ways_[gateway_of(id)], plan_.request_bytes, [this, id, partition] {
                serve(commands_, partition, draw(plan_.command, 1, commands_.random),
                      [this, id, partition] { executed(id, partition); });
            });
        };
        if (!one.is_mass_cancel) return to(one.partition);
        for (std::uint32_t partition = 0; partition < plan_.partitions_count; ++partition) to(partition);
    }

    void executed(std::uint32_t id, std::uint32_t partition) {
        if (!feed_.empty()) publish(partition);
        if (plan_.sync.ns == 0) return answer(id, partition);
        journals_[partition].waiting.push_back(id);
        if (!journals_[partition].syncs) sync(partition);
    }
    void sync(std::uint32_t partition) {
        scale_journal& of = journals_[partition];
        of.syncs = true;
        of.in_sync.swap(of.waiting);
        serve(syncs_, partition, draw(plan_.sync, 1, syncs_.random), [this, partition] {
            scale_journal& done = journals_[partition];
            for (const std::uint32_t id : done.in_sync) answer(id, partition);
            done.in_sync.clear();
            done.syncs = false;
            if (!done.waiting.empty()) sync(partition);
        });
    }

    void answer(std::uint32_t id, std::uint32_t partition) {
        const std::uint32_t answers = draw_count(plan_.answers_percent);
        count_messages(answers);
        send(partition_ways_[partition], answers * plan_.answer_bytes, [this, id, answers] {
            serve(answers_, gateway_of(id), draw(plan_.gateway_answer, answers, answers_.random), [this, id] {
                if (--requests_[id].waits_for == 0) send(client_link_, 0, [this, id] { end(id); });
            });
        });
    }

    void end(std::uint32_t id) {
        const request& one = requests_[id];
        if (is_measured()) {
            ++answered_count_;
            (one.is_mass_cancel ? mass_cancels_ : latencies_).record(now() - one.sent_ns);
        }
        const std::uint32_t client = one.client;
        --outstanding_[client];
        free_.push_back(id);
        if (plan_.requests_per_second == 0) issue(client);
    }

    // The feed.

    void publish(std::uint32_t partition) {
        const std::uint32_t count = draw_count(plan_.feed_messages_percent);
        if (count == 0) return;
        const feed_packet made{now(), partition, count};
        pass_on(made, partition_ways_[partition], 0, partition % plan_.distributors.front());
    }
    /// Sends a packet to a distributor, which serves it and passes it on.
    void pass_on(feed_packet what, way_out& over, std::size_t level, std::size_t which) {
        count_messages(what.messages_count);
        send(over, what.messages_count * plan_.feed_message_bytes, [this, what, level, which] {
            const std::uint64_t copies = copies_of(what, level);
            const std::uint64_t cost = draw(plan_.feed_message, what.messages_count, feed_[level].random) +
                                       draw(plan_.feed_send, copies, feed_[level].random);
            serve(feed_[level], which, cost, [this, what, level, which] { served(what, level, which); });
        });
    }
    [[nodiscard]] bool is_last(std::size_t level) const noexcept { return level + 1 == plan_.distributors.size(); }
    /// To how many others a distributor sends a packet.
    [[nodiscard]] std::uint64_t copies_of(const feed_packet& /*what*/, std::size_t level) const noexcept {
        if (is_last(level)) return plan_.subscribers_count / plan_.distributors[level];
        return goes_to_all(level + 1) ? plan_.distributors[level + 1] : 1;
    }
    /// Whether every distributor of this level has the whole feed.
    [[nodiscard]] bool goes_to_all(std::size_t level) const noexcept { return is_last(level) && plan_.has_whole_feed; }
    void served(feed_packet what, std::size_t level, std::size_t which) {
        way_out& over = distributor_ways_[level][which];
        if (is_last(level)) {
            const std::uint64_t copies = copies_of(what, level);
            count_messages(copies * what.messages_count);
            if (is_measured()) {
                over.sent_bytes += copies * what.messages_count * plan_.feed_message_bytes;
                feed_times_.record(now() - what.executed_ns);
            }
            return;
        }
        const std::size_t next_count = plan_.distributors[level + 1];
        if (!goes_to_all(level + 1)) return pass_on(what, over, level + 1, what.partition % next_count);
        for (std::size_t next = 0; next < next_count; ++next) pass_on(what, over, level + 1, next);
    }

    // The report.

    [[nodiscard]] stage_report report_of(const stage& of) const {
        const std::uint64_t time_ns = end_ns_ - measured_from_ns_;
        stage_report made;
        made.name = of.name;
        made.stations_count = of.at->size();
        made.threads_count = of.at->front().threads_count();
        made.per_second = part(of.served_count, time_ns) * 1e9;
        for (const station& each : *of.at) {
            made.busy_mean += each.busy(time_ns) / static_cast<double>(of.at->size());
            made.busy_most = std::max(made.busy_most, each.busy(time_ns));
        }
        made.is_as_busy_as_it_may = &of == &syncs_;
        made.queue_mean = part(of.wait_ns, time_ns);
        made.queue_most = of.queue_most;
        made.waits.merge(of.waits);
        return made;
    }

    void report_ways(scale_report& into, const char* of, const std::vector<way_out>& ways) const {
        const double bytes_max = static_cast<double>(plan_.venue_link.megabits_per_second) / 8e3 *
                                 static_cast<double>(end_ns_ - measured_from_ns_);
        for (const way_out& each : ways) {
            const double busy = bytes_max > 0 ? static_cast<double>(each.sent_bytes) / bytes_max : 0;
            if (busy <= into.link_busy_most) continue;
            into.link_busy_most = busy;
            into.busiest_link = of;
        }
    }

    [[nodiscard]] scale_report report() const {
        scale_report made;
        for (const stage* each : {&requests_in_, &commands_, &syncs_, &answers_}) {
            if (each != &syncs_ || plan_.sync.ns != 0) made.stages.push_back(report_of(*each));
        }
        for (const stage& each : feed_) made.stages.push_back(report_of(each));
        const std::uint64_t time_ns = end_ns_ - measured_from_ns_;
        made.requests_per_second = part(answered_count_, time_ns) * 1e9;
        made.messages_per_second = part(messages_count_, time_ns) * 1e9;
        made.answered_count = answered_count_;
        made.held_back_count = held_back_count_;
        made.requests.merge(latencies_);
        made.mass_cancels.merge(mass_cancels_);
        made.feed.merge(feed_times_);
        report_ways(made, "a gateway", gateway_ways_);
        report_ways(made, "a facility", partition_ways_);
        for (const auto& level : distributor_ways_) report_ways(made, "a distributor", level);
        return made;
    }

    const scale_plan plan_;
    sim::world world_;
    const std::uint64_t measured_from_ns_;
    const std::uint64_t end_ns_;
    base::prng arrivals_ = world_.stream("arrivals");
    base::prng kinds_ = world_.stream("kinds of requests");
    base::prng counts_ = world_.stream("counts");
    double next_arrival_ns_ = static_cast<double>(world_.now_ns());

    std::vector<request> requests_;
    std::vector<std::uint32_t> free_;  // places in `requests_`
    std::vector<scale_journal> journals_;
    std::vector<std::uint32_t> outstanding_;  // by client

    std::vector<station> gateways_;
    std::vector<station> partitions_;
    std::vector<station> disks_;
    std::vector<std::vector<station>> distributors_;
    stage requests_in_;
    stage commands_;
    stage syncs_;
    stage answers_;
    std::vector<stage> feed_;
    way_out client_link_;
    std::vector<way_out> gateway_ways_;
    std::vector<way_out> partition_ways_;
    std::vector<std::vector<way_out>> distributor_ways_;

    std::uint64_t answered_count_ = 0;
    std::uint64_t held_back_count_ = 0;
    std::uint64_t messages_count_ = 0;
    base::latency_histogram latencies_;
    base::latency_histogram mass_cancels_;
    base::latency_histogram feed_times_;
};

std::string line_of(std::string_view name, const base::latency_histogram& times) {
    if (times.empty()) return {};
    const auto us = [&times](double percentile) {
        return static_cast<double>(times.value_at_percentile(percentile)) / 1e3;
    };
    return fmt::format("{:<24}P50 {:.1f} us, P99 {:.1f} us, P99.9 {:.1f} us, most {:.1f} us\n", name, us(50), us(99),
                       us(99.9), static_cast<double>(times.max()) / 1e3);
}

}  // namespace

const stage_report& scale_report::bottleneck() const {
    CORRO_ASSERT(!stages.empty(), "a report has stages");
    return *std::ranges::max_element(
        stages, {}, [](const stage_report& one) { return one.is_as_busy_as_it_may ? 0.0 : one.busy_most; });
}

scale_report run_scale(const scale_plan& plan) {
    return model(plan).run();
}

std::string growth_of(const scale_plan& plan) {
    std::string all = fmt::format("{:>10}{:>14}{:>15}{:>12}{:>12}{:>12}{:>10}{:>10}{:>10}\n", "partitions",
                                  "requests/s", "messages/s", "P50", "P99", "feed P99", "gateways", "facility", "feed");
    scale_plan one = plan;
    for (const std::uint64_t count : plan.partition_counts) {
        one.partitions_count = count;
        const scale_report report = run_scale(one);
        const auto us = [](const base::latency_histogram& times, double percentile) {
            return static_cast<double>(times.value_at_percentile(percentile)) / 1e3;
        };
        double feed_busy = 0;
        for (const stage_report& each : report.stages) {
            if (each.name.starts_with("distributors")) feed_busy = std::max(feed_busy, each.busy_most);
        }
        all += fmt::format("{:>10}{:>14.0f}{:>15.0f}{:>9.0f} us{:>9.0f} us{:>9.0f} us{:>9.0f}%{:>9.0f}%{:>9.0f}%\n",
                           count, report.requests_per_second, report.messages_per_second, us(report.requests, 50),
                           us(report.requests, 99), us(report.feed, 99), report.stages[0].busy_most * 100,
                           report.stages[1].busy_most * 100, feed_busy * 100);
    }
    return all;
}

std::string text_of(const scale_report& report) {
    std::string all = fmt::format("{:<24}{:>8}{:>14}{:>8}{:>8}{:>11}{:>11}{:>12}{:>11}\n", "stage", "hosts",
                                  "messages/s", "busy", "most", "queue", "longest", "wait P50", "wait P99");
    for (const stage_report& each : report.stages) {
        all +=
            fmt::format("{:<24}{:>8}{:>14.0f}{:>7.1f}%{:>7.1f}%{:>11.1f}{:>11}{:>9.1f} us{:>8.1f} us\n", each.name,
                        each.stations_count, each.per_second, each.busy_mean * 100, each.busy_most * 100,
                        each.queue_mean, each.queue_most, static_cast<double>(each.waits.value_at_percentile(50)) / 1e3,
                        static_cast<double>(each.waits.value_at_percentile(99)) / 1e3);
    }
    all += fmt::format("{:.0f} requests answered per second, {:.0f} messages", report.requests_per_second,
                       report.messages_per_second);
    if (report.held_back_count != 0) {
        all += fmt::format("; {} were held back, {} answered", report.held_back_count, report.answered_count);
    }
    all += fmt::format("\n{}{}{}", line_of("requests", report.requests), line_of("mass cancels", report.mass_cancels),
                       line_of("feed", report.feed));
    if (report.link_busy_most > 0) {
        all +=
            fmt::format("the busiest link is that of {}: {:.1f}%\n", report.busiest_link, report.link_busy_most * 100);
    }
    return all + fmt::format("the busiest stage is {}: {:.1f}%\n", report.bottleneck().name,
                             report.bottleneck().busy_most * 100);
}

}  // namespace corro::simulation
