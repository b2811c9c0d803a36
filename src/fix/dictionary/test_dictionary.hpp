// SPDX-License-Identifier: Apache-2.0
// Test support: small data dictionaries in QuickFIX's format, and messages that are checked against them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fix/codec/field_index.hpp"
#include "fix/codec/test_messages.hpp"
#include "fix/dictionary/dictionary.hpp"
#include "fix/dictionary/validator.hpp"

namespace corro::fix::testing {

/// Header, trailer, and the session's own messages.
inline constexpr std::string_view frame_sections = R"(
 <header>
  <field name='BeginString' required='Y'/><field name='BodyLength' required='Y'/><field name='MsgType' required='Y'/>
  <field name='SenderCompID' required='Y'/><field name='TargetCompID' required='Y'/>
  <field name='OnBehalfOfCompID' required='N'/><field name='DeliverToCompID' required='N'/>
  <field name='MsgSeqNum' required='Y'/><field name='PossDupFlag' required='N'/><field name='PossResend' required='N'/>
  <field name='SendingTime' required='Y'/><field name='OrigSendingTime' required='N'/>
  <field name='ApplVerID' required='N'/>
  <group name='NoHops' required='N'><field name='HopCompID' required='N'/><field name='HopRefID' required='N'/></group>
 </header>
 <trailer>
  <field name='SignatureLength' required='N'/><field name='Signature' required='N'/>
  <field name='CheckSum' required='Y'/>
 </trailer>
)";

inline constexpr std::string_view session_messages = R"(
  <message name='Heartbeat' msgtype='0' msgcat='admin'><field name='TestReqID' required='N'/></message>
  <message name='TestRequest' msgtype='1' msgcat='admin'><field name='TestReqID' required='Y'/></message>
  <message name='ResendRequest' msgtype='2' msgcat='admin'>
   <field name='BeginSeqNo' required='Y'/><field name='EndSeqNo' required='Y'/></message>
  <message name='Reject' msgtype='3' msgcat='admin'>
   <field name='RefSeqNum' required='Y'/><field name='Text' required='N'/></message>
  <message name='SequenceReset' msgtype='4' msgcat='admin'>
   <field name='GapFillFlag' required='N'/><field name='NewSeqNo' required='Y'/></message>
  <message name='Logout' msgtype='5' msgcat='admin'><field name='Text' required='N'/></message>
  <message name='Logon' msgtype='A' msgcat='admin'>
   <field name='EncryptMethod' required='Y'/><field name='HeartBtInt' required='Y'/>
   <field name='ResetSeqNumFlag' required='N'/><field name='DefaultApplVerID' required='N'/></message>
)";

inline constexpr std::string_view application_messages = R"(
  <message name='NewOrderSingle' msgtype='D' msgcat='app'>
   <field name='ClOrdID' required='Y'/><component name='Parties' required='N'/>
   <field name='HandlInst' required='N'/><field name='ExecInst' required='N'/>
   <component name='Instrument' required='Y'/><field name='Side' required='Y'/>
   <field name='TransactTime' required='Y'/><field name='OrderQty' required='N'/>
   <field name='OrdType' required='Y'/><field name='Price' required='N'/><field name='MaxFloor' required='N'/>
   <field name='Text' required='N'/>
   <field name='EncodedTextLen' required='N'/><field name='EncodedText' required='N'/></message>
  <message name='News' msgtype='B' msgcat='app'><field name='Headline' required='Y'/>
   <group name='LinesOfText' required='Y'><field name='Text' required='Y'/></group></message>
  <message name='SecurityDefinition' msgtype='d' msgcat='app'>
   <field name='SecurityReqID' required='Y'/><component name='Instrument' required='N'/></message>
  <message name='ExecutionReport' msgtype='8' msgcat='app'><field name='OrderID' required='Y'/></message>
  <message name='TradeCaptureReport' msgtype='AE' msgcat='app'><field name='OrderID' required='Y'/></message>
  <message name='BusinessMessageReject' msgtype='j' msgcat='app'><field name='RefSeqNum' required='N'/></message>
)";

