// SPDX-License-Identifier: Apache-2.0
// A process on a simulated host: the platform of its contexts.
//
// A process ends when it is killed, or when its host loses its power. The objects of the program cannot vanish in the
// middle of a step, as a real process does: they go on, cut off. Every call on a socket or a file fails from then on,
// nothing that they do reaches another process or the disk, and they are stopped and destroyed as after any failure.
// Outside, nothing tells them from a process that is gone.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "io/loop/platform.hpp"
#include "io/loop/tick_clock.hpp"

namespace corro::sim {

class backend;
class host;
class world;

/// Made by `host::start_process`; it outlives its contexts, which are made on it:
/// `io::context here{io::context_options(process)};`
class process final : public io::platform {
 public:
    process(host& on, std::uint32_t number, std::string name);
    /// @pre Its contexts are gone (asserted).
    ~process() override;

    /// Its name in traces.
    [[nodiscard]] const std::string& title() const noexcept { return name_; }
    [[nodiscard]] bool is_alive() const noexcept { return is_alive_; }
    [[nodiscard]] host& on() const noexcept { return host_; }
    [[nodiscard]] world& where() const noexcept;

    /// Ends it, as `kill -9` does: its kernel closes its sockets and gives up its locks, and the disk keeps what was
    /// written. Does nothing if it has ended.
    void kill();

    /// Sockets that the process may have open, further ones fail with EMFILE. The default is no limit.
    void set_descriptors_max(std::size_t most) noexcept { descriptors_max_ = most; }
    [[nodiscard]] bool has_descriptor_left() const noexcept;

    // As a platform.
    [[nodiscard]] std::string_view name() const noexcept override { return "simulated"; }
    [[nodiscard]] made_backend make_backend() override;
    [[nodiscard]] io::steady_time now() noexcept override;
    [[nodiscard]] std::chrono::system_clock::time_point wall_now() noexcept override;
    [[nodiscard]] const io::tick_clock& ticks() override { return ticks_; }
    void fill_random(std::span<std::byte> into) noexcept override;
    /// The addresses that the world was given for the name, of itself or of a host.
    [[nodiscard]] io::task<io::resolved> look_up(std::string host, std::uint16_t port) override;
    /// Faults are those of the host's disk: `faults` is null (asserted).
    [[nodiscard]] std::unique_ptr<io::storage> make_storage(io::context& on, io::file_faults* faults) override;
    /// A context that is stepped with the others, without a thread.
    [[nodiscard]] std::unique_ptr<io::worker> make_worker(io::context_options options) override;
    [[nodiscard]] std::size_t processors_count() const noexcept override { return 2; }
    /// Kills it, as soon as its contexts do not run.
    void end_process(int code) noexcept override;

    // For its backends and its host.
    void join(backend& one);
    void leave(backend& one) noexcept;
    [[nodiscard]] bool has_contexts() const noexcept { return !backends_.empty(); }
    void end(bool has_power);

 private:
    void say_ended();

    host& host_;
    std::uint32_t number_;  // among the processes of its host, from 1
    std::string name_;
    io::tick_clock ticks_;
    base::prng random_;
    std::vector<backend*> backends_;  // in the order in which they were made
    std::size_t descriptors_max_ = ~std::size_t{0};
    bool is_alive_ = true;
};

}  // namespace corro::sim
