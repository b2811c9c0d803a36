// SPDX-License-Identifier: Apache-2.0
#include "sim/disk_view.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "io/errors.hpp"
#include "io/loop/yield.hpp"
#include "sim/disk_file.hpp"
#include "sim/errors.hpp"

namespace corro::sim {
namespace {

/// What an open finds or makes.
std::expected<file_tree::node, int> open_node(file_tree& tree, const std::string& path, io::file_mode mode) {
    const bool makes = mode != io::file_mode::read && mode != io::file_mode::write;
    if (!makes) {
        auto found = tree.find(path);
        if (found && (*found)->is_directory && mode == io::file_mode::write) return std::unexpected(EISDIR);
        return found;
    }
    const auto where = tree.find_place(path);
    if (!where) return std::unexpected(where.error());
    if (path.ends_with('/')) return std::unexpected(EISDIR);
    if (where->error == ENAMETOOLONG) return std::unexpected(where->error);
    if (where->there != nullptr && mode == io::file_mode::create_new) return std::unexpected(EEXIST);
    if (where->there == nullptr) return tree.make(*where, false);
    if (where->there->is_directory) return std::unexpected(EISDIR);
    if (mode == io::file_mode::overwrite) where->there->bytes.resize(0);
    return where->there;
}

int rename_replacing(disk_parts& on, const std::string& from, const std::string& to) {
    return on.tree.rename(from, to, true);
}
int rename_to_new(disk_parts& on, const std::string& from, const std::string& to) {
    return on.tree.rename(from, to, false);
}
int remove_name(disk_parts& on, const std::string& path, const std::string& /*other*/) {
    return on.tree.remove(path);
}
int sync_names(disk_parts& on, const std::string& path, const std::string& /*other*/) {
    const auto found = on.tree.find(path);
    if (!found) return found.error();
    if (!(*found)->is_directory) return ENOTDIR;
    if (!on.faults.ignores_syncs) on.tree.sync(**found);
    return 0;
}

}  // namespace

std::uint64_t disk_parts::room() const noexcept {
    if (faults.capacity_bytes == ~std::uint64_t{0}) return faults.capacity_bytes;
    const std::uint64_t used = tree.used_bytes();
    return faults.capacity_bytes > used ? faults.capacity_bytes - used : 0;
}

io::task<io::storage::opened> disk_view::open(std::string path, io::file_mode mode) {
    const io::disk_calls::call mark(marks_);
    const std::shared_ptr<const process_life> life = life_;
    if (life->is_over) co_return std::unexpected(system_code(ESTALE));
    const io::stop_token stop = co_await io::this_stop_token();
    if (stop.stop_requested()) co_return std::unexpected(io::operation_canceled());
    if (on_.pace == disk_pace::in_turns) co_await io::yield();
    const call_time time = on_.draw(disk_call::open);
    co_await spend(time.before);
    if (life->is_over) co_return std::unexpected(system_code(ESTALE));
    const disk_fault fault = on_.faults.next(disk_call::open);
    std::expected<file_tree::node, int> found = std::unexpected(fault.error);
    if (fault.error == 0) found = open_node(on_.tree, path, mode);
    co_await spend(time.after);
    if (life->is_over) co_return std::unexpected(system_code(ESTALE));
    if (!found) co_return std::unexpected(system_code(found.error()));
    co_return std::make_unique<disk_file>(on_, marks_, *found, life, mode != io::file_mode::read);
}

io::task<std::error_code> disk_view::change_names(disk_parts* on, std::shared_ptr<const process_life> life,
                                                  io::disk_calls* marks, disk_call kind, name_change change,
                                                  std::string path, std::string other) {
    const io::disk_calls::call mark(*marks);
    if (life->is_over) co_return system_code(ESTALE);
    const io::stop_token stop = co_await io::this_stop_token();
    if (stop.stop_requested()) co_return io::operation_canceled();
    if (on->pace == disk_pace::in_turns) co_await io::yield();
    const call_time time = on->draw(kind);
    co_await spend(time.before);
    if (life->is_over) co_return system_code(ESTALE);
    const disk_fault fault = on->faults.next(kind);
    const int error = fault.error != 0 ? fault.error : change(*on, path, other);
    co_await spend(time.after);
    co_return system_code(life->is_over ? ESTALE : error);
}

io::task<std::error_code> disk_view::rename(std::string from, std::string to) {
    return change_names(&on_, life_, &marks_, disk_call::change_name, &rename_replacing, std::move(from),
                        std::move(to));
}

io::task<std::error_code> disk_view::rename_new(std::string from, std::string to) {
    return change_names(&on_, life_, &marks_, disk_call::change_name, &rename_to_new, std::move(from), std::move(to));
}

io::task<std::error_code> disk_view::remove(std::string path) {
    return change_names(&on_, life_, &marks_, disk_call::change_name, &remove_name, std::move(path), {});
}

io::task<std::error_code> disk_view::sync_directory(std::string path) {
    return change_names(&on_, life_, &marks_, disk_call::sync_directory, &sync_names, std::move(path), {});
}

std::expected<std::vector<std::string>, std::error_code> disk_view::list(const std::string& path) {
    if (life_->is_over) return std::unexpected(system_code(ESTALE));
    const auto found = on_.tree.find(path);
    if (!found) return std::unexpected(system_code(found.error()));
    if (!(*found)->is_directory) return std::unexpected(system_code(ENOTDIR));
    std::vector<std::string> names;
    for (const auto& [name, each] : (*found)->entries) names.push_back(name);
    return names;
}

std::error_code disk_view::make_directory(const std::string& path) {
    return system_code(life_->is_over ? ESTALE : on_.tree.make_directories(path));
}

std::uint64_t disk_view::free_bytes(const std::string& path) {
    if (life_->is_over || !on_.tree.find(path)) return 0;
    return std::min(on_.room(), free_bytes_max);
}

}  // namespace corro::sim
