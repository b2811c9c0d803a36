// SPDX-License-Identifier: Apache-2.0
// The end of an instrument: its orders are cancelled and its positions end at a price. See docs/spec/phases.md.
#pragma once

#include "domain/command.hpp"
#include "facility/definitions/instrument_table.hpp"
#include "facility/messages/message_writer.hpp"
#include "facility/orders/rejections.hpp"
#include "facility/phases/phase_changes.hpp"
#include "facility/phases/phase_table.hpp"
#include "matching/engine.hpp"
#include "risk/positions.hpp"

namespace corro::facility {

class instrument_settlement {
 public:
    instrument_settlement(const instrument_table& instruments, phase_table& phases, phase_changes& changes,
                          matching::engine& engine, risk::positions& positions, message_writer& writer,
                          rejections& rejects)
        : instruments_(instruments),
          phases_(phases),
          changes_(changes),
          engine_(engine),
          positions_(positions),
          writer_(writer),
          rejections_(rejects) {}

    void settle_instrument(const domain::command& c) noexcept;

 private:
    const instrument_table& instruments_;
    phase_table& phases_;
    phase_changes& changes_;
    matching::engine& engine_;
    risk::positions& positions_;
    message_writer& writer_;
    rejections& rejections_;
};

}  // namespace corro::facility
