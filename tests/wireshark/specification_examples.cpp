// SPDX-License-Identifier: Apache-2.0
// Reads every example of docs/spec/corro_binary.md with the venue's codec and writes it again: the same bytes must come
// out. Computes the proof of the page's logon.
//
//   corro_specification_examples PAGE     exit code 1: a difference, printed

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "wire/authentication.hpp"
#include "wire/binary_codec.hpp"
#include "wire/messages_fixture.hpp"

namespace {

using namespace corro;
using bytes = std::vector<std::byte>;

struct page {
    std::map<std::string, bytes> examples;       // by the message's name
    std::map<std::string, bytes> logon;          // by the line's title
    std::map<std::string, std::string> repeats;  // a second example of one message, which the page must not have
};

/// The bytes at the start of `text`: pairs of digits, one blank between.
bytes leading_bytes(std::string_view text) {
    const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
    bytes found;
    while (text.size() >= 2 && digit(text[0]) >= 0 && digit(text[1]) >= 0) {
        found.push_back(static_cast<std::byte>(digit(text[0]) * 16 + digit(text[1])));
        text.remove_prefix(2);
        if (text.empty() || text[0] != ' ') break;
        text.remove_prefix(1);
    }
    return found;
}

void append(bytes& to, const bytes& more) {
    to.insert(to.end(), more.begin(), more.end());
}

page read_page(const char* path) {
    page found;
    std::ifstream file(path);
    std::string line;
    std::string heading;
    std::string title;
    bool in_dump = false;
    while (std::getline(file, line)) {
        if (line.starts_with("#")) heading = line.substr(line.find_first_not_of("# "));
        if (line.starts_with("```")) {
            in_dump = line == "```hex";
            if (in_dump && found.examples.contains(heading)) found.repeats[heading] = line;
            continue;
        }
        if (!in_dump) continue;
        if (heading == "A logon to test with") {
            if (line[0] != ' ') title = line.substr(0, line.find("  "));
            append(found.logon[title], leading_bytes(std::string_view(line).substr(21)));
        } else {
            append(found.examples[heading], leading_bytes(std::string_view(line).substr(5)));
        }
    }
    return found;
}

/// What the codec makes of a frame, as bytes again; empty and a reason when it refuses it.
class rewriter {
 public:
    explicit rewriter(const wire::instrument_table& instruments) : instruments_(instruments) {}

    std::string reason;

    bytes rewritten(const wire::frame& from) {
        using enum wire::template_id;
        reason.clear();
        switch (from.message) {
            case challenge: return session<wire::challenge, wire::challenge_view>(from);
            case hello: return session<wire::hello, wire::hello_view>(from);
            case hello_ack: return session<wire::hello_ack, wire::hello_ack_view>(from);
            case heartbeat: return session<wire::heartbeat, wire::heartbeat_view>(from);
            case logout: return session<wire::logout, wire::logout_view>(from);
            case logout_ack: return session<wire::logout_ack, wire::logout_ack_view>(from);
            case reject: return session<wire::reject, wire::reject_view>(from);
            case resend_gap: return session<wire::resend_gap, wire::resend_gap_view>(from);
            case venue_status: return session<wire::venue_status, wire::venue_status_view>(from);
            case status_request: return session<wire::status_request, wire::status_request_view>(from);
            case snapshot_request: return session<wire::snapshot_request, wire::snapshot_request_view>(from);
            case snapshot_answer: return session<wire::snapshot_answer, wire::snapshot_answer_view>(from);
            case snapshot_begin: return session<wire::snapshot_begin, wire::snapshot_begin_view>(from);
            case snapshot_end: return session<wire::snapshot_end, wire::snapshot_end_view>(from);
            case instrument_leg: return session<wire::instrument_leg, wire::instrument_leg_view>(from);
            case instrument_definition: return definition(from);
            case mass_quote: return quotes(from);
            default: break;
        }
        return static_cast<int>(from.message) < 32 ? request(from) : event(from);
    }

 private:
    template <class Message, class View>
    bytes session(const wire::frame& from) {
        if (const wire::refusal refused = View::check(from); refused) {
            reason = "check refuses field " + std::to_string(refused.field);
            return {};
        }
        bytes out(Message::frame_bytes);
        store(View(from).value(), from.sequence, out.data());
        return out;
    }

    bytes definition(const wire::frame& from) {
        const auto read = wire::decode_instrument(from);
        if (!read) {
            reason = read.error().message();
            return {};
        }
        bytes out(wire::message_bytes_max);
        out.resize(wire::encode(*read, from.sequence, out));
        return out;
    }

    bytes quotes(const wire::frame& from) {
        wire::mass_quote_commands read;
        if (const wire::refusal refused = wire::decode_mass_quote(from, instruments_, read); refused) {
            reason = "field " + std::to_string(refused.field) + " is refused";
            return {};
        }
        for (const domain::command& each : std::span(read.commands).first(read.count)) accept(each);
        bytes out(wire::message_bytes_max);
        out.resize(wire::encode_mass_quote(std::span(read.commands).first(read.count), instruments_,
                                           static_cast<std::uint32_t>(from.sequence), out));
        return out;
    }

