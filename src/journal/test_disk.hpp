// Test support: a disk in memory that distinguishes durable bytes from written ones.
//
// It can fail at the N-th call, be full beyond a number of bytes, and lose its power. As in a kernel, a sync that
// fails drops its bytes, and a later sync succeeds without them. After a power cut the seed decides for each
// unsynced sector whether it was written, and how many of the unsynced changes of names were.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "io/loop/yield.hpp"
#include "journal/limits.hpp"
#include "journal/storage.hpp"

namespace corro::journal {

class test_disk final : public storage {
 public:
    using contents = std::vector<std::byte>;

    // The faults and when they happen.
    std::uint64_t fails_at = 0;         ///< the call, from 1, that ends with `failure`; 0 for none
    int failure = EIO;                  ///< an errno number
    bool fails_on = false;              ///< whether all later calls fail as well, as without power
    bool tears_failing_write = false;   ///< the write that fails writes its first half
    bool ignores_syncs = false;         ///< a control: a disk that lies
    bool retries_syncs = false;         ///< a control: a sync that fails is retried, and then succeeds
    bool drops_what_is_beyond = false;  ///< a control: a full disk reports success for bytes that it drops
    bool holds_room_back = false;       ///< preallocation waits while this is true
    base::prng* slowness = nullptr;     ///< if set, it determines how long a sync takes
    std::uint64_t capacity_bytes = ~std::uint64_t{0};

    // The calls so far.
    std::uint64_t calls_count = 0;
    std::uint64_t syncs_count = 0;
    std::uint64_t calls_after_failure_count = 0;  ///< writes and syncs of data that came after the failing call

    io::task<opened> open(std::string path, io::file_mode mode) override {
        co_await io::yield();
        if (const std::error_code error = next_call()) co_return std::unexpected(error);
        if (const auto directory = directories_.find(path); directory != directories_.end()) {
            co_return std::make_unique<open_file>(this, directory->second);
        }
        auto found = names_.find(path);
        const bool creates = mode != io::file_mode::read && mode != io::file_mode::write;
        if (found == names_.end() && !creates) co_return std::unexpected(code(ENOENT));
        if (found != names_.end() && mode == io::file_mode::create_new) co_return std::unexpected(code(EEXIST));
        if (found == names_.end()) {
            found = names_.emplace(path, std::make_shared<node>()).first;
            pending_.push_back({path, found->second});
        }
        if (mode == io::file_mode::overwrite) found->second->now.clear();
        co_return std::make_unique<open_file>(this, found->second);
    }
    io::task<std::error_code> rename(std::string from, std::string to) override {
        co_await io::yield();
        if (const std::error_code error = next_call()) co_return error;
        const auto found = names_.find(from);
        if (found == names_.end()) co_return code(ENOENT);
        const std::shared_ptr<node> moved = found->second;
        names_.erase(found);
        names_[to] = moved;
        // One step: both names change, or none.
        pending_.push_back({to, moved, from});
        co_return std::error_code();
    }
    io::task<std::error_code> rename_new(std::string from, std::string to) override {
        if (names_.contains(to)) co_return code(EEXIST);
        const std::error_code done = co_await rename(std::move(from), std::move(to));
        co_return done;
    }
    io::task<std::error_code> remove(std::string path) override {
        co_await io::yield();
        if (const std::error_code error = next_call()) co_return error;
        if (names_.erase(path) == 0) co_return code(ENOENT);
        pending_.push_back({path, nullptr});
        co_return std::error_code();
    }
    io::task<std::error_code> sync_directory(std::string) override {
        co_await io::yield();
        if (const std::error_code error = next_call(true)) co_return error;
        if (ignores_syncs) co_return std::error_code();
        durable_names_ = names_;
        pending_.clear();
        co_return std::error_code();
    }
    std::expected<std::vector<std::string>, std::error_code> list(const std::string& path) override {
        std::vector<std::string> found;
        for (const auto& [name, file] : names_) {
            if (name.starts_with(path + "/")) found.push_back(name.substr(path.size() + 1));
        }
        return found;
    }
    [[nodiscard]] std::uint64_t free_bytes(const std::string& /*path*/) override { return capacity_bytes; }
    std::error_code make_directory(const std::string& path) override {
        if (!directories_.contains(path)) directories_[path] = std::make_shared<node>();
        return {};
    }

