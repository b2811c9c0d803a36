// SPDX-License-Identifier: Apache-2.0
#include "simulation/timeline.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "sim/world.hpp"

namespace corro::simulation {
namespace {

using nlohmann::json;

constexpr std::string_view no_power = "no power";
constexpr std::string_view on_hold = "paused";

double microseconds(std::int64_t time_ns) noexcept {
    return static_cast<double>(time_ns) / 1e3;
}

/// The name of a program: that of its processes without the number of the life.
std::string program_of(const std::string& title) {
    const std::size_t end = title.find_last_not_of("0123456789 ");
    return end == std::string::npos ? title : title.substr(0, end + 1);
}

/// Gives each host and each track its number, and slices of one track that overlap a track each.
class track_numbers {
 public:
    explicit track_numbers(json& events) : events_(events) {}

    int host(const std::string& name) {
        const auto [found, is_new] = hosts_.try_emplace(name, static_cast<int>(hosts_.size()) + 1);
        if (is_new) add_name("process_name", found->second, 0, name);
        return found->second;
    }
    /// A track without a slice that lasts at `begin_ns`. The slices come in the order of their beginning.
    int track(const std::string& host_name, const std::string& name, std::int64_t begin_ns, std::int64_t end_ns) {
        const int of = host(host_name);
        std::vector<lane>& lanes = lanes_[{of, name}];
        auto free = std::ranges::find_if(lanes, [begin_ns](const lane& one) { return one.busy_until_ns <= begin_ns; });
        if (free == lanes.end()) {
            lanes.push_back({++tracks_count_, 0});
            free = std::prev(lanes.end());
            add_name("thread_name", of, free->number, name);
        }
        free->busy_until_ns = end_ns;
        return free->number;
    }

 private:
    struct lane {
        int number = 0;
        std::int64_t busy_until_ns = 0;
    };
    void add_name(const char* what, int host, int track, const std::string& name) {
        events_.push_back({{"ph", "M"}, {"name", what}, {"pid", host}, {"tid", track}, {"args", {{"name", name}}}});
    }

    json& events_;
    std::map<std::string, int> hosts_;
    std::map<std::pair<int, std::string>, std::vector<lane>> lanes_;
    int tracks_count_ = 0;
};

}  // namespace

void timeline::begins(const sim::world& in) {
    world_ = &in;
    begin_ns_ = static_cast<std::int64_t>(in.now_ns());
}

std::int64_t timeline::now_ns() const {
    return static_cast<std::int64_t>(world_->now_ns()) - begin_ns_;
}

void timeline::told(std::string_view what) {
    last_ns_ = now_ns();
    const bool is_fault =
        std::ranges::any_of(faults_, [this, what](const fault& one) { return words_of(one, shape_) == what; });
    if (!is_fault) moments_.push_back({last_ns_, std::string(what)});
}

void timeline::sampled(const run_sample& now) {
    last_ns_ = now_ns();
    if (samples_.empty() || samples_.back().values != now) samples_.push_back({last_ns_, now});
}

void timeline::begin_slice(std::string host, std::string track, std::string name) {
    last_ns_ = now_ns();
    slices_.push_back({std::move(host), std::move(track), std::move(name), last_ns_});
}

void timeline::end_slice(std::string_view host, std::string_view name) {
    for (slice& each : slices_) {
        if (each.end_ns == open && each.host == host && each.name == name) each.end_ns = last_ns_ = now_ns();
    }
}

void timeline::process_started(const sim::process& one) {
    begin_slice(one.on().name(), program_of(one.title()), one.title());
}

void timeline::process_ended(const sim::process& one) {
    end_slice(one.on().name(), one.title());
}

void timeline::host_changed(const sim::host& one) {
    end_slice(one.name(), no_power);
    end_slice(one.name(), on_hold);
    if (!one.is_on()) begin_slice(one.name(), "host", std::string(no_power));
    if (one.is_on() && one.is_paused()) begin_slice(one.name(), "host", std::string(on_hold));
}

std::string timeline::text() const {
    std::vector<slice> all = slices_;
    for (slice& each : all) {
        if (each.end_ns == open) each.end_ns = last_ns_;
    }
    for (const fault& each : faults_) {
        const std::int64_t length = each.kind == fault_kind::clock_jump ? 0 : each.length.count();
        all.push_back({"faults", std::string(name_of(each.kind)), words_of(each, shape_), each.at.count(),
                       each.at.count() + length});
    }
    std::ranges::sort(
        all, {}, [](const slice& one) { return std::tie(one.begin_ns, one.host, one.track, one.name, one.end_ns); });
    json events = json::array();
    track_numbers numbers(events);
    for (const slice& each : all) {
        const int track = numbers.track(each.host, each.track, each.begin_ns, each.end_ns);
        events.push_back({{"ph", "X"},
                          {"name", each.name},
                          {"pid", numbers.host(each.host)},
                          {"tid", track},
                          {"ts", microseconds(each.begin_ns)},
                          {"dur", microseconds(each.end_ns - each.begin_ns)}});
    }
    for (const moment& each : moments_) {
        events.push_back({{"ph", "i"},
                          {"s", "p"},
                          {"name", each.name},
                          {"pid", numbers.host("run")},
                          {"tid", 0},
                          {"ts", microseconds(each.at_ns)}});
    }
    const auto count = [&](std::int64_t at_ns, const char* name, std::uint64_t value) {
        events.push_back({{"ph", "C"},
                          {"name", name},
                          {"pid", numbers.host("run")},
                          {"ts", microseconds(at_ns)},
                          {"args", {{"value", value}}}});
    };
    for (const sample& each : samples_) {
        count(each.at_ns, "clients connected", each.values.connected_count);
        count(each.at_ns, "requests without an answer", each.values.outstanding_count);
        count(each.at_ns, "feed messages behind", each.values.feed_behind_count);
    }
    return json{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}.dump() + '\n';
}

}  // namespace corro::simulation
