// SPDX-License-Identifier: Apache-2.0
// The numbers of a session, and what it has sent: what has to outlive a connection.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace corro::fix {

/// Messages are kept with their number; session messages are not kept, because they are never sent again. A store whose
/// writing takes time is a `committer` too (fix/net/file_store.hpp).
class message_store {
 public:
    message_store() = default;
    message_store(const message_store&) = delete;
    message_store& operator=(const message_store&) = delete;
    virtual ~message_store() = default;

    /// The number of the next message of this end; from 1.
    [[nodiscard]] virtual std::uint64_t next_sent() const noexcept = 0;
    /// The number of the next message of the peer; from 1.
    [[nodiscard]] virtual std::uint64_t next_received() const noexcept = 0;

    /// Called before a message leaves: `next_sent` becomes `number` + 1.
    /// @param message  All of it, to be kept; empty for a session message.
    /// @return         False: it could not be stored, and must not leave.
    [[nodiscard]] virtual bool append(std::uint64_t number, std::string_view message) = 0;
    /// @return False: it could not be stored.
    [[nodiscard]] virtual bool set_next_sent(std::uint64_t number) = 0;
    /// @return False: it could not be stored.
    [[nodiscard]] virtual bool set_next_received(std::uint64_t number) = 0;
    /// A message that is not to be sent again, because the peer has refused it.
    /// @return False: that could not be stored.
    [[nodiscard]] virtual bool forget(std::uint64_t number) {
        static_cast<void>(number);
        return true;
    }
    /// Both numbers begin at 1, and nothing is kept.
    [[nodiscard]] virtual bool reset() = 0;

    /// When the numbers last began at 1 because of a schedule: nanoseconds since 1970, UTC; 0: never.
    [[nodiscard]] virtual std::int64_t numbers_since() const noexcept { return numbers_since_; }
    /// @return False: it could not be stored.
    [[nodiscard]] virtual bool set_numbers_since(std::int64_t time) {
        numbers_since_ = time;
        return true;
    }

    /// A kept message; empty if there is none with this number. Valid until the next call.
    [[nodiscard]] virtual std::string_view find(std::uint64_t number) = 0;
    /// The first number from `number` on that may be kept; none before it is. A resend leaves out those in one step.
    [[nodiscard]] virtual std::uint64_t next_kept(std::uint64_t number) { return number; }

 private:
    std::int64_t numbers_since_ = 0;
};

/// Forgets everything at the end of the process, and the oldest messages beyond a bound.
class memory_store final : public message_store {
 public:
    explicit memory_store(std::size_t messages_max = 65'536) : messages_max_(messages_max) {}

    [[nodiscard]] std::uint64_t next_sent() const noexcept override { return next_sent_; }
    [[nodiscard]] std::uint64_t next_received() const noexcept override { return next_received_; }
    [[nodiscard]] bool append(std::uint64_t number, std::string_view message) override {
        if (!message.empty() && messages_max_ != 0) {
            if (kept_.size() == messages_max_) drop_oldest();
            kept_.insert_or_assign(number, std::string(message));
            kept_bytes_ += message.size();
        }
        next_sent_ = number + 1;
        return true;
    }
    [[nodiscard]] bool set_next_sent(std::uint64_t number) override {
        next_sent_ = number;
        return true;
    }
    [[nodiscard]] bool set_next_received(std::uint64_t number) override {
        next_received_ = number;
        return true;
    }
    [[nodiscard]] bool reset() override {
        next_sent_ = next_received_ = 1;
        kept_.clear();
        kept_bytes_ = 0;
        return true;
    }
    [[nodiscard]] bool forget(std::uint64_t number) override {
        const auto found = kept_.find(number);
        if (found == kept_.end()) return true;
        kept_bytes_ -= found->second.size();
        kept_.erase(found);
        return true;
    }
    /// The messages by their numbers.
    [[nodiscard]] const std::map<std::uint64_t, std::string>& kept() const noexcept { return kept_; }
    [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_; }
    [[nodiscard]] std::string_view find(std::uint64_t number) override {
        const auto found = kept_.find(number);
        return found != kept_.end() ? std::string_view(found->second) : std::string_view();
    }
    [[nodiscard]] std::uint64_t next_kept(std::uint64_t number) override {
        const auto next = kept_.lower_bound(number);
        return next != kept_.end() ? next->first : next_sent_;
    }

 private:
    void drop_oldest() {
        kept_bytes_ -= kept_.begin()->second.size();
        kept_.erase(kept_.begin());
    }

    std::size_t messages_max_;
    std::size_t kept_bytes_ = 0;
    std::uint64_t next_sent_ = 1;
    std::uint64_t next_received_ = 1;
    std::map<std::uint64_t, std::string> kept_;
};

}  // namespace corro::fix
