// SPDX-License-Identifier: Apache-2.0
#include "simulation/venue_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "gateway/limits.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t everything = ~std::uint64_t{0};
/// Traders and an operator on one host, and their connections that the venue does not know to be broken.
constexpr std::uint32_t strangers_least = 32;
constexpr std::chrono::milliseconds logon_timeout_least{1'000};
/// More than a session receives while its trader is away.
constexpr std::size_t session_answers_least = 2'000;
constexpr std::size_t answers_least = 20'000;

/// Empties an address of the file, and notes its key.
void leave_out(std::vector<std::string>& keys, std::string key, std::string& address) {
    if (address.empty()) return;
    address.clear();
    keys.push_back(std::move(key));
}
void leave_out(std::vector<std::string>& keys, std::string key, std::vector<std::string>& addresses) {
    if (addresses.empty()) return;
    addresses.clear();
    keys.push_back(std::move(key));
}
void keep_all(std::vector<std::string>& keys, std::string key, std::uint64_t& limit) {
    if (std::exchange(limit, everything) != everything) keys.push_back(std::move(key));
}

/// @return The keys of what is no longer in it.
std::vector<std::string> strip(node::configuration& c) {
    std::vector<std::string> keys;
    leave_out(keys, "order_entry.tls_listen", c.order_entry_tls_listen);
    leave_out(keys, "order_entry.unix_listen", c.order_entry_unix_listen);
    leave_out(keys, "order_entry.shm_listen", c.order_entry_shm_listen);
    leave_out(keys, "order_entry.websocket_listen", c.order_entry_websocket_listen);
    leave_out(keys, "order_entry.secure_websocket_listen", c.order_entry_secure_websocket_listen);
    leave_out(keys, "market_data.lines", c.lines);
    leave_out(keys, "market_data.retransmission_listen", c.retransmission_listen);
    leave_out(keys, "market_data.depth_listen", c.depth_listen);
    leave_out(keys, "market_data.shm_listen", c.feed_shm_listen);
    leave_out(keys, "fix.tls_listen", c.fix_tls_listen);
    leave_out(keys, "fix.market_data_listen", c.fix_market_data_listen);
    leave_out(keys, "event_log", c.event_log.directory);
    leave_out(keys, "metrics", c.metrics_listen);
    for (node::partition_configuration& p : c.partitions) {
        leave_out(keys, fmt::format("lines of {}", p.name), p.lines);
        leave_out(keys, fmt::format("retransmission_listen of {}", p.name), p.retransmission_listen);
        leave_out(keys, fmt::format("depth_listen of {}", p.name), p.depth_listen);
        leave_out(keys, fmt::format("fix_market_data_listen of {}", p.name), p.fix_market_data_listen);
    }
    keep_all(keys, "facility.journal_segments_kept", c.journal_segments_kept);
    keep_all(keys, "facility.journal_bytes_kept", c.journal_bytes_kept);
    c.fix_client_issuers.clear();
    c.order_entry_certificate.clear();
    c.order_entry_private_key.clear();
    c.journal_directory.clear();
    c.link_users.clear();
    return keys;
}

class fitness {
 public:
    fitness(const node::configuration& c, std::string path) : c_(c), path_(std::move(path)) {}

    void check() const {
        check_journal();
        check_sessions();
        check_times();
        if (std::ranges::none_of(c_.accounts, is_of_trader)) {
            refuse("account", "no client could trade; add an [[account]] that is neither an operator nor a drop copy");
        }
    }

 private:
    [[noreturn]] void refuse(std::string_view key, const std::string& sentence) const {
        throw node::configuration_error(fmt::format("{}: {}: cannot be simulated: {}", path_, key, sentence));
    }
    template <class Value>
    void require(std::string_view key, Value value, Value least, std::string_view why) const {
        if (value < least) refuse(key, fmt::format("{}; write at least {}", why, least));
    }

    void check_journal() const {
        if (c_.durability != journal::durability::none) return;
        refuse(
            "facility.durability",
            R"("none" lets a crash take what was acknowledged, and a run crashes; write "async", "group" or "each")");
    }

    void check_sessions() const {
        if (c_.requests_end != 0) {
            refuse("order_entry.requests_end", "the run's traders do not expect to be logged out; remove the key");
        }
        require("order_entry.logons_max", c_.logons_max, gateway::logons_max, "a run breaks connections often");
        require("order_entry.strangers_per_address_max", c_.strangers_per_address_max, strangers_least,
                "several clients of a run share an address");
        require("order_entry.session_answers_kept", c_.session_answers_kept, session_answers_least,
                "clients that were away want all answers");
        require("order_entry.answers_kept", c_.answers_kept, answers_least, "clients that were away want all answers");
    }

    void check_times() const {
        require<std::int64_t>("order_entry.logon_timeout_ms", c_.logon_timeout.count(), logon_timeout_least.count(),
                              "the links of a run are slow at times");
        if (c_.session_day_begins) {
            refuse("order_entry.session_day_begins",
                   "clients take numbers that begin again for a loss; remove the key");
        }
        if (c_.clock_ahead_max != 0s) {
            refuse("venue.clock_ahead_max_s", "clocks jump in a run, and starts would be refused; remove the key");
        }
    }

    const node::configuration& c_;
    const std::string path_;
};

}  // namespace

bool is_of_trader(const gateway::account& a) noexcept {
    return !a.is_operator && a.copies_of.empty();
}

std::vector<std::string> gateway_names_of(const node::configuration& c) {
    std::vector<std::string> names;
    if (c.link_connect.empty() && c.link_listen.empty()) return names;
    for (const gateway::account& a : c.accounts) {
        if (std::ranges::find(names, a.gateway) == names.end()) names.push_back(a.gateway);
    }
    return names;
}

std::shared_ptr<const venue_file> make_venue_file(node::configuration read, const std::string& path) {
    fitness(read, path).check();
    auto made = std::make_shared<venue_file>();
    made->path = path;
    made->venue = std::move(read);
    made->left_out = strip(made->venue);
    return made;
}

std::shared_ptr<const venue_file> load_venue_file(const std::string& path) {
    return make_venue_file(node::load_configuration(path), path);
}

}  // namespace corro::simulation