    bytes request(const wire::frame& from) {
        domain::command read;
        if (const wire::refusal refused = wire::decode_command(from, instruments_, read); refused) {
            reason = "field " + std::to_string(refused.field) + " is refused";
            return {};
        }
        read.set_request(static_cast<std::uint32_t>(from.sequence));
        accept(read);
        bytes out(wire::message_bytes_max);
        out.resize(wire::encode(read, named(read.instrument), out));
        return out;
    }

    bytes event(const wire::frame& from) {
        domain::event read;
        if (const std::error_code wrong = wire::decode_event(from, instruments_, read); wrong) {
            reason = wrong.message();
            return {};
        }
        bytes out(wire::message_bytes_max);
        out.resize(wire::encode(read, named(read.instrument), from.sequence, out));
        return out;
    }

    void accept(const domain::command& read) {
        if (read.verdict() != domain::reject_reason::none) reason = "the venue would reject it";
    }

    [[nodiscard]] domain::instrument named(domain::instrument_id id) const {
        const domain::instrument* found = instruments_.find(id);
        return found != nullptr ? *found : domain::instrument{};
    }

    const wire::instrument_table& instruments_;
};

int check_examples(const page& of) {
    const wire::instrument_table instruments = wire::made_instruments();
    rewriter codec(instruments);
    int wrong = 0;
    std::size_t read = 0;
    for (int number = 0; number < 1'000; ++number) {
        const std::string_view name = to_string(static_cast<wire::template_id>(number));
        if (name == "unknown") continue;
        const auto example = of.examples.find(std::string(name));
        if (example == of.examples.end()) {
            std::printf("%.*s has no example\n", static_cast<int>(name.size()), name.data());
            ++wrong;
            continue;
        }
        ++read;
        const auto frame = wire::next_frame(example->second);
        const bool whole = frame && *frame && (*frame)->size() == example->second.size();
        const bytes again = whole ? codec.rewritten(**frame) : bytes();
        if (whole && static_cast<int>((*frame)->message) == number && codec.reason.empty() && again == example->second)
            continue;
        const auto differs = std::mismatch(again.begin(), again.end(), example->second.begin(), example->second.end());
        std::printf("%.*s: %s; %zu bytes written for %zu, the same up to %td\n", static_cast<int>(name.size()),
                    name.data(), codec.reason.c_str(), again.size(), example->second.size(),
                    differs.first - again.begin());
        ++wrong;
    }
    if (read != of.examples.size()) {
        std::printf("the page has %zu examples, and %zu messages are known\n", of.examples.size(), read);
        ++wrong;
    }
    for (const auto& [name, line] : of.repeats) {
        std::printf("%s has two examples\n", name.c_str());
        ++wrong;
    }
    std::printf("%zu examples read and written again\n", read);
    return wrong;
}

int check_logon(const page& of) {
    const auto line = [&](const char* title) { return of.logon.contains(title) ? of.logon.at(title) : bytes(); };
    const bytes key = line("key");
    const bytes nonce = line("challenge's nonce");
    const bytes input = line("authenticated bytes");
    const bytes example = of.examples.contains("hello") ? of.examples.at("hello") : bytes();
    const auto frame = wire::next_frame(example);
    if (key.size() != 32 || nonce.size() != 32 || !frame || !*frame) {
        std::printf("the logon is not complete\n");
        return 1;
    }
    wire::api_key secret;
    std::copy(key.begin(), key.end(), secret.begin());
    std::array<std::byte, 32> challenge;
    std::copy(nonce.begin(), nonce.end(), challenge.begin());
    const wire::hello hello = wire::hello_view(**frame).value();
    const auto authenticated = wire::logon_proof_input(challenge, hello);
    const wire::proof proof = wire::make_proof(secret, authenticated);
    int wrong = 0;
    const auto require = [&](bool right, const char* what) {
        if (!right) std::printf("the logon: %s\n", what);
        wrong += right ? 0 : 1;
    };
    require(std::ranges::equal(authenticated, input), "other bytes are authenticated");
    require(std::ranges::equal(proof, line("proof")), "the proof is another");
    require(hello.proof == proof, "the proof of the example of hello is another");
    require(hello.key_id == wire::key_id_of(secret), "the key's id is another");
    const bytes& key_id = line("key_id");
    require(key_id.size() == 8 && wire::load_be<std::uint64_t>(key_id.data()) == hello.key_id, "its key_id is another");
    return wrong;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: corro_specification_examples PAGE\n");
        return 2;
    }
    const page of = read_page(argv[1]);
    return check_examples(of) + check_logon(of) == 0 ? 0 : 1;
}
