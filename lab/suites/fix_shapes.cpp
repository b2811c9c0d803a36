// SPDX-License-Identifier: Apache-2.0
#include "lab/suites/fix_shapes.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>

#include "fix/net/application.hpp"
#include "fix/net/initiator.hpp"
#include "fix/session/message_store.hpp"
#include "fix/session/session.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"

namespace corro::lab {
namespace {

constexpr std::int64_t some_time = 1'767'600'000'123'000'000;  // 2026-01-05

/// The part of FIX 4.4 that the suite uses, as a data dictionary in QuickFIX's format.
constexpr std::string_view dictionary_text = R"(<fix type='FIX' major='4' minor='4'>
 <header>
  <field name='BeginString' required='Y'/><field name='BodyLength' required='Y'/><field name='MsgType' required='Y'/>
  <field name='SenderCompID' required='Y'/><field name='TargetCompID' required='Y'/>
  <field name='MsgSeqNum' required='Y'/><field name='SendingTime' required='Y'/>
  <field name='PossDupFlag' required='N'/><field name='PossResend' required='N'/>
  <field name='OrigSendingTime' required='N'/>
 </header>
 <trailer><field name='CheckSum' required='Y'/></trailer>
 <messages>
  <message name='Heartbeat' msgtype='0' msgcat='admin'><field name='TestReqID' required='N'/></message>
  <message name='TestRequest' msgtype='1' msgcat='admin'><field name='TestReqID' required='Y'/></message>
  <message name='Logout' msgtype='5' msgcat='admin'><field name='Text' required='N'/></message>
  <message name='Logon' msgtype='A' msgcat='admin'>
   <field name='EncryptMethod' required='Y'/><field name='HeartBtInt' required='Y'/>
   <field name='ResetSeqNumFlag' required='N'/>
  </message>
  <message name='NewOrderSingle' msgtype='D' msgcat='app'>
   <field name='ClOrdID' required='Y'/><field name='Account' required='N'/><field name='HandlInst' required='N'/>
   <field name='Symbol' required='Y'/><field name='Side' required='Y'/><field name='TransactTime' required='Y'/>
   <field name='OrderQty' required='Y'/><field name='OrdType' required='Y'/><field name='Price' required='N'/>
   <field name='TimeInForce' required='N'/>
  </message>
  <message name='ExecutionReport' msgtype='8' msgcat='app'>
   <field name='OrderID' required='Y'/><field name='ClOrdID' required='N'/><field name='ExecID' required='Y'/>
   <field name='ExecType' required='Y'/><field name='OrdStatus' required='Y'/><field name='Account' required='N'/>
   <field name='Symbol' required='Y'/><field name='Side' required='Y'/><field name='OrderQty' required='N'/>
   <field name='OrdType' required='N'/><field name='Price' required='N'/><field name='TimeInForce' required='N'/>
   <field name='LeavesQty' required='Y'/><field name='CumQty' required='Y'/><field name='AvgPx' required='Y'/>
   <field name='TransactTime' required='N'/>
  </message>
 </messages>
 <components/>
 <fields>
  <field number='1' name='Account' type='STRING'/><field number='6' name='AvgPx' type='PRICE'/>
  <field number='8' name='BeginString' type='STRING'/><field number='9' name='BodyLength' type='LENGTH'/>
  <field number='10' name='CheckSum' type='STRING'/><field number='11' name='ClOrdID' type='STRING'/>
  <field number='14' name='CumQty' type='QTY'/><field number='17' name='ExecID' type='STRING'/>
  <field number='21' name='HandlInst' type='CHAR'>
   <value enum='1' description='AUTOMATED_EXECUTION_ORDER_PRIVATE'/>
   <value enum='2' description='AUTOMATED_EXECUTION_ORDER_PUBLIC'/><value enum='3' description='MANUAL_ORDER'/>
  </field>
  <field number='34' name='MsgSeqNum' type='SEQNUM'/><field number='35' name='MsgType' type='STRING'/>
  <field number='37' name='OrderID' type='STRING'/><field number='38' name='OrderQty' type='QTY'/>
  <field number='39' name='OrdStatus' type='CHAR'>
   <value enum='0' description='NEW'/><value enum='1' description='PARTIALLY_FILLED'/>
   <value enum='2' description='FILLED'/><value enum='4' description='CANCELED'/>
   <value enum='8' description='REJECTED'/><value enum='C' description='EXPIRED'/>
  </field>
  <field number='40' name='OrdType' type='CHAR'>
   <value enum='1' description='MARKET'/><value enum='2' description='LIMIT'/><value enum='3' description='STOP'/>
   <value enum='4' description='STOP_LIMIT'/>
  </field>
  <field number='43' name='PossDupFlag' type='BOOLEAN'/><field number='44' name='Price' type='PRICE'/>
  <field number='49' name='SenderCompID' type='STRING'/><field number='52' name='SendingTime' type='UTCTIMESTAMP'/>
  <field number='54' name='Side' type='CHAR'>
   <value enum='1' description='BUY'/><value enum='2' description='SELL'/>
  </field>
  <field number='55' name='Symbol' type='STRING'/><field number='56' name='TargetCompID' type='STRING'/>
  <field number='58' name='Text' type='STRING'/>
  <field number='59' name='TimeInForce' type='CHAR'>
   <value enum='0' description='DAY'/><value enum='1' description='GOOD_TILL_CANCEL'/>
   <value enum='3' description='IMMEDIATE_OR_CANCEL'/><value enum='4' description='FILL_OR_KILL'/>
   <value enum='6' description='GOOD_TILL_DATE'/>
  </field>
  <field number='60' name='TransactTime' type='UTCTIMESTAMP'/><field number='97' name='PossResend' type='BOOLEAN'/>
  <field number='98' name='EncryptMethod' type='INT'><value enum='0' description='NONE'/></field>
  <field number='108' name='HeartBtInt' type='INT'/><field number='112' name='TestReqID' type='STRING'/>
  <field number='122' name='OrigSendingTime' type='UTCTIMESTAMP'/>
  <field number='141' name='ResetSeqNumFlag' type='BOOLEAN'/>
  <field number='150' name='ExecType' type='CHAR'>
   <value enum='0' description='NEW'/><value enum='4' description='CANCELED'/><value enum='5' description='REPLACED'/>
   <value enum='8' description='REJECTED'/><value enum='C' description='EXPIRED'/><value enum='F' description='TRADE'/>
  </field>
  <field number='151' name='LeavesQty' type='QTY'/>
 </fields>
</fix>
)";

/// A whole message with the header that sessions write.
template <class PutBody>
std::string message_of(std::string_view type, std::string_view sender, std::string_view target, PutBody&& put_body) {
    std::array<char, 1024> room;
    fix::message_writer writer(room, "FIX.4.4");
    writer.begin(type);
    writer.put(34, 1'234'567);
    writer.put(49, sender);
    writer.put_time(52, some_time, fix::time_precision::milliseconds);
    writer.put(56, target);
    put_body(writer);
    return std::string(writer.finish());
}

/// The orders of one session. The name of each is its number, so that each report can be checked.
class order_client final : public fix::application {
 public:
    order_client(const run_parameters& how, std::size_t outstanding) : how_(how), outstanding_max_(outstanding) {}