    /// Cuts the power and restores it. Open files are closed.
    void lose_power(std::uint64_t seed) {
        base::prng random(seed);
        std::map<std::string, std::shared_ptr<node>> names = durable_names_;
        const std::size_t kept = pending_.empty() ? 0 : random.below(pending_.size() + 1);
        for (std::size_t i = 0; i < kept; ++i) {
            if (!pending_[i].from.empty()) names.erase(pending_[i].from);
            if (pending_[i].file == nullptr) {
                names.erase(pending_[i].name);
            } else {
                names[pending_[i].name] = pending_[i].file;
            }
        }
        for (auto& [name, file] : names) {
            contents after = random.below(2) == 0 ? file->now : file->durable;
            // The length is the old or the new one; the common sectors are decided one by one.
            const std::size_t common = std::min(file->now.size(), file->durable.size());
            for (std::size_t at = 0; at < common; at += sector_bytes) {
                const contents& from = random.below(2) == 0 ? file->now : file->durable;
                std::memcpy(after.data() + at, from.data() + at, std::min(sector_bytes, common - at));
            }
            auto survivor = std::make_shared<node>();
            survivor->now = survivor->durable = std::move(after);
            file = std::move(survivor);
        }
        restart(names);
    }
    /// Kills the process. Its written bytes remain, but unsynced ones are not durable: a power cut in a later run of
    /// the process can remove them.
    void lose_process() noexcept {
        calls_count = fails_at = 0;
        calls_after_failure_count = 0;
    }

    [[nodiscard]] bool has(const std::string& path) const { return names_.contains(path); }
    [[nodiscard]] contents& bytes_of(const std::string& path) { return names_.at(path)->now; }
    void put(const std::string& path, contents bytes) {
        auto file = std::make_shared<node>();
        file->now = file->durable = std::move(bytes);
        names_[path] = durable_names_[path] = std::move(file);
    }
    void take_away(const std::string& path) {
        names_.erase(path);
        durable_names_.erase(path);
    }

 private:
    struct node {
        contents now;
        contents durable;
        std::vector<bool> forgotten{};  // by sector: dropped by a failed sync, and not written since
        const void* locked_by = nullptr;
    };
    struct change {
        std::string name;
        std::shared_ptr<node> file;  // nullptr: removed
        std::string from{};          // the old name, of a rename
    };

