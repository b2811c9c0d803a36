// SPDX-License-Identifier: Apache-2.0
#include "simulation/site.hpp"

#include <algorithm>
#include <utility>

#include "simulation/programs.hpp"
#include "simulation/venue_configuration.hpp"

namespace corro::simulation {
namespace {

std::vector<sim::host*> add_hosts(sim::world& in, const venue_shape& shape) {
    std::vector<sim::host*> all;
    for (std::size_t k = 0; k < shape.hosts_count(); ++k) {
        all.push_back(&in.add_host(shape.name_of_host(k), {address_of_host(k)}));
    }
    return all;
}

std::vector<std::string> journals_of(const plan& whole) {
    std::vector<std::string> all;
    for (std::size_t k = 0; k < whole.shape.venue.partitions_count; ++k) all.push_back(journal_of(whole, k));
    return all;
}

}  // namespace

site::site(sim::world& in, const plan& whole, findings* found, std::function<void(const std::string&)> tell)
    : world_(in),
      found_(found),
      tell_(std::move(tell)),
      hosts_(add_hosts(in, whole.shape.venue)),
      disk_(*hosts_.front(), journals_of(whole), whole.disk_call_max) {
    add_processes(whole);
}

void site::add_processes(const plan& whole) {
    const venue_shape& shape = whole.shape.venue;
    const auto where = shape.is_in_roles() ? node::order_entry_place::over_gateways : node::order_entry_place::here;
    add(shape, [c = configuration_of_facility(whole), where](io::context& on) {
        return std::make_unique<venue_program>(on, c, where);
    });
    for (std::size_t k = 0; k < shape.gateways_count; ++k) {
        add(shape, [c = configuration_of_gateway(whole, k)](io::context& on) {
            return std::make_unique<gateway_program>(on, c);
        });
    }
    for (std::size_t k = 0; k < shape.distributors_count(); ++k) {
        add(shape, [c = configuration_of_distributor(whole, k), k](io::context& on) {
            return std::make_unique<distributor_program>(on, c, facility_feed(k), facility_snapshots(k));
        });
    }
}

void site::add(const venue_shape& shape, program_maker make) {
    const std::size_t index = processes_.size();
    place made;
    made.host = shape.host_of(index);
    made.runs = std::make_unique<served_process>(*hosts_[made.host], shape.name_of_process(index), std::move(make));
    processes_.push_back(std::move(made));
}

std::string site::words_of(const place& which) const {
    const std::string article = &which == &processes_.front() ? "the " : "";
    return article + which.runs->name();
}

void site::start() {
    for (place& each : processes_) start(each);
}

void site::start(place& which) {
    tell_(words_of(which) + " starts");
    which.troubles_before = disk_.count();
    which.had_trouble_before = disk_.is_pending();
    which.damaged_before = disk_.damaged_file();
    which.was_serving = false;
    which.lacked_descriptors = false;
    which.kill_at = {};
    which.runs->start();
}

void site::start_facility() {
    is_closing_ = false;
    is_facility_alone_ = true;
    start(processes_.front());
}

void site::tend() {
    for (place& each : processes_) tend(each);
    if (is_closing_) close_next();
}

void site::tend(place& which) {
    if (const auto end = which.runs->tend()) judge(which, *end);
    tend_failed(which);
    const bool is_serving = which.runs->is_serving();
    if (is_serving && !std::exchange(which.was_serving, is_serving)) tell_(words_of(which) + " serves");
    if (is_facility_alone_ && &which != &processes_.front()) return;
    const bool is_due = world_.now() >= which.next_start && hosts_[which.host]->is_on();
    if (!which.runs->is_running() && is_due && !is_closing_ && found_->empty()) start(which);
}

/// A venue that reports a failure and does not end is ended by its operator.
void site::tend_failed(place& which) {
    if (!which.runs->has_failed()) return;
    if (which.kill_at == io::steady_time()) which.kill_at = world_.now() + operator_delay;
    if (world_.now() < which.kill_at) return;
    tell_(words_of(which) + " has failed, and is ended: " + which.runs->now().failure());
    judge(which, {true, false, which.runs->now().failure(), {}});
    which.runs->kill();
}

void site::judge(place& which, const process_end& end) {
    which.next_start = world_.now() + operator_delay;
    if (!end.left.empty()) found_->add("F2", words_of(which) + " has ended and leaves " + end.left);
    if (end.was_closed && end.failure.empty()) return;
    tell_(words_of(which) + " has ended: " + end.failure);
    ++failures_count_;
    const bool is_facility = &which == &processes_.front();
    const bool disk_explains = which.had_trouble_before || disk_.count() != which.troubles_before;
    const std::string& damaged = which.damaged_before;
    if (is_facility && !end.had_started && damaged.ends_with(".segment")) {
        if (end.failure.find(damaged) != std::string::npos) {
            tell_("the operator restores " + damaged);
            return disk_.repair();
        }
        if (disk_explains || which.lacked_descriptors) return;
        return found_->add("D3", damaged + " is damaged, and the start was refused because: " + end.failure);
    }
    // A role that cannot open its ports ends.
    if ((is_facility && disk_explains) || which.lacked_descriptors) return;
    found_->add("O1", words_of(which) + " has ended by itself: " + end.failure);
}

/// Clients of a process end before it.
void site::close_next() {
    for (auto each = processes_.rbegin(); each != processes_.rend(); ++each) {
        each->runs->close();
        if (each->runs->is_running()) return;
    }
}

bool site::has_ended() const noexcept {
    return std::ranges::none_of(processes_,
                                [](const place& each) { return each.runs->is_running() || each.runs->has_ghosts(); });
}

bool site::is_serving() const {
    return std::ranges::all_of(processes_,
                               [](const place& each) { return each.runs->is_serving() && !each.runs->has_failed(); });
}

const node::venue& site::venue() const noexcept {
    return static_cast<const venue_program&>(processes_.front().runs->now()).venue();
}

std::uint64_t site::starts_count() const noexcept {
    std::uint64_t all = 0;
    for (const place& each : processes_) all += each.runs->starts_count();
    return all;
}

void site::kill(std::size_t process, std::chrono::nanoseconds until_start) {
    place& which = processes_[process];
    which.runs->kill();
    which.next_start = std::max(which.next_start, world_.now() + until_start);
}

void site::cut_power(std::size_t host) {
    if (!hosts_[host]->is_on()) return;
    hosts_[host]->cut_power();
    for (place& each : processes_) {
        if (each.host == host) each.runs->lose_power();
    }
}

void site::set_without_descriptors(std::size_t process, bool without) noexcept {
    processes_[process].lacked_descriptors |= without;
    processes_[process].runs->set_without_descriptors(without);
}

void site::start_soon() noexcept {
    for (place& each : processes_) each.next_start = std::min(each.next_start, world_.now());
}

}  // namespace corro::simulation
