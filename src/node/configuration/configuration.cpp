// SPDX-License-Identifier: Apache-2.0
#include "node/configuration/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <system_error>

#include "base/byte_order.hpp"
#include "base/hash.hpp"
#include "gateway/nonce.hpp"
#include "io/net/unix_endpoint.hpp"
#include "market_data/limits.hpp"
#include "node/configuration/addresses.hpp"
#include "node/configuration/configuration_parts.hpp"

namespace corro::node {
namespace {

void read_venue(table_reader& r, configuration& c) {
    r.knows({"account_open_orders_max", "accounts_max", "clock_ahead_max_s", "clock_slew_ppm", "instruments_reserved",
             "keys", "name", "orders_max", "sessions_reserved", "timing_sample_every"});
    c.venue_name = r.text("name", c.venue_name);
    if (c.venue_name.empty() || c.venue_name.size() > 10) r.fail("name", "expected 1 to 10 characters");
    if (!is_printable(c.venue_name)) r.fail("name", printable_expected);
    const std::string keys = r.text("keys", "secret");
    if (keys != "secret" && keys != "public") r.fail("keys", "expected \"secret\" or \"public\"");
    c.keys_are_public = keys == "public";
    c.orders_max = static_cast<std::uint32_t>(r.number("orders_max", c.orders_max, 1, 100'000'000));
    c.account_open_orders_max =
        static_cast<std::uint32_t>(r.number("account_open_orders_max", c.account_open_orders_max, 0, 100'000'000));
    c.instruments_reserved = static_cast<std::uint32_t>(
        r.number("instruments_reserved", c.instruments_reserved, 0, instruments_reserved_max));
    c.accounts_max =
        static_cast<std::uint32_t>(r.number("accounts_max", c.accounts_max, 1'024, gateway::account_id_max + 1));
    c.sessions_reserved =
        static_cast<std::uint32_t>(r.number("sessions_reserved", 0, 0, gateway::account_directory::sessions_max));
    c.timing_sample_every =
        static_cast<std::uint32_t>(r.number("timing_sample_every", c.timing_sample_every, 0, 1'000'000'000));
    c.clock_slew_ppm =
        static_cast<std::uint32_t>(r.number("clock_slew_ppm", c.clock_slew_ppm, 1, venue_time::slew_ppm_max));
    c.clock_ahead_max = std::chrono::seconds{r.number("clock_ahead_max_s", 0, 0, 1'000'000'000)};
}

void read_facility(table_reader& r, configuration& c) {
    r.knows({"busy_poll_us", "disk_patience_ms", "durability", "end_when_journal_fails", "journal",
             "journal_bytes_kept", "journal_segment_bytes", "journal_segments_kept", "snapshot_every", "snapshots_kept",
             "threading"});
    const std::string threading = r.text("threading", "inline");
    if (threading != "inline" && threading != "split") r.fail("threading", "expected \"inline\" or \"split\"");
    c.threading = threading == "split" ? threading_mode::split : threading_mode::inline_;
    c.journal_directory = r.text("journal", c.journal_directory);
    const auto durability = journal::durability_of(r.text("durability", "group"));
    if (!durability) r.fail("durability", "expected one of: none, async, group, each");
    c.durability = *durability;
    c.ends_with_journal = r.flag("end_when_journal_fails", c.ends_with_journal);
    c.disk_patience = std::chrono::milliseconds{
        r.number("disk_patience_ms", static_cast<std::uint64_t>(c.disk_patience.count()), 0, 86'400'000)};
    if (c.disk_patience.count() != 0 && c.disk_patience < disk_patience_min) {
        r.fail("disk_patience_ms", fmt::format("expected 0 or at least {}", disk_patience_min.count()));
    }
    c.journal_segment_bytes = r.number("journal_segment_bytes", c.journal_segment_bytes, journal::segment_bytes_min,
                                       journal::segment_bytes_max);
    if (c.journal_segment_bytes % journal::sector_bytes != 0) {
        r.fail("journal_segment_bytes", fmt::format("expected a multiple of {}", journal::sector_bytes));
    }
    c.snapshots_kept = r.number("snapshots_kept", c.snapshots_kept, 1, 1'000'000);
    c.snapshot_every = r.number("snapshot_every", c.snapshot_every, 0, INT64_MAX);
    c.journal_segments_kept = r.number("journal_segments_kept", c.journal_segments_kept, 0, INT64_MAX);
    c.journal_bytes_kept = r.number("journal_bytes_kept", c.journal_bytes_kept, 0, INT64_MAX);
    c.busy_poll = std::chrono::microseconds{
        r.number("busy_poll_us", static_cast<std::uint64_t>(c.busy_poll.count()), 0, 1'000'000'000)};
}

/// The time since midnight of a text such as "17:00"; nothing when it is not a time of day.
std::optional<std::chrono::seconds> time_of_day(const std::string& text) {
    constexpr std::string_view pattern = "dd:dd";
    const auto fits = [](char letter, char wanted) {
        return wanted == 'd' ? letter >= '0' && letter <= '9' : letter == wanted;
    };
    if (!std::ranges::equal(text, pattern, fits)) return std::nullopt;
    const int hour = (text[0] - '0') * 10 + text[1] - '0';
    const int minute = (text[3] - '0') * 10 + text[4] - '0';
    if (hour > 23 || minute > 59) return std::nullopt;
    return std::chrono::hours(hour) + std::chrono::minutes(minute);
}

void read_fix(table_reader& r, bool has_partitions, configuration& c) {
    r.knows({"client_issuers", "comp_id", "dictionaries", "listen", "market_data_listen", "tls_listen"});
    c.fix_listen = r.address("listen", "");
    c.fix_tls_listen = r.address("tls_listen", "");
    if (!c.fix_tls_listen.empty() && (c.order_entry_certificate.empty() || c.order_entry_private_key.empty())) {
        r.fail("tls_listen", "needs order_entry.certificate and order_entry.private_key");
    }
    c.fix_client_issuers = r.text("client_issuers", "");
    if (c.fix_tls_listen.empty() && !c.fix_client_issuers.empty()) r.fail("client_issuers", "needs tls_listen");
    c.fix_market_data_listen = r.address("market_data_listen", "");
    if (has_partitions && r.has("market_data_listen")) {
        r.fail("market_data_listen", "every [[partition]] has its own feed; set fix_market_data_listen there");
    }
    constexpr std::size_t dictionaries_max = 16;
    c.fix_dictionaries = r.texts("dictionaries", dictionaries_max);
    c.fix_comp_id = r.text("comp_id", c.fix_comp_id);
    const bool is_sound = !c.fix_comp_id.empty() && c.fix_comp_id.size() <= fix_name_max && is_printable(c.fix_comp_id);
    if (!is_sound) r.fail("comp_id", fmt::format("expected 1 to {} characters. {}", fix_name_max, printable_expected));
}

/// Whether a text is an origin as browsers send it, such as "https://venue.example:8443", or "*".
bool is_origin(std::string_view text) {
    if (text == "*") return true;
    if (!text.starts_with("http://") && !text.starts_with("https://")) return false;
    const std::string_view host = text.substr(text.find("//") + 2);
    return !host.empty() && host.find_first_of("/?# ") == std::string_view::npos && is_printable(std::string(host));
}

void read_api(table_reader& r, configuration& c) {
    r.knows({"certificate", "connections_per_address_max", "currency", "hosts", "listen", "origins", "private_key",
             "tls_listen"});
    c.api_listen = r.address("listen", "");
    c.api_tls_listen = r.address("tls_listen", "");
    c.api_certificate = r.text("certificate", c.order_entry_certificate);
    c.api_private_key = r.text("private_key", c.order_entry_private_key);
    if (!c.api_tls_listen.empty() && (c.api_certificate.empty() || c.api_private_key.empty())) {
        r.fail("tls_listen", "needs certificate and private_key, here or in [order_entry]");
    }
    c.api_origins = r.texts("origins", 64);
    for (const std::string& each : c.api_origins) {
        if (!is_origin(each)) r.fail("origins", "expected origins such as \"https://venue.example\", or \"*\"");
    }
    c.api_hosts = r.texts("hosts", 64);
    for (const std::string& each : c.api_hosts) {
        const bool is_name = !each.empty() && is_printable(each) && each.find_first_of(":/?#@ ") == std::string::npos;
        if (!is_name) r.fail("hosts", "expected names without a port such as \"venue.example\", or \"*\"");
    }
    c.api_currency = r.text("currency", c.api_currency);
    const bool is_sound = !c.api_currency.empty() && c.api_currency.size() <= 16 && is_printable(c.api_currency);
    if (!is_sound) r.fail("currency", fmt::format("expected 1 to 16 characters. {}", printable_expected));
    c.api_connections_per_address_max =
        r.number("connections_per_address_max", c.api_connections_per_address_max, 1, api::connections_max);
}

/// @param path  Of a Unix socket; empty for none.
void check_path(table_reader& r, const char* key, const std::string& path) {
    if (path.empty() || io::unix_endpoint::parse(path)) return;
    r.fail(key, fmt::format("expected a path or a name such as \"@corro\" of at most {} characters",
                            io::unix_endpoint::size_max));
}

void read_order_entry(table_reader& r, configuration& c) {
    r.knows({"answers_kept",
             "busy_poll_us",
             "cancel_grace_ms",
             "certificate",
             "client_issuers",
             "handshake_steps_per_second",
             "listen",
             "logon_timeout_ms",
             "logons_max",
             "output_buffer_bytes",
             "private_key",
             "requests_end",
             "requests_max",
             "requests_window_ms",
             "secure_websocket_listen",
             "session_answers_kept",
             "session_day_begins",
             "shm_listen",
             "strangers_per_address_max",
             "tls_listen",
             "unix_listen",
             "websocket_listen"});
    c.order_entry_listen = r.address("listen", c.order_entry_listen);
    c.order_entry_tls_listen = r.address("tls_listen", "");
    c.order_entry_unix_listen = r.text("unix_listen", "");
    c.order_entry_shm_listen = r.text("shm_listen", "");
    check_path(r, "unix_listen", c.order_entry_unix_listen);
    check_path(r, "shm_listen", c.order_entry_shm_listen);
    c.order_entry_websocket_listen = r.address("websocket_listen", "");
    c.order_entry_secure_websocket_listen = r.address("secure_websocket_listen", "");
    c.order_entry_busy_poll = std::chrono::microseconds{
        r.number("busy_poll_us", static_cast<std::uint64_t>(c.order_entry_busy_poll.count()), 0, 1'000'000'000)};
    c.order_entry_certificate = r.text("certificate", "");
    c.order_entry_private_key = r.text("private_key", "");
    const bool is_encrypted = !c.order_entry_tls_listen.empty() || !c.order_entry_secure_websocket_listen.empty();
    if (is_encrypted && c.order_entry_certificate.empty()) r.fail("certificate", "is required for TLS");
    if (is_encrypted && c.order_entry_private_key.empty()) r.fail("private_key", "is required for TLS");
    c.order_entry_client_issuers = r.text("client_issuers", "");
    if (!is_encrypted && !c.order_entry_client_issuers.empty()) {
        r.fail("client_issuers", "needs tls_listen or secure_websocket_listen");
    }
    c.output_buffer_bytes = r.number("output_buffer_bytes", c.output_buffer_bytes, 4'096, 1U << 30U);
    c.answers_kept = r.number("answers_kept", c.answers_kept, 1, 1U << 30U);
    c.session_answers_kept =
        r.number("session_answers_kept", std::min(c.session_answers_kept, c.answers_kept), 1, c.answers_kept);
    c.requests_max = static_cast<std::uint32_t>(r.number("requests_max", 0, 0, 1'000'000'000));
    c.requests_end = static_cast<std::uint32_t>(r.number("requests_end", 0, 0, 1'000'000'000));
    c.requests_window = std::chrono::milliseconds{r.number("requests_window_ms", 1'000, 1, 3'600'000)};
    if (c.requests_end != 0 && c.requests_end < c.requests_max) {
        r.fail("requests_end", "expected at least requests_max");
    }
    c.cancel_grace = std::chrono::milliseconds{
        r.number("cancel_grace_ms", static_cast<std::uint64_t>(c.cancel_grace.count()), 0, 86'400'000)};
    if (const std::string begins = r.text("session_day_begins", ""); !begins.empty()) {
        c.session_day_begins = time_of_day(begins);
        if (!c.session_day_begins) r.fail("session_day_begins", "expected a time of day in UTC, such as \"17:00\"");
    }
    c.logon_timeout = std::chrono::milliseconds{
        r.number("logon_timeout_ms", static_cast<std::uint64_t>(c.logon_timeout.count()), 10, 600'000)};
    c.strangers_per_address_max = static_cast<std::uint32_t>(
        r.number("strangers_per_address_max", c.strangers_per_address_max, 1, gateway::strangers_max));
    c.handshake_steps_max =
        static_cast<std::uint32_t>(r.number("handshake_steps_per_second", c.handshake_steps_max, 10, 1'000'000));
    c.logons_max = static_cast<std::uint32_t>(r.number("logons_max", c.logons_max, 1, 1'000'000));
}

void read_market_data(table_reader& r, bool has_partitions, configuration& c) {
    r.knows({"conflation_interval_ms", "depth_levels", "depth_listen", "feed_listen", "feed_log_bytes", "lines",
             "multicast_hops", "multicast_interface", "retransmission_listen", "retransmit_beyond_local_network",
             "shm_listen", "snapshot_listen"});
    c.feed_listen = r.address("feed_listen", c.feed_listen);
    c.feed_shm_listen = r.text("shm_listen", "");
    check_path(r, "shm_listen", c.feed_shm_listen);
    c.snapshot_listen = r.address("snapshot_listen", c.snapshot_listen);
    c.feed_log_bytes =
        r.number("feed_log_bytes", c.feed_log_bytes, market_data::feed_log_bytes_min, std::uint64_t{1} << 36U);
    c.lines = r.addresses("lines", market_data::lines_max);
    c.retransmission_listen = r.address("retransmission_listen", c.retransmission_listen);
    c.retransmit_beyond_local_network = r.flag("retransmit_beyond_local_network", false);
    c.multicast_interface =
        static_cast<std::uint32_t>(r.number("multicast_interface", c.multicast_interface, 0, INT32_MAX));
    c.multicast_hops = static_cast<std::uint32_t>(r.number("multicast_hops", c.multicast_hops, 0, 255));
    c.depth_listen = r.address("depth_listen", c.depth_listen);
    c.depth_levels = r.number("depth_levels", c.depth_levels, 1, market_data::depth_levels_max);
    c.conflation_interval = std::chrono::milliseconds{
        r.number("conflation_interval_ms", static_cast<std::uint64_t>(c.conflation_interval.count()), 1, 60'000)};
    if (c.lines.empty() && !c.retransmission_listen.empty()) {
        r.fail("retransmission_listen", "needs market_data.lines");
    }
    if (!has_partitions) return;
    for (const char* key :
         {"feed_listen", "shm_listen", "snapshot_listen", "depth_listen", "lines", "retransmission_listen"}) {
        if (r.has(key)) r.fail(key, "every [[partition]] has its own feed; set the address there");
    }
}

void read_event_log(table_reader& r, configuration& c) {
    r.knows({"directory", "file_bytes_max", "files_max"});
    c.event_log.directory = r.text("directory");
    c.event_log.file_bytes_max = r.number("file_bytes_max", c.event_log.file_bytes_max, 4'096, UINT64_MAX >> 1U);
    c.event_log.files_max = static_cast<std::uint32_t>(r.number("files_max", c.event_log.files_max, 1, 1'000'000));
}

void read_link(table_reader& r, configuration& c) {
    r.knows({"connect", "gateway", "listen", "secret", "users"});
    const auto address = [&r](const char* key, const std::string& otherwise) {
        std::string text = r.text(key, otherwise);
        const std::string problem = text.empty() ? std::string() : link_address_problem(text);
        if (!problem.empty()) r.fail(key, problem);
        return text;
    };
    c.link_listen = address("listen", "");
    c.link_connect = address("connect", c.link_listen);
    c.link_gateway = read_gateway_name(r);
    if (r.has("secret")) c.link_secret = read_key(r, "secret");
    for (const std::uint64_t user : r.numbers("users", 0, UINT32_MAX)) {
        c.link_users.push_back(static_cast<std::uint32_t>(user));
    }
}

std::string why_not_opened(int error) {
    if (error == ENOENT) return "no such file; name one with --config FILE. config/demo.toml is an example";
    if (error == EACCES) return "permission denied; this user may not read the file";
    return fmt::format("cannot open the file: {}", std::error_code(error, std::generic_category()).message());
}

/// Notes the place of each key that is in a table of the file, and in each partition.
void note_places(const toml::table& root, configuration& c) {
    const auto note = [&c](const std::string& under, std::string_view name, const toml::table& table) {
        for (const auto& [key, node] : table) {
            c.places[under + "." + std::string(key.str())] =
                fmt::format("{}:{}: {}.{}", c.file, node.source().begin.line, name, key.str());
        }
    };
    for (const auto& [key, node] : root) {
        if (node.is_table()) note(std::string(key.str()), key.str(), *node.as_table());
    }
    const toml::array* partitions = root["partition"].as_array();
    for (std::size_t k = 0; k < c.partitions.size(); ++k) {
        note(fmt::format("partition {}", k), "partition", *partitions->get(k)->as_table());
    }
}

void check_reserved(const toml::table& root, const std::string& file, const configuration& c) {
    const auto fail = [&](const std::string& what) {
        const auto line = root["venue"]["instruments_reserved"].node()->source().begin.line;
        throw configuration_error(fmt::format("{}:{}: venue.instruments_reserved: {}", file, line, what));
    };
    if (c.instruments_reserved == 0) return;
    const std::size_t reserved = std::max<std::size_t>(c.partitions.size(), 1) * c.instruments_reserved;
    if (c.instruments.size() + reserved > domain::instruments_max) {
        fail(fmt::format("together with the file's instruments, in all partitions, more than {}, the limit of a venue",
                         domain::instruments_max));
    }
}

}  // namespace

configuration parse_configuration(std::string_view text, const std::string& file) {
    toml::table root;
    try {
        root = toml::parse(text, file);
    } catch (const toml::parse_error& e) {
        throw configuration_error(fmt::format("{}:{}: not TOML: {}", file, e.source().begin.line, e.description()));
    }
    configuration c;
    table_reader top(root, file, "");
    if (top.has("segment")) top.fail("segment", "this table has a new name; write [[partition]]");
    top.knows({"venue", "facility", "order_entry", "market_data", "event_log", "link", "metrics", "instrument",
               "account", "account_group", "partition", "fix", "fix_session", "api", "api_key"});
    const bool has_partitions = root.contains("partition");
    read_table(root, "venue", file, [&](table_reader& r) { read_venue(r, c); });
    read_table(root, "facility", file, [&](table_reader& r) { read_facility(r, c); });
    read_table(root, "order_entry", file, [&](table_reader& r) { read_order_entry(r, c); });
    read_table(root, "fix", file, [&](table_reader& r) { read_fix(r, has_partitions, c); });
    read_table(root, "api", file, [&](table_reader& r) { read_api(r, c); });
    read_table(root, "market_data", file, [&](table_reader& r) { read_market_data(r, has_partitions, c); });
    read_table(root, "event_log", file, [&](table_reader& r) { read_event_log(r, c); });
    read_table(root, "link", file, [&](table_reader& r) { read_link(r, c); });
    read_table(root, "metrics", file, [&](table_reader& r) {
        r.knows({"listen"});
        c.metrics_listen = r.address("listen");
    });
    read_instruments(root, file, c);
    read_partitions(root, file, c);
    check_reserved(root, file, c);
    read_accounts(root, file, c);
    for (const auto& [key, node] : root) {
        if (key == "account" || key == "account_group") continue;
        std::ostringstream written;
        node.visit([&](const auto& any) { written << any; });
        c.tables[std::string(key.str())] = base::hash_bytes(std::as_bytes(std::span(written.view())));
    }
    c.file = file;
    note_places(root, c);
    if (c.instruments.empty())
        throw configuration_error(file + ":1: instrument: the venue needs at least one [[instrument]]");
    if (c.accounts.empty()) throw configuration_error(file + ":1: account: the venue needs at least one [[account]]");
    return c;
}

std::string text_of_file(const std::string& path) {
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (!in) throw configuration_error(path + ": " + why_not_opened(errno));
    std::error_code unknown;
    if (std::filesystem::is_directory(path, unknown)) {
        throw configuration_error(path + ": is a directory; name a file with --config FILE");
    }
    return std::string(std::istreambuf_iterator<char>(in), {});
}

configuration load_configuration(const std::string& path) {
    return parse_configuration(text_of_file(path), path);
}

std::string place_of(const configuration& c, std::string_view key) {
    const auto found = c.places.find(key);
    if (found != c.places.end()) return found->second;
    return c.file.empty() ? std::string(key) : fmt::format("{}: {}", c.file, key);
}

std::uint64_t random_hash_key(io::platform& from) noexcept {
    return base::load_le<std::uint64_t>(gateway::make_nonce(from).data());
}

facility::facility_options facility_options_of(const configuration& c, io::platform& on) {
    facility::facility_options options;
    options.hash_key = random_hash_key(on);
    options.touch = c.touch;
    options.orders_max = c.orders_max;
    options.instruments_reserved = c.instruments_reserved;
    options.accounts_max = c.accounts_max;
    for (const gateway::account& a : c.accounts) {
        options.accounts_max = std::max(options.accounts_max, a.id.value + 1);
        if (a.limits) options.accounts_max = std::max(options.accounts_max, a.limits->firm + 1);
    }
    options.positions_max = std::max<std::uint32_t>(options.positions_max, c.orders_max);
    return options;
}

risk::throttle_options throttle_options_of(const configuration& c) {
    risk::throttle_options options;
    options.requests_max = c.requests_max;
    options.requests_end = c.requests_end;
    options.window_ns = std::chrono::nanoseconds(c.requests_window).count();
    return options;
}

}  // namespace corro::node