    fix::initiator* venue = nullptr;

    void on_active(fix::session& on, fix::instant now) override {
        run_.emplace(how_.seconds);
        while (begun_.size() < outstanding_max_) send(on, now);
    }
    void on_message(fix::session& on, fix::instant now) override {
        if (on.message().message_type() != "8") return fail("an answer is no execution report");
        if (on.message().get(39) != "0") return fail("an order was refused");
        if (begun_.empty() || on.message().get(11) != name_of(reports_count_))
            return fail("a report is of another order");
        ++reports_count_;
        const std::uint64_t at = run_->lap(begun_.front());
        begun_.pop_front();
        if (at != 0 && !is_over_) return send(on, now);
        is_over_ = true;
        if (begun_.empty()) venue->close();
    }
    [[nodiscard]] fix_orders result() && {
        verify(failure_.empty(), failure_);
        verify(run_.has_value(), "the session was not logged on");
        verify_equal(reports_count_, sent_count_, "reports");
        return {reports_count_, std::move(*run_)};
    }

 private:
    // 16 digits, which every subject takes for a name.
    std::string_view name_of(std::uint64_t number) {
        const auto end = fmt::format_to_n(name_.begin(), name_.size(), "{}", 1'000'000'000'000'000 + number).out;
        return {name_.data(), static_cast<std::size_t>(end - name_.begin())};
    }
    void send(fix::session& on, fix::instant now) {
        begun_.push_back(run_->now());
        put_order(on.begin_message("D", now), name_of(sent_count_++), now.wall);
        if (on.send(now) == 0) fail("an order was not sent");
    }
    // A session calls this, so it does not throw.
    void fail(std::string_view why) {
        if (failure_.empty()) failure_ = why;
        venue->close();
    }

    run_parameters how_;
    std::size_t outstanding_max_;
    std::optional<timed_run> run_;
    std::deque<std::uint64_t> begun_;
    std::array<char, 24> name_{};
    std::uint64_t sent_count_ = 0;
    std::uint64_t reports_count_ = 0;
    bool is_over_ = false;
    std::string failure_;
};

}  // namespace

void put_order(fix::message_writer& into, std::string_view client_order, std::int64_t time) {
    into.put(11, client_order);
    into.put(1, "ACCOUNT-1");
    into.put(21, '1');
    into.put(55, "ESZ6");
    into.put(54, '1');
    into.put_time(60, time, fix::time_precision::milliseconds);
    into.put(38, 10);
    into.put(40, '2');
    into.put(44, fix::decimal{450'025, 2});
    into.put(59, '0');
}

void put_report(fix::message_writer& into, std::string_view client_order, std::int64_t time) {
    into.put(37, "4500000000017");
    into.put(11, client_order);
    into.put(17, "9000000000042");
    into.put(150, '0');
    into.put(39, '0');
    into.put(1, "ACCOUNT-1");
    into.put(55, "ESZ6");
    into.put(54, '1');
    into.put(38, 10);
    into.put(40, '2');
    into.put(44, fix::decimal{450'025, 2});
    into.put(59, '0');
    into.put(151, 10);
    into.put(14, 0);
    into.put(6, 0);
    into.put_time(60, time, fix::time_precision::milliseconds);
}

std::string new_order_message() {
    return message_of("D", "TRADER", "VENUE",
                      [](fix::message_writer& into) { put_order(into, "ORDER-0000001234", some_time); });
}

std::string execution_report_message() {
    return message_of("8", "VENUE", "TRADER",
                      [](fix::message_writer& into) { put_report(into, "ORDER-0000001234", some_time); });
}

std::string_view fix_dictionary_text() noexcept {
    return dictionary_text;
}

std::uint16_t free_port() {
    io::context context;
    auto port = io::tcp_acceptor::open(context, io::endpoint::loopback(0));
    verify(port.has_value(), "no port is free");
    return port->local_endpoint()->port();
}

io::context_options options_of(io::platform& machine, idle_thread idle) {
    io::context_options options(machine);
    if (idle == idle_thread::polls) options.busy_poll = std::chrono::seconds(1);
    return options;
}

fix_orders send_orders(const run_parameters& how, std::uint16_t port, std::size_t outstanding,
                       std::string_view password, idle_thread client) {
    io::context context(options_of(io::default_platform(), client));
    order_client trading(how, outstanding);
    fix::memory_store store;
    fix::initiator_options options;
    options.session.identity.sender_comp_id = "TRADER";
    options.session.identity.target_comp_id = "VENUE";
    options.servers = {io::endpoint::loopback(port)};
    if (!password.empty()) {
        options.credentials = [text = std::string(password)](fix::message_writer& logon) { logon.put(554, text); };
    }
    options.retry_delay_min = std::chrono::milliseconds(5);
    fix::initiator venue(context, options, store, trading);
    trading.venue = &venue;
    io::block_on(context, venue.run());
    verify_equal(venue.connections_count(), 1, "connections");
    return std::move(trading).result();
}

measurement order_to_report(const fix_orders& done) {
    measurement made;
    made.latency_ns = summary_of(done.run.latencies());
    made.values = {made.latency_ns->p50, made.latency_ns->p99};
    return made;
}

}  // namespace corro::lab
