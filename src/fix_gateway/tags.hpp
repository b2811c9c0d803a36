// Tags of the messages of order entry.
//
// Source: FIX 5.0 SP2, volume 6 (fields); docs/spec/fix_orders.md and fix_quotes.md for the venue's own, from 20001 on.
#pragma once

#include <cstdint>

namespace corro::fix_gateway::tag {

inline constexpr std::uint32_t account = 1;
inline constexpr std::uint32_t avg_px = 6;
inline constexpr std::uint32_t cl_ord_id = 11;
inline constexpr std::uint32_t cum_qty = 14;
inline constexpr std::uint32_t exec_id = 17;
inline constexpr std::uint32_t exec_inst = 18;
inline constexpr std::uint32_t exec_trans_type = 20;
inline constexpr std::uint32_t security_id_source = 22;
inline constexpr std::uint32_t last_px = 31;
inline constexpr std::uint32_t last_qty = 32;
inline constexpr std::uint32_t order_id = 37;
inline constexpr std::uint32_t order_qty = 38;
inline constexpr std::uint32_t ord_status = 39;
inline constexpr std::uint32_t ord_type = 40;
inline constexpr std::uint32_t orig_cl_ord_id = 41;
inline constexpr std::uint32_t price = 44;
inline constexpr std::uint32_t ref_seq_num = 45;
inline constexpr std::uint32_t security_id = 48;
inline constexpr std::uint32_t side = 54;
inline constexpr std::uint32_t symbol = 55;
inline constexpr std::uint32_t text = 58;
inline constexpr std::uint32_t time_in_force = 59;
inline constexpr std::uint32_t transact_time = 60;
inline constexpr std::uint32_t trade_date = 75;
inline constexpr std::uint32_t poss_resend = 97;
inline constexpr std::uint32_t stop_px = 99;
inline constexpr std::uint32_t cxl_rej_reason = 102;
inline constexpr std::uint32_t ord_rej_reason = 103;
inline constexpr std::uint32_t min_qty = 110;
inline constexpr std::uint32_t max_floor = 111;
inline constexpr std::uint32_t quote_id = 117;
inline constexpr std::uint32_t expire_time = 126;
inline constexpr std::uint32_t bid_px = 132;
inline constexpr std::uint32_t offer_px = 133;
inline constexpr std::uint32_t bid_size = 134;
inline constexpr std::uint32_t offer_size = 135;
inline constexpr std::uint32_t no_related_sym = 146;
inline constexpr std::uint32_t exec_type = 150;
inline constexpr std::uint32_t leaves_qty = 151;
inline constexpr std::uint32_t security_type = 167;
inline constexpr std::uint32_t maturity_month_year = 200;
inline constexpr std::uint32_t put_or_call = 201;
inline constexpr std::uint32_t strike_price = 202;
inline constexpr std::uint32_t maturity_day = 205;
inline constexpr std::uint32_t subscription_request_type = 263;
inline constexpr std::uint32_t no_quote_entries = 295;
inline constexpr std::uint32_t no_quote_sets = 296;
inline constexpr std::uint32_t quote_status = 297;
inline constexpr std::uint32_t quote_cancel_type = 298;
inline constexpr std::uint32_t quote_entry_id = 299;
inline constexpr std::uint32_t quote_reject_reason = 300;
inline constexpr std::uint32_t quote_set_id = 302;
inline constexpr std::uint32_t tot_no_quote_entries = 304;
inline constexpr std::uint32_t underlying_symbol = 311;
inline constexpr std::uint32_t ratio_qty = 319;
inline constexpr std::uint32_t security_req_id = 320;
inline constexpr std::uint32_t security_request_type = 321;
inline constexpr std::uint32_t security_response_id = 322;
inline constexpr std::uint32_t security_response_type = 323;
inline constexpr std::uint32_t security_status_req_id = 324;
inline constexpr std::uint32_t unsolicited_indicator = 325;
inline constexpr std::uint32_t security_trading_status = 326;
inline constexpr std::uint32_t trad_ses_req_id = 335;
inline constexpr std::uint32_t trading_session_id = 336;
inline constexpr std::uint32_t trad_ses_status = 340;
inline constexpr std::uint32_t quote_entry_reject_reason = 368;
inline constexpr std::uint32_t ref_msg_type = 372;
inline constexpr std::uint32_t exec_restatement_reason = 378;
inline constexpr std::uint32_t business_reject_reason = 380;
inline constexpr std::uint32_t tot_no_related_sym = 393;
inline constexpr std::uint32_t cxl_rej_response_to = 434;
inline constexpr std::uint32_t multi_leg_reporting_type = 442;
inline constexpr std::uint32_t cfi_code = 461;
inline constexpr std::uint32_t mass_cancel_request_type = 530;
inline constexpr std::uint32_t mass_cancel_response = 531;
inline constexpr std::uint32_t mass_cancel_reject_reason = 532;
inline constexpr std::uint32_t maturity_date = 541;
inline constexpr std::uint32_t no_sides = 552;
inline constexpr std::uint32_t no_legs = 555;
inline constexpr std::uint32_t security_list_request_type = 559;
inline constexpr std::uint32_t security_request_result = 560;
inline constexpr std::uint32_t round_lot = 561;
inline constexpr std::uint32_t trad_ses_status_rej_reason = 567;
inline constexpr std::uint32_t previously_reported = 570;
inline constexpr std::uint32_t trade_report_id = 571;
inline constexpr std::uint32_t mass_status_req_id = 584;
inline constexpr std::uint32_t mass_status_req_type = 585;
inline constexpr std::uint32_t leg_symbol = 600;
inline constexpr std::uint32_t leg_security_id = 602;
inline constexpr std::uint32_t leg_security_id_source = 603;
inline constexpr std::uint32_t leg_ratio_qty = 623;
inline constexpr std::uint32_t leg_side = 624;
inline constexpr std::uint32_t trading_session_sub_id = 625;
inline constexpr std::uint32_t ord_status_req_id = 790;
inline constexpr std::uint32_t last_liquidity_ind = 851;
inline constexpr std::uint32_t trd_match_id = 880;
inline constexpr std::uint32_t last_fragment = 893;
inline constexpr std::uint32_t tot_num_reports = 911;
inline constexpr std::uint32_t last_rpt_requested = 912;
inline constexpr std::uint32_t min_price_increment = 969;
inline constexpr std::uint32_t trade_id = 1003;
inline constexpr std::uint32_t maturity_time = 1079;
inline constexpr std::uint32_t display_qty = 1138;
inline constexpr std::uint32_t max_trade_vol = 1140;
inline constexpr std::uint32_t low_limit_price = 1148;
inline constexpr std::uint32_t high_limit_price = 1149;
inline constexpr std::uint32_t security_group = 1151;
inline constexpr std::uint32_t market_id = 1301;
inline constexpr std::uint32_t no_market_segments = 1310;
inline constexpr std::uint32_t mass_action_report_id = 1369;
inline constexpr std::uint32_t self_match_prevention_id = 2362;
inline constexpr std::uint32_t self_match_prevention_instruction = 2964;

// The venue's own.
inline constexpr std::uint32_t cancel_on_disconnect = 20'001;  ///< in a Logon
inline constexpr std::uint32_t stays_on_disconnect = 20'002;
inline constexpr std::uint32_t reprices = 20'003;
inline constexpr std::uint32_t protection_offset = 20'004;
inline constexpr std::uint32_t amends_open_quantity = 20'005;
inline constexpr std::uint32_t protection_status = 20'020;
inline constexpr std::uint32_t protection_fills_max = 20'021;
inline constexpr std::uint32_t protection_lots_max = 20'022;
inline constexpr std::uint32_t protection_window = 20'023;  ///< milliseconds
inline constexpr std::uint32_t protection_fills = 20'024;
inline constexpr std::uint32_t protection_lots = 20'025;
inline constexpr std::uint32_t behind_order_id = 20'026;
inline constexpr std::uint32_t more_orders_behind = 20'027;

}  // namespace corro::fix_gateway::tag
