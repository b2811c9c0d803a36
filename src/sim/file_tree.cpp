// SPDX-License-Identifier: Apache-2.0
#include "sim/file_tree.hpp"

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

namespace corro::sim {
namespace {

constexpr std::size_t path_bytes_max = 4'096;  // with the zero at its end
constexpr std::size_t name_bytes_max = 255;

/// Every node below a directory, by present and by durable names.
void collect(const file_tree::node& from, std::set<file_tree::node>& into) {
    if (!into.insert(from).second) return;
    for (const file_node::names* const names : {&from->entries, &from->durable_entries}) {
        for (const auto& [name, each] : *names) collect(each, into);
    }
}

void list_files(const std::string& path, const file_node& directory,
                std::vector<std::pair<std::string, file_tree::node>>& into) {
    for (const auto& [name, each] : directory.entries) {
        const std::string full = path.empty() ? name : path + "/" + name;
        if (each->is_directory) {
            list_files(full, *each, into);
        } else {
            into.emplace_back(full, each);
        }
    }
}

bool is_among(const std::vector<const file_node*>& all, const file_node* one) noexcept {
    return std::ranges::find(all, one) != all.end();
}

std::uint64_t bytes_below(const file_node& directory) noexcept {
    std::uint64_t bytes = 0;
    for (const auto& [name, each] : directory.entries) {
        bytes += each->is_directory ? bytes_below(*each) : each->bytes.size();
    }
    return bytes;
}

/// The durable names become the present ones, in the directory and in those below it.
void forget_names(file_node& directory) {
    directory.entries = directory.durable_entries;
    for (auto& [name, each] : directory.entries) {
        if (each->is_directory) forget_names(*each);
    }
}

}  // namespace

file_tree::file_tree() : root_(std::make_shared<file_node>(true)) {}

file_tree::~file_tree() {
    // A directory that was moved below one that it contained keeps itself alive.
    std::set<node> all;
    collect(root_, all);
    for (const change& each : pending_) {
        for (const node& one : {each.directory, each.there, each.old_directory}) {
            if (one != nullptr) collect(one, all);
        }
    }
    for (const node& each : all) {
        each->entries.clear();
        each->durable_entries.clear();
    }
}

std::expected<file_tree::place, int> file_tree::find_place(std::string_view path) const {
    if (path.empty()) return std::unexpected(ENOENT);
    if (path.size() >= path_bytes_max) return std::unexpected(ENAMETOOLONG);
    std::vector<node> way{root_};  // from the root to the directory in which the next name is looked up
    place found;
    found.there = root_;
    while (!path.empty()) {
        const std::size_t slash = std::min(path.find('/'), path.size());
        const std::string_view name = path.substr(0, slash);
        path.remove_prefix(std::min(slash + 1, path.size()));
        if (name.empty()) continue;
        if (found.there == nullptr) return std::unexpected(found.error);
        if (!found.there->is_directory) return std::unexpected(ENOTDIR);
        if (!found.name.empty()) way.push_back(found.there);
        if (name == "." || name == "..") {
            if (name == ".." && way.size() > 1) way.pop_back();
            found.name.clear();
            found.there = way.back();
            found.error = 0;
            continue;
        }
        found.name = name;
        const auto at = way.back()->entries.find(name);
        found.there = at == way.back()->entries.end() ? nullptr : at->second;
        found.error = found.there != nullptr ? 0 : name.size() > name_bytes_max ? ENAMETOOLONG : ENOENT;
    }
    found.directory = way.back();
    for (const node& each : way) found.above.push_back(each.get());
    return found;
}

std::expected<file_tree::node, int> file_tree::find(std::string_view path) const {
    const auto found = find_place(path);
    if (!found) return std::unexpected(found.error());
    if (found->there == nullptr) return std::unexpected(found->error);
    if (path.ends_with('/') && !found->there->is_directory) return std::unexpected(ENOTDIR);
    return found->there;
}

file_tree::node file_tree::make(const place& where, bool directory) {
    auto made = std::make_shared<file_node>(directory);
    where.directory->entries[where.name] = made;
    add(change{.directory = where.directory, .name = where.name, .there = made});
    return made;
}

int file_tree::make_directories(std::string_view path) {
    if (path.empty()) return EINVAL;
    for (std::size_t end = 0; end < path.size();) {
        end = std::min(path.find('/', end + 1), path.size());
        auto where = find_place(path.substr(0, end));
        if (!where) return where.error();
        if (where->error == ENAMETOOLONG) return where->error;
        if (where->there == nullptr) {
            make(*where, true);
        } else if (!where->there->is_directory) {
            // The system's library finds no directory of that name, and makes one.
            return path.find_first_not_of('/', end) == std::string_view::npos && end != path.size() ? EEXIST : ENOTDIR;
        }
    }
    return 0;
}

int file_tree::rename(std::string_view from, std::string_view to, bool replaces) {
    const auto old = find_place(from);
    if (!old) return old.error();
    const auto next = find_place(to);
    if (!next) return next.error();
    if (old->name.empty()) return EBUSY;
    if (next->name.empty()) return replaces ? EBUSY : EEXIST;
    if (old->there == nullptr) return old->error;
    if (next->error == ENAMETOOLONG) return next->error;
    const file_node* const target = next->there.get();
    if (target != nullptr && !replaces) return EEXIST;
    if (!old->there->is_directory && (from.ends_with('/') || to.ends_with('/'))) return ENOTDIR;
    if (is_among(next->above, old->there.get())) return EINVAL;
    if (target != nullptr && is_among(old->above, target)) return ENOTEMPTY;
    if (target == old->there.get()) return 0;
    if (target != nullptr) {
        if (old->there->is_directory && !target->is_directory) return ENOTDIR;
        if (!old->there->is_directory && target->is_directory) return EISDIR;
        if (target->is_directory && !target->entries.empty()) return ENOTEMPTY;
    }
    old->directory->entries.erase(old->name);
    next->directory->entries[next->name] = old->there;
    add(change{.directory = next->directory,
               .name = next->name,
               .there = old->there,
               .old_directory = old->directory,
               .old_name = old->name});
    return 0;
}

int file_tree::remove(std::string_view path) {
    const auto where = find_place(path);
    if (!where) return where.error();
    if (where->name.empty()) return EISDIR;
    if (where->there == nullptr) return where->error;
    if (where->there->is_directory) return EISDIR;
    if (path.ends_with('/')) return ENOTDIR;
    where->directory->entries.erase(where->name);
    add(change{.directory = where->directory, .name = where->name, .there = nullptr});
    return 0;
}

void file_tree::add(change made) {
    pending_.push_back(std::move(made));
    if (pending_.size() <= unsynced_names_max) return;
    make_durable(pending_.front());
    pending_.pop_front();
}

void file_tree::make_durable(change& made) {
    if (made.old_directory != nullptr) made.old_directory->durable_entries.erase(made.old_name);
    if (made.there == nullptr) {
        made.directory->durable_entries.erase(made.name);
    } else {
        made.directory->durable_entries[made.name] = made.there;
    }
}

void file_tree::sync(const file_node& directory) {
    // From the last change backwards: those of the directory, and earlier ones of the directories of a rename that is
    // among them.
    std::set<const file_node*> synced{&directory};
    std::vector<bool> is_taken(pending_.size());
    for (std::size_t i = pending_.size(); i-- != 0;) {
        const change& each = pending_[i];
        is_taken[i] = synced.contains(each.directory.get()) || synced.contains(each.old_directory.get());
        if (!is_taken[i]) continue;
        synced.insert(each.directory.get());
        if (each.old_directory != nullptr) synced.insert(each.old_directory.get());
    }
    std::deque<change> left;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
        if (is_taken[i]) {
            make_durable(pending_[i]);
        } else {
            left.push_back(std::move(pending_[i]));
        }
    }
    pending_ = std::move(left);
}

std::uint64_t file_tree::used_bytes() const noexcept {
    return bytes_below(*root_);
}

std::vector<std::pair<std::string, file_tree::node>> file_tree::files() const {
    std::vector<std::pair<std::string, node>> all;
    list_files(std::string(), *root_, all);
    return all;
}

void file_tree::cut_power(base::prng& random) {
    const std::size_t kept = pending_.empty() ? 0 : random.below(pending_.size() + 1);
    for (std::size_t i = 0; i < kept; ++i) make_durable(pending_[i]);
    std::set<node> before;
    collect(root_, before);
    pending_.clear();
    forget_names(*root_);
    for (const auto& [path, each] : files()) each->bytes.cut_power(random);
    // What has no name any more is gone, unless an open file of before still holds it.
    std::set<node> after;
    collect(root_, after);
    for (const node& each : before) {
        if (after.contains(each)) continue;
        each->entries.clear();
        each->durable_entries.clear();
    }
}

}  // namespace corro::sim
