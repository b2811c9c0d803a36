// SPDX-License-Identifier: Apache-2.0
#include "test_clock.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "domain/types.hpp"
#include "history/moment.hpp"
#include "io/file/storage.hpp"
#include "io/loop/context.hpp"
#include "io/loop/machine.hpp"
#include "io/task/task.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::app {
namespace {

using wall_time = std::chrono::system_clock::time_point;

/// Everything but the time of day is of the platform below.
class shifted_platform final : public io::platform {
 public:
    shifted_platform(io::platform& below, wall_time begin) : below_(below), shift_(begin - below.wall_now()) {}

    [[nodiscard]] std::string_view name() const noexcept override { return below_.name(); }
    [[nodiscard]] made_backend make_backend() override { return below_.make_backend(); }
    [[nodiscard]] io::steady_time now() noexcept override { return below_.now(); }
    [[nodiscard]] wall_time wall_now() noexcept override { return below_.wall_now() + shift_; }
    [[nodiscard]] const io::tick_clock& ticks() override { return below_.ticks(); }
    void fill_random(std::span<std::byte> into) noexcept override { below_.fill_random(into); }
    [[nodiscard]] io::task<io::resolved> look_up(std::string host, std::uint16_t port) override {
        return below_.look_up(std::move(host), port);
    }
    [[nodiscard]] std::unique_ptr<io::storage> make_storage(io::context& on, io::file_faults* faults) override {
        return below_.make_storage(on, faults);
    }
    [[nodiscard]] std::unique_ptr<io::worker> make_worker(io::context_options options) override {
        return io::make_thread_worker(*this, options);
    }
    [[nodiscard]] std::size_t processors_count() const noexcept override { return below_.processors_count(); }

 private:
    io::platform& below_;
    wall_time::duration shift_;
};

}  // namespace

std::unique_ptr<io::platform> platform_with_clock(io::platform& below, const std::string& begin) {
    const auto moment = history::parse_moment(begin);
    if (!moment || !moment->is_time) {
        throw node::configuration_error(
            fmt::format("--clock: \"{}\" is not a time, such as 2026-12-18T14:29:50 (UTC)", begin));
    }
    const auto since = std::chrono::nanoseconds(moment->time.value);
    return std::make_unique<shifted_platform>(below, wall_time(std::chrono::duration_cast<wall_time::duration>(since)));
}

}  // namespace corro::app
