// SPDX-License-Identifier: Apache-2.0
// The table [api] of a configuration.

#include <gtest/gtest.h>

#include <string>

#include "node/configuration/configuration.hpp"
#include "node/links/api_keys.hpp"

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
hosts = ["venue.example"]
currency = "EUR"
connections_per_address_max = 500
)" + rest,
                                                "corro.toml");
    EXPECT_EQ(c.api_listen, "127.0.0.1:7020");
    EXPECT_EQ(c.api_origins.size(), 2U);
    EXPECT_EQ(c.api_hosts, std::vector<std::string>{"venue.example"});
    EXPECT_EQ(c.api_currency, "EUR");
    EXPECT_EQ(c.api_connections_per_address_max, 500U);
}

TEST(api_configuration, refuses_wrong_values_with_their_place) {
    EXPECT_EQ(problem_of("[api]\nlisten = \"localhost:1\"\n").substr(0, 25), "corro.toml:2: api.listen:");
    EXPECT_EQ(problem_of("[api]\norigins = [\"venue.example\"]\n"),
              "corro.toml:2: api.origins: expected origins such as \"https://venue.example\", or \"*\"");
    EXPECT_EQ(problem_of("[api]\norigins = [\"https://venue.example/page\"]\n").substr(0, 26),
              "corro.toml:2: api.origins:");
    for (const std::string wrong : {"venue.example:7020", "http://venue.example", ""}) {
        EXPECT_EQ(problem_of("[api]\nhosts = [\"" + wrong + "\"]\n"),
                  "corro.toml:2: api.hosts: expected names without a port such as \"venue.example\", or \"*\"");
    }
    EXPECT_EQ(problem_of("[api]\ncurrency = \"\"\n").substr(0, 27), "corro.toml:2: api.currency:");
    EXPECT_NE(problem_of("[api]\nconnections_per_address_max = 0\n"), "");
    EXPECT_NE(problem_of("[api]\nport = 1\n").find("port"), std::string::npos);
}

TEST(api_configuration, tls_has_a_certificate_of_its_own_or_that_of_order_entry) {
    const std::string of_orders = "[order_entry]\ncertificate = \"orders.pem\"\nprivate_key = \"orders.key\"\n";
    const std::string tls = "[api]\ntls_listen = \"127.0.0.1:7443\"\n";
    const configuration shared = parse_configuration(of_orders + tls + rest, "corro.toml");
    EXPECT_EQ(shared.api_listen, "");
    EXPECT_EQ(shared.api_tls_listen, "127.0.0.1:7443");
    EXPECT_EQ(shared.api_certificate, "orders.pem");
    EXPECT_EQ(shared.api_private_key, "orders.key");
    const std::string own = tls + "certificate = \"web.pem\"\nprivate_key = \"web.key\"\n";
    const configuration c = parse_configuration(of_orders + own + rest, "corro.toml");
    EXPECT_EQ(c.api_certificate, "web.pem");
    EXPECT_EQ(c.api_private_key, "web.key");
    EXPECT_EQ(problem_of(tls),
              "corro.toml:2: api.tls_listen: needs certificate and private_key, here or in [order_entry]");
    EXPECT_NE(problem_of(tls + "certificate = \"web.pem\"\n"), "");
    EXPECT_EQ(problem_of("[api]\ntls_listen = \"nowhere\"\n").substr(0, 30), "corro.toml:2: api.tls_listen: ");
}

std::string problem_of_keys(const std::string& tables) {
    try {
        const configuration c = parse_configuration(rest + tables, "corro.toml");
        static_cast<void>(parse_api_keys(rest + tables, "corro.toml", c));
    } catch (const configuration_error& e) {
        return e.what();
    }
    return "";
}

TEST(api_configuration, keys_name_a_session_of_an_account) {
    const std::string text = rest + "[[api_key]]\nclient_id = \"a\"\naccount = 1\nsession = 4\n";
    const auto keys = parse_api_keys(text, "corro.toml", parse_configuration(text, "corro.toml"));
    ASSERT_EQ(keys.size(), 1U);
    EXPECT_EQ(keys[0].client_id, "a");
    EXPECT_EQ(keys[0].account.value, 1U);
    EXPECT_EQ(keys[0].session_number, 4U);
    EXPECT_EQ(keys[0].secret[0], std::byte{0x3c}) << "the account's";
    EXPECT_EQ(problem_of_keys("[[api_key]]\nclient_id = \"a\"\naccount = 2\n"),
              "corro.toml:18: api_key.account: there is no [[account]] 2");
    EXPECT_EQ(problem_of_keys("[[api_key]]\nclient_id = \"a\"\naccount = 1\nsession = 5\n"),
              "corro.toml:19: api_key.session: account 1 has 4 sessions");
    EXPECT_NE(problem_of_keys("[[api_key]]\nclient_id = \"\"\naccount = 1\n"), "");
    const std::string one = "[[api_key]]\nclient_id = \"a\"\naccount = 1\nsession = 2\n";
    EXPECT_NE(problem_of_keys(one + one).find("is used twice"), std::string::npos);
    EXPECT_NE(problem_of_keys("[[fix_session]]\nname = \"A\"\naccount = 1\nsession = 2\n" + one).find("speaks FIX"),
              std::string::npos);
}

}  // namespace
}  // namespace corro::node
