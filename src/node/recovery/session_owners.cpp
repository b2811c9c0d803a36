// SPDX-License-Identifier: Apache-2.0
#include "node/recovery/session_owners.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

namespace corro::node {
namespace {

constexpr std::string_view first_line = "corro sessions 1\n";
constexpr std::string_view file_name = "sessions";
constexpr std::string_view added_mark = " added";
constexpr std::string_view unfinished_name = "sessions.unfinished";
/// More than the longest list needs: an account's line has two numbers of at most ten digits.
constexpr std::uint64_t file_bytes_max =
    first_line.size() + gateway::account_directory::accounts_max * std::uint64_t{28};

using owners_read = std::expected<std::vector<session_owner>, journal::problem>;
using content = std::expected<std::string, std::error_code>;

/// Reads a number and the character after it.
bool take_number(std::string_view& text, char behind, std::uint32_t& into) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
    if (error != std::errc() || end == text.data() + text.size() || *end != behind) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
    return true;
}

/// The file's text; none when there is no file.
io::task<content> read_text(journal::storage* files, std::string path) {
    auto file = co_await files->open(std::move(path), io::file_mode::read);
    if (!file && file.error() == std::errc::no_such_file_or_directory) co_return std::string();
    if (!file) co_return std::unexpected(file.error());
    const auto size = (*file)->size();
    if (!size) co_return std::unexpected(size.error());
    // An empty file differs from no file: a valid one is never empty.
    std::string text(static_cast<std::size_t>(std::clamp<std::uint64_t>(*size, 1, file_bytes_max + 1)), '\0');
    if (*size == 0) co_return text;
    const io::io_result got = co_await (*file)->read_at(0, std::as_writable_bytes(std::span(text)));
    if (!got) co_return std::unexpected(got.error);
    co_return text;
}

/// Written under another name first, so that a file with its final name is complete.
io::task<std::error_code> write_text(journal::storage* files, std::string directory, std::string text) {
    const std::string unfinished = fmt::format("{}/{}", directory, unfinished_name);
    std::error_code error;
    {
        auto file = co_await files->open(unfinished, io::file_mode::overwrite);
        if (!file) co_return file.error();
        const io::io_result done = co_await (*file)->write_at(0, std::as_bytes(std::span(text)));
        error = done.error;
        if (!error) error = co_await (*file)->sync_data();
    }
    if (!error) error = co_await files->rename(unfinished, fmt::format("{}/{}", directory, file_name));
    if (!error) error = co_await files->sync_directory(directory);
    co_return error;
}

}  // namespace

std::vector<session_owner> owners_of(std::span<const gateway::account> accounts) {
    std::vector<session_owner> owners;
    for (const gateway::account& a : accounts) {
        owners.emplace_back(a.id.value, a.sessions_count);
        owners.back().is_added = a.is_of_journal;
    }
    return owners;
}

std::string format_owners(std::span<const session_owner> owners) {
    std::string text(first_line);
    for (const session_owner& o : owners) {
        fmt::format_to(std::back_inserter(text), "{} {}{}\n", o.account, o.sessions_count,
                       o.is_added ? added_mark : "");
    }
    return text;
}

std::optional<std::vector<session_owner>> parse_owners(std::string_view text) {
    if (text.size() > file_bytes_max || !text.starts_with(first_line)) return std::nullopt;
    text.remove_prefix(first_line.size());
    std::vector<session_owner> owners;
    while (!text.empty()) {
        session_owner o;
        if (!take_number(text, ' ', o.account)) return std::nullopt;
        const std::size_t end = text.find('\n');
        o.is_added = end != std::string_view::npos && text.substr(0, end).ends_with(added_mark);
        if (!take_number(text, o.is_added ? ' ' : '\n', o.sessions_count)) return std::nullopt;
        if (o.is_added) text.remove_prefix(added_mark.size());
        if (o.sessions_count == 0 || o.sessions_count > gateway::account_directory::sessions_max) return std::nullopt;
        owners.push_back(o);
    }
    return owners;
}

std::string difference(std::span<const session_owner> before, std::span<const session_owner> now) {
    // Accounts at the end that were added while the venue ran may be missing, if all of their sessions are.
    while (before.size() > now.size() && before.back().is_added) before = before.first(before.size() - 1);
    std::uint64_t session = 1;     // the first one not compared yet
    std::uint64_t end_before = 1;  // the first one after those of the examined accounts
    std::uint64_t end_now = 1;
    std::size_t k = 0;
    for (const session_owner& owner : before) {
        end_before += owner.sessions_count;
        while (session < end_before) {
            if (session == end_now) {
                if (k == now.size()) {
                    return fmt::format(
                        "session {} belongs to account {} there, but the configuration has no such session", session,
                        owner.account);
                }
                end_now += now[k++].sessions_count;
            }
            if (now[k - 1].account != owner.account) {
                return fmt::format("session {} belongs to account {} there, but to account {} in the configuration",
                                   session, owner.account, now[k - 1].account);
            }
            session = std::min(end_before, end_now);
        }
    }
    return {};
}

io::task<owners_read> keep_owners(journal::storage* files, std::string directory, std::vector<session_owner> now,
                                  std::uint64_t sessions_max) {
    const std::string path = fmt::format("{}/{}", directory, file_name);
    const auto text = co_await read_text(files, path);
    if (!text) {
        co_return std::unexpected(
            journal::problem(text.error(), fmt::format("{}: cannot be read: {}", path, text.error().message()), path));
    }
    if (!text->empty()) {
        const auto before = parse_owners(*text);
        if (!before) {
            co_return std::unexpected(journal::problem(
                journal::journal_errc::foreign_file,
                fmt::format(
                    "{}: this is not a list of accounts and their sessions; if the configuration has the accounts "
                    "with which the journal was written, remove the file, and it is made again",
                    path),
                path));
        }
        if (const std::string other = difference(*before, now); !other.empty()) {
            co_return std::unexpected(journal::problem(
                journal::journal_errc::foreign_venue,
                fmt::format(
                    "{}: {}; accounts may be added after the others and the last one may get more sessions, "
                    "but while this journal exists none may be removed, moved or get another number of sessions",
                    path, other),
                path));
        }
        for (std::size_t i = 0; i < before->size(); ++i) {
            if (i >= now.size()) now.push_back((*before)[i]);
            now[i].is_added = now[i].is_added || (*before)[i].is_added;
        }
        std::uint64_t sessions = 0;
        for (const session_owner& o : now) sessions += o.sessions_count;
        if (sessions > sessions_max) {
            co_return std::unexpected(journal::problem(
                journal::journal_errc::foreign_venue,
                fmt::format("{}: with the accounts that were added while the venue ran there are {} sessions, but the "
                            "configuration allows {}; add the accounts to it, or raise venue.sessions_reserved",
                            path, sessions, sessions_max),
                path));
        }
        if (*before == now) co_return now;
    }
    const std::error_code error = co_await write_text(files, directory, format_owners(now));
    if (!error) co_return now;
    co_return std::unexpected(
        journal::problem(error, fmt::format("{}: cannot be written: {}", path, error.message()), path));
}

}  // namespace corro::node
