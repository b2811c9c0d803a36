// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/answers.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fix/codec/field_index.hpp"
#include "fix/codec/frame.hpp"
#include "fix/limits.hpp"
#include "fix_gateway/order_names.hpp"

namespace corro::fix_gateway {
namespace {

using domain::event_kind;
using domain::reject_reason;

/// An answer's message, of which fields are asked for.
class written {
 public:
    written(const gateway::answer_log::detailed_answer& answer, fix_version version)
        : room_(fix::message_bytes_max_default), writer_(room_, "FIX.4.4"), index_(100) {
        domain::instrument i;
        i.id = domain::instrument_id{3};
        i.name = domain::symbol("ESZ6");
        i.tick_size = domain::price_nano{250'000'000};
        writer_.begin(message_type_of(answer, version));
        write_body(answer, i, version, writer_);
        const std::string_view text = writer_.finish();
        EXPECT_FALSE(index_.index(text, fix::next_frame(text, room_.size())));
    }
    [[nodiscard]] std::string_view operator[](std::uint32_t tag) const noexcept {
        return index_.get(tag).value_or("none");
    }

 private:
    std::vector<char> room_;
    fix::message_writer writer_;
    fix::field_index index_;
};

gateway::answer_log::detailed_answer answer_of(event_kind kind, reject_reason reason) {
    gateway::answer_log::detailed_answer answer;
    answer.event.kind = kind;
    answer.event.reason = reason;
    answer.event.command = domain::sequence_number{77};
    answer.event.order.quantity = domain::quantity_lots{5};
    answer.details.name = *order_name("a");
    return answer;
}

gateway::answer_log::detailed_answer refusal_of(domain::command_kind request, reject_reason reason) {
    gateway::answer_log::detailed_answer answer = answer_of(event_kind::order_rejected, reason);
    answer.details.request_kind = static_cast<std::uint8_t>(request);
    return answer;
}

TEST(fix_answer_versions, versions_are_by_the_names_in_the_logon) {
    EXPECT_EQ(version_of("FIX.4.2", ""), fix_version::v4_2);
    EXPECT_EQ(version_of("FIX.4.4", ""), fix_version::v4_4);
    EXPECT_EQ(version_of("FIXT.1.1", "7"), fix_version::v5_0);
    EXPECT_EQ(version_of("FIXT.1.1", "8"), fix_version::v5_0_sp);
    EXPECT_EQ(version_of("FIXT.1.1", "9"), fix_version::v5_0_sp);
}

TEST(fix_answer_versions, a_trigger_is_reported_by_values_that_the_version_has) {
    const auto answer = answer_of(event_kind::order_amended, reject_reason::triggered);
    const written v4_2(answer, fix_version::v4_2);
    EXPECT_EQ(v4_2[150], "D");
    EXPECT_EQ(v4_2[378], "4");
    const written v4_4(answer, fix_version::v4_4);
    EXPECT_EQ(v4_4[150], "D");
    EXPECT_EQ(v4_4[378], "99");
    const written v5_0(answer, fix_version::v5_0);
    EXPECT_EQ(v5_0[150], "L");
    EXPECT_EQ(v5_0[378], "none");
}

TEST(fix_answer_versions, a_refused_cancel_has_a_reason_that_the_version_has) {
    const auto answer = refusal_of(domain::command_kind::amend_order, reject_reason::duplicate_client_order_id);
    EXPECT_EQ(written(answer, fix_version::v4_2)[102], "2");
    EXPECT_EQ(written(answer, fix_version::v4_4)[102], "6");
}

TEST(fix_answer_versions, a_mass_cancel_report_has_an_id_of_its_own_from_the_service_packs_on) {
    const auto answer = refusal_of(domain::command_kind::cancel_orders, reject_reason::unknown_instrument);
    EXPECT_EQ(written(answer, fix_version::v5_0)[1369], "none");
    EXPECT_EQ(written(answer, fix_version::v5_0_sp)[1369], "77");
}

}  // namespace
}  // namespace corro::fix_gateway
