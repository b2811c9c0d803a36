#include "sim/memory_disk.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/errors.hpp"

namespace corro::sim {
namespace {

std::error_code code_of(int number) noexcept {
    return {number, std::generic_category()};
}

/// The path of the directory that a name stands in; empty for a name without one.
std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

class memory_file final : public io::stored_file {
 public:
    memory_file(memory_disk& on, std::shared_ptr<memory_inode> inode, bool may_write) noexcept
        : disk_(on), inode_(std::move(inode)), may_write_(may_write) {}
    ~memory_file() override {
        if (has_lock_) inode_->is_locked = false;
    }

    io::task<io::io_result> read_at(std::uint64_t offset, std::span<std::byte> into) override {
        if (const std::error_code error = co_await stopped()) co_return io::io_result(error, 0);
        if (inode_->is_directory) co_return io::io_result(code_of(EISDIR), 0);
        const std::vector<std::byte>& bytes = inode_->bytes;
        const std::size_t there = offset < bytes.size() ? bytes.size() - static_cast<std::size_t>(offset) : 0;
        const std::size_t count = std::min(there, into.size());
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(there == 0 ? 0 : offset), count, into.begin());
        if (count < into.size()) co_return io::io_result(make_error_code(io::errc::end_of_stream), count);
        co_return io::io_result({}, count);
    }

    io::task<io::io_result> write_at(std::uint64_t offset, std::span<const std::byte> from) override {
        if (const std::error_code error = co_await stopped()) co_return io::io_result(error, 0);
        if (!may_write_) co_return io::io_result(code_of(EBADF), 0);
        const auto end = static_cast<std::size_t>(offset) + from.size();
        if (inode_->bytes.size() < end) inode_->bytes.resize(end);
        std::copy(from.begin(), from.end(), inode_->bytes.begin() + static_cast<std::ptrdiff_t>(offset));
        co_return io::io_result({}, from.size());
    }

    io::task<std::error_code> sync_data() override { co_return co_await stopped(); }

    io::task<std::error_code> preallocate(std::uint64_t bytes) override {
        if (const std::error_code error = co_await stopped()) co_return error;
        if (inode_->bytes.size() < bytes) inode_->bytes.resize(static_cast<std::size_t>(bytes));
        co_return std::error_code();
    }

    io::task<std::error_code> truncate(std::uint64_t bytes) override {
        if (const std::error_code error = co_await stopped()) co_return error;
        if (!may_write_) co_return code_of(EINVAL);
        inode_->bytes.resize(static_cast<std::size_t>(bytes));
        co_return std::error_code();
    }

    [[nodiscard]] std::expected<std::uint64_t, std::error_code> size() const override { return inode_->bytes.size(); }

    [[nodiscard]] std::error_code try_lock() override {
        if (has_lock_) return {};
        if (inode_->is_locked) return code_of(EWOULDBLOCK);
        inode_->is_locked = has_lock_ = true;
        return {};
    }

    [[nodiscard]] bool is_at(const std::string& path) const override { return disk_.find(path) == inode_; }

 private:
    static io::task<std::error_code> stopped() {
        const io::stop_token token = co_await io::this_stop_token();
        co_return token.stop_requested() ? io::operation_canceled() : std::error_code();
    }

    memory_disk& disk_;
    std::shared_ptr<memory_inode> inode_;
    bool may_write_;
    bool has_lock_ = false;
};

class memory_storage final : public io::storage {
 public:
    explicit memory_storage(memory_disk& on) noexcept : disk_(on) {}

