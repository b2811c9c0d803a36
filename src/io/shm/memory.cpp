// SPDX-License-Identifier: Apache-2.0
#include "io/shm/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace corro::io::shm {
namespace {

constexpr int size_seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW;

std::unexpected<std::error_code> failed() noexcept {
    return std::unexpected(std::error_code(errno, std::generic_category()));
}

std::expected<mapping, std::error_code> map(int file, std::size_t size, bool is_writable) noexcept {
    const int rights = is_writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void* const at = ::mmap(nullptr, size, rights, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) return failed();
    return mapping(std::span(static_cast<std::byte*>(at), size));
}

}  // namespace

owned_file::~owned_file() {
    if (file_ >= 0) ::close(file_);
}

mapping::~mapping() {
    if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

std::expected<made_memory, std::error_code> make_memory(std::size_t size, sharing how) noexcept {
    owned_file file(::memfd_create("corro", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (file.get() < 0) return failed();
    if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0) return failed();
    auto mapped = map(file.get(), size, true);
    if (!mapped) return std::unexpected(mapped.error());
    // The seal on future writing spares the mapping that is there, and refuses every later one that could write.
    const int seals = how == sharing::owner_writes ? size_seals | F_SEAL_FUTURE_WRITE : size_seals;
    if (::fcntl(file.get(), F_ADD_SEALS, seals) != 0) return failed();
    return made_memory(std::move(file), std::move(*mapped));
}

std::expected<mapping, std::error_code> map_memory(const owned_file& file, std::size_t size, sharing how) noexcept {
    const std::unexpected refused(std::make_error_code(std::errc::protocol_error));
    // Only memory has seals; a file of a file system could be truncated, or never answer a read.
    const int seals = ::fcntl(file.get(), F_GET_SEALS);
    if (seals < 0 || (seals & size_seals) != size_seals) return refused;
    struct stat about{};
    if (::fstat(file.get(), &about) != 0) return failed();
    if (about.st_size < 0 || static_cast<std::uint64_t>(about.st_size) != size) return refused;
    return map(file.get(), size, how == sharing::both_write);
}

}  // namespace corro::io::shm
