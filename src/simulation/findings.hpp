// SPDX-License-Identifier: Apache-2.0
// What the checkers of a run have found: the first violation, with the promise that it breaks.
//
// Threads: one.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace corro::simulation {

/// Ids of promises are those of docs/spec/promises.md.
class findings {
 public:
    /// Records a violation. The first one counts: what follows may be its consequence.
    void add(std::string_view promise, std::string words) {
        if (!words_.empty()) return;
        promise_ = promise;
        words_ = std::move(words);
    }

    [[nodiscard]] bool empty() const noexcept { return words_.empty(); }
    [[nodiscard]] const std::string& promise() const noexcept { return promise_; }
    [[nodiscard]] const std::string& words() const noexcept { return words_; }

 private:
    std::string promise_;
    std::string words_;
};

}  // namespace corro::simulation
