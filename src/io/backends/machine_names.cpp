// SPDX-License-Identifier: Apache-2.0
#include "io/backends/machine_names.hpp"

#include <netdb.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "io/backends/kernel_sockets.hpp"
#include "io/errors.hpp"
#include "io/net/resolver.hpp"
#include "io/sync/remote_event.hpp"

namespace corro::io {
namespace {

std::atomic<unsigned> lookups_count{0};

/// Shared by the task and the thread; the last of them destroys it.
struct lookup {
    explicit lookup(context& on) noexcept : done(on) {}

    std::mutex guard;
    bool abandoned = false;  // the task is destroyed, and perhaps its context; guarded
    resolved result{std::unexpected(make_error_code(errc::resolver_failed))};
    remote_event done;
};

/// The task's side of a lookup. Marks the lookup as abandoned when the task ends in any way.
class interest {
 public:
    explicit interest(std::shared_ptr<lookup> in) noexcept : in_(std::move(in)) {}
    interest(const interest&) = delete;
    interest& operator=(const interest&) = delete;
    ~interest() {
        const std::scoped_lock lock(in_->guard);
        in_->abandoned = true;
    }

 private:
    std::shared_ptr<lookup> in_;
};

resolved ask_the_system(const std::string& host, std::uint16_t port) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;  // otherwise the result repeats each address per kind of socket
    addrinfo* found = nullptr;
    const int outcome = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
    if (outcome == EAI_NONAME || outcome == EAI_NODATA) return std::unexpected(make_error_code(errc::host_not_found));
    if (outcome != 0) return std::unexpected(make_error_code(errc::resolver_failed));
    std::vector<endpoint> endpoints;
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
        kernel::native_address address;
        if (each->ai_addrlen > sizeof address.storage) continue;
        std::copy_n(reinterpret_cast<const char*>(each->ai_addr), each->ai_addrlen,
                    reinterpret_cast<char*>(&address.storage));
        address.size = each->ai_addrlen;
        const socket_address read = kernel::from_native(address);
        if (const auto* ip = std::get_if<endpoint>(&read)) endpoints.push_back(ip->with_port(port));
    }
    ::freeaddrinfo(found);
    if (endpoints.empty()) return std::unexpected(make_error_code(errc::host_not_found));
    return endpoints;
}

void look_up(const std::shared_ptr<lookup>& shared, const std::string& host, std::uint16_t port) {
    resolved found = ask_the_system(host, port);
    const std::scoped_lock lock(shared->guard);
    lookups_count.fetch_sub(1, std::memory_order_relaxed);
    if (shared->abandoned) return;
    shared->result = std::move(found);
    shared->done.set();
}

}  // namespace

task<resolved> look_up_on_thread(std::string host, std::uint16_t port) {
    if (lookups_count.fetch_add(1, std::memory_order_relaxed) >= lookups_max) {
        lookups_count.fetch_sub(1, std::memory_order_relaxed);
        co_return std::unexpected(std::make_error_code(std::errc::resource_unavailable_try_again));
    }
    const auto shared = std::make_shared<lookup>(co_await this_context());
    const interest interested(shared);
    try {
        std::thread([shared, host, port] { look_up(shared, host, port); }).detach();
    } catch (const std::system_error& refused) {
        lookups_count.fetch_sub(1, std::memory_order_relaxed);
        co_return std::unexpected(refused.code());
    }
    if (const std::error_code stopped = co_await shared->done.wait()) co_return std::unexpected(stopped);
    const std::scoped_lock lock(shared->guard);
    co_return std::move(shared->result);
}

}  // namespace corro::io
