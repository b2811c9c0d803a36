// The configuration of one exchange process: a TOML file, checked completely before anything starts.
//
// Every error names the file, the line and the key and says what was expected. Unknown keys are errors: a misspelt
// limit must not be a limit that is silently not there. The keys are listed in docs/howto/configure.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/page_touch.hpp"
#include "domain/instrument.hpp"
#include "facility/facility.hpp"
#include "gateway/accounts.hpp"
#include "gateway/limits.hpp"
#include "journal/limits.hpp"
#include "journal/writer.hpp"
#include "market_data/limits.hpp"
#include "node/limits.hpp"
#include "risk/throttle.hpp"
#include "telemetry/event_log.hpp"

namespace corro::node {

/// What is wrong with a configuration; `what()` is "FILE:LINE: KEY: sentence".
class configuration_error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// On how many threads gateway, facility and distributor of one process run.
enum class threading_mode : std::uint8_t {
    inline_,  ///< one
    split,    ///< the facility on its own
};

/// A part of the venue with a facility of its own: an order of its commands, a journal, a feed.
struct segment_configuration {
    std::string name;  ///< also the journal's folder, and the session of the feed
    std::vector<domain::product_id> products;
    std::vector<domain::instrument_id> instruments;  ///< beside those of the products
    std::uint32_t orders_max = 0;                    ///< open orders in the segment
    std::string feed_listen;
    std::string snapshot_listen;
    std::string depth_listen;  ///< as in `configuration`, and so are the next two
    std::vector<std::string> lines;
    std::string retransmission_listen;
    io::file_faults* journal_faults = nullptr;
};

struct configuration {
    std::string venue_name = "CORRO";
    bool keys_are_public = false;          ///< the file may be read by anybody, such as a demonstration's
    std::uint32_t orders_max = 1'000'000;  ///< open orders in the whole venue
    /// Open orders of an account that operators have given no limit; 0 for no limit.
    std::uint32_t account_open_orders_max = 100'000;
    std::uint32_t instruments_reserved = 0;  ///< instruments that operators may define while the venue runs
    std::uint32_t accounts_max =
        1'024;  ///< accounts and firms are numbered below this; more if the file has higher ones
    std::uint32_t sessions_reserved = 0;  ///< of accounts that may be added while the venue runs
    std::string order_entry_listen = "127.0.0.1:7001";
    std::string order_entry_tls_listen;   ///< empty: nowhere; so the next three
    std::string order_entry_unix_listen;  ///< a path, or a name in the abstract space after an '@'
    std::string order_entry_websocket_listen;
    std::string order_entry_secure_websocket_listen;
    std::string order_entry_certificate;  ///< PEM file: the chain that TLS shows
    std::string order_entry_private_key;  ///< PEM file
    std::string feed_listen = "127.0.0.1:7002";
    std::string snapshot_listen = "127.0.0.1:7003";
    std::size_t output_buffer_bytes = gateway::output_buffer_bytes;
    std::size_t answers_kept = gateway::answers_kept_max;  ///< for clients that come back, of all sessions together
    std::size_t session_answers_kept = gateway::session_answers_kept_max;  ///< of one session
    std::uint32_t requests_max = 0;  ///< of one session in a window, beyond which they are refused; 0: no limit
    std::uint32_t requests_end = 0;  ///< beyond which the session is ended; 0: never
    std::chrono::milliseconds requests_window{1'000};
    std::chrono::milliseconds logon_timeout = gateway::logon_timeout;
    /// How long sessions that a restart disconnected may take to come back before their orders are cancelled, if they
    /// asked for that.
    std::chrono::milliseconds cancel_grace = cancel_grace_default;
    /// When the numbers of sessions begin again, after midnight UTC; nothing: never.
    std::optional<std::chrono::seconds> session_day_begins;
    std::uint32_t strangers_per_address_max = gateway::strangers_per_address_max;
    std::uint32_t handshake_steps_max = gateway::handshake_steps_max;  ///< of TLS, in a second
    std::uint32_t logons_max = gateway::logons_max;                    ///< of a session, in gateway::logons_window
    std::size_t feed_log_bytes =
        market_data::feed_log_bytes;  ///< how much of the feed is kept for late and slow subscribers
    /// Whether memory for the feed's and the sessions' past is touched when it is reserved, as a program that serves
    /// wants it: a page fault in the middle of a day is a pause.
    base::page_touch touch = base::page_touch::no;
    std::vector<std::string> lines;     ///< addresses that the feed goes to by UDP; at most two
    std::string retransmission_listen;  ///< where lost packets are asked for; empty: nowhere
    bool retransmit_beyond_local_network = false;
    std::uint32_t multicast_interface = 0;   ///< index of the interface for lines; 0: the system's choice
    std::uint32_t multicast_hops = 1;        ///< routers that lines may cross, and one
    std::uint32_t timing_sample_every = 16;  ///< time one request of so many; 0: none
    /// By how much venue time may run faster or slower than the wall clock to come back to it, in parts per million.
    std::uint32_t clock_slew_ppm = clock_slew_ppm_default;
    /// A start is refused when the journal's last command is later than the wall clock by more; 0: never.
    std::chrono::seconds clock_ahead_max{0};
    std::string journal_directory;  ///< empty: nothing is journaled
    journal::durability durability = journal::durability::group;
    /// A venue whose journal fails ends, with a logout to every session; otherwise it refuses requests and logons.
    bool ends_with_journal = true;
    /// A disk that does not answer for so long is taken for broken; 0: never.
    std::chrono::milliseconds disk_patience = disk_patience_default;
    std::uint64_t journal_segment_bytes = journal::segment_bytes_default;
    std::size_t snapshots_kept = snapshots_kept_default;    ///< beside the journal; older ones are removed
    std::uint64_t snapshot_every = snapshot_every_default;  ///< commands, while the venue runs; 0: never
    // Segments of the journal that no kept snapshot needs go once more than these are there; by default none goes.
    std::uint64_t journal_segments_kept = ~std::uint64_t{0};
    std::uint64_t journal_bytes_kept = ~std::uint64_t{0};
    threading_mode threading = threading_mode::inline_;
    std::chrono::microseconds busy_poll = busy_poll_default;  ///< how long an idle facility thread looks for commands
    std::string depth_listen;  ///< where pictures of the best levels are served; empty: nowhere
    std::size_t depth_levels = market_data::depth_levels;
    std::chrono::milliseconds conflation_interval = market_data::conflation_interval;
    telemetry::event_log_options event_log;  ///< no directory: no log
    std::string metrics_listen;              ///< where metrics are served over HTTP; empty: nowhere
    std::string link_listen;                 ///< where a facility's process awaits its gateways
    std::string link_connect;                ///< where a gateway's process finds its facility
    std::string link_gateway;                ///< which of the accounts' gateways this process is
    wire::api_key link_secret{};             ///< both ends prove that they have it; zeros: there is no secret
    std::vector<std::uint32_t> link_users;   ///< who may come over a Unix socket, beside the own user and root
    std::vector<domain::instrument> instruments;
    std::vector<gateway::account> accounts;
    /// What stands in each table of the file that is not about accounts, as a number; by the table's name.
    std::map<std::string, std::uint64_t> tables;
    std::vector<segment_configuration> segments;  ///< empty: the venue is one facility
    /// Of one segment, as `configuration_of_segment` makes it: its number, and the session of its feed when that is not
    /// the venue's name.
    std::uint32_t shard = 0;
    std::string feed_session;
    /// Breaks calls on the journal's files, in tests; outlives the venue. Nothing in a file sets it.
    io::file_faults* journal_faults = nullptr;
};

/// Which of the segments an instrument belongs to; the number of segments for one of none. An instrument that is named
/// belongs there whatever its product.
[[nodiscard]] std::size_t segment_of(const configuration& c, const domain::instrument& i) noexcept;

/// What one segment is, as a venue of its own: its instruments, journal, feed and limits, and everything else as it is.
[[nodiscard]] configuration configuration_of_segment(const configuration& c, std::size_t index);

/// Reads a configuration from TOML text. `file` is only for the messages.
/// @throws configuration_error
[[nodiscard]] configuration parse_configuration(std::string_view text, const std::string& file);

/// Reads a configuration file.
/// @throws configuration_error, also when the file cannot be read.
[[nodiscard]] configuration load_configuration(const std::string& path);

/// A key for tables whose keys clients choose, which nobody can predict.
[[nodiscard]] std::uint64_t random_hash_key() noexcept;
/// The limits of the facility that a configuration asks for, each time with another hash key. A program that loads a
/// snapshot or reads a journal needs the same limits; the key may differ.
[[nodiscard]] facility::facility_options facility_options_of(const configuration& c);
/// The throttle that a configuration asks for.
[[nodiscard]] risk::throttle_options throttle_options_of(const configuration& c);

}  // namespace corro::node
