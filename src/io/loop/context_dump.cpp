// SPDX-License-Identifier: Apache-2.0
// `context::dump`. A frame of a task begins with the address of the function that resumes it, as both compilers have
// it; the promise follows. What a task waits for is an object within its frame: an operation, a timer, a waiter of a
// list. Each of them holds the address of the function that a stop calls, by which it is found, and knows whether it
// waits.
#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/process/symbols.hpp"
#include "io/sync/detail/shared_wait_list.hpp"
#include "io/sync/detail/wait_list.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"

namespace corro::io {
namespace {

/// Between a frame's start and its promise: the addresses of two functions.
constexpr std::size_t promise_offset_bytes = 2 * sizeof(void*);
/// Between a callback's start and the address of its function, its last member.
constexpr std::size_t invoke_offset_bytes = sizeof(stop_callback) - sizeof(void*);

std::string_view waits_to(operation_kind kind) noexcept {
    switch (kind) {
        case operation_kind::receive: return "receives";
        case operation_kind::send: return "sends";
        case operation_kind::accept: return "accepts";
        case operation_kind::connect: return "connects";
        case operation_kind::receive_batch: return "receives datagrams";
        case operation_kind::send_batch: return "sends datagrams";
        case operation_kind::send_file: return "sends a file";
        case operation_kind::wait_readable: return "waits until it can read";
    }
    return "waits";
}

struct seen_task {
    detail::listed_frame frame;
    const detail::promise_base* promise = nullptr;
    const void* resumed_by = nullptr;     // a function
    const void* waited_for_by = nullptr;  // within the frame of its parent, or a parent without a list
    std::size_t parent = 0;               // its index; `none` for one that no listed task waits for
    std::vector<std::size_t> children;
};
constexpr std::size_t none = ~std::size_t{0};

}  // namespace

void context::list_tasks() noexcept {
    detail::list_frames();
}

std::string context::dump() const {
    if (!detail::frames_are_listed()) return "tasks are not listed: call context::list_tasks first in main\n";

    std::unordered_set<const void*> ready;
    for (const ready_queue* queue : {&ready_, &after_events_}) {
        for (const ready_item* item = queue->first(); item != nullptr; item = item->next_ready)
            ready.insert(item->waiter.address());
    }

    // Tasks that have started here and have not ended.
    std::vector<seen_task> tasks;
    const std::vector<detail::listed_frame> frames = detail::listed_frames();
    const auto word_at = [](const void* place) {
        const void* word = nullptr;
        std::memcpy(&word, place, sizeof(word));
        return word;
    };
    for (const detail::listed_frame& frame : frames) {
        const auto* promise = reinterpret_cast<const detail::promise_base*>(
            static_cast<const std::byte*>(frame.address) + promise_offset_bytes);
        const void* const resumed_by = word_at(frame.address);
        if (promise->environment_.where != this || resumed_by == nullptr) continue;
        seen_task task;
        task.frame = frame;
        task.promise = promise;
        task.resumed_by = resumed_by;
        task.waited_for_by =
            promise->hook_ != nullptr ? static_cast<const void*>(promise->hook_) : promise->continuation_;
        tasks.push_back(std::move(task));
    }
    // The awaiter or the scope that waits for a task stands within the frame of the task that waits for it.
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const auto address = reinterpret_cast<std::uintptr_t>(tasks[i].waited_for_by);
        const auto after = std::ranges::upper_bound(tasks, address, {}, [](const seen_task& task) {
            return reinterpret_cast<std::uintptr_t>(task.frame.address);
        });
        tasks[i].parent = none;
        if (after == tasks.begin()) continue;
        const auto before = std::prev(after);
        const auto begin = reinterpret_cast<std::uintptr_t>(before->frame.address);
        if (address - begin >= before->frame.bytes || before == tasks.begin() + static_cast<std::ptrdiff_t>(i))
            continue;
        tasks[i].parent = static_cast<std::size_t>(before - tasks.begin());
        before->children.push_back(i);
    }

    const auto waiting_for = [&](const seen_task& task) -> std::string_view {
        if (ready.contains(task.frame.address)) return "ready";
        const auto* const bytes = static_cast<const std::byte*>(task.frame.address);
        for (std::size_t at = invoke_offset_bytes; at + sizeof(void*) <= task.frame.bytes; at += sizeof(void*)) {
            const void* const word = word_at(bytes + at);
            if (word == nullptr) continue;
            const auto* const callback = reinterpret_cast<const stop_callback*>(bytes + at - invoke_offset_bytes);
            if (word == reinterpret_cast<const void*>(&operation::on_stop)) {
                const auto& found = static_cast<const operation&>(*callback);
                if (found.parked) return waits_to(found.kind);
            } else if (word == reinterpret_cast<const void*>(&detail::sleep_awaiter::on_stop)) {
                if (static_cast<const detail::sleep_awaiter*>(callback)->armed()) return "sleeps";
            } else if (word == reinterpret_cast<const void*>(&detail::wait_list::waiter::on_stop)) {
                if (static_cast<const detail::wait_list::waiter*>(callback)->linked()) return "waits for other tasks";
            } else if (word == reinterpret_cast<const void*>(&detail::shared_wait_list::waiter::on_stop)) {
                if (static_cast<const detail::shared_wait_list::waiter*>(callback)->linked())
                    return "waits for other threads";
            }
        }
        return task.children.empty() ? "runs, or waits for something else" : "";
    };

    const auto youngest_first = [&](std::vector<std::size_t>& of) {
        std::ranges::sort(of, std::ranges::greater(), [&](std::size_t i) { return tasks[i].frame.number; });
    };
    for (seen_task& task : tasks) youngest_first(task.children);
    std::vector<std::size_t> roots;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (tasks[i].parent == none) roots.push_back(i);
    }
    youngest_first(roots);

    symbol_table symbols;
    std::string text = std::to_string(tasks.size()) + (tasks.size() == 1 ? " task\n" : " tasks\n");
    struct line {
        std::size_t task;
        std::size_t depth;
    };
    std::vector<line> open;
    for (const std::size_t i : roots) open.push_back({i, 0});
    while (!open.empty()) {
        const line now = open.back();
        open.pop_back();
        const seen_task& task = tasks[now.task];
        const std::string_view waits = waiting_for(task);
        text.append(2 * now.depth, ' ').append(coroutine_name(symbols.symbol_at(task.resumed_by)));
        if (!waits.empty()) text.append(": ").append(waits);
        text.push_back('\n');
        for (const std::size_t child : task.children) open.push_back({child, now.depth + 1});
    }
    return text;
}

}  // namespace corro::io
