// SPDX-License-Identifier: Apache-2.0
// A session gets any messages, in any order of its life. It sends sound messages only, delivers numbers in ascending
// order, and never ends without a reason.
//
// The input: a byte for the settings, and then pieces between zero bytes. A piece is a body, which gets the header that
// it lacks; one that begins with an odd byte makes time pass first.
//
// The committed corpus: src/fix/fuzz_corpus/session

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "fix/codec/test_messages.hpp"
#include "fix/codec/values.hpp"
#include "fix/dictionary/test_dictionary.hpp"
#include "fix/session/session.hpp"

namespace {

using namespace corro::fix;

constexpr std::int64_t second = 1'000'000'000;

class fuzzed {
 public:
    explicit fuzzed(std::uint8_t choice) : session_(settings_of(choice), store_) {
        time_.steady = second;
        time_.wall = *timestamp_value("20261123-10:00:00");
        static_cast<void>(store_.set_next_received(1 + choice / 16U));
        session_.begin(time_);
        write();
    }

    void take(std::string_view piece) {
        if (!piece.empty() && piece[0] % 2 != 0) {
            const std::int64_t step = static_cast<unsigned char>(piece[0]) * second / 4;
            time_.steady += step;
            time_.wall += step;
            session_.pass(time_);
        }
        std::string body = "35=";
        body += piece.substr(0, piece.find('|'));
        body += "|49=PEER|56=CORRO|52=20261123-10:00:00|";
        if (piece.find("34=") == std::string_view::npos) body += "34=" + std::to_string(store_.next_received()) + "|";
        if (const std::size_t end = piece.find('|'); end != std::string_view::npos) body += piece.substr(end + 1);
        if (!body.ends_with('|')) body += '|';
        const std::string bytes = testing::framed(body);
        const frame_result frame = next_frame(bytes, message_bytes_max);
        if (frame.state != frame_state::complete) return;
        taken what = session_.take(bytes, frame, time_);
        if (what == taken::restart) {
            session_.restart(time_);
            delivered_ = 0;
            what = session_.take(bytes, frame, time_);
            CORRO_ASSERT(what != taken::restart);
        }
        act(what);
        while (const auto kept = session_.take_kept(time_)) act(*kept);
        write();
    }

    void end() {
        CORRO_ASSERT(session_.phase() != session_phase::over || !session_.ended_because().empty());
        session_.end();
        CORRO_ASSERT(session_.phase() == session_phase::over);
    }

 private:
    static session_settings settings_of(std::uint8_t choice) {
        session_settings made;
        made.side = choice % 2 != 0 ? session_side::initiator : session_side::acceptor;
        made.identity.sender_comp_id = "CORRO";
        made.identity.target_comp_id = "PEER";
        made.sending_time_tolerance = std::chrono::seconds(0);
        made.sends_next_expected = choice % 4 >= 2;
        made.resets_on_logon = choice % 8 >= 4;
        made.messages_kept_max = 4;
        if (choice % 16 >= 8) made.style = session_style::quickfix;
        if (choice % 64 >= 32) {
            made.schedule.emplace();
            made.schedule->begins = std::chrono::hours(9);
            made.schedule->ends = std::chrono::hours(10) + std::chrono::minutes(1);
        }
        made.checks_structure = choice % 128 >= 64;
        if (choice % 32 >= 16) made.checked_by = testing::rules_for(testing::dictionary_xml());
        return made;
    }

    void act(taken what) {
        if (what == taken::logon) session_.accept_logon(time_);
        if (what != taken::by_application) return;
        CORRO_ASSERT(session_.message_number() > delivered_ || store_.next_received() <= delivered_);
        delivered_ = session_.message_number();
        // An application that answers.
        if (session_.may_send()) {
            session_.begin_message("8", time_).put(37, session_.message_number());
            CORRO_ASSERT(session_.send(time_) != 0);
        }
    }

    void write() {
        do {
            session_.resend(4'096, time_);
            while (!session_.output().empty()) {
                const frame_result frame = next_frame(session_.output(), message_bytes_max);
                CORRO_ASSERT(frame.state == frame_state::complete);
                session_.consume(frame.bytes);
            }
        } while (session_.is_resending());
    }

    memory_store store_;
    session session_;
    instant time_;
    std::uint64_t delivered_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    fuzzed one(data[0]);
    std::string_view left(reinterpret_cast<const char*>(data) + 1, size - 1);
    while (!left.empty()) {
        const std::size_t end = left.find('\0');
        one.take(left.substr(0, end));
        left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    }
    one.end();
    return 0;
}
