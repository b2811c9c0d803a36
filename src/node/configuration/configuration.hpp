// SPDX-License-Identifier: Apache-2.0
// The configuration of one exchange process: a TOML file, checked completely before anything starts.
//
// Every error has the file, the line, the key and the expected value. Unknown keys are errors, so that a misspelt
// limit is not silently ignored. The keys are listed in docs/howto/configure.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "api/limits.hpp"
#include "base/page_touch.hpp"
#include "domain/instrument.hpp"
#include "facility/facility.hpp"
#include "gateway/accounts.hpp"
#include "gateway/limits.hpp"
#include "journal/limits.hpp"
#include "journal/writer.hpp"
#include "market_data/limits.hpp"
#include "node/configuration/limits.hpp"
#include "risk/throttle.hpp"
#include "telemetry/event_log.hpp"

namespace corro::node {

/// An error in a configuration; `what()` is "FILE:LINE: KEY: sentence".
class configuration_error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The threads of gateway, facility and distributor in one process.
enum class threading_mode : std::uint8_t {
    inline_,  ///< one thread for all
    split,    ///< the facility has its own
};

/// A partition of the venue: a facility with its own sequence of commands, journal and feed.
struct partition_configuration {
    std::string name;  ///< also the journal's folder, and the session of the feed
    std::vector<domain::product_id> products;
    std::vector<domain::instrument_id> instruments;  ///< beside those of the products
    std::uint32_t orders_max = 0;                    ///< open orders in the partition
    std::string feed_listen;
    std::string snapshot_listen;
    std::string depth_listen;  ///< this and the next three as in `configuration`
    std::string fix_market_data_listen;
    std::vector<std::string> lines;
    std::string retransmission_listen;
    io::file_faults* journal_faults = nullptr;
};

struct configuration {
    std::string venue_name = "CORRO";
    bool keys_are_public = false;          ///< other users may read the file, as for a demonstration
    std::uint32_t orders_max = 1'000'000;  ///< open orders in the whole venue
    /// Open orders of an account without a limit from operators; 0 for no limit.
    std::uint32_t account_open_orders_max = 100'000;
    std::uint32_t instruments_reserved = 0;  ///< instruments that operators may define while the venue runs
    std::uint32_t accounts_max =
        1'024;  ///< accounts and firms are numbered below this; more if the file has higher ones
    std::uint32_t sessions_reserved = 0;  ///< of accounts that may be added while the venue runs
    std::string order_entry_listen = "127.0.0.1:7001";
    std::string order_entry_tls_listen;  ///< this and the next three: empty for none
    std::string order_entry_shm_listen;  ///< as the next: of the socket that hands out shared memory
    /// How long the idle loop of order entry and of the feed polls before it sleeps.
    std::chrono::microseconds order_entry_busy_poll{0};
    std::string order_entry_unix_listen;  ///< a path, or a name in the abstract space after an '@'
    std::string order_entry_websocket_listen;
    std::string order_entry_secure_websocket_listen;
    std::string order_entry_certificate;  ///< PEM file: the certificate chain for TLS
    std::string order_entry_private_key;  ///< PEM file
    /// PEM file: the issuers of the certificates that clients over TLS have to show; empty: they need none.
    std::string order_entry_client_issuers;
    std::string fix_listen;                       ///< empty for none, as the next one
    std::string fix_tls_listen;                   ///< with the certificate of order entry
    std::string fix_client_issuers;               ///< as order_entry_client_issuers
    std::string fix_comp_id = "CORRO";            ///< of the venue, TargetCompID (56) of its clients
    std::vector<std::string> fix_dictionaries;    ///< files in QuickFIX's format, for the sessions in its style
    std::vector<std::string> fix_quickfix_names;  ///< the names of the sessions in QuickFIX's style
    std::string fix_market_data_listen;           ///< empty for none
    std::string api_listen;                       ///< of JSON-RPC over WebSocket and HTTP; empty for none
    std::string api_tls_listen;                   ///< the same over TLS; empty for none
    std::string api_certificate;                  ///< PEM files of it, those of order entry unless it has its own
    std::string api_private_key;
    std::vector<std::string> api_origins;  ///< the pages that may connect, beside those of the same host
    std::vector<std::string> api_hosts;    ///< names in the Host field, beside addresses and "localhost"
    std::string api_currency = "USD";      ///< the name of the currency that prices are in
    std::size_t api_connections_per_address_max = api::connections_per_address_max;
    std::string feed_listen = "127.0.0.1:7002";
    std::string feed_shm_listen;  ///< the Unix socket that hands out the feed in shared memory; empty for none
    std::string snapshot_listen = "127.0.0.1:7003";
    std::size_t output_buffer_bytes = gateway::output_buffer_bytes;
    std::size_t answers_kept = gateway::answers_kept_max;  ///< answers kept for resending, of all sessions together
    std::size_t session_answers_kept = gateway::session_answers_kept_max;  ///< of one session
    std::uint32_t requests_max = 0;  ///< of one session in a window; further ones are rejected; 0: no limit
    std::uint32_t requests_end = 0;  ///< of one session in a window; a further one ends the session; 0: never
    std::chrono::milliseconds requests_window{1'000};
    std::chrono::milliseconds logon_timeout = gateway::logon_timeout;
    /// How long sessions that a restart has disconnected may take to log on again before their orders are cancelled, if
    /// they asked for cancel on disconnect.
    std::chrono::milliseconds cancel_grace = cancel_grace_default;
    /// The time after midnight UTC at which the numbers of sessions are reset; nothing: never.
    std::optional<std::chrono::seconds> session_day_begins;
    std::uint32_t strangers_per_address_max = gateway::strangers_per_address_max;
    std::uint32_t handshake_steps_max = gateway::handshake_steps_max;  ///< of TLS, in a second
    std::uint32_t logons_max = gateway::logons_max;                    ///< of a session, in gateway::logons_window
    std::size_t feed_log_bytes =
        market_data::feed_log_bytes;  ///< bytes of the feed that are kept for late and slow subscribers
    /// Whether the memory of the facility, the feed log and the answer log is touched when it is reserved. A serving
    /// program does that, because a page fault in the middle of a day is a pause.
    base::page_touch touch = base::page_touch::no;
    std::vector<std::string> lines;     ///< the UDP addresses of the feed's lines; at most two
    std::string retransmission_listen;  ///< the address for retransmission requests; empty for none
    bool retransmit_beyond_local_network = false;
    std::uint32_t multicast_interface = 0;   ///< index of the interface for lines; 0: the system's choice
    std::uint32_t multicast_hops = 1;        ///< the number of routers that lines may cross, plus one
    std::uint32_t timing_sample_every = 16;  ///< time one request in N; 0: none
    /// The largest difference of the rates of venue time and wall clock while venue time is corrected, in parts per
    /// million.
    std::uint32_t clock_slew_ppm = clock_slew_ppm_default;
    /// A start is refused when the journal's last command is more than this ahead of the wall clock; 0: never.
    std::chrono::seconds clock_ahead_max{0};
    std::string journal_directory;  ///< empty: no journal
    journal::durability durability = journal::durability::group;
    /// Whether a venue ends when its journal fails, with a logout to every session; otherwise it rejects requests and
    /// refuses logons.
    bool ends_with_journal = true;
    /// A disk that does not respond for this long is given up; 0: never.
    std::chrono::milliseconds disk_patience = disk_patience_default;
    std::uint64_t journal_segment_bytes = journal::segment_bytes_default;
    std::size_t snapshots_kept = snapshots_kept_default;    ///< beside the journal; older ones are removed
    std::uint64_t snapshot_every = snapshot_every_default;  ///< commands, while the venue runs; 0: never
    // The number of journal segments to keep; beyond it, segments that no kept snapshot needs are removed. By default
    // all are kept.
    std::uint64_t journal_segments_kept = ~std::uint64_t{0};
    std::uint64_t journal_bytes_kept = ~std::uint64_t{0};
    threading_mode threading = threading_mode::inline_;
    std::chrono::microseconds busy_poll = busy_poll_default;  ///< how long an idle facility thread polls for commands
    std::string depth_listen;                                 ///< the address of the depth port; empty for none
    std::size_t depth_levels = market_data::depth_levels;
    std::chrono::milliseconds conflation_interval = market_data::conflation_interval;
    telemetry::event_log_options event_log;  ///< no directory: no log
    std::string metrics_listen;              ///< the address for metrics over HTTP; empty for none
    std::string link_listen;                 ///< the address at which a facility accepts its gateways
    std::string link_connect;                ///< the address of a gateway's facility
    std::string link_gateway;                ///< the name of this gateway in the accounts
    wire::api_key link_secret{};             ///< both ends prove that they have it; zeros for none
    std::vector<std::uint32_t> link_users;  ///< users that may connect over a Unix socket, beside the own user and root
    std::vector<domain::instrument> instruments;
    std::vector<gateway::account> accounts;
    /// A hash of each table of the file that is not about accounts, by the table's name.
    std::map<std::string, std::uint64_t> tables;
    /// The name of the file, and the place of each of its keys for messages: "FILE:LINE: KEY".
    std::string file;
    std::map<std::string, std::string, std::less<>> places;
    std::vector<partition_configuration> partitions;  ///< empty: the venue is one facility
    /// For one partition, as `configuration_of_partition` makes it: its number, and its feed's session when that is not
    /// the venue's name.
    std::uint32_t partition_index = 0;
    std::string feed_session;
    /// Breaks calls on the journal's files, in tests; outlives the venue. Not set by a file.
    io::file_faults* journal_faults = nullptr;
};

/// The partition of an instrument; the number of partitions if it has none. A partition that names the instrument
/// precedes one that names its product.
[[nodiscard]] std::size_t partition_of(const configuration& c, const domain::instrument& i) noexcept;

/// The configuration of one partition as a venue of its own: with its instruments, journal, feed and limits.
[[nodiscard]] configuration configuration_of_partition(const configuration& c, std::size_t index);

/// The beginning of a message about a key such as "order_entry.listen": "FILE:LINE: KEY". Without the line if the file
/// does not have the key, and the key alone for a configuration that is from no file. In the configuration of a
/// partition the keys of [market_data] are those of the partition.
[[nodiscard]] std::string place_of(const configuration& c, std::string_view key);

/// Reads a configuration from TOML text. `file` is only for the messages.
/// @throws configuration_error
[[nodiscard]] configuration parse_configuration(std::string_view text, const std::string& file);

/// Reads a configuration file.
/// @throws configuration_error, also when the file cannot be read.
[[nodiscard]] configuration load_configuration(const std::string& path);

/// An unpredictable key for hash tables whose keys clients choose.
[[nodiscard]] std::uint64_t random_hash_key(io::platform& from) noexcept;
/// The facility's options from a configuration, with a new hash key in each call. A program that loads a snapshot or
/// reads a journal needs the same limits; the key may differ.
[[nodiscard]] facility::facility_options facility_options_of(const configuration& c, io::platform& on);
/// The throttle's options from a configuration.
[[nodiscard]] risk::throttle_options throttle_options_of(const configuration& c);

}  // namespace corro::node
