// SPDX-License-Identifier: Apache-2.0
#include "journal_news.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>

#include "io/loop/timer.hpp"

namespace corro::app {
namespace {

constexpr std::chrono::milliseconds news_interval{200};

/// A journal, and the events already printed.
struct told_journal {
    explicit told_journal(const node::host_journal* which) noexcept
        : journal(which), notices_count(which->notices().size()) {}

    const node::host_journal* journal;
    std::size_t notices_count;
    bool failure = false;
};

void tell(told_journal& told) {
    const std::vector<std::string>& notices = told.journal->notices();
    for (; told.notices_count < notices.size(); ++told.notices_count) {
        fmt::print(stderr, "notice: {}\n", notices[told.notices_count]);
    }
    if (told.failure || told.journal->failure() == nullptr) return;
    told.failure = true;
    fmt::print(stderr, "the journal has failed: {}\n", *told.journal->failure());
}

}  // namespace

io::task<void> print_journal_news(std::vector<const node::host_journal*> journals) {
    std::vector<told_journal> all;
    for (const node::host_journal* each : journals) {
        if (each != nullptr) all.emplace_back(each);
    }
    bool goes_on = !all.empty();
    while (goes_on) {
        const std::error_code stopped = co_await io::sleep_for(news_interval);
        for (told_journal& each : all) tell(each);
        goes_on = !stopped;
    }
}

}  // namespace corro::app
