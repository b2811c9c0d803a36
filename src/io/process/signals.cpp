// SPDX-License-Identifier: Apache-2.0
#include "io/process/signals.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <thread>

#include "io/sync/remote_event.hpp"

namespace corro::io {

struct signal_set::shared {
    shared(context& on, std::uint64_t wanted_mask) noexcept : arrived(on), wanted(wanted_mask) {}

    remote_event arrived;
    std::uint64_t wanted;                   // bit n-1 for signal n; constant while the handler can see it
    std::atomic<std::uint64_t> pending{0};  // set by the handler, taken by `wait`
};

namespace {

constexpr int signals_max = 64;
std::uint64_t bit_of(int number) noexcept {
    return std::uint64_t{1} << static_cast<unsigned>(number - 1);
}

// The handler reads this array. A set is visible while its pointer is here. The remover waits until no handler runs, so
// that the handler never uses a destroyed set.
std::array<std::atomic<signal_set::shared*>, signal_set::sets_max> visible_sets{};
std::atomic<int> handlers_under_way{0};
static_assert(std::atomic<signal_set::shared*>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);

// Guarded by `registry`; the handler never looks at them.
std::mutex registry;
std::array<int, signals_max> users_count{};
std::array<struct sigaction, signals_max> earlier_actions{};

void on_signal(int number) {
    const int saved = errno;
    handlers_under_way.fetch_add(1, std::memory_order_seq_cst);
    for (auto& place : visible_sets) {
        signal_set::shared* set = place.load(std::memory_order_seq_cst);
        if (set == nullptr || (set->wanted & bit_of(number)) == 0) continue;
        set->pending.fetch_or(bit_of(number), std::memory_order_release);
        set->arrived.set();
    }
    handlers_under_way.fetch_sub(1, std::memory_order_seq_cst);
    errno = saved;
}

void give_back(int number) noexcept {
    const auto index = static_cast<std::size_t>(number - 1);
    if (--users_count[index] == 0) ::sigaction(number, &earlier_actions[index], nullptr);
}

/// Takes over the signals. On failure restores those already taken.
std::error_code take_over(std::uint64_t wanted) {
    std::uint64_t taken = 0;
    for (std::uint64_t left = wanted; left != 0; left &= left - 1) {
        const int number = std::countr_zero(left) + 1;
        const auto index = static_cast<std::size_t>(number - 1);
        if (users_count[index] == 0) {
            struct sigaction action{};
            action.sa_handler = &on_signal;
            action.sa_flags = SA_RESTART;
            sigfillset(&action.sa_mask);
            if (::sigaction(number, &action, &earlier_actions[index]) != 0) {
                const int error = errno;
                for (; taken != 0; taken &= taken - 1) give_back(std::countr_zero(taken) + 1);
                return {error, std::generic_category()};
            }
        }
        ++users_count[index];
        taken |= bit_of(number);
    }
    return {};
}

}  // namespace

std::expected<std::unique_ptr<signal_set::shared>, std::error_code> signal_set::register_set(
    context& on, std::initializer_list<int> numbers) noexcept {
    std::uint64_t wanted = 0;
    for (const int number : numbers) {
        if (number < 1 || number > signals_max) {
            return std::unexpected(std::make_error_code(std::errc::invalid_argument));
        }
        wanted |= bit_of(number);
    }
    auto set = std::make_unique<shared>(on, wanted);
    const std::scoped_lock lock(registry);
    for (auto& place : visible_sets) {
        if (place.load(std::memory_order_relaxed) != nullptr) continue;
        if (const std::error_code refused = take_over(wanted)) return std::unexpected(refused);
        place.store(set.get(), std::memory_order_seq_cst);
        return set;
    }
    return std::unexpected(std::make_error_code(std::errc::device_or_resource_busy));
}

std::expected<signal_set, std::error_code> signal_set::open(context& on, std::initializer_list<int> numbers) noexcept {
    auto registered = register_set(on, numbers);
    if (!registered) return std::unexpected(registered.error());
    return signal_set(std::move(*registered));
}

signal_set::signal_set(context& on, std::initializer_list<int> numbers) {
    auto registered = register_set(on, numbers);
    if (!registered) throw std::system_error(registered.error(), "signals");
    shared_ = std::move(*registered);
}

signal_set::signal_set(std::unique_ptr<shared> registered) noexcept : shared_(std::move(registered)) {}
signal_set::signal_set(signal_set&& other) noexcept = default;

signal_set::~signal_set() {
    if (shared_ == nullptr) return;
    const std::scoped_lock lock(registry);
    for (std::uint64_t left = shared_->wanted; left != 0; left &= left - 1) give_back(std::countr_zero(left) + 1);
    for (auto& place : visible_sets) {
        if (place.load(std::memory_order_relaxed) == shared_.get()) place.store(nullptr, std::memory_order_seq_cst);
    }
    while (handlers_under_way.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
}

task<std::expected<int, std::error_code>> signal_set::wait() {
    shared* const mine = shared_.get();
    for (;;) {
        const std::uint64_t pending = mine->pending.load(std::memory_order_acquire);
        if (pending != 0) {
            const int number = std::countr_zero(pending) + 1;
            mine->pending.fetch_and(~bit_of(number), std::memory_order_acq_rel);
            co_return number;
        }
        const std::error_code stopped = co_await mine->arrived.wait();
        if (stopped) co_return std::unexpected(stopped);
    }
}

}  // namespace corro::io
