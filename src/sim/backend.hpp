// SPDX-License-Identifier: Apache-2.0
// The kernel of a simulated host, as one context of one process sees it.
//
// Threads: one.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <unordered_map>

#include "io/loop/backend.hpp"
#include "sim/agenda.hpp"
#include "sim/socket.hpp"

namespace corro::sim {

class process;

class backend final : public io::backend, public agenda::member {
 public:
    explicit backend(process& of);
    ~backend() override;

    [[nodiscard]] std::string_view name() const noexcept override { return "simulated"; }
    [[nodiscard]] std::expected<io::descriptor*, std::error_code> open(io::transport kind) noexcept override;
    [[nodiscard]] std::error_code bind(io::descriptor& on, const io::socket_address& address) noexcept override;
    [[nodiscard]] std::error_code listen(io::descriptor& on, int backlog) noexcept override;
    [[nodiscard]] std::error_code set_option(io::descriptor& on, io::socket_option option, int value) noexcept override;
    [[nodiscard]] std::expected<int, std::error_code> get_option(io::descriptor& on,
                                                                 io::socket_option option) noexcept override;
    [[nodiscard]] std::expected<io::socket_address, std::error_code> local_address(
        io::descriptor& on) noexcept override;
    [[nodiscard]] std::expected<io::socket_address, std::error_code> remote_address(
        io::descriptor& on) noexcept override;
    [[nodiscard]] std::error_code shutdown_send(io::descriptor& on) noexcept override;
    [[nodiscard]] std::expected<std::pair<io::descriptor*, io::descriptor*>, std::error_code> open_pair(
        io::transport kind) noexcept override;
    [[nodiscard]] std::error_code set_membership(io::descriptor& on, const io::endpoint& group, std::uint32_t interface,
                                                 bool joined) noexcept override;
    /// A simulated host has no files of the operating system.
    [[nodiscard]] std::expected<io::descriptor*, std::error_code> adopt(int file) noexcept override;
    [[nodiscard]] int detach(io::descriptor& on) noexcept override;
    void close(io::descriptor& on) noexcept override;

    [[nodiscard]] bool start(io::operation& what) noexcept override;
    [[nodiscard]] bool try_send(io::operation& what) noexcept override;
    void cancel(io::operation& what) noexcept override;
    void abandon(io::operation& what) noexcept override { unpark(what); }
    void wait(std::chrono::nanoseconds timeout) noexcept override;
    void dispatch_one() noexcept override;
    void wake() noexcept override;
    void tear_down() noexcept override {}

    // For the world, its network and the process.

    /// Something has changed for an operation that may be parked on `on`.
    void note(socket& on);
    /// Whether the context has something to do. Takes note of a wake-up.
    [[nodiscard]] bool take_news() noexcept;
    [[nodiscard]] io::context& where() const noexcept { return owner(); }
    [[nodiscard]] process& of() const noexcept { return process_; }
    [[nodiscard]] std::size_t sockets_count() const noexcept { return sockets_.size(); }

    /// The process has ended: its kernel closes the sockets, or, without power, does nothing more for them.
    void end_sockets(bool has_power) noexcept;

 private:
    [[nodiscard]] static socket& own(io::descriptor& on) noexcept { return static_cast<socket&>(on); }
    [[nodiscard]] io::descriptor* keep(std::unique_ptr<socket> made);
    [[nodiscard]] bool attempt(socket& on, io::operation& what);
    [[nodiscard]] bool connect(socket& on, io::operation& what);
    [[nodiscard]] bool accept(socket& on, io::operation& what);
    void unpark(io::operation& what) noexcept;
    void try_parked(socket& on, io::operation* parked);
    void leave_network(socket& gone, bool has_power) noexcept;

    process& process_;
    std::unordered_map<io::descriptor*, std::unique_ptr<socket>> sockets_;
    std::deque<socket*> events_;
    bool is_woken_ = false;
};

}  // namespace corro::sim
