// Instruments by the name that they have in messages: Symbol (55).
//
// Threads: one context. Cost: one hash and one compare per look-up; no allocation.
#pragma once

#include <cstddef>
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
        const auto found = by_name_.find(name);
        return found == by_name_.end() ? nullptr : instruments_.find(found->second);
    }

 private:
    struct name_hash {
        using is_transparent = void;
        [[nodiscard]] std::size_t operator()(std::string_view name) const noexcept {
            return std::hash<std::string_view>()(name);
        }
    };

    void learn() {
        instruments_.for_each(
            [this](const domain::instrument& i) { by_name_.try_emplace(std::string(i.name.view()), i.id); });
        known_count_ = instruments_.count();
    }

    const wire::instrument_table& instruments_;
    std::unordered_map<std::string, domain::instrument_id, name_hash, std::equal_to<>> by_name_;
    std::size_t known_count_ = 0;
};

}  // namespace corro::fix_gateway
