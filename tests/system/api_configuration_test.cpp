// The table [api] of a configuration.

#include <gtest/gtest.h>

#include <string>

#include "node/configuration/configuration.hpp"

namespace corro::node {
namespace {

const std::string rest = R"(
[[instrument]]
id = 1
symbol = "ONE"
product = 1
kind = "future"
tick_size = "0.25"
price_low = "0"
price_high = "100"

[[account]]
id = 1
name = "alice"
key = "3c2ab6291091e38af2a3683333a6e0ccf1e3b6d53a46e5fcbd9062eaa690b5b1"
sessions = 4
)";

std::string problem_of(const std::string& table) {
    try {
        static_cast<void>(parse_configuration(table + rest, "corro.toml"));
    } catch (const configuration_error& e) {
        return e.what();
    }
    return "";
}

TEST(api_configuration, has_defaults_and_takes_values) {
    const configuration none = parse_configuration(rest, "corro.toml");
    EXPECT_EQ(none.api_listen, "");
    const configuration c = parse_configuration(R"([api]
listen = "127.0.0.1:7020"
origins = ["https://venue.example", "http://127.0.0.1:8080"]
currency = "EUR"
connections_per_address_max = 500
)" + rest,
                                                "corro.toml");
    EXPECT_EQ(c.api_listen, "127.0.0.1:7020");
    EXPECT_EQ(c.api_origins.size(), 2U);
    EXPECT_EQ(c.api_currency, "EUR");
    EXPECT_EQ(c.api_connections_per_address_max, 500U);
}

TEST(api_configuration, refuses_wrong_values_with_their_place) {
    EXPECT_EQ(problem_of("[api]\nlisten = \"localhost:1\"\n").substr(0, 25), "corro.toml:2: api.listen:");
    EXPECT_EQ(problem_of("[api]\norigins = [\"venue.example\"]\n"),
              "corro.toml:2: api.origins: expected origins such as \"https://venue.example\", or \"*\"");
    EXPECT_EQ(problem_of("[api]\norigins = [\"https://venue.example/page\"]\n").substr(0, 26),
              "corro.toml:2: api.origins:");
    EXPECT_EQ(problem_of("[api]\ncurrency = \"\"\n").substr(0, 27), "corro.toml:2: api.currency:");
    EXPECT_NE(problem_of("[api]\nconnections_per_address_max = 0\n"), "");
    EXPECT_NE(problem_of("[api]\nport = 1\n").find("port"), std::string::npos);
}

}  // namespace
}  // namespace corro::node
