// SPDX-License-Identifier: Apache-2.0
#include "websocket/extension.hpp"

#include "http/characters.hpp"
#include "http/message.hpp"
#include "websocket/deflate_is_built.hpp"

namespace corro::websocket {
namespace {

constexpr std::string_view extension_name = "permessage-deflate";

/// One parameter as written.
struct parameter {
    std::string_view name;
    std::string_view value;
    bool has_value = false;
};

/// Reads "name; parameter; parameter=value, name; ...". Stops at a malformed part.
class reader {
 public:
    explicit reader(std::string_view text) noexcept : rest_(text) {}

    bool next_extension(std::string_view& name) noexcept {
        while (take(',')) {
        }
        return token(name);
    }
    /// The next parameter of the extension; false when there is none or it is malformed.
    bool next_parameter(parameter& found) noexcept {
        if (!take(';')) return false;
        found = parameter();
        if (!token(found.name)) return fail();
        if (!take('=')) return true;
        found.has_value = true;
        if (!take('"')) return token(found.value) || fail();
        const std::size_t end = rest_.find('"');
        if (end == std::string_view::npos) return fail();
        found.value = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return !found.value.empty() && http::detail::all_in(found.value, http::detail::in_token) ? true : fail();
    }
    /// Whether the extension ended where the next begins, or the text.
    bool at_end_of_extension() noexcept {
        skip_space();
        return !failed_ && (rest_.empty() || rest_.front() == ',');
    }

 private:
    bool fail() noexcept {
        failed_ = true;
        rest_ = {};
        return false;
    }
    void skip_space() noexcept {
        while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
    }
    bool take(char c) noexcept {
        skip_space();
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    bool token(std::string_view& found) noexcept {
        skip_space();
        std::size_t size = 0;
        while (size != rest_.size() && http::detail::is_in(rest_[size], http::detail::in_token)) ++size;
        found = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return size != 0;
    }

    std::string_view rest_;
    bool failed_ = false;
};

/// The contents of an offer or an answer.
struct stated {
    bool server_no_context_takeover = false;
    bool client_no_context_takeover = false;
    bool has_server_bits = false;
    bool has_client_bits = false;
    std::uint8_t server_bits = 15;
    std::uint8_t client_bits = 15;
    bool client_bits_valued = false;
};

bool read_bits(const parameter& from, std::uint8_t& bits) noexcept {
    if (from.value.size() == 1 && from.value[0] >= '8' && from.value[0] <= '9') {
        bits = static_cast<std::uint8_t>(from.value[0] - '0');
        return true;
    }
    if (from.value.size() != 2 || from.value[0] != '1' || from.value[1] < '0' || from.value[1] > '5') return false;
    bits = static_cast<std::uint8_t>(10 + from.value[1] - '0');
    return true;
}

/// Records one parameter. @return false if it is unknown, repeated or malformed.
bool note(const parameter& one, stated& into) noexcept {
    const auto once = [](bool& flag) {
        const bool first = !flag;
        flag = true;
        return first;
    };
    if (one.name == "server_no_context_takeover") return !one.has_value && once(into.server_no_context_takeover);
    if (one.name == "client_no_context_takeover") return !one.has_value && once(into.client_no_context_takeover);
    if (one.name == "server_max_window_bits") {
        return one.has_value && once(into.has_server_bits) && read_bits(one, into.server_bits);
    }
    if (one.name == "client_max_window_bits") {
        if (!once(into.has_client_bits)) return false;
        into.client_bits_valued = one.has_value;
        return !one.has_value || read_bits(one, into.client_bits);
    }
    return false;
}

/// Reads the next extension. @return false at the end. `valid`: it is permessage-deflate and well-formed.
bool read_extension(reader& from, stated& into, bool& ours, bool& valid) noexcept {
    std::string_view name;
    if (!from.next_extension(name)) return false;
    ours = http::same_name(name, extension_name);
    valid = ours;
    into = stated();
    parameter one;
    while (from.next_parameter(one)) {
        if (valid && !note(one, into)) valid = false;
    }
    if (from.at_end_of_extension()) return true;
    valid = false;
    return ours;
}

}  // namespace

std::optional<deflate_answer> accept_deflate(std::string_view offers, const deflate_options& options) {
    if (!options.enabled || !deflate_is_built()) return std::nullopt;
    reader from(offers);
    stated offer;
    bool ours = false;
    bool valid = false;
    while (read_extension(from, offer, ours, valid)) {
        // zlib cannot compress with a window of 2^8 bytes.
        if (!valid || (offer.has_server_bits && offer.server_bits < 9)) continue;
        deflate_answer answer;
        answer.text = extension_name;
        deflate_parameters& agreed = answer.parameters;
        agreed.server_no_context_takeover = offer.server_no_context_takeover || options.no_context_takeover;
        agreed.client_no_context_takeover = offer.client_no_context_takeover || options.no_context_takeover;
        if (agreed.server_no_context_takeover) answer.text += "; server_no_context_takeover";
        if (agreed.client_no_context_takeover) answer.text += "; client_no_context_takeover";
        agreed.server_max_window_bits = std::min(options.window_bits, offer.server_bits);
        if (agreed.server_max_window_bits < 15 || offer.has_server_bits) {
            answer.text += "; server_max_window_bits=" + std::to_string(agreed.server_max_window_bits);
        }
        if (offer.has_client_bits) {
            agreed.client_max_window_bits = std::min(options.window_bits, offer.client_bits);
            if (agreed.client_max_window_bits < 15 || offer.client_bits_valued) {
                answer.text += "; client_max_window_bits=" + std::to_string(agreed.client_max_window_bits);
            }
        }
        return answer;
    }
    return std::nullopt;
}

std::string offer_deflate(const deflate_options& options) {
    std::string text(extension_name);
    if (options.no_context_takeover) text += "; server_no_context_takeover; client_no_context_takeover";
    if (options.window_bits < 15) text += "; server_max_window_bits=" + std::to_string(options.window_bits);
    text += "; client_max_window_bits";
    if (options.window_bits < 15) text += "=" + std::to_string(options.window_bits);
    return text;
}

std::optional<deflate_parameters> read_deflate_answer(std::string_view answer, const deflate_options& options) {
    reader from(answer);
    stated said;
    bool ours = false;
    bool valid = false;
    if (!read_extension(from, said, ours, valid) || !valid) return std::nullopt;
    std::string_view second;
    if (from.next_extension(second)) return std::nullopt;
    if (said.has_client_bits && !said.client_bits_valued) return std::nullopt;
    if (said.client_bits < 9) return std::nullopt;
    if (options.window_bits < 15 && (!said.has_server_bits || said.server_bits > options.window_bits)) {
        return std::nullopt;
    }
    if (options.no_context_takeover && !said.server_no_context_takeover) return std::nullopt;
    deflate_parameters agreed;
    agreed.server_no_context_takeover = said.server_no_context_takeover;
    agreed.client_no_context_takeover = said.client_no_context_takeover || options.no_context_takeover;
    agreed.server_max_window_bits = said.server_bits;
    agreed.client_max_window_bits = std::min(said.client_bits, options.window_bits);
    return agreed;
}

}  // namespace corro::websocket