inline constexpr std::string_view component_sections = R"(
 <components>
  <component name='Instrument'><field name='Symbol' required='Y'/><field name='MaturityMonthYear' required='N'/>
   <field name='MaturityDay' required='N'/><field name='MaturityDate' required='N'/>
   <field name='MaturityTime' required='N'/></component>
  <component name='Parties'>
   <group name='NoPartyIDs' required='N'><field name='PartyID' required='Y'/><field name='PartyIDSource' required='N'/>
    <field name='PartyRole' required='N'/><component name='PartySubIDs' required='N'/></group></component>
  <component name='PartySubIDs'>
   <group name='NoPartySubIDs' required='N'><field name='PartySubID' required='N'/>
    <field name='PartySubIDType' required='N'/></group></component>
 </components>
)";

inline constexpr std::string_view field_section = R"(
 <fields>
  <field number='8' name='BeginString' type='STRING'/><field number='9' name='BodyLength' type='LENGTH'/>
  <field number='10' name='CheckSum' type='STRING'/><field number='34' name='MsgSeqNum' type='SEQNUM'/>
  <field number='35' name='MsgType' type='STRING'/><field number='43' name='PossDupFlag' type='BOOLEAN'/>
  <field number='49' name='SenderCompID' type='STRING'/><field number='52' name='SendingTime' type='UTCTIMESTAMP'/>
  <field number='56' name='TargetCompID' type='STRING'/><field number='89' name='Signature' type='DATA'/>
  <field number='93' name='SignatureLength' type='LENGTH'/><field number='97' name='PossResend' type='BOOLEAN'/>
  <field number='115' name='OnBehalfOfCompID' type='STRING'/><field number='128' name='DeliverToCompID' type='STRING'/>
  <field number='122' name='OrigSendingTime' type='UTCTIMESTAMP'/>
  <field number='627' name='NoHops' type='NUMINGROUP'/><field number='628' name='HopCompID' type='STRING'/>
  <field number='630' name='HopRefID' type='SEQNUM'/><field number='1128' name='ApplVerID' type='STRING'/>
  <field number='1137' name='DefaultApplVerID' type='STRING'/>
  <field number='7' name='BeginSeqNo' type='SEQNUM'/><field number='16' name='EndSeqNo' type='SEQNUM'/>
  <field number='36' name='NewSeqNo' type='SEQNUM'/><field number='45' name='RefSeqNum' type='SEQNUM'/>
  <field number='98' name='EncryptMethod' type='INT'><value enum='0' description='NONE'/></field>
  <field number='108' name='HeartBtInt' type='INT'/><field number='112' name='TestReqID' type='STRING'/>
  <field number='123' name='GapFillFlag' type='BOOLEAN'/><field number='141' name='ResetSeqNumFlag' type='BOOLEAN'/>
  <field number='11' name='ClOrdID' type='STRING'/>
  <field number='18' name='ExecInst' type='MULTIPLEVALUESTRING'><value enum='1' description='NOT_HELD'/>
   <value enum='2' description='WORK'/><value enum='G' description='ALL_OR_NONE'/></field>
  <field number='21' name='HandlInst' type='CHAR'><value enum='1' description='AUTOMATED'/>
   <value enum='3' description='MANUAL'/></field>
  <field number='33' name='LinesOfText' type='NUMINGROUP'/><field number='37' name='OrderID' type='STRING'/>
  <field number='38' name='OrderQty' type='QTY'/>
  <field number='40' name='OrdType' type='CHAR'><value enum='1' description='MARKET'/>
   <value enum='2' description='LIMIT'/></field>
  <field number='44' name='Price' type='PRICE'/>
  <field number='54' name='Side' type='CHAR'><value enum='1' description='BUY'/><value enum='2' description='SELL'/></field>
  <field number='55' name='Symbol' type='STRING'/><field number='58' name='Text' type='STRING'/>
  <field number='60' name='TransactTime' type='UTCTIMESTAMP'/><field number='111' name='MaxFloor' type='QTY'/>
  <field number='148' name='Headline' type='STRING'/>
  <field number='200' name='MaturityMonthYear' type='MONTHYEAR'/><field number='205' name='MaturityDay' type='DAYOFMONTH'/>
  <field number='541' name='MaturityDate' type='LOCALMKTDATE'/><field number='1079' name='MaturityTime' type='UTCTIMEONLY'/>
  <field number='320' name='SecurityReqID' type='STRING'/>
  <field number='354' name='EncodedTextLen' type='LENGTH'/><field number='355' name='EncodedText' type='DATA'/>
  <field number='447' name='PartyIDSource' type='CHAR'/><field number='448' name='PartyID' type='STRING'/>
  <field number='452' name='PartyRole' type='INT'><value enum='3' description='CLIENT_ID'/>
   <value enum='12' description='EXECUTING_TRADER'/></field>
  <field number='453' name='NoPartyIDs' type='NUMINGROUP'/>
  <field number='523' name='PartySubID' type='STRING'/><field number='802' name='NoPartySubIDs' type='NUMINGROUP'/>
  <field number='803' name='PartySubIDType' type='INT'/>
  <field number='9000' name='OfAUser' type='INT'/><field number='70000' name='OfAnotherUser' type='INT'/>
 </fields>
)";

