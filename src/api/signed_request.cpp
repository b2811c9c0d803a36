// SPDX-License-Identifier: Apache-2.0
#include "api/signed_request.hpp"

#include <algorithm>

namespace corro::api {

signed_credentials signed_request_of(std::string_view text) noexcept {
    signed_credentials with;
    while (!text.empty()) {
        const std::size_t size = std::min(text.find(','), text.size());
        const std::string_view one = text.substr(0, size);
        text.remove_prefix(std::min(size + 1, text.size()));
        const std::size_t equals = std::min(one.find('='), one.size());
        const std::string_view name = one.substr(0, equals);
        const std::string_view value = one.substr(std::min(equals + 1, one.size()));
        if (name == "id") with.client_id = value;
        if (name == "ts") with.timestamp = value;
        if (name == "sig") with.signature = value;
        if (name == "nonce") with.nonce = value;
    }
    return with;
}

}  // namespace corro::api
