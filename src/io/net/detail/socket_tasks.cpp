#include "io/net/detail/socket_tasks.hpp"

#include "io/loop/timer.hpp"
#include "io/net/socket.hpp"

namespace corro::io::detail {
namespace {

using connecting = lazily<plain_awaiter, operation_kind, descriptor*, const socket_address*>;
using accepting = lazily<accept_awaiter, descriptor*>;

/// Closes the descriptor if connecting does not complete.
class half_made_socket : public socket_base {
 public:
    explicit half_made_socket(descriptor& owned) noexcept : socket_base(owned) {}
    using socket_base::release;
};

/// Whether accepting failed for lack of descriptors or memory, which other parts of the program may release.
bool is_exhaustion(std::error_code code) noexcept {
    return code == std::errc::too_many_files_open || code == std::errc::too_many_files_open_in_system ||
           code == std::errc::no_buffer_space || code == std::errc::not_enough_memory;
}

}  // namespace

task<std::expected<descriptor*, std::error_code>> connect_socket(context* on, transport kind, socket_address peer) {
    const auto opened = on->io().open(kind);
    if (!opened) co_return std::unexpected(opened.error());
    half_made_socket connected(**opened);
    const std::error_code error = co_await connecting(operation_kind::connect, *opened, &peer);
    if (error) co_return std::unexpected(error);
    co_return connected.release();
}

task<std::expected<descriptor*, std::error_code>> accept_patiently(descriptor* on) {
    for (;;) {
        const auto accepted = co_await accepting(on);
        if (accepted || !is_exhaustion(accepted.error())) co_return accepted;
        const std::error_code stopped = co_await sleep_for(exhausted_retry_delay);
        if (stopped) co_return std::unexpected(stopped);
    }
}

}  // namespace corro::io::detail
