// SPDX-License-Identifier: Apache-2.0
// Commands from standard input, for tasks that must not wait for them.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string>

namespace corro::app {

/// Reads lines of standard input without waiting.
class input_lines {
 public:
    /// Returns the next complete line; nothing if there is none yet.
    [[nodiscard]] std::optional<std::string> next() {
        while (true) {
            const std::size_t end = text_.find('\n');
            if (end != std::string::npos) return take(end, end + 1);
            if (ended_) return text_.empty() ? std::nullopt : take(text_.size(), text_.size());
            pollfd input{STDIN_FILENO, POLLIN, 0};
            if (poll(&input, 1, 0) <= 0) return std::nullopt;
            std::array<char, 4096> part{};
            const auto size = read(STDIN_FILENO, part.data(), part.size());
            if (size < 0 && errno == EINTR) continue;
            if (size <= 0) {
                ended_ = true;
            } else {
                text_.append(part.data(), static_cast<std::size_t>(size));
            }
        }
    }
    [[nodiscard]] bool ended() const noexcept { return ended_ && text_.empty(); }

 private:
    std::optional<std::string> take(std::size_t size, std::size_t consumed) {
        std::string line = text_.substr(0, size);
        text_.erase(0, consumed);
        return line;
    }

    std::string text_;
    bool ended_ = false;
};

}  // namespace corro::app
