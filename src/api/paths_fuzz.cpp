// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as the target of a GET, and as a name of a channel. What is taken is a method whose parameters are
// sound.
//
// The committed corpus: src/api/fuzz_corpus/paths. Input: the path behind "/api/v2/", then "?" and the query.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/account_channels.hpp"
#include "api/channels.hpp"
#include "api/request.hpp"
#include "base/assert.hpp"

using namespace corro;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t end = std::min(text.find('?'), text.size());
    const api::read_request read =
        api::request_of_query(text.substr(0, end), text.substr(std::min(end + 1, text.size())));
    if (read.what) {
        const api::method_description& m = *read.what->method;
        CORRO_ASSERT(m.name == text.substr(0, end));
        CORRO_ASSERT(api::check_params(m, &read.what->params).has_value(), "parameters must be checked");
        for (const std::string& name : read.what->params.names) CORRO_ASSERT(api::find_param(m, name) != nullptr);
    } else {
        CORRO_ASSERT(!api::describe(read.what.error().code).message.empty());
    }
    if (const auto name = api::parse_channel(text)) {
        CORRO_ASSERT(text.find(name->instrument) != std::string_view::npos &&
                     text.size() <= api::channel_name_bytes_max);
    }
    if (const auto name = api::parse_user_channel(text)) {
        CORRO_ASSERT(text.starts_with("user.") && text.ends_with(name->is_raw ? ".raw" : ".100ms"));
        CORRO_ASSERT(text.find(name->instrument) != std::string_view::npos);
    }
    return 0;
}
