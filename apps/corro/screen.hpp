// SPDX-License-Identifier: Apache-2.0
// A full-screen view of the market. Uses the whole terminal while it exists.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

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

    /// Sets the lines that the key `d` shows, such as addresses and keys. Without any the key does nothing.
    void set_details(std::vector<std::string> details) { details_ = std::move(details); }

    /// Chooses the instrument to show, by its index in the order of ids.
    void show(std::size_t index) noexcept { chosen_ = index; }

 private:
    enum class page : unsigned char { market, keys, details };
    void draw_market(const client::feed_session& feed, const market_view& view,
                     const std::vector<domain::instrument>& instruments, int row);

    terminal terminal_;
    page page_ = page::market;
    std::vector<std::string> details_;
    std::size_t chosen_ = 0;
};

}  // namespace corro::app
