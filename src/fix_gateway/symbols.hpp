// SPDX-License-Identifier: Apache-2.0
// Instruments by the name that they have in messages: Symbol (55).
//
// Threads: one context. Cost: no allocation; a short name that was looked up before costs two compares.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "domain/instrument.hpp"
#include "wire/instrument_table.hpp"

namespace corro::fix_gateway {

class symbols {
 public:
    explicit symbols(const wire::instrument_table& instruments) : instruments_(instruments) {}

    [[nodiscard]] const wire::instrument_table& instruments() const noexcept { return instruments_; }

    /// nullptr: there is no such instrument. Valid until the next definition.
    [[nodiscard]] const domain::instrument* find(std::string_view name) {
        // Instruments are added while the venue runs, and never leave.
        if (known_count_ != instruments_.count()) learn();
        if (name.size() > short_bytes_max) return look_up(name);
        short_name wanted;
        std::memcpy(&wanted.characters, name.data(), name.size());
        wanted.size = name.size();
        short_name& seen = seen_[wanted.characters * 0x9e37'79b9'7f4a'7c15U >> 56U];
        if (seen.characters == wanted.characters && seen.size == wanted.size) [[likely]]
            return instruments_.find(seen.is);
        const domain::instrument* const found = look_up(name);
        if (found != nullptr) {
            seen = wanted;
            seen.is = found->id;
        }
        return found;
    }

 private:
    struct name_hash {
        using is_transparent = void;
        [[nodiscard]] std::size_t operator()(std::string_view name) const noexcept {
            return std::hash<std::string_view>()(name);
        }
    };

    static constexpr std::size_t short_bytes_max = 8;
    /// A name that was found; of no size: none.
    struct short_name {
        std::uint64_t characters = 0;
        std::size_t size = 0;
        domain::instrument_id is{};
    };

    [[nodiscard]] const domain::instrument* look_up(std::string_view name) const {
        const auto found = by_name_.find(name);
        return found == by_name_.end() ? nullptr : instruments_.find(found->second);
    }
    void learn() {
        instruments_.for_each(
            [this](const domain::instrument& i) { by_name_.try_emplace(std::string(i.name.view()), i.id); });
        known_count_ = instruments_.count();
    }

    const wire::instrument_table& instruments_;
    std::unordered_map<std::string, domain::instrument_id, name_hash, std::equal_to<>> by_name_;
    std::size_t known_count_ = 0;
    std::array<short_name, 256> seen_{};  ///< by the hash of the characters: the last one
};

}  // namespace corro::fix_gateway
