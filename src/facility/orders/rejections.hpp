// SPDX-License-Identifier: Apache-2.0
// Rejects commands: undoes what a command has taken before it was found invalid, and writes the answer.
#pragma once

#include <cstdint>

#include "domain/command.hpp"
#include "domain/reject_reason.hpp"
#include "domain/types.hpp"
#include "facility/messages/message_writer.hpp"
#include "risk/positions.hpp"

namespace corro::facility {

class rejections {
 public:
    rejections(risk::positions& positions, message_writer& writer) : positions_(positions), writer_(writer) {}

    void refuse(const domain::command& c, domain::reject_reason reason) noexcept;
    /// Rejects the amend of an open order, which the answer names.
    void refuse_amend(const domain::command& c, domain::reject_reason reason, domain::instrument_id instrument,
                      domain::side side, domain::order_id order) noexcept;

 private:
    risk::positions& positions_;
    message_writer& writer_;
};

}  // namespace corro::facility
