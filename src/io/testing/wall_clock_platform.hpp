// SPDX-License-Identifier: Apache-2.0
// Test support: a platform whose time of day a test sets. Everything else is of the platform below.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "io/file/storage.hpp"
#include "io/loop/context.hpp"
#include "io/loop/machine.hpp"
#include "io/loop/platform.hpp"
#include "io/task/task.hpp"

namespace corro::io::testing {

class wall_clock_platform final : public platform {
 public:
    using clock_function = std::function<std::chrono::system_clock::time_point()>;

    /// @param shown  The time of day; called by every thread that asks.
    explicit wall_clock_platform(clock_function shown, platform& below = default_platform())
        : shown_(std::move(shown)), below_(below) {}

    [[nodiscard]] std::string_view name() const noexcept override { return below_.name(); }
    [[nodiscard]] made_backend make_backend() override { return below_.make_backend(); }
    [[nodiscard]] steady_time now() noexcept override { return below_.now(); }
    [[nodiscard]] std::chrono::system_clock::time_point wall_now() noexcept override { return shown_(); }
    [[nodiscard]] const tick_clock& ticks() override { return below_.ticks(); }
    void fill_random(std::span<std::byte> into) noexcept override { below_.fill_random(into); }
    [[nodiscard]] task<resolved> look_up(std::string host, std::uint16_t port) override {
        return below_.look_up(std::move(host), port);
    }
    [[nodiscard]] std::unique_ptr<storage> make_storage(context& on, file_faults* faults) override {
        return below_.make_storage(on, faults);
    }
    [[nodiscard]] std::unique_ptr<worker> make_worker(context_options options) override {
        return make_thread_worker(*this, options);
    }
    [[nodiscard]] std::size_t processors_count() const noexcept override { return below_.processors_count(); }

 private:
    clock_function shown_;
    platform& below_;
};

}  // namespace corro::io::testing
