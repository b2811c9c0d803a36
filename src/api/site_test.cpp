// SPDX-License-Identifier: Apache-2.0
#include "api/site.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

namespace corro::api {
namespace {

constexpr std::array files{
    site_file{"index.html", "text/html; charset=utf-8", "aaaa", "<p>hello", {}, false},
    site_file{"app-3f9c2a71.js", "text/javascript; charset=utf-8", "bbbb", "let a;", "zipped", true},
};

TEST(site, finds_files_by_their_path_and_nothing_else) {
    const site pages(files);
    EXPECT_FALSE(pages.is_empty());
    EXPECT_EQ(pages.find("/"), pages.find("/index.html"));
    EXPECT_NE(pages.find("/"), nullptr);
    EXPECT_NE(pages.find("/app-3f9c2a71.js"), nullptr);
    for (const char* path :
         {"", "index.html", "//", "/index", "/../index.html", "/./index.html", "/index.html/", "*"}) {
        EXPECT_EQ(pages.find(path), nullptr) << path;
    }
}

bool accepts_gzip(std::string_view value) {
    const std::array fields{http::field("Host", "gzip"), http::field("accept-encoding", value)};
    return accepts_coding(fields, "gzip");
}

TEST(site, compresses_for_clients_that_accept_it) {
    for (const char* value : {"gzip", "GZIP", "deflate, gzip;q=1.0, *;q=0.5", "br , gzip; q=0.001", "*", "gzip;q=1",
                              "identity;q=0, *;q=1", "gzip;x=0"}) {
        EXPECT_TRUE(accepts_gzip(value)) << value;
    }
    for (const char* value : {"", "br", "gzip;q=0", "gzip; q=0.000", "*;q=0", "identity", "gzip;q=0, *", "xgzip",
                              "gzip-2", ",,,", ";q=1"}) {
        EXPECT_FALSE(accepts_gzip(value)) << value;
    }
    EXPECT_FALSE(accepts_coding({}, "gzip"));
}

TEST(site, knows_tags_of_both_codings) {
    for (const char* value : {R"("aaaa")", R"(W/"aaaa")", R"("x", "aaaa")", R"("aaaa-gzip")", "*"}) {
        EXPECT_TRUE(has_already(value, "aaaa")) << value;
    }
    for (const char* value : {"", "aaaa", R"("aaa")", R"("aaaab")", R"("aaaa-br")", R"(W/aaaa)", R"(")", ","}) {
        EXPECT_FALSE(has_already(value, "aaaa")) << value;
    }
}

TEST(site, forbids_inline_scripts_and_frames) {
    const std::string_view policy = http::find_field(security_fields(), "Content-Security-Policy");
    EXPECT_NE(policy.find("default-src 'none'"), std::string_view::npos);
    EXPECT_NE(policy.find("script-src 'self';"), std::string_view::npos);
    EXPECT_NE(policy.find("frame-ancestors 'none'"), std::string_view::npos);
    EXPECT_EQ(http::find_field(security_fields(), "X-Content-Type-Options"), "nosniff");
}

}  // namespace
}  // namespace corro::api
