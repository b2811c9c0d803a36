// F4: the current version reads journals and snapshots of former versions, and still writes the same bytes.

#include <array>
#include <cstring>

#include "base/random.hpp"
#include "domain/definition.hpp"
#include "domain/fingerprint.hpp"
#include "domain/long_name.hpp"
#include "facility/facility.hpp"
#include "golden_fixture.hpp"
#include "journal/snapshot_store.hpp"
#include "journal/test_journal.hpp"
#include "sim/disk.hpp"

namespace corro {
namespace {

using testing::golden_bytes;

constexpr std::uint64_t commands_count = 12;
const std::string segment_path = "j/" + journal::segment_name(1);

/// Every field of version 1 has a different value, so that the test notices a moved field. The command is not
/// meaningful: nearly all bytes have a value, of whichever kind.
domain::command golden_command(std::uint64_t n) {
    const auto small = static_cast<std::uint32_t>(n);
    domain::command c;
    c.sequence = domain::sequence_number{n};
    c.time = domain::time_ns{1'700'000'000'000'000'000 + static_cast<std::int64_t>(n)};
    c.session = domain::session_id{100 + small};
    c.account = domain::account_id{200 + small};
    c.instrument = domain::instrument_id{300 + small};
    c.kind = n % 2 == 0 ? domain::command_kind::enter_order : domain::command_kind::amend_order;
    c.terms.order.side = n % 3 == 0 ? domain::side::sell : domain::side::buy;
    c.terms.order.type = domain::order_type::stop_limit;
    c.terms.order.time_in_force = domain::time_in_force::gtd;
    c.client_order = domain::client_order_id{400 + n};
    c.payload.amend_order.order = domain::order_id{500 + n};
    c.payload.enter_order.price = domain::price_ticks{-600 - static_cast<std::int64_t>(n)};
    c.payload.enter_order.quantity = domain::quantity_lots{700 + small};
    c.set_verdict(n % 5 == 0 ? domain::reject_reason::throttled : domain::reject_reason::none);
    c.payload.enter_order.self_match_prevention = domain::self_match_prevention::decrement;
    c.payload.enter_order.flags = domain::order_flag::post_only;
    c.payload.cancel_orders.scope = domain::cancel_scope::session;
    c.set_request(800 + small);
    c.payload.amend_order.target_request = 900 + small;
    c.payload.enter_order.trigger_price = domain::price_ticks{1'000 + static_cast<std::int64_t>(n)};
    c.payload.enter_order.display_quantity = domain::quantity_lots{1'100 + small};
    c.payload.enter_order.minimum_quantity = domain::quantity_lots{1'200 + small};
    c.payload.cancel_orders.product = domain::product_id{1'300 + small};
    c.payload.cancel_orders.sides = domain::cancel_sides::sell;
    c.payload.change_phase.phase = domain::trading_phase::halted;
    c.set_operator(true);
    c.payload.enter_order.expire_time = domain::time_ns{1'400 + static_cast<std::int64_t>(n)};
    c.payload.enter_order.self_match_group = 1'500 + small;
    c.payload.amend_order.other_account = domain::account_id{1'600 + small};
    return c;
}

/// Commands of the kinds that were added to version 2.
constexpr std::uint64_t added_count = 5;
domain::command added_command(std::uint64_t n) {
    const auto small = static_cast<std::uint32_t>(n);
    domain::command c;
    c.sequence = domain::sequence_number{n};
    c.time = domain::time_ns{1'700'000'000'000'000'000 + static_cast<std::int64_t>(n)};
    switch (n) {
        case 1:
        case 5:
            c.kind = domain::command_kind::cancel_on_disconnect;
            c.cancel_on_disconnect().state = n == 1 ? domain::switch_state::on : domain::switch_state::off;
            c.session = domain::session_id{101};
            c.account = domain::account_id{1};
            break;
        case 2:
            c.kind = domain::command_kind::new_trading_day;
            c.set_operator(true);
            c.instrument = domain::instrument_id{2};
            c.set_request(800 + small);
            break;
        case 3:
            c.kind = domain::command_kind::define_account;
            c.set_operator(true);
            c.define_account().other_account = domain::account_id{5};
            c.define_account().first_session = domain::session_id{31};
            c.define_account().sessions_count = 4;
            break;
        default:
            c.kind = domain::command_kind::set_account_limits;
            c.set_operator(true);
            c.set_limits().other_account = domain::account_id{5};
            c.set_limits().firm = 6;
            c.set_limits().order_quantity_max = domain::quantity_lots{700};
            c.set_limits().position_max = domain::quantity_lots{800};
            c.set_limits().open_orders_max = 900;
            c.set_limits().notional_max = 1'000'000;
            break;
    }
    return c;
}

/// A kind that was added after those.
domain::command session_day_command(std::uint64_t n) {
    domain::command c;
    c.kind = static_cast<domain::command_kind>(29);
    c.sequence = domain::sequence_number{n};
    c.time = domain::time_ns{1'700'000'000'000'000'000};
    c.session = domain::session_id{101};
    c.account = domain::account_id{1};
    c.reset_session_numbers().day_begin = domain::time_ns{1'699'999'200'000'000'000};
    return c;
}

/// A kind that was added after that, and names that older kinds have got.
constexpr std::uint64_t named_count = 5;
domain::command named_command(std::uint64_t n) {
    domain::command c;
    constexpr std::array<std::uint8_t, named_count> kinds{30, 2, 3, 4, 18};
    c.kind = static_cast<domain::command_kind>(kinds[n - 1]);
    c.sequence = domain::sequence_number{n};
    c.time = domain::time_ns{1'700'000'000'000'000'000};
    c.session = domain::session_id{101};
    c.account = domain::account_id{1};
    if (c.kind == domain::command_kind::count_messages) {
        c.count_messages().number = 11;
        c.count_messages().count = 22;
        c.count_messages().next_answer = 33;
        return c;
    }
    c.instrument = domain::instrument_id{2};
    c.set_request(700 + static_cast<std::uint32_t>(n));
    c.client_order = domain::client_order_id{900};
    c.request_name() = domain::client_order_id{900 + n};
    return c;
}

using command_maker = domain::command (*)(std::uint64_t);

/// A closed journal of these commands in one block.
io::task<> write_golden_journal(journal::storage* files, command_maker make = &golden_command,
                                std::uint64_t count = commands_count) {
    auto options = journal::small_options(journal::durability::group, journal::segment_bytes_min);
    auto log = co_await journal::open_writer(files, "j", std::move(options));
    CORRO_REQUIRE(log.has_value());
    for (std::uint64_t n = 1; n <= count; ++n) EXPECT_TRUE((*log)->append(make(n)));
    io::context& on = co_await io::this_context();
    io::task_scope scope(on);
    scope.spawn((*log)->run());
    (*log)->close();
    co_await scope.join();
}

/// Returns the number of these commands that the journal has unchanged and in order, and the first error.
io::task<std::uint64_t> count_golden_commands(journal::storage* files, std::string* problem,
                                              command_maker make = &golden_command) {
    std::uint64_t count = 0;
    const journal::reader_options options = journal::from(1);
    auto opened = co_await journal::reader::open(files, "j", options);
    while (opened) {
        const auto commands = co_await (*opened)->next();
        if (!commands) *problem = commands.error().text;
        if (!commands || commands->empty()) break;
        for (const domain::command& c : *commands) {
            const domain::command expected = make(count + 1);
            if (std::memcmp(&c, &expected, sizeof c) != 0) co_return count;
            ++count;
        }
    }
    if (!opened) *problem = opened.error().text;
    co_return count;
}

class golden_journal : public ::testing::Test {
 protected:
    golden_journal() { disk.put_directory("j"); }

    io::context ctx;
    sim::disk disk{sim::disk_pace::in_turns};
};

TEST_F(golden_journal, F4_the_journal_of_every_version_is_read_command_by_command) {
    const auto versions = testing::golden_versions("journal", ".segment");
    ASSERT_FALSE(versions.empty());
    for (const std::uint32_t version : versions) {
        disk.put(segment_path, *testing::read_golden("journal.v" + std::to_string(version) + ".segment"));
        std::string problem;
        EXPECT_EQ(io::block_on(ctx, count_golden_commands(&disk, &problem)), commands_count) << "version " << version;
        EXPECT_EQ(problem, "");
    }
}

TEST_F(golden_journal, F4_the_journal_is_written_with_the_same_bytes) {
    io::block_on(ctx, write_golden_journal(&disk));
    const std::string name = "journal.v" + std::to_string(journal::format_version) + ".segment";
    const auto file = testing::current_golden(name, disk.bytes_of(segment_path));
    if (!file) GTEST_SKIP() << "this version of the format has no golden file yet";
    EXPECT_EQ(disk.bytes_of(segment_path), *file);
}

/// And one after those.
domain::command text_command(std::uint64_t n) {
    domain::command c = domain::name_order_of("a text of sixty-three characters, which is as many as there may");
    c.sequence = domain::sequence_number{n};
    c.time = domain::time_ns{1'700'000'000'000'000'000};
    c.session = domain::session_id{101};
    c.account = domain::account_id{1};
    c.instrument = domain::instrument_id{2};
    c.name_order().request_kind = 1;
    return c;
}

// A separate file, because the file of the version is older than these kinds.
TEST_F(golden_journal, F4_kinds_of_commands_that_were_added_are_read_and_written_with_the_same_bytes) {
    io::block_on(ctx, write_golden_journal(&disk, &added_command, added_count));
    const auto current = testing::current_golden("kinds.v2.segment", disk.bytes_of(segment_path));
    ASSERT_TRUE(current);
    if (journal::format_version == 2) {
        EXPECT_EQ(disk.bytes_of(segment_path), *current);
    }
    disk.put(segment_path, *current);
    std::string problem;
    EXPECT_EQ(io::block_on(ctx, count_golden_commands(&disk, &problem, &added_command)), added_count);
    EXPECT_EQ(problem, "");
}

TEST_F(golden_journal, F4_the_reset_of_a_session_is_read_and_written_with_the_same_bytes) {
    EXPECT_EQ(session_day_command(1).kind, domain::command_kind::reset_session_numbers);
    io::block_on(ctx, write_golden_journal(&disk, &session_day_command, 1));
    const auto current = testing::current_golden("kinds.v2.1.segment", disk.bytes_of(segment_path));
    ASSERT_TRUE(current);
    if (journal::format_version == 2) {
        EXPECT_EQ(disk.bytes_of(segment_path), *current);
    }
    disk.put(segment_path, *current);
    std::string problem;
    EXPECT_EQ(io::block_on(ctx, count_golden_commands(&disk, &problem, &session_day_command)), 1U);
    EXPECT_EQ(problem, "");
}

TEST_F(golden_journal, F4_names_of_requests_and_counted_messages_are_read_and_written_with_the_same_bytes) {
    EXPECT_EQ(named_command(1).kind, domain::command_kind::count_messages);
    EXPECT_TRUE(named_command(named_count).may_have_name());
    io::block_on(ctx, write_golden_journal(&disk, &named_command, named_count));
    const auto current = testing::current_golden("kinds.v2.2.segment", disk.bytes_of(segment_path));
    ASSERT_TRUE(current);
    if (journal::format_version == 2) {
        EXPECT_EQ(disk.bytes_of(segment_path), *current);
    }
    disk.put(segment_path, *current);
    std::string problem;
    EXPECT_EQ(io::block_on(ctx, count_golden_commands(&disk, &problem, &named_command)), named_count);
    EXPECT_EQ(problem, "");
}

TEST_F(golden_journal, F4_texts_of_names_are_read_and_written_with_the_same_bytes) {
    EXPECT_EQ(text_command(1).kind, static_cast<domain::command_kind>(31));
    io::block_on(ctx, write_golden_journal(&disk, &text_command, 1));
    const auto current = testing::current_golden("kinds.v2.3.segment", disk.bytes_of(segment_path));
    ASSERT_TRUE(current);
    if (journal::format_version == 2) {
        EXPECT_EQ(disk.bytes_of(segment_path), *current);
    }
    disk.put(segment_path, *current);
    std::string problem;
    EXPECT_EQ(io::block_on(ctx, count_golden_commands(&disk, &problem, &text_command)), 1U);
    EXPECT_EQ(problem, "");
}

// The control: the test notices a valid journal in which one command differs in any byte.
TEST_F(golden_journal, F4_control_a_command_that_differs_in_one_byte_is_noticed) {
    for (std::size_t at = 0; at < sizeof(domain::command); ++at) {
        golden_bytes bytes = *testing::read_golden("journal.v1.segment");
        const auto header = journal::decode_segment_header(std::span(bytes).first(journal::segment_header_bytes));
        ASSERT_TRUE(header);
        const std::size_t header_bytes = journal::block_header_bytes_in(*header);
        const std::size_t size = header_bytes + commands_count * sizeof(domain::command);
        const std::span<std::byte> block = std::span(bytes).subspan(journal::segment_header_bytes, size);
        block[header_bytes + 3 * sizeof(domain::command) + at] ^= std::byte{1};
        journal::encode_block(*header, 1, 0, block);
        disk.put(segment_path, bytes);
        std::string problem;
        EXPECT_LT(io::block_on(ctx, count_golden_commands(&disk, &problem)), commands_count) << "byte " << at;
    }
}

// --- Snapshots ------------------------------------------------------------------------------------------------------

journal::snapshot_header golden_header() {
    journal::snapshot_header about;
    about.sequence = commands_count;
    about.epoch = 7;
    about.created_ns = 1'700'000'000'000'000'000;
    about.state_hash = 0x0123'4567'89AB'CDEF;
    return about;
}

golden_bytes golden_state() {
    golden_bytes state(1'000);
    for (std::size_t i = 0; i < state.size(); ++i) state[i] = static_cast<std::byte>(i * 7);
    return state;
}

io::task<std::string> save_golden_snapshot(journal::storage* files) {
    journal::snapshot_store store(files, "j", journal::test_venue);
    const golden_bytes state = golden_state();
    const auto saved = co_await store.save(golden_header(), state);
    co_return saved ? std::string() : saved.error().text;
}

io::task<std::string> load_golden_snapshot(journal::storage* files) {
    journal::snapshot_store store(files, "j", journal::test_venue);
    const auto found = co_await store.load(commands_count);
    if (!found) co_return found.error().text;
    const journal::snapshot_header expected = golden_header();
    const journal::snapshot_header& about = found->about;
    const bool same = about.sequence == expected.sequence && about.epoch == expected.epoch &&
                      about.created_ns == expected.created_ns && about.state_hash == expected.state_hash &&
                      found->bytes == golden_state();
    co_return same ? std::string() : std::string("it says something else");
}

TEST_F(golden_journal, F4_a_snapshot_of_every_version_is_read_and_the_current_one_is_written_the_same) {
    EXPECT_EQ(io::block_on(ctx, save_golden_snapshot(&disk)), "");
    const std::string path = "j/" + journal::snapshot_name(commands_count);
    const auto current = testing::current_golden("snapshot.v1.snapshot", disk.bytes_of(path));
    ASSERT_TRUE(current);
    EXPECT_EQ(disk.bytes_of(path), *current);
    for (const std::uint32_t version : testing::golden_versions("snapshot", ".snapshot")) {
        golden_bytes bytes = *testing::read_golden("snapshot.v" + std::to_string(version) + ".snapshot");
        disk.put(path, bytes);
        EXPECT_EQ(io::block_on(ctx, load_golden_snapshot(&disk)), "") << "version " << version;
        bytes.back() ^= std::byte{1};
        disk.put(path, bytes);
        EXPECT_NE(io::block_on(ctx, load_golden_snapshot(&disk)), "") << "the control";
    }
}

// --- The state in a snapshot ----------------------------------------------------------------------------------------

std::vector<domain::instrument> golden_instruments() {
    std::vector<domain::instrument> instruments(2);
    for (std::uint32_t i = 0; i < 2; ++i) {
        instruments[i].id = domain::instrument_id{i + 1};
        instruments[i].name = domain::symbol{i == 0 ? "ONE" : "TWO"};
        instruments[i].tick_size = domain::price_nano{250'000'000};
        instruments[i].price_low = domain::price_ticks{0};
        instruments[i].price_high = domain::price_ticks{20'000};
    }
    return instruments;
}

struct nobody final : facility::event_consumer {
    void consume(std::span<const domain::event>) noexcept override {}
};

/// A facility that has executed some hundred orders, some of which traded.
struct golden_facility {
    explicit golden_facility(std::uint32_t instruments_reserved = 0)
        : options{.orders_max = 1'000,
                  .accounts_max = 8,
                  .positions_max = 100,
                  .instruments_reserved = instruments_reserved},
          state(options, golden_instruments(), consumer) {}

    void trade() {
        base::prng random(4);
        for (std::uint64_t n = 1; n <= 300; ++n) {
            domain::command c;
            c.sequence = domain::sequence_number{n};
            c.time = domain::time_ns{static_cast<std::int64_t>(1'000'000 * n)};
            c.account = domain::account_id{static_cast<std::uint32_t>(1 + random.below(3))};
            c.session = domain::session_id{c.account.value};
            c.set_request(static_cast<std::uint32_t>(n));
            c.instrument = domain::instrument_id{static_cast<std::uint32_t>(1 + random.below(2))};
            c.client_order = domain::client_order_id{n};
            c.order_terms().side = random.below(2) == 0 ? domain::side::buy : domain::side::sell;
            c.enter_order().price = domain::price_ticks{990 + static_cast<std::int64_t>(random.below(21))};
            c.enter_order().quantity = domain::quantity_lots{static_cast<std::uint32_t>(1 + random.below(20))};
            c.order_terms().time_in_force = domain::time_in_force::gtc;
            state.apply(c);
        }
    }
    /// Defines a new instrument and enters an order in it.
    void define() {
        domain::definition d;
        d.id = domain::instrument_id{9};
        d.like = domain::instrument_id{2};
        d.name = domain::symbol("NINE");
        d.given = domain::definition_field::expiry | domain::definition_field::price_high;
        d.expiry = domain::time_ns{1'800'000'000'000'000'000};
        d.price_high = domain::price_nano{2'500'000'000'000};
        domain::command opening;
        opening.kind = domain::command_kind::change_phase;
        opening.instrument = d.id;
        domain::command order;
        order.account = domain::account_id{1};
        order.session = domain::session_id{1};
        order.instrument = d.id;
        order.enter_order().price = domain::price_ticks{10'000};
        order.enter_order().quantity = domain::quantity_lots{7};
        order.order_terms().time_in_force = domain::time_in_force::gtc;
        std::uint64_t n = 300;
        for (domain::command c : {domain::command_of(d), opening, order}) {
            c.sequence = domain::sequence_number{++n};
            c.time = domain::time_ns{static_cast<std::int64_t>(1'000'000 * n)};
            c.set_operator(true);
            state.apply(c);
        }
    }
    [[nodiscard]] golden_bytes saved() const {
        golden_bytes bytes;
        base::memory_sink sink(bytes);
        EXPECT_TRUE(state.save(sink));
        return bytes;
    }

    nobody consumer;
    facility::facility_options options;
    facility::facility state;
};

TEST(golden_state, F4_of_every_version_is_taken_or_refused_by_its_version_and_never_misread) {
    golden_facility traded;
    traded.trade();
    static_cast<void>(testing::current_golden(
        "state.v" + std::to_string(facility::snapshot_header::version_now) + ".bin", traded.saved()));
    const auto versions = testing::golden_versions("state", ".bin");
    ASSERT_FALSE(versions.empty());
    for (const std::uint32_t version : versions) {
        const golden_bytes file = *testing::read_golden("state.v" + std::to_string(version) + ".bin");
        golden_facility loaded;
        base::memory_source source(file);
        const std::error_code error = loaded.state.load(source);
        if (version != facility::snapshot_header::version_now && error == facility::snapshot_errc::unsupported_version)
            continue;  // the venue replays its journal instead
        EXPECT_EQ(error, std::error_code()) << "version " << version;
        EXPECT_EQ(loaded.state.position().sequence.value, 300U);
        EXPECT_GT(loaded.state.open_orders_count(), 20U);
        EXPECT_EQ(loaded.saved(), file) << "version " << version;
    }
}

TEST(golden_state, F4_a_defined_instrument_is_read_from_what_every_version_wrote) {
    golden_facility traded(2);
    traded.trade();
    traded.define();
    static_cast<void>(testing::current_golden(
        "defined.v" + std::to_string(facility::snapshot_header::version_now) + ".bin", traded.saved()));
    const auto versions = testing::golden_versions("defined", ".bin");
    ASSERT_FALSE(versions.empty());
    for (const std::uint32_t version : versions) {
        const golden_bytes file = *testing::read_golden("defined.v" + std::to_string(version) + ".bin");
        golden_facility loaded(2);
        base::memory_source source(file);
        const std::error_code error = loaded.state.load(source);
        if (version != facility::snapshot_header::version_now && error == facility::snapshot_errc::unsupported_version)
            continue;  // the venue replays its journal instead
        ASSERT_EQ(error, std::error_code()) << "version " << version;
        ASSERT_EQ(loaded.state.defined().size(), 1U);
        const domain::instrument& nine = loaded.state.defined()[0];
        EXPECT_EQ(nine.name.view(), "NINE");
        EXPECT_EQ(nine.expiry.value, 1'800'000'000'000'000'000);
        EXPECT_EQ(nine.price_high.value, 10'000);
        EXPECT_EQ(loaded.state.top_of(nine.id).bid_quantity.value, 7U);
        EXPECT_EQ(loaded.saved(), file) << "version " << version;
    }
}

// The numbers and the effects of the kinds are those of the golden journal.
TEST(golden_state, F4_commands_that_were_added_do_what_they_did) {
    EXPECT_EQ(static_cast<int>(added_command(1).kind), 25);
    EXPECT_EQ(static_cast<int>(added_command(2).kind), 26);
    EXPECT_EQ(static_cast<int>(added_command(3).kind), 27);
    EXPECT_EQ(static_cast<int>(added_command(4).kind), 28);
    golden_facility venue;
    venue.trade();
    EXPECT_NE(venue.state.volumes_of(domain::instrument_id{2}).volume.value, 0U);
    for (std::uint64_t n = 1; n <= added_count; ++n) {
        domain::command c = added_command(n);
        c.sequence = domain::sequence_number{300 + n};
        venue.state.apply(c);
    }
    EXPECT_EQ(venue.state.volumes_of(domain::instrument_id{2}).volume.value, 0U);
    EXPECT_NE(venue.state.volumes_of(domain::instrument_id{1}).volume.value, 0U);
    ASSERT_EQ(venue.state.defined_accounts().size(), 1U);
    EXPECT_EQ(venue.state.defined_accounts()[0],
              (domain::defined_account{domain::account_id{5}, domain::session_id{31}, 4}));
    const domain::account_limits limits = venue.state.limits_of(domain::account_id{5});
    EXPECT_EQ(limits.firm, 6U);
    EXPECT_EQ(limits.order_quantity_max, 700U);
    EXPECT_EQ(limits.position_max, 800U);
    EXPECT_EQ(limits.open_orders_max, 900U);
    EXPECT_EQ(limits.notional_max, 1'000'000);
}

// Every segment and snapshot contains the fingerprint. A changed computation would make all existing journals
// unreadable.
TEST(golden_state, F4_the_fingerprint_of_instruments_stays) {
    EXPECT_EQ(domain::fingerprint_of(golden_instruments()), 15'837'643'347'868'997'630U);
}

}  // namespace
}  // namespace corro
