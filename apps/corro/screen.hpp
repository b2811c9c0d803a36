// A full-screen view of the market. Uses the whole terminal while it exists.
#pragma once

#include <cstddef>
#include <string>

#include "client/feed_session.hpp"
#include "market_view.hpp"
#include "terminal.hpp"

namespace corro::app {

class screen {
 public:
    /// Draws the present market below `headline`.
    void draw(const client::feed_session& feed, const market_view& view, const std::string& headline);

    /// Draws one sentence instead of the market.
    void say(const std::string& sentence);

    /// Handles the keys pressed since the last call. False if the user wants to leave.
    [[nodiscard]] bool handle_keys();

    /// Chooses the instrument to show, by its index in the order of ids.
    void show(std::size_t index) noexcept { chosen_ = index; }

 private:
    terminal terminal_;
    std::size_t chosen_ = 0;
};

}  // namespace corro::app
