// SPDX-License-Identifier: Apache-2.0
#include "apps/corro/desk/disturbance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "apps/corro/desk/vocabulary.hpp"
#include "base/assert.hpp"
#include "base/nearest_name.hpp"
#include "domain/instrument.hpp"
#include "fix/codec/frame.hpp"
#include "fix/limits.hpp"
#include "wire/binary_codec.hpp"

namespace corro::app::desk {
namespace {

constexpr std::uint32_t delay_ms_max = 60'000;
constexpr std::uint32_t spoiled_max = 1'000'000;
constexpr std::string_view fix_begin = "8=FIX";
/// Bytes that show which protocol a client speaks: "8=FIX", or the schema id behind two numbers.
constexpr std::size_t recognised_by_bytes = 6;
constexpr std::uint16_t binary_schema_id = 4125;
// Above every band that limits anything, and within the prices that a venue can hold; and an instrument that no venue
// has.
constexpr std::int64_t absurd_price_nano = 10'000'000'000'000'000;
constexpr std::uint32_t absurd_instrument = 0xffff'fffe;

constexpr std::array<std::pair<std::string_view, link_wish>, 9> link_words{{{"hold", link_wish::hold},
                                                                            {"go", link_wish::go},
                                                                            {"cut", link_wish::cut},
                                                                            {"reset", link_wish::reset},
                                                                            {"close", link_wish::close},
                                                                            {"open", link_wish::open},
                                                                            {"status", link_wish::status},
                                                                            {"help", link_wish::help},
                                                                            {"quit", link_wish::quit}}};

constexpr std::array<std::pair<std::string_view, spoiled_part>, 3> part_words{
    {{"quantity", spoiled_part::quantity}, {"price", spoiled_part::price}, {"instrument", spoiled_part::instrument}}};

std::optional<std::uint32_t> number_of(std::string_view word, std::uint32_t most) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || number > most) return std::nullopt;
    return number;
}

std::expected<disturbance, std::string> parse_delay(std::span<const std::string_view> words) {
    const std::string wrong = fmt::format("delay MS [MS]: one or two numbers up to {}", delay_ms_max);
    if (words.empty() || words.size() > 2) return std::unexpected(wrong);
    const auto least = number_of(words.front(), delay_ms_max);
    const auto most = number_of(words.back(), delay_ms_max);
    if (!least || !most) return std::unexpected(wrong);
    if (*least > *most) return std::unexpected("delay: the first time must not be above the second");
    return delay_wish{std::chrono::milliseconds(*least), std::chrono::milliseconds(*most)};
}

std::expected<disturbance, std::string> parse_spoil(std::span<const std::string_view> words) {
    const std::string wrong = fmt::format("spoil COUNT [quantity | price | instrument]: a count up to {}", spoiled_max);
    if (words.empty() || words.size() > 2) return std::unexpected(wrong);
    const auto count = number_of(words.front(), spoiled_max);
    if (!count) return std::unexpected(wrong);
    if (words.size() == 1) return spoil_wish{*count, spoiled_part::quantity};
    const auto* const part =
        std::ranges::find(part_words, words.back(), &std::pair<std::string_view, spoiled_part>::first);
    if (part == part_words.end()) return std::unexpected(wrong);
    return spoil_wish{*count, part->second};
}

void append(std::vector<std::byte>& out, std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    out.insert(out.end(), bytes.begin(), bytes.end());
}

template <class Number>
void store_big_endian(Number number, std::span<std::byte, sizeof(Number)> into) noexcept {
    for (std::size_t at = into.size(); at-- > 0; number >>= 8U) into[at] = static_cast<std::byte>(number & 0xffU);
}

/// The field in the body, from its tag to its SOH; empty if there is none.
std::string_view field_of(std::string_view body, std::string_view tag_and_equals) {
    for (std::size_t at = 0; at < body.size();) {
        const std::size_t end = body.find(fix::soh, at);
        if (end == std::string_view::npos) return {};
        if (body.substr(at).starts_with(tag_and_equals)) return body.substr(at, end + 1 - at);
        at = end + 1;
    }
    return {};
}

}  // namespace

std::expected<disturbance, std::string> parse_disturbance(std::string_view line) {
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) return std::unexpected("an empty line; see: help");
    const std::span<const std::string_view> rest = std::span(words).subspan(1);
    if (words.front() == "delay") return parse_delay(rest);
    if (words.front() == "spoil") return parse_spoil(rest);
    const auto* const found =
        std::ranges::find(link_words, words.front(), &std::pair<std::string_view, link_wish>::first);
    if (found == link_words.end()) {
        std::vector<std::string_view> known{"delay", "spoil"};
        for (const auto& [word, wish] : link_words) known.push_back(word);
        const std::string_view meant = base::nearest_name(words.front(), known);
        return std::unexpected(meant.empty()
                                   ? fmt::format("unknown command \"{}\"; see: help", words.front())
                                   : fmt::format("unknown command \"{}\"; did you mean {}?", words.front(), meant));
    }
    if (!rest.empty()) return std::unexpected(fmt::format("{}: unexpected \"{}\"", words.front(), rest.front()));
    return found->second;
}

