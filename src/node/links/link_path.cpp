// SPDX-License-Identifier: Apache-2.0
#include "node/links/link_path.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "io/file/file.hpp"
#include "io/file/storage.hpp"
#include "io/loop/platform.hpp"
#include "io/net/unix_socket.hpp"

namespace corro::node {
namespace {

[[noreturn]] void fail_link(std::error_code error, const std::string& path) {
    if (error == std::errc::address_in_use) {
        throw std::system_error(error, fmt::format("link.listen: another process listens on {}", path));
    }
    throw std::system_error(error, fmt::format("link.listen: cannot take {}", path));
}

}  // namespace

io::task<link_path_lock> take_link_path(io::context* context, io::unix_endpoint where) {
    const std::string path(where.path());
    std::unique_ptr<io::storage> files = context->runs_on().make_storage(*context, nullptr);
    auto lock = co_await files->open(path + ".lock", io::file_mode::create);
    if (!lock) fail_link(lock.error(), path + ".lock");
    std::error_code error = (*lock)->try_lock();
    if (error == std::errc::operation_would_block) error = std::make_error_code(std::errc::address_in_use);
    if (error) fail_link(error, path);
    const auto answer = co_await io::unix_stream::connect(*context, where);
    if (answer) fail_link(std::make_error_code(std::errc::address_in_use), path);
    if (answer.error() == std::errc::no_such_file_or_directory) {
        co_return link_path_lock(std::move(files), std::move(*lock));
    }
    // A stopped process with a full backlog still owns the path.
    if (answer.error() != std::errc::connection_refused) fail_link(answer.error(), path);
    // No process listens. A socket cannot be opened as a file. Anything else is not removed, and listening fails.
    const auto there = co_await files->open(path, io::file_mode::write);
    if (!there && there.error() == std::errc::no_such_device_or_address) {
        static_cast<void>(co_await files->remove(path));
    }
    co_return link_path_lock(std::move(files), std::move(*lock));
}

}  // namespace corro::node
