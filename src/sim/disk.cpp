// SPDX-License-Identifier: Apache-2.0
#include "sim/disk.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace corro::sim {

disk::disk(disk_pace pace, std::uint64_t seed)
    : parts_(pace, seed), own_life_(std::make_shared<process_life>()), own_(parts_, own_life_, &calls_) {}

std::unique_ptr<io::storage> disk::make_storage(std::uint32_t process) {
    std::shared_ptr<process_life>& life = lives_[process];
    if (life == nullptr) life = std::make_shared<process_life>();
    return std::make_unique<disk_view>(parts_, life);
}

void disk::end_views(std::uint32_t process) {
    const auto found = lives_.find(process);
    if (found == lives_.end()) return;
    found->second->is_over = true;
    lives_.erase(found);
}

void disk::end_views() {
    for (const auto& [process, life] : lives_) life->is_over = true;
    lives_.clear();
    own_life_->is_over = true;
    own_life_ = std::make_shared<process_life>();
    own_.set_life(own_life_);
    parts_.faults.begin_again();
}

void disk::cut_power(base::prng& random) {
    end_views();
    parts_.tree.cut_power(random);
}

void disk::cut_power(std::uint64_t seed) {
    base::prng random(seed);
    cut_power(random);
}

std::optional<disk::damaged_place> disk::damage(base::prng& random) {
    const auto files = parts_.tree.files();
    if (files.empty()) return std::nullopt;
    const std::size_t first = random.below(files.size());
    for (std::size_t i = 0; i < files.size(); ++i) {
        const auto& [path, node] = files[(first + i) % files.size()];
        if (const auto offset = node->bytes.damage(random)) return damaged_place{path, *offset};
    }
    return std::nullopt;
}

disk::contents disk::bytes_of(const std::string& path) const {
    const auto found = parts_.tree.find(path);
    CORRO_ASSERT(found && !(*found)->is_directory, "there is no such file");
    contents bytes((*found)->bytes.size());
    (*found)->bytes.read(0, bytes);
    return bytes;
}

void disk::put(const std::string& path, const contents& bytes) {
    const std::size_t slash = path.rfind('/');
    if (slash != std::string::npos && slash != 0) put_directory(path.substr(0, slash));
    const auto where = parts_.tree.find_place(path);
    CORRO_ASSERT(where && !where->name.empty(), "this is no name of a file");
    CORRO_ASSERT(where->there == nullptr || !where->there->is_directory, "a directory has this name");
    const file_tree::node made = parts_.tree.make(*where, false);
    made->bytes.write(0, bytes);
    made->bytes.end_sync(made->bytes.begin_sync(), true);
    parts_.tree.sync(*where->directory);
}

void disk::put_directory(const std::string& path) {
    for (std::size_t end = 0; end < path.size();) {
        end = std::min(path.find('/', end + 1), path.size());
        const int error = parts_.tree.make_directories(path.substr(0, end));
        CORRO_ASSERT(error == 0, "the directory cannot be made");
        parts_.tree.sync(*parts_.tree.find_place(path.substr(0, end))->directory);
    }
}

void disk::take_away(const std::string& path) {
    const auto where = parts_.tree.find_place(path);
    if (!where || parts_.tree.remove(path) != 0) return;
    parts_.tree.sync(*where->directory);
}

io::task<io::storage::opened> disk::open(std::string path, io::file_mode mode) {
    return own_.open(std::move(path), mode);
}
io::task<std::error_code> disk::rename(std::string from, std::string to) {
    return own_.rename(std::move(from), std::move(to));
}
io::task<std::error_code> disk::rename_new(std::string from, std::string to) {
    return own_.rename_new(std::move(from), std::move(to));
}
io::task<std::error_code> disk::remove(std::string path) {
    return own_.remove(std::move(path));
}
io::task<std::error_code> disk::sync_directory(std::string path) {
    return own_.sync_directory(std::move(path));
}
std::expected<std::vector<std::string>, std::error_code> disk::list(const std::string& path) {
    return own_.list(path);
}
std::error_code disk::make_directory(const std::string& path) {
    return own_.make_directory(path);
}
std::uint64_t disk::free_bytes(const std::string& path) {
    return own_.free_bytes(path);
}

}  // namespace corro::sim
