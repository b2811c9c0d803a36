// A full-screen picture of the market. Takes over the terminal while it exists.
#pragma once

#include <cstddef>
#include <string>

#include "client/feed_session.hpp"
#include "market_view.hpp"
#include "terminal.hpp"

namespace corro::app {

class screen {
 public:
    /// Draws the market as it is now. `headline` stands above it.
    void draw(const client::feed_session& feed, const market_view& view, const std::string& headline);

    /// Draws one sentence instead of a market.
    void say(const std::string& sentence);

    /// Handles the keys pressed since the last call. False: the person wants to leave.
    [[nodiscard]] bool handle_keys();

    /// Chooses the instrument to show, counted in the order of their ids.
    void show(std::size_t index) noexcept { chosen_ = index; }

 private:
    terminal terminal_;
    std::size_t chosen_ = 0;
};

}  // namespace corro::app
