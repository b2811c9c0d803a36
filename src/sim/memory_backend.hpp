// A context's part of a world in memory.
//
// Threads: one.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <unordered_map>

#include "io/loop/backend.hpp"
#include "sim/memory_network.hpp"

namespace corro::sim {

class world;

class memory_backend final : public io::backend {
 public:
    explicit memory_backend(world& in);
    ~memory_backend() override;

    [[nodiscard]] std::string_view name() const noexcept override { return "memory"; }
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
    /// A world in memory has no files of the operating system.
    [[nodiscard]] std::expected<io::descriptor*, std::error_code> adopt(int file) noexcept override;
    [[nodiscard]] int detach(io::descriptor& on) noexcept override;
    void close(io::descriptor& on) noexcept override;

    [[nodiscard]] bool start(io::operation& what) noexcept override;
    [[nodiscard]] bool try_send(io::operation& what) noexcept override;
    void cancel(io::operation& what) noexcept override;
    void abandon(io::operation& what) noexcept override { unpark(what); }
    void wait(std::chrono::nanoseconds timeout) noexcept override;
    void dispatch_one() noexcept override;
    void wake() noexcept override { is_woken_ = true; }
    void tear_down() noexcept override {}

    // For the world and its network.

    /// Something has changed for an operation that may be parked on `socket`.
    void note(memory_socket& socket);
    /// Takes over a connection that was accepted.
    [[nodiscard]] io::descriptor* adopt_socket(std::unique_ptr<memory_socket> socket);
    /// Whether the context has something to do. Takes note of a wake-up.
    [[nodiscard]] bool take_news() noexcept;
    [[nodiscard]] io::context& where() const noexcept { return owner(); }

 private:
    [[nodiscard]] static memory_socket& own(io::descriptor& on) noexcept { return static_cast<memory_socket&>(on); }
    [[nodiscard]] bool attempt(memory_socket& on, io::operation& what);
    void unpark(io::operation& what) noexcept;
    void try_parked(memory_socket& on, io::operation* parked);
    static void end_peer(memory_socket& gone) noexcept;

    world& world_;
    std::unordered_map<io::descriptor*, std::unique_ptr<memory_socket>> sockets_;
    std::deque<memory_socket*> events_;
    bool is_woken_ = false;
};

}  // namespace corro::sim
