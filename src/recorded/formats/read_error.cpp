// SPDX-License-Identifier: Apache-2.0
#include "recorded/formats/read_error.hpp"

namespace corro::recorded {

std::string to_string(const read_error& error) {
    std::string text;
    if (error.line == 0) {
        text = "byte " + std::to_string(error.offset);
    } else {
        text = "line " + std::to_string(error.line) + ", column " + std::to_string(error.column) + " (byte " +
               std::to_string(error.offset) + ")";
    }
    return text + ": " + error.code.message();
}

}  // namespace corro::recorded
