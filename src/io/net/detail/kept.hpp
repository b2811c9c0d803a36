// `kept<T>`: what a stream or a client shares with its operations under way, so that it may be destroyed before they
// have ended.
//
// Threads: one context.
// Cost:    a counter; no atomics.
#pragma once

#include <cstdint>
#include <utility>

namespace corro::io::detail {

/// Base of what is kept.
class keepable {
 public:
    keepable() noexcept = default;
    keepable(const keepable&) = delete;
    keepable& operator=(const keepable&) = delete;

 protected:
    ~keepable() = default;

 private:
    template <class>
    friend class kept;
    std::uint32_t keepers_count_ = 0;
};

/// One of those that keep a T; the last one deletes it. Empty after a move.
template <class T>
class kept {
 public:
    kept() noexcept = default;
    /// Keeps what `new` has made, or what somebody keeps already.
    explicit kept(T* what) noexcept : what_(what) {
        if (what_ != nullptr) ++counter();
    }
    kept(const kept& other) noexcept : kept(other.what_) {}
    kept(kept&& other) noexcept : what_(std::exchange(other.what_, nullptr)) {}
    kept& operator=(kept other) noexcept {
        std::swap(what_, other.what_);
        return *this;
    }
    ~kept() {
        if (what_ != nullptr && --counter() == 0) delete what_;
    }

    [[nodiscard]] T* get() const noexcept { return what_; }
    T* operator->() const noexcept { return what_; }
    T& operator*() const noexcept { return *what_; }
    [[nodiscard]] explicit operator bool() const noexcept { return what_ != nullptr; }
    /// Whether others keep it too: operations under way, or made and not awaited yet.
    [[nodiscard]] bool shared() const noexcept { return what_ != nullptr && counter() > 1; }

 private:
    [[nodiscard]] std::uint32_t& counter() const noexcept { return static_cast<keepable*>(what_)->keepers_count_; }

    T* what_ = nullptr;
};

}  // namespace corro::io::detail
