// SPDX-License-Identifier: Apache-2.0
// A session that checks what its peer sends against a data dictionary. There is no network: the bytes are passed on.
//
//     fix_dictionary
#include <array>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "fix/codec/frame.hpp"
#include "fix/codec/message_writer.hpp"
#include "fix/dictionary/dictionary.hpp"
#include "fix/dictionary/validator.hpp"
#include "fix/session/message_store.hpp"
#include "fix/session/session.hpp"

namespace fix = corro::fix;

// [dictionary]
constexpr std::string_view orders_xml = R"(
<fix major='4' minor='4'>
  <header>
    <field name='BeginString' required='Y'/> <field name='BodyLength' required='Y'/> <field name='MsgType' required='Y'/>
    <field name='SenderCompID' required='Y'/> <field name='TargetCompID' required='Y'/>
    <field name='MsgSeqNum' required='Y'/> <field name='SendingTime' required='Y'/>
  </header>
  <trailer> <field name='CheckSum' required='Y'/> </trailer>
  <messages>
    <message name='Logon' msgtype='A' msgcat='admin'>
      <field name='EncryptMethod' required='Y'/> <field name='HeartBtInt' required='Y'/>
    </message>
    <message name='NewOrderSingle' msgtype='D' msgcat='app'>
      <field name='ClOrdID' required='Y'/> <field name='Symbol' required='Y'/> <field name='Side' required='Y'/>
      <group name='NoPartyIDs' required='N'> <field name='PartyID' required='Y'/> </group>
    </message>
  </messages>
  <fields>
    <field number='8' name='BeginString' type='STRING'/> <field number='9' name='BodyLength' type='LENGTH'/>
    <field number='10' name='CheckSum' type='STRING'/> <field number='34' name='MsgSeqNum' type='SEQNUM'/>
    <field number='35' name='MsgType' type='STRING'/> <field number='49' name='SenderCompID' type='STRING'/>
    <field number='52' name='SendingTime' type='UTCTIMESTAMP'/> <field number='56' name='TargetCompID' type='STRING'/>
    <field number='98' name='EncryptMethod' type='INT'/> <field number='108' name='HeartBtInt' type='INT'/>
    <field number='11' name='ClOrdID' type='STRING'/> <field number='55' name='Symbol' type='STRING'/>
    <field number='54' name='Side' type='CHAR'> <value enum='1'/> <value enum='2'/> </field>
    <field number='453' name='NoPartyIDs' type='NUMINGROUP'/> <field number='448' name='PartyID' type='STRING'/>
  </fields>
</fix>
)";
// [/dictionary]

// [settings]
/// Settings of a session that rejects what the dictionary does not allow.
fix::session_settings checked_session() {
    auto rules = std::make_shared<fix::validation>();
    rules->session = fix::dictionary::read(orders_xml, "orders.xml");  // the text of a file, and its name for errors
    rules->options.allows_user_fields = true;                          // tags from 5000 on
    fix::session_settings settings;
    settings.identity.sender_comp_id = "VENUE";
    settings.identity.target_comp_id = "TRADER";
    settings.checked_by = std::move(rules);
    return settings;
}
// [/settings]

/// The trader's messages, numbered; and the venue's session.
class conversation {
 public:
    conversation() { venue_.begin(now_); }

    fix::message_writer& write(std::string_view type) {
        writer_.begin(type);
        writer_.put(34, ++number_);
        writer_.put(49, "TRADER");
        writer_.put_time(52, now_.wall, fix::time_precision::seconds);
        writer_.put(56, "VENUE");
        return writer_;
    }

    /// Passes the message to the venue, and prints the result.
    void pass() {
        const std::string_view bytes = writer_.finish();
        const fix::taken what = venue_.take(bytes, fix::next_frame(bytes, fix::message_bytes_max), now_);
        if (what == fix::taken::logon) venue_.accept_logon(now_);
        if (what == fix::taken::by_application) std::cout << "order " << *venue_.message().get(11) << " is accepted\n";
        fix::field_index answer;
        const std::string_view output = venue_.output();
        if (!output.empty()) {
            static_cast<void>(answer.index(output, fix::next_frame(output, fix::message_bytes_max)));
            if (answer.message_type() == "3") {
                std::cout << "message " << *answer.get(45) << " is rejected: " << *answer.get(58) << ", tag "
                          << *answer.get(371) << "\n";
            }
            venue_.consume(output.size());
        }
    }

 private:
    fix::instant now_{1, 1'795'428'000'000'000'000};
    fix::memory_store store_;
    fix::session venue_{checked_session(), store_};
    std::array<char, 1'024> room_{};
    fix::message_writer writer_{room_, "FIX.4.4"};
    int number_ = 0;
};

int main() {
    conversation with_venue;
    fix::message_writer& logon = with_venue.write("A");
    logon.put(98, 0);
    logon.put(108, 30);
    with_venue.pass();

    // [orders]
    fix::message_writer& no_symbol = with_venue.write("D");
    no_symbol.put(11, "a");
    no_symbol.put(54, '1');
    with_venue.pass();

    fix::message_writer& two_parties = with_venue.write("D");
    two_parties.put(11, "b");
    two_parties.put(55, "ESZ6");
    two_parties.put(54, '1');
    two_parties.put(453, 2);
    two_parties.put(448, "DESK");
    with_venue.pass();

    fix::message_writer& own_field = with_venue.write("D");
    own_field.put(11, "c");
    own_field.put(55, "ESZ6");
    own_field.put(54, '2');
    own_field.put(5'555, "mine");
    with_venue.pass();
    // [/orders]
}