const std::vector<std::string>& disturbance_help() {
    static const std::vector<std::string> lines{
        "delay 200         passes everything on 200 ms later, in both directions; delay 0 ends it",
        "delay 50 250      the same, each piece by a time between the two",
        "hold, go          passes nothing on, and keeps the connections; continues",
        "cut               ends all connections, as a venue that shuts down without a logout",
        "reset             the same, as a machine that has lost its memory (TCP reset)",
        "close, open       refuses new connections; accepts them again",
        "spoil 3           has the venue refuse the next 3 orders: their quantity becomes 0",
        "spoil 3 price     the same by the price 10000000 (orders with a limit only)",
        "spoil 3 instrument   the same by an instrument that does not exist",
        "status            prints connections, bytes and spoiled orders",
        "quit              ends the proxy"};
    return lines;
}

void order_spoiler::pass(std::span<const std::byte> bytes, std::vector<std::byte>& out) {
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
    if (speaks_ == protocol::unknown) speaks_ = recognised();
    std::size_t done = 0;
    while (done < pending_.size()) {
        const std::span<std::byte> rest = std::span(pending_).subspan(done);
        std::size_t passed = 0;
        if (speaks_ == protocol::binary) passed = pass_binary(rest, out);
        if (speaks_ == protocol::fix) passed = pass_fix(rest, out);
        if (speaks_ == protocol::other) {
            out.insert(out.end(), rest.begin(), rest.end());
            passed = rest.size();
        }
        done += passed;
        if (passed == 0 && speaks_ != protocol::other) break;
    }
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(done));
}

void order_spoiler::finish(std::vector<std::byte>& out) {
    out.insert(out.end(), pending_.begin(), pending_.end());
    pending_.clear();
}

order_spoiler::protocol order_spoiler::recognised() const noexcept {
    if (pending_.size() < recognised_by_bytes) return protocol::unknown;
    if (std::memcmp(pending_.data(), fix_begin.data(), fix_begin.size()) == 0) return protocol::fix;
    const auto schema = (std::to_integer<unsigned>(pending_[4]) << 8U) | std::to_integer<unsigned>(pending_[5]);
    return schema == binary_schema_id ? protocol::binary : protocol::other;
}

void order_spoiler::count_one() noexcept {
    --wanted_->count;
    ++spoiled_count_;
}

// Returns the bytes of one message, which it has passed on; 0 if it is not complete.
std::size_t order_spoiler::pass_binary(std::span<std::byte> pending, std::vector<std::byte>& out) {
    const auto found = wire::next_frame(pending);
    if (!found) {
        speaks_ = protocol::other;
        return 0;
    }
    if (!*found) return 0;
    const wire::frame& frame = **found;
    const std::span<std::byte> message = pending.first(frame.size());
    const bool is_order =
        frame.message == wire::template_id::enter_order && frame.block_bytes >= wire::enter_order::block_bytes;
    if (is_order && wanted_->count != 0) {
        const wire::enter_order_view view(frame);
        const std::span<std::byte> block = message.subspan(wire::header_bytes);
        const bool has_limit = view.order_type() == domain::order_type::limit;
        switch (wanted_->part) {
            case spoiled_part::quantity:
                store_big_endian(std::uint64_t{0}, block.subspan<16, 8>());
                count_one();
                break;
            case spoiled_part::price:
                if (!has_limit) break;
                store_big_endian(static_cast<std::uint64_t>(absurd_price_nano), block.subspan<8, 8>());
                count_one();
                break;
            case spoiled_part::instrument:
                store_big_endian(absurd_instrument, block.subspan<24, 4>());
                count_one();
                break;
        }
    }
    out.insert(out.end(), message.begin(), message.end());
    return message.size();
}

std::size_t order_spoiler::pass_fix(std::span<const std::byte> pending, std::vector<std::byte>& out) {
    const std::string_view text(reinterpret_cast<const char*>(pending.data()), pending.size());
    const fix::frame_result found = fix::next_frame(text, fix::message_bytes_max_default);
    if (found.state == fix::frame_state::incomplete) return 0;
    CORRO_ASSERT(found.bytes != 0, "garbled bytes are skipped");
    const std::string_view message = text.substr(0, found.bytes);
    const bool changed = found.state == fix::frame_state::complete && wanted_->count != 0 &&
                         spoil_fix(message, found.body_begin, found.body_end, out);
    if (!changed) append(out, message);
    return message.size();
}

// Writes a NewOrderSingle again with one field changed, and with the length and checksum that this gives.
bool order_spoiler::spoil_fix(std::string_view message, std::size_t body_begin, std::size_t body_end,
                              std::vector<std::byte>& out) {
    const std::string_view body = message.substr(body_begin, body_end - body_begin);
    if (!body.starts_with("35=D\x01")) return false;
    std::string_view tag = "38=";
    std::string_view value = "0";
    if (wanted_->part == spoiled_part::price) {
        tag = "44=";
        value = "10000000";
    } else if (wanted_->part == spoiled_part::instrument) {
        tag = "55=";
        value = "NO.SUCH.INSTRUMENT";
    }
    const std::string_view old = field_of(body, tag);
    if (old.empty()) return false;
    const auto at = static_cast<std::size_t>(old.data() - body.data());
    const std::string changed =
        fmt::format("{}{}{}{}{}", body.substr(0, at), tag, value, fix::soh, body.substr(at + old.size()));
    const std::string_view begin = message.substr(0, message.find(fix::soh) + 1);
    const std::string whole = fmt::format("{}9={}{}{}", begin, changed.size(), fix::soh, changed);
    append(out, whole);
    append(out, fmt::format("10={:03}{}", fix::sum_of(whole), fix::soh));
    count_one();
    return true;
}

}  // namespace corro::app::desk
