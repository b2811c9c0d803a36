// SPDX-License-Identifier: Apache-2.0
#include "io/net/send_file.hpp"

#include <coroutine>
#include <system_error>

#include "io/loop/detail/io_awaiter.hpp"
#include "io/net/tcp.hpp"
#include "io/net/unix_socket.hpp"
#include "io/task/detail/lazily.hpp"

namespace corro::io::detail {

/// Keeps a file open while its number is in use.
class file_use {
 public:
    explicit file_use(file& of) noexcept : of_(of) { ++of_.under_way_count_; }
    ~file_use() { --of_.under_way_count_; }
    file_use(const file_use&) = delete;
    file_use& operator=(const file_use&) = delete;

    [[nodiscard]] int number() const noexcept { return of_.file_; }
    [[nodiscard]] static bool has_faults(const file& of) noexcept { return of.faults_ != nullptr; }

 private:
    file& of_;
};

namespace {

class file_send_awaiter : file_send_operation {
 public:
    file_send_awaiter(descriptor* on, int from, std::uint64_t at, std::size_t wanted) noexcept
        : file_send_operation(on, from, at, wanted) {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <promise_with_environment Promise>
    [[nodiscard]] bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
        return begin_operation(*this, self, self.promise().surroundings());
    }
    [[nodiscard]] io_result await_resume() const noexcept { return {status_code(status), bytes}; }
};

using file_send = lazily<file_send_awaiter, descriptor*, int, std::uint64_t, std::size_t>;

/// Whether the kernel has no way from this file to a socket. Some file systems offer only reading.
bool is_for_reading_only(const std::error_code& error) noexcept {
    return error == std::errc::invalid_argument || error == std::errc::function_not_supported ||
           error == std::errc::operation_not_supported;
}

}  // namespace

task<io_result> file_sender::by_socket(stream_socket* to, file* from, std::uint64_t offset, std::uint64_t count) {
    if (!to->is_open() || !from->is_open()) {
        co_return io_result(std::make_error_code(std::errc::bad_file_descriptor), 0);
    }
    std::size_t done = 0;
    bool by_kernel = to->io().sends_files() && !file_use::has_faults(*from);
    if (by_kernel) {
        const file_use use(*from);
        while (by_kernel && done != count) {
            const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(count - done, send_file_part_bytes));
            io_result sent = co_await file_send(to->get(), use.number(), offset + done, part);
            done += sent.bytes;
            by_kernel = sent.bytes != 0 || !is_for_reading_only(sent.error);
            if (!sent && by_kernel) co_return io_result(sent.error, done);
        }
    }
    if (by_kernel) co_return io_result({}, done);
    io_result rest = co_await send_file_in_parts(to, from, offset + done, count - done);
    co_return io_result(rest.error, done + rest.bytes);
}

task<io_result> file_sender::by_any(any_stream* to, file* from, std::uint64_t offset, std::uint64_t count) {
    if (auto* const tcp = to->get_if<tcp_stream>()) return by_socket(tcp, from, offset, count);
    if (auto* const local = to->get_if<unix_stream>()) return by_socket(local, from, offset, count);
    return send_file_in_parts(to, from, offset, count);
}

}  // namespace corro::io::detail
