// SPDX-License-Identifier: Apache-2.0
// The agents of a market, by number: in chunks, so that none moves and a number finds its agent with one load.
//
// Cost: no allocation but one for each chunk_agents agents.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "market/agent.hpp"

namespace corro::market {

class agent_list {
 public:
    static constexpr std::size_t chunk_agents = 64;

    agent_list() = default;
    agent_list(const agent_list&) = delete;
    agent_list& operator=(const agent_list&) = delete;
    ~agent_list() {
        for (std::size_t i = 0; i < size_; ++i) std::destroy_at(&(*this)[i]);
    }

    template <class... Arguments>
    agent& emplace_back(Arguments&&... arguments) {
        if (size_ == chunks_.size() * chunk_agents) chunks_.push_back(std::make_unique<chunk>());
        agent* const made = std::construct_at(place(size_), std::forward<Arguments>(arguments)...);
        ++size_;
        return *made;
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] agent& back() noexcept { return (*this)[size_ - 1]; }
    [[nodiscard]] agent& operator[](std::size_t index) noexcept { return *std::launder(place(index)); }
    [[nodiscard]] const agent& operator[](std::size_t index) const noexcept { return *std::launder(place(index)); }

 private:
    struct chunk {
        alignas(agent) std::array<std::byte, sizeof(agent) * chunk_agents> bytes;
    };
    [[nodiscard]] agent* place(std::size_t index) const noexcept {
        std::byte* const first = chunks_[index / chunk_agents]->bytes.data();
        return reinterpret_cast<agent*>(first) + index % chunk_agents;
    }

    std::vector<std::unique_ptr<chunk>> chunks_;
    std::size_t size_ = 0;
};

}  // namespace corro::market