    class open_file final : public stored_file {
     public:
        open_file(test_disk* disk, std::shared_ptr<node> file) : disk_(disk), file_(std::move(file)) {}
        ~open_file() override {
            if (file_->locked_by == this) file_->locked_by = nullptr;
        }
        io::task<io::io_result> read_at(std::uint64_t offset, std::span<std::byte> into) override {
            if (const std::error_code error = disk_->next_call()) co_return io::io_result(error, 0);
            const std::size_t there = file_->now.size() > offset ? file_->now.size() - offset : 0;
            const std::size_t count = std::min(there, into.size());
            if (count != 0) std::memcpy(into.data(), file_->now.data() + offset, count);
            if (count < into.size()) co_return io::io_result(make_error_code(io::errc::end_of_stream), count);
            co_return io::io_result(std::error_code(), count);
        }
        io::task<io::io_result> write_at(std::uint64_t offset, std::span<const std::byte> from) override {
            co_await io::yield();
            const std::error_code error = disk_->next_call(true);
            const bool torn = error && disk_->tears_failing_write && disk_->calls_count == disk_->fails_at;
            if (error && !torn) co_return io::io_result(error, 0);
            const std::size_t count = torn ? from.size() / 2 : from.size();
            if (offset + count > file_->now.size()) {
                if (!disk_->has_room_for(offset + count - file_->now.size())) {
                    if (disk_->drops_what_is_beyond) co_return io::io_result(std::error_code(), count);
                    co_return io::io_result(code(ENOSPC), 0);
                }
                file_->now.resize(offset + count);
            }
            std::memcpy(file_->now.data() + offset, from.data(), count);
            for (std::size_t at = offset / sector_bytes; at * sector_bytes < offset + count; ++at) {
                if (at < file_->forgotten.size()) file_->forgotten[at] = false;
            }
            co_return io::io_result(error, count);
        }
        io::task<std::error_code> sync_data() override {
            // A slow disk: other tasks run before and after.
            co_await io::yield();
            const contents then = file_->now;
            for (std::uint64_t turns = disk_->slowness == nullptr ? 1 : disk_->slowness->below(40); turns != 0;
                 --turns) {
                co_await io::yield();
            }
            std::error_code error = disk_->next_call(true);
            if (error && disk_->retries_syncs) error = disk_->next_call(true);
            if (error) {
                forget(*file_);
                co_return error;
            }
            ++disk_->syncs_count;
            if (!disk_->ignores_syncs) make_durable(*file_, then);
            co_return std::error_code();
        }
        io::task<std::error_code> preallocate(std::uint64_t bytes) override {
            do {
                co_await io::yield();
            } while (disk_->holds_room_back);
            if (const std::error_code error = disk_->next_call()) co_return error;
            if (bytes <= file_->now.size()) co_return std::error_code();
            if (!disk_->has_room_for(bytes - file_->now.size())) {
                if (disk_->drops_what_is_beyond) co_return std::error_code();
                // As on some file systems: the remaining space has been used up.
                file_->now.resize(file_->now.size() + disk_->room());
                co_return code(ENOSPC);
            }
            file_->now.resize(bytes);
            co_return std::error_code();
        }
        io::task<std::error_code> truncate(std::uint64_t bytes) override {
            co_await io::yield();
            if (const std::error_code error = disk_->next_call()) co_return error;
            file_->now.resize(bytes);
            co_return std::error_code();
        }
        [[nodiscard]] std::expected<std::uint64_t, std::error_code> size() const override { return file_->now.size(); }
        [[nodiscard]] std::error_code try_lock() override {
            if (file_->locked_by != nullptr && file_->locked_by != this) return code(EWOULDBLOCK);
            file_->locked_by = this;
            return {};
        }
        [[nodiscard]] bool is_at(const std::string& path) const override {
            if (const auto directory = disk_->directories_.find(path); directory != disk_->directories_.end()) {
                return directory->second == file_;
            }
            const auto found = disk_->names_.find(path);
            return found != disk_->names_.end() && found->second == file_;
        }

     private:
        test_disk* disk_;
        std::shared_ptr<node> file_;
    };

    static std::span<const std::byte> sector_of(const contents& bytes, std::size_t index) {
        const std::size_t begin = std::min(index * sector_bytes, bytes.size());
        return std::span(bytes).subspan(begin, std::min(sector_bytes, bytes.size() - begin));
    }
    static void forget(node& file) {
        file.forgotten.resize((file.now.size() + sector_bytes - 1) / sector_bytes);
        for (std::size_t at = 0; at < file.forgotten.size(); ++at) {
            if (!std::ranges::equal(sector_of(file.now, at), sector_of(file.durable, at))) file.forgotten[at] = true;
        }
    }
    static void make_durable(node& file, const contents& then) {
        contents before = std::exchange(file.durable, then);
        before.resize(then.size());
        for (std::size_t at = 0; at < file.forgotten.size(); ++at) {
            if (file.forgotten[at]) std::ranges::copy(sector_of(before, at), file.durable.data() + at * sector_bytes);
        }
    }
    static std::error_code code(int number) { return {number, std::generic_category()}; }

    std::error_code next_call(bool changes_data = false) {
        ++calls_count;
        if (fails_at == 0 || calls_count < fails_at) return {};
        if (calls_count > fails_at && changes_data) ++calls_after_failure_count;
        if (calls_count > fails_at && !fails_on) return {};
        return code(failure);
    }
    [[nodiscard]] std::uint64_t room() const {
        std::uint64_t used = 0;
        for (const auto& [name, file] : names_) used += file->now.size();
        return capacity_bytes > used ? capacity_bytes - used : 0;
    }
    [[nodiscard]] bool has_room_for(std::uint64_t bytes) const { return bytes <= room(); }
    void restart(std::map<std::string, std::shared_ptr<node>> names) {
        names_ = durable_names_ = std::move(names);
        pending_.clear();
        calls_count = fails_at = 0;
        calls_after_failure_count = 0;
    }

    std::map<std::string, std::shared_ptr<node>> directories_;
    std::map<std::string, std::shared_ptr<node>> names_;
    std::map<std::string, std::shared_ptr<node>> durable_names_;
    std::vector<change> pending_;
};

}  // namespace corro::journal
