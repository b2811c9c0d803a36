// SPDX-License-Identifier: Apache-2.0
#include "sim/process.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "io/errors.hpp"
#include "io/loop/context.hpp"
#include "io/task/task.hpp"
#include "sim/backend.hpp"
#include "sim/host.hpp"
#include "sim/worker.hpp"
#include "sim/world.hpp"

namespace corro::sim {

process::process(host& on, std::uint32_t number, std::string name)
    : host_(on),
      number_(number),
      name_(std::move(name)),
      ticks_(on.clock().place()),
      random_(on.where().seed_of("random bytes of " + on.name() + "/" + name_)) {}

process::~process() {
    CORRO_ASSERT(backends_.empty(), "the contexts of a process go before it");
}

world& process::where() const noexcept {
    return host_.where();
}

void process::join(backend& one) {
    backends_.push_back(&one);
    where().agenda().join(one);
}

void process::leave(backend& one) noexcept {
    std::erase(backends_, &one);
    where().agenda().leave(one);
    if (backends_.empty()) say_ended();
}

bool process::has_descriptor_left() const noexcept {
    if (descriptors_max_ == ~std::size_t{0}) return true;
    std::size_t open = 0;
    for (const backend* each : backends_) open += each->sockets_count();
    return open < descriptors_max_;
}

void process::kill() {
    end(true);
}

void process::end(bool has_power) {
    if (!std::exchange(is_alive_, false)) return;
    for (backend* each : backends_) each->end_sockets(has_power);
    host_.disk().end_views(number_);
    say_ended();
}

void process::say_ended() {
    if (observer* const who = where().watched_by()) who->process_ended(*this);
}

io::platform::made_backend process::make_backend() {
    return {std::make_unique<backend>(*this), {}};
}

io::steady_time process::now() noexcept {
    host_.clock().advance(where().now_ns());
    return io::steady_time(std::chrono::nanoseconds(host_.clock().now_ns()));
}

std::chrono::system_clock::time_point process::wall_now() noexcept {
    return std::chrono::system_clock::time_point(world::beginning) + now().time_since_epoch() +
           host_.clock().wall_offset();
}

void process::fill_random(std::span<std::byte> into) noexcept {
    for (std::byte& each : into) each = static_cast<std::byte>(random_() >> 56U);
}

io::task<io::resolved> process::look_up(std::string host, std::uint16_t port) {
    std::vector<io::endpoint> addresses;
    for (const io::endpoint& each : where().addresses_of(host)) addresses.push_back(each.with_port(port));
    if (addresses.empty()) co_return std::unexpected(make_error_code(io::errc::host_not_found));
    co_return addresses;
}

std::unique_ptr<io::storage> process::make_storage(io::context& /*on*/, io::file_faults* faults) {
    CORRO_ASSERT(faults == nullptr, "a simulated disk has faults of its own");
    std::unique_ptr<io::storage> made = host_.disk().make_storage(number_);
    if (!is_alive_) host_.disk().end_views(number_);
    return made;
}

std::unique_ptr<io::worker> process::make_worker(io::context_options options) {
    options.on = this;
    return std::make_unique<worker>(where(), options);
}

void process::end_process(int /*code*/) noexcept {
    where().plan_after(std::chrono::nanoseconds(0), [this] { kill(); });
}

}  // namespace corro::sim
