// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a request of the past, of frames, and as the fields by which pages are negotiated. What is taken
// is within its limits.
//
// The committed corpus: src/api/fuzz_corpus/history. Input: the path behind "/api/v1/", then "?" and the query, then a
// line feed and the value of Accept, Accept-Encoding and If-None-Match.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/history_query.hpp"
#include "api/market_frames.hpp"
#include "api/site.hpp"
#include "api/test_market.hpp"
#include "base/assert.hpp"

using namespace corro;

namespace {

void read_query(std::string_view path, std::string_view query, std::string_view accept) {
    const auto read = api::parse_history_query(path, query, accept);
    if (!read) {
        const bool is_known = read.error().code == api::error_code::invalid_params ||
                              read.error().code == api::error_code::method_not_found;
        CORRO_ASSERT(is_known);
        CORRO_ASSERT(
            std::ranges::all_of(read.error().param, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; }));
        return;
    }
    CORRO_ASSERT(!read->instrument.empty());
    CORRO_ASSERT(read->limit >= 1 && read->limit <= api::history_rows_max);
    CORRO_ASSERT(read->depth >= 1 && read->depth <= api::history_depth_max);
    CORRO_ASSERT(read->column_us >= 10'000);
    CORRO_ASSERT(!read->pictures || *read->pictures <= api::history_columns_max);
    const bool is_frame = read->format == api::history_format::frame;
    CORRO_ASSERT(is_frame == (read->table == api::history_table::columns));
    CORRO_ASSERT(!api::content_type_of(read->format).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t line = std::min(text.find('\n'), text.size());
    const std::string_view target = text.substr(0, line);
    const std::string_view field = text.substr(std::min(line + 1, text.size()));
    const std::size_t mark = std::min(target.find('?'), target.size());
    const std::string_view query = target.substr(std::min(mark + 1, target.size()));
    read_query(target.substr(0, mark), query, field);

    static const api::testing::test_market market;
    std::string_view param;
    if (const auto wish = api::parse_frame_query(query, market.view, param)) {
        CORRO_ASSERT(market.view.find(wish->instrument) != nullptr);
        CORRO_ASSERT(wish->tick < api::frame_ticks_ms.size() && wish->column < api::column_lengths_ms.size());
    } else {
        CORRO_ASSERT(param == "instrument" || param == "tick" || param == "column");
    }
    const std::array fields{http::field("Accept-Encoding", field)};
    static_cast<void>(api::accepts_coding(fields, "gzip"));
    // A tag that is not there is not found.
    CORRO_ASSERT(!api::has_already(field, "4242") || field.find("4242") != std::string_view::npos ||
                 field.find('*') != std::string_view::npos);
    return 0;
}
