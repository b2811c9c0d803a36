#include "node/links/link_path.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "io/net/unix_socket.hpp"

namespace corro::node {
namespace {

[[noreturn]] void refuse(std::error_code error, const std::string& path) {
    if (error == std::errc::address_in_use) {
        throw std::system_error(error, fmt::format("link.listen: another process listens on {}", path));
    }
    throw std::system_error(error, fmt::format("link.listen: cannot take {}", path));
}

}  // namespace

io::task<io::file> take_link_path(io::context* context, io::unix_endpoint where) {
    const std::string path(where.path());
    io::file_system files(*context);
    auto lock = co_await files.open(path + ".lock", io::file_mode::create);
    if (!lock) refuse(lock.error(), path + ".lock");
    std::error_code error = lock->try_lock();
    if (error == std::errc::operation_would_block) error = std::make_error_code(std::errc::address_in_use);
    if (error) refuse(error, path);
    const auto answer = co_await io::unix_stream::connect(*context, where);
    if (answer) refuse(std::make_error_code(std::errc::address_in_use), path);
    if (answer.error() == std::errc::no_such_file_or_directory) co_return std::move(*lock);
    // A stopped process with a full backlog still owns the path.
    if (answer.error() != std::errc::connection_refused) refuse(answer.error(), path);
    // No process listens. A file that is not a socket is not removed, and listening fails.
    std::error_code ignored;
    if (std::filesystem::is_socket(std::filesystem::path(path), ignored)) {
        std::filesystem::remove(std::filesystem::path(path), ignored);
    }
    co_return std::move(*lock);
}

}  // namespace corro::node
