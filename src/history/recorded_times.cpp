// SPDX-License-Identifier: Apache-2.0
#include "history/recorded_times.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <stdexcept>
#include <string>

namespace corro::history {
namespace {

[[nodiscard]] std::uint64_t key_of(domain::session_id session, std::uint32_t request) noexcept {
    return (std::uint64_t{session.value} << 32U) | request;
}

/// Reads a whole number and a comma after it, if there is one.
template <class Integer>
[[nodiscard]] bool take(const char*& at, const char* end, Integer& number) {
    const auto [behind, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || (behind != end && *behind != ',')) return false;
    at = behind == end ? end : behind + 1;
    return true;
}

}  // namespace

void recorded_times::add(domain::session_id session, std::uint32_t request, domain::time_ns time) {
    times_.try_insert(key_of(session, request), time.value);
    if (times_.size() == 1 || time < first_) first_ = time;
}

std::optional<domain::time_ns> recorded_times::of(domain::session_id session, std::uint32_t request) const noexcept {
    const std::int64_t* const found = times_.find(key_of(session, request));
    if (found == nullptr) return std::nullopt;
    return domain::time_ns{*found};
}

recorded_times recorded_times::load(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(fmt::format("{}: cannot open the file", path.string()));
    recorded_times times;
    std::string line;
    for (std::uint64_t number = 1; std::getline(file, line); ++number) {
        if (number == 1 && line == "session,request,time") continue;
        domain::session_id session;
        std::uint32_t request = 0;
        domain::time_ns time;
        const char* at = line.data();
        const char* const end = at + line.size();
        const bool is_sound = number != 1 && take(at, end, session.value) && take(at, end, request) &&
                              take(at, end, time.value) && at == end;
        if (!is_sound) {
            throw std::runtime_error(fmt::format(
                "{}: line {}: expected a session, a request and a time, as corro replay --times writes them",
                path.string(), number));
        }
        times.add(session, request, time);
    }
    return times;
}

}  // namespace corro::history