    io::task<opened> open(std::string path, io::file_mode mode) override {
        const std::string name = plain_path(std::move(path));
        std::shared_ptr<memory_inode> inode = disk_.find(name);
        const bool makes = mode != io::file_mode::read && mode != io::file_mode::write;
        if (inode == nullptr && !makes) co_return std::unexpected(code_of(ENOENT));
        if (inode != nullptr && mode == io::file_mode::create_new) co_return std::unexpected(code_of(EEXIST));
        if (inode != nullptr && inode->is_directory && mode != io::file_mode::read) {
            co_return std::unexpected(code_of(EISDIR));
        }
        if (inode == nullptr) {
            const std::shared_ptr<memory_inode> parent = disk_.find(parent_of(name));
            if (parent == nullptr || !parent->is_directory) co_return std::unexpected(code_of(ENOENT));
            inode = disk_.files()[name] = std::make_shared<memory_inode>();
        }
        if (mode == io::file_mode::overwrite) inode->bytes.clear();
        co_return std::make_unique<memory_file>(disk_, std::move(inode), mode != io::file_mode::read);
    }

    io::task<std::error_code> rename(std::string from, std::string to) override {
        co_return move(plain_path(std::move(from)), plain_path(std::move(to)));
    }

    io::task<std::error_code> rename_new(std::string from, std::string to) override {
        const std::string name = plain_path(std::move(to));
        if (disk_.find(name) != nullptr) co_return code_of(EEXIST);
        co_return move(plain_path(std::move(from)), name);
    }

    io::task<std::error_code> remove(std::string path) override {
        co_return code_of(disk_.files().erase(plain_path(std::move(path))) != 0 ? 0 : ENOENT);
    }

    io::task<std::error_code> sync_directory(std::string path) override {
        co_return code_of(disk_.find(path) != nullptr ? 0 : ENOENT);
    }

    [[nodiscard]] std::expected<std::vector<std::string>, std::error_code> list(const std::string& path) override {
        const std::string directory = plain_path(path);
        const std::shared_ptr<memory_inode> inode = disk_.find(directory);
        if (inode == nullptr) return std::unexpected(code_of(ENOENT));
        if (!inode->is_directory) return std::unexpected(code_of(ENOTDIR));
        std::vector<std::string> names;
        for (const auto& [name, each] : disk_.files()) {
            if (!name.empty() && parent_of(name) == directory) names.push_back(name.substr(name.rfind('/') + 1));
        }
        return names;
    }

    [[nodiscard]] std::error_code make_directory(const std::string& path) override {
        const std::string name = plain_path(path);
        for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
            if (const std::error_code error = make_one(name.substr(0, slash))) return error;
        }
        return make_one(name);
    }

    [[nodiscard]] std::uint64_t free_bytes(const std::string& /*path*/) override { return memory_disk::free_bytes; }

 private:
    [[nodiscard]] std::error_code make_one(const std::string& name) {
        std::shared_ptr<memory_inode>& there = disk_.files()[name];
        if (there == nullptr) {
            there = std::make_shared<memory_inode>();
            there->is_directory = true;
        }
        return there->is_directory ? std::error_code() : code_of(ENOTDIR);
    }

    [[nodiscard]] std::error_code move(const std::string& from, const std::string& to) {
        const auto found = disk_.files().find(from);
        if (found == disk_.files().end()) return code_of(ENOENT);
        std::shared_ptr<memory_inode> inode = std::move(found->second);
        disk_.files().erase(found);
        disk_.files()[to] = std::move(inode);
        return {};
    }

    memory_disk& disk_;
};

}  // namespace

std::string plain_path(std::string path) {
    while (path.ends_with('/')) path.pop_back();
    if (path.starts_with("./")) path.erase(0, 2);
    return path == "." ? std::string() : path;
}

memory_disk::memory_disk() {
    const auto root = std::make_shared<memory_inode>();
    root->is_directory = true;
    files_[std::string()] = root;  // "/", and the folder in which a program runs
}

std::shared_ptr<memory_inode> memory_disk::find(const std::string& path) const {
    const auto found = files_.find(plain_path(path));
    return found != files_.end() ? found->second : nullptr;
}

std::unique_ptr<io::storage> memory_disk::make_storage() {
    return std::make_unique<memory_storage>(*this);
}

}  // namespace corro::sim
