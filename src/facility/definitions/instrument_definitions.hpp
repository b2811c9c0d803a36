// SPDX-License-Identifier: Apache-2.0
// Defines instruments while the venue runs. See docs/spec/definitions.md.
#pragma once

#include <cstdint>

#include "base/archive.hpp"
#include "domain/command.hpp"
#include "domain/definition.hpp"
#include "domain/instrument.hpp"
#include "domain/reject_reason.hpp"
#include "facility/definitions/instrument_table.hpp"
#include "facility/messages/message_writer.hpp"
#include "facility/orders/rejections.hpp"
#include "facility/phases/phase_table.hpp"
#include "matching/engine.hpp"
#include "risk/strategies.hpp"

namespace corro::facility {

class instrument_definitions {
 public:
    /// @param reserved  Instruments that may be defined.
    instrument_definitions(std::uint32_t reserved, instrument_table& instruments, phase_table& phases,
                           matching::engine& engine, risk::strategies& strategies, message_writer& writer,
                           rejections& rejects)
        : reserved_(reserved),
          instruments_(instruments),
          phases_(phases),
          engine_(engine),
          strategies_(strategies),
          writer_(writer),
          rejections_(rejects) {}

    void define_instrument(const domain::command& c) noexcept;
    /// Saves the definitions, or defines each loaded one again, also a settled one. The rest of a snapshot holds its
    /// present state.
    void transfer(base::archive& a) noexcept;

 private:
    /// Adds an instrument in phase closed, or returns the reject reason.
    [[nodiscard]] domain::reject_reason define(const domain::definition& d) noexcept;
    [[nodiscard]] domain::reject_reason check_legs(const domain::instrument& made) const noexcept;

    std::uint32_t reserved_;
    instrument_table& instruments_;
    phase_table& phases_;
    matching::engine& engine_;
    risk::strategies& strategies_;
    message_writer& writer_;
    rejections& rejections_;
};

}  // namespace corro::facility
