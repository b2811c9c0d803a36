// SPDX-License-Identifier: Apache-2.0
// The application of `corro-fix-echo`: it sends orders, news and definitions back, and knows no other messages.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fix/codec/field_index.hpp"
#include "fix/dictionary/dictionary.hpp"
#include "fix/net/application.hpp"
#include "fix/session/session.hpp"

namespace corro::app {

class echo final : public fix::application {
 public:
    /// ClOrdIDs (11) that are remembered for each session, to recognise a PossResend (97).
    static constexpr std::size_t orders_max = 100'000;

    void on_message(fix::session& on, fix::instant now) override;
    void on_end(fix::session& on) override { orders_.erase(&on); }

 private:
    /// Some fields of a message that stay together: one field, and the entries if it counts a group.
    struct piece {
        std::uint32_t tag = 0;
        fix::field_range fields;
    };

    [[nodiscard]] bool is_known_order(const fix::session& on);
    void send_back(fix::session& on, fix::instant now);
    void find_pieces(const fix::session& on);

    std::unordered_map<const fix::session*, std::unordered_set<std::string>> orders_;
    std::vector<piece> header_;
    std::vector<piece> body_;
};

}  // namespace corro::app
