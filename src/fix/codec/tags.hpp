// SPDX-License-Identifier: Apache-2.0
// Tags of the fields that a session reads and writes, and those of fields with data.
//
// Source: FIX 5.0 SP2, volume 6 (fields); the FIX session layer.
#pragma once

#include <array>
#include <cstdint>

namespace corro::fix::tag {

inline constexpr std::uint32_t account = 1;                      ///< Account
inline constexpr std::uint32_t begin_seq_no = 7;                 ///< BeginSeqNo
inline constexpr std::uint32_t begin_string = 8;                 ///< BeginString
inline constexpr std::uint32_t body_length = 9;                  ///< BodyLength
inline constexpr std::uint32_t check_sum = 10;                   ///< CheckSum
inline constexpr std::uint32_t end_seq_no = 16;                  ///< EndSeqNo
inline constexpr std::uint32_t msg_seq_num = 34;                 ///< MsgSeqNum
inline constexpr std::uint32_t msg_type = 35;                    ///< MsgType
inline constexpr std::uint32_t new_seq_no = 36;                  ///< NewSeqNo
inline constexpr std::uint32_t poss_dup_flag = 43;               ///< PossDupFlag
inline constexpr std::uint32_t ref_seq_num = 45;                 ///< RefSeqNum
inline constexpr std::uint32_t sender_comp_id = 49;              ///< SenderCompID
inline constexpr std::uint32_t sender_sub_id = 50;               ///< SenderSubID
inline constexpr std::uint32_t sending_time = 52;                ///< SendingTime
inline constexpr std::uint32_t target_comp_id = 56;              ///< TargetCompID
inline constexpr std::uint32_t target_sub_id = 57;               ///< TargetSubID
inline constexpr std::uint32_t text = 58;                        ///< Text
inline constexpr std::uint32_t raw_data_length = 95;             ///< RawDataLength
inline constexpr std::uint32_t raw_data = 96;                    ///< RawData
inline constexpr std::uint32_t poss_resend = 97;                 ///< PossResend
inline constexpr std::uint32_t encrypt_method = 98;              ///< EncryptMethod
inline constexpr std::uint32_t heart_bt_int = 108;               ///< HeartBtInt
inline constexpr std::uint32_t test_req_id = 112;                ///< TestReqID
inline constexpr std::uint32_t on_behalf_of_comp_id = 115;       ///< OnBehalfOfCompID
inline constexpr std::uint32_t on_behalf_of_sub_id = 116;        ///< OnBehalfOfSubID
inline constexpr std::uint32_t orig_sending_time = 122;          ///< OrigSendingTime
inline constexpr std::uint32_t gap_fill_flag = 123;              ///< GapFillFlag
inline constexpr std::uint32_t deliver_to_comp_id = 128;         ///< DeliverToCompID
inline constexpr std::uint32_t deliver_to_sub_id = 129;          ///< DeliverToSubID
inline constexpr std::uint32_t reset_seq_num_flag = 141;         ///< ResetSeqNumFlag
inline constexpr std::uint32_t sender_location_id = 142;         ///< SenderLocationID
inline constexpr std::uint32_t target_location_id = 143;         ///< TargetLocationID
inline constexpr std::uint32_t on_behalf_of_location_id = 144;   ///< OnBehalfOfLocationID
inline constexpr std::uint32_t deliver_to_location_id = 145;     ///< DeliverToLocationID
inline constexpr std::uint32_t ref_tag_id = 371;                 ///< RefTagID
inline constexpr std::uint32_t ref_msg_type = 372;               ///< RefMsgType
inline constexpr std::uint32_t session_reject_reason = 373;      ///< SessionRejectReason
inline constexpr std::uint32_t business_reject_ref_id = 379;     ///< BusinessRejectRefID
inline constexpr std::uint32_t business_reject_reason = 380;     ///< BusinessRejectReason
inline constexpr std::uint32_t username = 553;                   ///< Username
inline constexpr std::uint32_t password = 554;                   ///< Password
inline constexpr std::uint32_t next_expected_msg_seq_num = 789;  ///< NextExpectedMsgSeqNum
inline constexpr std::uint32_t appl_ver_id = 1128;               ///< ApplVerID
inline constexpr std::uint32_t default_appl_ver_id = 1137;       ///< DefaultApplVerID
inline constexpr std::uint32_t session_status = 1409;            ///< SessionStatus

/// A field whose value may contain SOH, and the field in front of it that counts its bytes.
struct data_field {
    std::uint32_t length_tag;  ///< of the field in front
    std::uint32_t data_tag;    ///< of the field with the data
};

/// Those of the standard, by data tag.
inline constexpr std::array<data_field, 24> data_fields{{
    {93, 89},     {90, 91},     {95, 96},     {212, 213},   {348, 349},   {350, 351},   {352, 353},   {354, 355},
    {356, 357},   {358, 359},   {360, 361},   {362, 363},   {364, 365},   {445, 446},   {618, 619},   {621, 622},
    {1184, 1185}, {1277, 1278}, {1280, 1281}, {1282, 1283}, {1397, 1398}, {1401, 1402}, {1403, 1404}, {1468, 1469},
}};

}  // namespace corro::fix::tag
