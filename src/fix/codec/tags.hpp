// Tags of the fields that a session reads and writes, and those of fields with data.
//
// Source: FIX 5.0 SP2, volume 6 (fields); the FIX session layer.
#pragma once

#include <array>
#include <cstdint>

namespace corro::fix::tag {

inline constexpr std::uint32_t account = 1;
inline constexpr std::uint32_t begin_seq_no = 7;
inline constexpr std::uint32_t begin_string = 8;
inline constexpr std::uint32_t body_length = 9;
inline constexpr std::uint32_t check_sum = 10;
inline constexpr std::uint32_t end_seq_no = 16;
inline constexpr std::uint32_t msg_seq_num = 34;
inline constexpr std::uint32_t msg_type = 35;
inline constexpr std::uint32_t new_seq_no = 36;
inline constexpr std::uint32_t poss_dup_flag = 43;
inline constexpr std::uint32_t ref_seq_num = 45;
inline constexpr std::uint32_t sender_comp_id = 49;
inline constexpr std::uint32_t sender_sub_id = 50;
inline constexpr std::uint32_t sending_time = 52;
inline constexpr std::uint32_t target_comp_id = 56;
inline constexpr std::uint32_t target_sub_id = 57;
inline constexpr std::uint32_t text = 58;
inline constexpr std::uint32_t raw_data_length = 95;
inline constexpr std::uint32_t raw_data = 96;
inline constexpr std::uint32_t poss_resend = 97;
inline constexpr std::uint32_t encrypt_method = 98;
inline constexpr std::uint32_t heart_bt_int = 108;
inline constexpr std::uint32_t test_req_id = 112;
inline constexpr std::uint32_t on_behalf_of_comp_id = 115;
inline constexpr std::uint32_t on_behalf_of_sub_id = 116;
inline constexpr std::uint32_t orig_sending_time = 122;
inline constexpr std::uint32_t gap_fill_flag = 123;
inline constexpr std::uint32_t deliver_to_comp_id = 128;
inline constexpr std::uint32_t deliver_to_sub_id = 129;
inline constexpr std::uint32_t reset_seq_num_flag = 141;
inline constexpr std::uint32_t sender_location_id = 142;
inline constexpr std::uint32_t target_location_id = 143;
inline constexpr std::uint32_t on_behalf_of_location_id = 144;
inline constexpr std::uint32_t deliver_to_location_id = 145;
inline constexpr std::uint32_t ref_tag_id = 371;
inline constexpr std::uint32_t ref_msg_type = 372;
inline constexpr std::uint32_t session_reject_reason = 373;
inline constexpr std::uint32_t business_reject_ref_id = 379;
inline constexpr std::uint32_t business_reject_reason = 380;
inline constexpr std::uint32_t username = 553;
inline constexpr std::uint32_t password = 554;
inline constexpr std::uint32_t next_expected_msg_seq_num = 789;
inline constexpr std::uint32_t appl_ver_id = 1128;
inline constexpr std::uint32_t default_appl_ver_id = 1137;
inline constexpr std::uint32_t session_status = 1409;

/// A field whose value may contain SOH, and the field in front of it that counts its bytes.
struct data_field {
    std::uint32_t length_tag;
    std::uint32_t data_tag;
};

/// Those of the standard, by data tag.
inline constexpr std::array<data_field, 24> data_fields{{
    {93, 89},     {90, 91},     {95, 96},     {212, 213},   {348, 349},   {350, 351},   {352, 353},   {354, 355},
    {356, 357},   {358, 359},   {360, 361},   {362, 363},   {364, 365},   {445, 446},   {618, 619},   {621, 622},
    {1184, 1185}, {1277, 1278}, {1280, 1281}, {1282, 1283}, {1397, 1398}, {1401, 1402}, {1403, 1404}, {1468, 1469},
}};

}  // namespace corro::fix::tag
