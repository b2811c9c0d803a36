#include "node/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "domain/decimal.hpp"
#include "market_data/limits.hpp"

#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace corro::node {
namespace {

/// One table being read: hands out its keys, remembers which were asked for, complains with place and name.
class table_reader {
 public:
    table_reader(const toml::table& table, std::string file, std::string name)
        : table_(table), file_(std::move(file)), name_(std::move(name)) {}

    [[noreturn]] void fail(std::string_view key, const std::string& sentence) const {
        const toml::node* node = table_.get(key);
        const auto line = (node != nullptr ? node->source() : table_.source()).begin.line;
        throw configuration_error(
            fmt::format("{}:{}: {}{}{}: {}", file_, line, name_, name_.empty() ? "" : ".", key, sentence));
    }

    std::string text(std::string_view key, const std::string& otherwise) {
        const toml::node* node = take(key);
        if (node == nullptr) return otherwise;
        if (const auto value = node->value_exact<std::string>()) return *value;
        fail(key, "expected a text in quotes");
    }
    std::string text(std::string_view key) {
        if (!table_.contains(key)) fail(key, "is missing");
        return text(key, "");
    }

    std::uint64_t number(std::string_view key, std::uint64_t otherwise, std::uint64_t low, std::uint64_t high) {
        const toml::node* node = take(key);
        if (node == nullptr) return otherwise;
        const auto value = node->value_exact<std::int64_t>();
        if (!value) fail(key, "expected a whole number");
        if (*value < 0 || static_cast<std::uint64_t>(*value) < low || static_cast<std::uint64_t>(*value) > high) {
            fail(key, fmt::format("expected a number from {} to {}, found {}", low, high, *value));
        }
        return static_cast<std::uint64_t>(*value);
    }
    std::uint64_t number(std::string_view key, std::uint64_t low, std::uint64_t high) {
        if (!table_.contains(key)) fail(key, "is missing");
        return number(key, 0, low, high);
    }

    bool flag(std::string_view key, bool otherwise) {
        const toml::node* node = take(key);
        if (node == nullptr) return otherwise;
        const auto value = node->value_exact<bool>();
        if (!value) fail(key, "expected true or false");
        return *value;
    }