/// A dictionary for FIX.4.4.
[[nodiscard]] inline std::string dictionary_xml(std::string_view version = "major='4' minor='4'") {
    return "<fix " + std::string(version) + ">" + std::string(frame_sections) + "<messages>" +
           std::string(session_messages) + std::string(application_messages) + "</messages>" +
           std::string(component_sections) + std::string(field_section) + "</fix>";
}

/// That of FIXT.1.1: no message of an application.
[[nodiscard]] inline std::string transport_xml() {
    return "<fix type='FIXT' major='1' minor='1'>" + std::string(frame_sections) + "<messages>" +
           std::string(session_messages) + "</messages>" + std::string(field_section) + "</fix>";
}

/// That of FIX 5.0: no header, no trailer, no message of the session.
[[nodiscard]] inline std::string application_xml() {
    return "<fix major='5' minor='0'><header/><trailer/><messages>" + std::string(application_messages) +
           "</messages>" + std::string(component_sections) + std::string(field_section) + "</fix>";
}

/// The rules of a session with such a dictionary.
[[nodiscard]] inline std::shared_ptr<validation> rules_for(std::string_view xml) {
    auto rules = std::make_shared<validation>();
    rules->session = dictionary::read(xml, "test.xml");
    return rules;
}

/// The header that `body_of` puts between MsgType and the body.
inline constexpr std::string_view test_header = "34=2|49=TW|52=20261123-10:00:00|56=ISLD|";

/// "D" and "11=a|" with the header between.
[[nodiscard]] inline std::string with_header(std::string_view type, std::string_view body) {
    return "35=" + std::string(type) + "|" + std::string(test_header) + std::string(body);
}

/// A body that has been indexed and checked. "1 55" is reason 1 for tag 55; "" is no problem.
class checked_message {
 public:
    explicit checked_message(std::shared_ptr<const validation> rules) : validator_(std::move(rules)) {}

    [[nodiscard]] std::string problem(std::string_view body, std::string_view begin_string = "FIX.4.4") {
        bytes_ = framed(body, begin_string);
        const frame_result frame = next_frame(bytes_, message_bytes_max);
        if (frame.state != frame_state::complete) return "not sound: " + std::string(to_string(frame.fault));
        static_cast<void>(index_.index(bytes_, frame));
        const std::optional<message_problem> found = validator_.check(index_);
        if (!found) return {};
        return std::to_string(static_cast<unsigned>(found->reason)) + " " + std::to_string(found->tag);
    }
    [[nodiscard]] validator& of() noexcept { return validator_; }

 private:
    validator validator_;
    field_index index_;
    std::string bytes_;
};

}  // namespace corro::fix::testing
