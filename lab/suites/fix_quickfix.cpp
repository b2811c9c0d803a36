// SPDX-License-Identifier: Apache-2.0
// QuickFIX in the suite `fix`. This file is compiled as C++14: the library's headers have exception specifications.

#include <quickfix/Application.h>
#include <quickfix/DataDictionary.h>
#include <quickfix/Message.h>
#include <quickfix/MessageStore.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketAcceptor.h>
#include <quickfix/fix44/ExecutionReport.h>

#include <sstream>

#include "lab/suites/quickfix_peer.hpp"

namespace corro {
namespace lab {
namespace quickfix {
namespace {

/// The fields of an execution report that accepts an order; the names of the session come from the engine.
void fill_report(FIX::Message& report, const std::string& client_order) {
    report.setField(FIX::OrderID("4500000000017"));
    report.setField(FIX::ClOrdID(client_order));
    report.setField(FIX::ExecID("9000000000042"));
    report.setField(FIX::ExecType('0'));
    report.setField(FIX::OrdStatus('0'));
    report.setField(FIX::Account("ACCOUNT-1"));
    report.setField(FIX::Symbol("ESZ6"));
    report.setField(FIX::Side('1'));
    report.setField(FIX::OrderQty(10));
    report.setField(FIX::OrdType('2'));
    report.setField(FIX::Price(4500.25));
    report.setField(FIX::TimeInForce('0'));
    report.setField(FIX::LeavesQty(10));
    report.setField(FIX::CumQty(0));
    report.setField(FIX::AvgPx(0));
    report.setField(FIX::TransactTime(true));
}

class answering : public FIX::Application {
 public:
    void onCreate(const FIX::SessionID&) override {}
    void onLogon(const FIX::SessionID&) override {}
    void onLogout(const FIX::SessionID&) override {}
    void toAdmin(FIX::Message&, const FIX::SessionID&) override {}
    void toApp(FIX::Message&, const FIX::SessionID&) throw(FIX::DoNotSend) override {}
    void fromAdmin(const FIX::Message&, const FIX::SessionID&) throw(FIX::FieldNotFound, FIX::IncorrectDataFormat,
                                                                     FIX::IncorrectTagValue,
                                                                     FIX::RejectLogon) override {}
    void fromApp(const FIX::Message& order,
                 const FIX::SessionID& on) throw(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue,
                                                 FIX::UnsupportedMessageType) override {
        FIX::ClOrdID client_order;
        order.getField(client_order);
        FIX44::ExecutionReport report;
        fill_report(report, client_order.getValue());
        FIX::Session::sendToTarget(report, on);
    }
};

}  // namespace

struct parser::parts {
    std::unique_ptr<FIX::DataDictionary> dictionary;
};

parser::parser(const std::string& dictionary) : parts_(new parts) {
    if (!dictionary.empty()) parts_->dictionary.reset(new FIX::DataDictionary(dictionary));
}
parser::~parser() = default;

std::uint64_t parser::parse(const std::string& message, std::uint64_t count) const {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (parts_->dictionary) {
            const FIX::Message parsed(message, *parts_->dictionary, true);
            parts_->dictionary->validate(parsed);
            sum += parsed.getHeader().getField(35).size();
        } else {
            const FIX::Message parsed(message, true);
            sum += parsed.getHeader().getField(35).size();
        }
    }
    return sum;
}

std::uint64_t four_fields(const std::string& order, std::uint64_t count) {
    const FIX::Message parsed(order, true);
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        sum += parsed.getField(11).size() + parsed.getField(55).size() + parsed.getField(38).size() +
               parsed.getField(44).size();
    }
    return sum;
}

std::uint64_t write_reports(std::uint64_t count) {
    const FIX::SenderCompID own("VENUE");
    const FIX::TargetCompID peer("TRADER");
    std::uint64_t sum = 0;
    std::string bytes;
    for (std::uint64_t i = 0; i < count; ++i) {
        FIX44::ExecutionReport report;
        fill_report(report, "ORDER-0000001234");
        FIX::Header& header = report.getHeader();
        header.setField(own);
        header.setField(peer);
        header.setField(FIX::MsgSeqNum(static_cast<int>(1'000'000 + i % 1'000'000)));
        header.setField(FIX::SendingTime(FIX::UtcTimeStamp(), 3));
        sum += report.toString(bytes).size();
    }
    return sum;
}

struct server::parts {
    explicit parts(const std::string& text) : words(text), settings(words), acceptor(own, store, settings) {}

    std::istringstream words;
    FIX::SessionSettings settings;
    answering own;
    FIX::MemoryStoreFactory store;
    FIX::SocketAcceptor acceptor;
};

server::server(std::uint16_t port, const std::string& dictionary) {
    std::ostringstream text;
    text << "[DEFAULT]\nConnectionType=acceptor\nStartTime=00:00:00\nEndTime=00:00:00\nCheckLatency=N\n"
         << "SocketNodelay=Y\nSocketReuseAddress=Y\nSocketAcceptPort=" << port << "\n"
         << (dictionary.empty() ? "UseDataDictionary=N\n" : "UseDataDictionary=Y\nDataDictionary=" + dictionary + "\n")
         << "[SESSION]\nBeginString=FIX.4.4\nSenderCompID=VENUE\nTargetCompID=TRADER\n";
    parts_.reset(new parts(text.str()));
    parts_->acceptor.start();
}
server::~server() {
    parts_->acceptor.stop(true);
}

}  // namespace quickfix
}  // namespace lab
}  // namespace corro