    /// A point in time such as 2026-12-18T14:30:00Z; 0 when there is none.
    domain::time_ns time(std::string_view key) {
        const toml::node* node = take(key);
        if (node == nullptr) return {};
        const auto value = node->value_exact<toml::date_time>();
        if (!value || !value->offset) fail(key, "expected a time such as 2026-12-18T14:30:00Z");
        const std::chrono::year_month_day day{std::chrono::year{value->date.year},
                                              std::chrono::month{value->date.month}, std::chrono::day{value->date.day}};
        const auto& at = value->time;
        const std::int64_t second = std::chrono::sys_days{day}.time_since_epoch().count() * 86'400LL + at.hour * 3'600 +
                                    at.minute * 60 + at.second - value->offset->minutes * 60;
        return domain::time_ns{second * 1'000'000'000 + at.nanosecond};
    }

    std::vector<std::string> texts(std::string_view key, std::size_t count_max) {
        std::vector<std::string> all;
        const toml::node* node = take(key);
        if (node == nullptr) return all;
        const std::string expected = fmt::format("expected a list of at most {} texts in quotes", count_max);
        const toml::array* list = node->as_array();
        if (list == nullptr || list->size() > count_max) fail(key, expected);
        for (const toml::node& each : *list) {
            const auto value = each.value_exact<std::string>();
            if (!value) fail(key, expected);
            all.push_back(*value);
        }
        return all;
    }

    std::vector<std::uint64_t> numbers(std::string_view key, std::int64_t low, std::int64_t high) {
        std::vector<std::uint64_t> all;
        const toml::node* node = take(key);
        if (node == nullptr) return all;
        const std::string expected = fmt::format("expected a list of numbers from {} to {}", low, high);
        const toml::array* list = node->as_array();
        if (list == nullptr) fail(key, expected);
        for (const toml::node& each : *list) {
            const auto value = each.value_exact<std::int64_t>();
            if (!value || *value < low || *value > high) fail(key, expected);
            all.push_back(static_cast<std::uint64_t>(*value));
        }
        return all;
    }

    std::int64_t decimal(std::string_view key) {
        const std::string value = text(key);
        const domain::parsed_decimal read = domain::parse_decimal(value);
        if (!read.problem.empty()) fail(key, fmt::format("{} (found \"{}\")", read.problem, value));
        return read.nano;
    }

    /// Calls `read(table_reader&)` for the table of that name, if there is one.
    template <class Read>
    void table(std::string_view key, Read&& read) {
        const toml::node* node = take(key);
        if (node == nullptr) return;
        if (!node->is_table()) fail(key, "expected a table");
        table_reader reader(*node->as_table(), file_, fmt::format("{}.{}", name_, key));
        read(reader);
    }
    /// Calls `read(table_reader&)` for each table of a list.
    template <class Read>
    void tables(std::string_view key, std::size_t count_max, Read&& read) {
        const toml::node* node = take(key);
        if (node == nullptr) return;
        const std::string expected = fmt::format("expected a list of at most {} tables", count_max);
        const toml::array* list = node->as_array();
        if (list == nullptr || list->size() > count_max) fail(key, expected);
        for (const toml::node& each : *list) {
            if (!each.is_table()) fail(key, expected);
            table_reader reader(*each.as_table(), file_, fmt::format("{}.{}", name_, key));
            read(reader);
        }
    }

    bool is_text(std::string_view key) const {
        const toml::node* node = table_.get(key);
        return node != nullptr && node->is_string();
    }
    bool has(std::string_view key) const { return table_.contains(key); }
    void allow(std::string_view key) { known_.emplace(key); }

    /// Every key that nobody asked for is an error.
    void finish() const {
        for (const auto& [key, node] : table_) {
            if (known_.contains(std::string(key.str()))) continue;
            std::string names;
            for (const std::string& name : known_) names += (names.empty() ? "" : ", ") + name;
            fail(key.str(), "is not a key of this table; known are: " + names);
        }
    }

 private:
    const toml::node* take(std::string_view key) {
        known_.emplace(key);
        return table_.get(key);
    }

    const toml::table& table_;
    std::string file_;
    std::string name_;
    std::set<std::string> known_;
};

domain::allocation_policy read_allocation(table_reader& r) {
    domain::allocation_policy p;
    const std::string algorithm = r.text("algorithm");
    static constexpr std::string_view letters = "ACFKOQST";
    if (algorithm.size() != 1 || !letters.contains(algorithm[0])) {
        r.fail("algorithm", "expected one of: A, C, F, K, O, Q, S, T");
    }
    p.algorithm = static_cast<domain::match_algorithm>(algorithm[0]);
    const auto lots = [&](std::string_view key) {
        return static_cast<std::uint32_t>(r.number(key, 0, 0, domain::order_quantity_lots_max));
    };
    p.fifo_percent = static_cast<std::uint32_t>(r.number("fifo_percent", 0, 0, 100));
    p.levels = r.flag("levelling", false);
    p.top_minimum = lots("top_minimum");
    p.top_maximum = lots("top_maximum");
    p.pro_rata_minimum = lots("pro_rata_minimum");
    std::size_t makers_count = 0;
    r.tables("lead_market_makers", p.makers.size(), [&](table_reader& maker) {
        domain::lead_market_maker& m = p.makers[makers_count++];
        m.account = domain::account_id{static_cast<std::uint32_t>(maker.number("account", 1, gateway::account_id_max))};
        m.percent = static_cast<std::uint32_t>(maker.number("percent", 1, 100));
        maker.finish();
    });
    r.finish();
    if (const auto problem = domain::validate(p); !problem.empty()) r.fail("algorithm", std::string(problem));
    return p;
}

/// What an instrument is beside how it trades: an option's terms, a strategy's legs.
void read_terms(table_reader& r, domain::instrument& i) {
    static constexpr std::array<std::string_view, 3> rights{"", "call", "put"};
    const auto* right = std::find(rights.begin(), rights.end(), r.text("right", ""));
    if (right == rights.end()) r.fail("right", "expected one of: call, put");
    i.right = static_cast<domain::option_right>(right - rights.begin());
    if (r.has("strike")) i.strike = domain::price_nano{r.decimal("strike")};
    r.allow("strike");
    i.expiry = r.time("expiry");
    i.implied = r.flag("implied", false);
    r.tables("legs", domain::legs_max, [&](table_reader& leg) {
        domain::leg& l = i.legs[i.legs_count++];
        l.instrument =
            domain::instrument_id{static_cast<std::uint32_t>(leg.number("instrument", 1, domain::instruments_max))};
        l.ratio = static_cast<std::uint32_t>(leg.number("ratio", 1, 1, domain::leg_ratio_max));
        const std::string side = leg.text("side");
        if (side != "buy" && side != "sell") leg.fail("side", "expected one of: buy, sell");
        l.side = side == "buy" ? domain::side::buy : domain::side::sell;
        leg.finish();
    });
}

domain::instrument read_instrument(table_reader& r) {
    domain::instrument i;
    i.id = domain::instrument_id{static_cast<std::uint32_t>(r.number("id", 1, domain::instruments_max))};
    const std::string name = r.text("symbol");
    if (name.empty() || name.size() > domain::symbol_size_max) {
        r.fail("symbol", fmt::format("expected 1 to {} characters", domain::symbol_size_max));
    }
    i.name = domain::symbol{name};
    i.product = domain::product_id{static_cast<std::uint32_t>(r.number("product", 0, 0, UINT32_MAX))};
    static constexpr std::array<std::string_view, 4> kinds{"future", "option", "spread", "spot"};
    const std::string kind = r.text("kind", "future");
    const auto* found = std::find(kinds.begin(), kinds.end(), kind);
    if (found == kinds.end()) r.fail("kind", "expected one of: future, option, spread, spot");
    i.kind = static_cast<domain::instrument_kind>(found - kinds.begin());
    i.tick_size = domain::price_nano{r.decimal("tick_size")};
    if (i.tick_size.value <= 0) r.fail("tick_size", "expected a positive decimal");
    i.lot_size = static_cast<std::uint32_t>(r.number("lot_size", 1, 1, UINT32_MAX));
    const auto band = [&](std::string_view key, domain::price_ticks otherwise) {
        if (!r.has(key)) {
            r.allow(key);
            return otherwise;
        }
        const auto ticks = domain::to_ticks(i, domain::price_nano{r.decimal(key)});
        if (ticks.reason != domain::reject_reason::none) {
            r.fail(key, fmt::format("is not a price of this instrument: {}", domain::to_string(ticks.reason)));
        }
        return ticks.value;
    };
    // Without a band: as far as both the venue's ticks and 64 bits of billionths reach.
    const std::int64_t reach = std::min(domain::price_ticks_max, (INT64_MAX - 1) / i.tick_size.value);
    i.price_low = band("price_low", domain::price_ticks{-reach});
    i.price_high = band("price_high", domain::price_ticks{reach});
    read_terms(r, i);
    // Without a limit: as much as one order may be, in the strategy and in each of its legs.
    std::uint32_t lots_max = domain::order_quantity_lots_max;
    for (const domain::leg& l : i.legs_used()) lots_max = std::min(lots_max, domain::order_quantity_lots_max / l.ratio);
    i.order_quantity_max = domain::quantity_lots{
        static_cast<std::uint32_t>(r.number("order_quantity_max", lots_max, 1, domain::order_quantity_lots_max))};
    const auto distance = [&](std::string_view key) {
        const domain::price_ticks ticks = band(key, domain::price_ticks{0});
        if (ticks.value < 0) r.fail(key, "expected a distance, found a negative price");
        return ticks.value;
    };
    constexpr std::uint64_t milliseconds_max = 1ULL << 40;
    const auto duration = [&](std::string_view key) {
        return static_cast<std::int64_t>(r.number(key, 0, 0, milliseconds_max)) * 1'000'000;
    };
    i.dynamic_band = distance("dynamic_band");
    i.breaker_move = distance("breaker_move");
    i.breaker_window = duration("breaker_window_ms");
    i.breaker_halt = duration("breaker_halt_ms");
    i.volatility_auction = duration("volatility_auction_ms");
    r.table("matching", [&](table_reader& matching) { i.allocation = read_allocation(matching); });
    r.finish();
    if (const auto problem = domain::validate(i); !problem.empty()) r.fail("id", std::string(problem));
    return i;
}

/// Accounts that are named together, by the group's name.
using account_groups = std::map<std::string, std::vector<domain::account_id>>;

std::vector<domain::account_id> read_account_ids(table_reader& r, std::string_view key) {
    std::vector<domain::account_id> ids;
    for (const std::uint64_t id : r.numbers(key, 1, gateway::account_id_max)) {
        ids.emplace_back(static_cast<std::uint32_t>(id));
    }
    return ids;
}

void read_account_group(table_reader& r, account_groups& groups) {
    const std::string name = r.text("name");
    if (name.empty()) r.fail("name", "expected a name");
    std::vector<domain::account_id> members = read_account_ids(r, "members");
    if (members.empty()) r.fail("members", "a group needs at least one account");
    for (auto each = members.begin(); each != members.end(); ++each) {
        if (std::find(members.begin(), each, *each) != each) {
            r.fail("members", fmt::format("account {} is named twice", each->value));
        }
    }
    if (!groups.try_emplace(name, std::move(members)).second) r.fail("name", "is used twice");
    r.finish();
}

// Of a gateway among several; empty is the name of the only one.
std::string read_gateway_name(table_reader& r) {
    std::string name = r.text("gateway", "");
    if (name.size() > gateway_name_max) {
        r.fail("gateway", fmt::format("a gateway's name has at most {} characters", gateway_name_max));
    }
    return name;
}

gateway::account read_account(table_reader& r, const account_groups& groups) {
    gateway::account a;
    a.id = domain::account_id{static_cast<std::uint32_t>(r.number("id", 1, gateway::account_id_max))};
    a.name = r.text("name", fmt::format("account-{}", a.id.value));
    const auto key = wire::parse_api_key(r.text("key"));
    if (!key) r.fail("key", "expected 64 hexadecimal digits");
    a.key = *key;
    a.sessions_count = static_cast<std::uint32_t>(r.number("sessions", 1, 1, gateway::account_directory::sessions_max));
    a.is_operator = r.flag("operator", false);
    a.gateway = read_gateway_name(r);
    if (r.is_text("copies_of")) {
        const auto group = groups.find(r.text("copies_of"));
        if (group == groups.end()) r.fail("copies_of", "there is no [[account_group]] of this name");
        a.copies_of = group->second;
    } else {
        a.copies_of = read_account_ids(r, "copies_of");
    }
    if (a.is_operator && !a.copies_of.empty()) r.fail("copies_of", "an operator's account cannot be a drop copy");
    r.finish();
    return a;
}

segment_configuration read_segment(table_reader& r, std::uint32_t venue_orders_max) {
    segment_configuration s;
    s.name = r.text("name");
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    };
    if (s.name.empty() || s.name.size() > segment_name_max || !std::all_of(s.name.begin(), s.name.end(), is_plain)) {
        r.fail("name", fmt::format("expected 1 to {} letters, digits, '-' or '_'", segment_name_max));
    }
    for (const std::uint64_t id : r.numbers("products", 0, UINT32_MAX)) {
        s.products.push_back(domain::product_id{static_cast<std::uint32_t>(id)});
    }
    for (const std::uint64_t id : r.numbers("instruments", 1, domain::instruments_max)) {
        s.instruments.push_back(domain::instrument_id{static_cast<std::uint32_t>(id)});
    }
    s.orders_max = static_cast<std::uint32_t>(r.number("orders_max", venue_orders_max, 1, 100'000'000));
    s.feed_listen = r.text("feed_listen");
    s.snapshot_listen = r.text("snapshot_listen");
    s.depth_listen = r.text("depth_listen", "");
    s.lines = r.texts("lines", market_data::lines_max);
    s.retransmission_listen = r.text("retransmission_listen", "");
    if (s.lines.empty() && !s.retransmission_listen.empty()) {
        r.fail("retransmission_listen", "there are no lines whose packets could be lost");
    }
    r.finish();
    return s;
}

template <class Read>
void read_array(const toml::table& root, std::string_view key, const std::string& file, Read&& read) {
    const toml::node* node = root.get(key);
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    const auto line = node->source().begin.line;
    if (array == nullptr) {
        throw configuration_error(fmt::format("{}:{}: {}: expected tables headed [[{}]]", file, line, key, key));
    }
    for (const toml::node& element : *array) {
        const toml::table* table = element.as_table();
        if (table == nullptr) {
            throw configuration_error(fmt::format("{}:{}: {}: expected tables headed [[{}]]", file, line, key, key));
        }
        table_reader reader(*table, file, std::string(key));
        read(reader);
    }
}

template <class Read>
void read_table(const toml::table& root, std::string_view key, const std::string& file, Read&& read) {
    const toml::node* node = root.get(key);
    if (node == nullptr) return;
    const toml::table* table = node->as_table();
    if (table == nullptr) {
        throw configuration_error(
            fmt::format("{}:{}: {}: expected a table headed [{}]", file, node->source().begin.line, key, key));
    }
    table_reader reader(*table, file, std::string(key));
    read(reader);
    reader.finish();
}

void check_reserved(const toml::table& root, const std::string& file, const configuration& c) {
    const auto fail = [&](const std::string& what) {
        const auto line = root["venue"]["instruments_reserved"].node()->source().begin.line;
        throw configuration_error(fmt::format("{}:{}: venue.instruments_reserved: {}", file, line, what));
    };
    if (c.instruments_reserved == 0) return;
    if (!c.segments.empty()) fail("a venue of several segments defines no instruments while it runs");
    if (c.instruments.size() + c.instruments_reserved > domain::instruments_max) {
        fail(fmt::format("with those of the file, more than the {} that a venue can have", domain::instruments_max));
    }
}

/// Every instrument belongs to one segment, and a strategy to that of its legs.
void check_segments(const toml::table& root, const std::string& file, const configuration& c) {
    if (c.segments.empty()) return;
    std::size_t index = 0;
    read_array(root, "segment", file, [&](table_reader& r) {
        const segment_configuration& s = c.segments[index++];
        const auto is_elsewhere = [&](const auto& list, auto id) {
            return std::any_of(c.segments.begin(), c.segments.end(), [&](const segment_configuration& other) {
                return &other != &s && std::find((other.*list).begin(), (other.*list).end(), id) != (other.*list).end();
            });
        };
        for (const domain::product_id id : s.products) {
            if (is_elsewhere(&segment_configuration::products, id)) {
                r.fail("products", fmt::format("product {} is in another segment as well", id.value));
            }
        }
        for (const domain::instrument_id id : s.instruments) {
            if (is_elsewhere(&segment_configuration::instruments, id)) {
                r.fail("instruments", fmt::format("instrument {} is in another segment as well", id.value));
            }
            const auto is_that = [&](const domain::instrument& i) { return i.id == id; };
            if (std::none_of(c.instruments.begin(), c.instruments.end(), is_that)) {
                r.fail("instruments", fmt::format("there is no instrument {}", id.value));
            }
        }
        const auto is_here = [&](const domain::instrument& i) { return segment_of(c, i) + 1 == index; };
        if (std::none_of(c.instruments.begin(), c.instruments.end(), is_here)) {
            r.fail("name", "no instrument belongs to this segment");
        }
    });
    index = 0;
    read_array(root, "instrument", file, [&](table_reader& r) {
        const domain::instrument& i = c.instruments[index++];
        const std::size_t segment = segment_of(c, i);
        if (segment == c.segments.size()) r.fail("product", "no [[segment]] has this product or instrument");
        for (const domain::leg& l : i.legs_used()) {
            const auto leg = std::find_if(c.instruments.begin(), c.instruments.end(),
                                          [&](const domain::instrument& each) { return each.id == l.instrument; });
            if (segment_of(c, *leg) != segment) {
                r.fail("legs",
                       fmt::format("{} is in another segment: a strategy trades where its legs do", leg->name.view()));
            }
        }
    });
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
    for (const char* key : {"venue", "facility", "order_entry", "market_data", "event_log", "link", "metrics",
                            "instrument", "account", "account_group", "segment"}) {
        top.allow(key);
    }
    top.finish();
    read_table(root, "venue", file, [&](table_reader& r) {
        c.venue_name = r.text("name", c.venue_name);
        if (c.venue_name.empty() || c.venue_name.size() > 10) r.fail("name", "expected 1 to 10 characters");
        c.orders_max = static_cast<std::uint32_t>(r.number("orders_max", c.orders_max, 1, 100'000'000));
        c.instruments_reserved = static_cast<std::uint32_t>(
            r.number("instruments_reserved", c.instruments_reserved, 0, instruments_reserved_max));
        c.timing_sample_every =
            static_cast<std::uint32_t>(r.number("timing_sample_every", c.timing_sample_every, 0, 1'000'000'000));
    });
    read_table(root, "facility", file, [&](table_reader& r) {
        const std::string threading = r.text("threading", "inline");
        if (threading != "inline" && threading != "split") r.fail("threading", "expected \"inline\" or \"split\"");
        c.threading = threading == "split" ? threading_mode::split : threading_mode::inline_;
        c.journal_directory = r.text("journal", c.journal_directory);
        const auto durability = journal::durability_of(r.text("durability", "group"));
        if (!durability) r.fail("durability", "expected one of: none, async, group, each");
        c.durability = *durability;
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
        if (!root.contains("segment")) return;
        for (const char* key : {"snapshot_every", "journal_segments_kept", "journal_bytes_kept"}) {
            if (r.has(key))
                r.fail(key, "a venue of segments writes its snapshots when it ends, and keeps its journals");
        }
    });
    read_table(root, "order_entry", file, [&](table_reader& r) {
        c.order_entry_listen = r.text("listen", c.order_entry_listen);
        c.order_entry_tls_listen = r.text("tls_listen", "");
        c.order_entry_unix_listen = r.text("unix_listen", "");
        c.order_entry_websocket_listen = r.text("websocket_listen", "");
        c.order_entry_secure_websocket_listen = r.text("secure_websocket_listen", "");
        c.order_entry_certificate = r.text("certificate", "");
        c.order_entry_private_key = r.text("private_key", "");
        const bool is_encrypted = !c.order_entry_tls_listen.empty() || !c.order_entry_secure_websocket_listen.empty();
        if (is_encrypted && c.order_entry_certificate.empty()) r.fail("certificate", "needed for encryption");
        if (is_encrypted && c.order_entry_private_key.empty()) r.fail("private_key", "needed for encryption");
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
        c.logon_timeout = std::chrono::milliseconds{
            r.number("logon_timeout_ms", static_cast<std::uint64_t>(c.logon_timeout.count()), 10, 600'000)};
    });
    read_table(root, "market_data", file, [&](table_reader& r) {
        c.feed_listen = r.text("feed_listen", c.feed_listen);
        c.snapshot_listen = r.text("snapshot_listen", c.snapshot_listen);
        c.feed_log_bytes =
            r.number("feed_log_bytes", c.feed_log_bytes, market_data::feed_log_bytes_min, std::uint64_t{1} << 36U);
        c.lines = r.texts("lines", market_data::lines_max);
        c.retransmission_listen = r.text("retransmission_listen", c.retransmission_listen);
        c.multicast_interface =
            static_cast<std::uint32_t>(r.number("multicast_interface", c.multicast_interface, 0, INT32_MAX));
        c.multicast_hops = static_cast<std::uint32_t>(r.number("multicast_hops", c.multicast_hops, 0, 255));
        c.depth_listen = r.text("depth_listen", c.depth_listen);
        c.depth_levels = r.number("depth_levels", c.depth_levels, 1, market_data::depth_levels_max);
        c.conflation_interval = std::chrono::milliseconds{
            r.number("conflation_interval_ms", static_cast<std::uint64_t>(c.conflation_interval.count()), 1, 60'000)};
        if (c.lines.empty() && !c.retransmission_listen.empty()) {
            r.fail("retransmission_listen", "there are no lines whose packets could be lost");
        }
        if (!root.contains("segment")) return;
        for (const char* key : {"feed_listen", "snapshot_listen", "depth_listen", "lines", "retransmission_listen"}) {
            if (r.has(key)) r.fail(key, "every [[segment]] has its own feed; the address belongs there");
        }
    });
    read_table(root, "event_log", file, [&](table_reader& r) {
        c.event_log.directory = r.text("directory");
        c.event_log.file_bytes_max = r.number("file_bytes_max", c.event_log.file_bytes_max, 4'096, UINT64_MAX >> 1U);
        c.event_log.files_max = static_cast<std::uint32_t>(r.number("files_max", c.event_log.files_max, 1, 1'000'000));
    });
    read_table(root, "link", file, [&](table_reader& r) {
        c.link_listen = r.text("listen", "");
        c.link_connect = r.text("connect", c.link_listen);
        c.link_gateway = read_gateway_name(r);
    });
    read_table(root, "metrics", file, [&](table_reader& r) { c.metrics_listen = r.text("listen"); });
    std::set<std::uint32_t> instrument_ids;
    std::set<std::string> symbols;
    read_array(root, "instrument", file, [&](table_reader& r) {
        c.instruments.push_back(read_instrument(r));
        if (!instrument_ids.insert(c.instruments.back().id.value).second) r.fail("id", "is used twice");
        if (!symbols.emplace(c.instruments.back().name.view()).second) r.fail("symbol", "is used twice");
    });
    std::size_t index = 0;
    read_array(root, "instrument", file, [&](table_reader& r) {
        const auto problem = domain::validate_legs(c.instruments[index++], c.instruments);
        if (!problem.empty()) r.fail("legs", std::string(problem));
    });
    std::set<std::string> segment_names;
    read_array(root, "segment", file, [&](table_reader& r) {
        c.segments.push_back(read_segment(r, c.orders_max));
        if (!segment_names.insert(c.segments.back().name).second) r.fail("name", "is used twice");
        if (c.segments.size() > segments_max) r.fail("name", fmt::format("there may be {} segments", segments_max));
    });
    check_segments(root, file, c);
    check_reserved(root, file, c);
    account_groups groups;
    read_array(root, "account_group", file, [&](table_reader& r) { read_account_group(r, groups); });
    gateway::account_directory directory;
    std::set<std::string> gateways;
    read_array(root, "account", file, [&](table_reader& r) {
        c.accounts.push_back(read_account(r, groups));
        if (const std::string problem = directory.add(c.accounts.back()); !problem.empty()) r.fail("id", problem);
        gateways.insert(c.accounts.back().gateway);
        if (gateways.size() > gateways_max) r.fail("gateway", fmt::format("there may be {} gateways", gateways_max));
    });
    read_array(root, "account_group", file, [&](table_reader& r) {
        for (const domain::account_id member : read_account_ids(r, "members")) {
            if (directory.find(member) != nullptr) continue;
            r.fail("members", fmt::format("{} is no [[account]] of the venue", member.value));
        }
    });
    if (c.instruments.empty())
        throw configuration_error(file + ":1: instrument: the venue needs at least one [[instrument]]");
    if (c.accounts.empty()) throw configuration_error(file + ":1: account: the venue needs at least one [[account]]");
    return c;
}

configuration load_configuration(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw configuration_error(path + ":0: the file cannot be opened; give one with --config FILE");
    if (std::filesystem::is_directory(path)) {
        throw configuration_error(path + ":0: is a directory; name the file in it with --config FILE");
    }
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return parse_configuration(text, path);
}

std::size_t segment_of(const configuration& c, const domain::instrument& i) noexcept {
    const auto names = [](const auto& list, auto id) { return std::find(list.begin(), list.end(), id) != list.end(); };
    for (std::size_t k = 0; k < c.segments.size(); ++k) {
        if (names(c.segments[k].instruments, i.id)) return k;
    }
    for (std::size_t k = 0; k < c.segments.size(); ++k) {
        if (names(c.segments[k].products, i.product)) return k;
    }
    return c.segments.size();
}

configuration configuration_of_segment(const configuration& c, std::size_t index) {
    const segment_configuration& s = c.segments[index];
    configuration own = c;
    own.segments.clear();
    own.shard = static_cast<std::uint32_t>(index);
    own.feed_session = s.name;
    own.orders_max = s.orders_max;
    own.feed_listen = s.feed_listen;
    own.snapshot_listen = s.snapshot_listen;
    own.depth_listen = s.depth_listen;
    own.lines = s.lines;
    own.retransmission_listen = s.retransmission_listen;
    if (!c.journal_directory.empty()) own.journal_directory = c.journal_directory + "/" + s.name;
    std::erase_if(own.instruments, [&](const domain::instrument& i) { return segment_of(c, i) != index; });
    return own;
}

facility::facility_options facility_options_of(const configuration& c) {
    facility::facility_options options;
    options.orders_max = c.orders_max;
    options.instruments_reserved = c.instruments_reserved;
    for (const gateway::account& a : c.accounts) options.accounts_max = std::max(options.accounts_max, a.id.value + 1);
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
