// SPDX-License-Identifier: Apache-2.0
// A client by QuickFIX that plays a plan: it sends the plan's requests in order and writes down every message that its
// application receives. After it was killed, the same call continues where its log ends, on the same message store.
//
//     quickfix_client SETTINGS PLAN LOG [die COUNT | lose COUNT]
//
// SETTINGS is a file of QuickFIX, with Password in each session. A line of PLAN is "SENDER TYPE TAG=VALUE|TAG=VALUE..."
// or "wait", which waits until every request is answered. Of repeating groups the client knows those of a MassQuote.
// Lines of LOG are "> NUMBER", a line of the plan, before it is sent; "< SENDER MESSAGE", with | for SOH; and "! SENDER
// MESSAGE", a message by which QuickFIX refuses one of the venue.
//
// With `die` the process ends by SIGKILL as soon as it has sent COUNT lines of the plan. With `lose` it prints "sent"
// then, and goes on when it reads a line.
//
// This file is compiled as C++14: the library's headers have exception specifications.

#include <fcntl.h>
#include <quickfix/Application.h>
#include <quickfix/FileLog.h>
#include <quickfix/FileStore.h>
#include <quickfix/Group.h>
#include <quickfix/Message.h>
#include <quickfix/Session.h>
#include <quickfix/SessionSettings.h>
#include <quickfix/SocketInitiator.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t unanswered_max = 50;
constexpr std::chrono::seconds patience{60};

struct step {
    std::string sender;  ///< empty: wait
    std::string type;
    std::vector<std::pair<int, std::string>> fields;
    std::string name;  ///< the first of name_tags; empty: the answer has none
    bool is_answered = true;
};

/// Splits "a|b|" at `sign`; the last part may end without it.
std::vector<std::string> split(const std::string& text, char sign) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(sign, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

std::vector<std::pair<int, std::string>> fields_of(const std::string& text) {
    std::vector<std::pair<int, std::string>> fields;
    for (const std::string& field : split(text, '|')) {
        const std::size_t sign = field.find('=');
        fields.emplace_back(std::stoi(field.substr(0, sign)), field.substr(sign + 1));
    }
    return fields;
}

std::string value_of(const std::vector<std::pair<int, std::string>>& fields, int tag) {
    for (const auto& field : fields) {
        if (field.first == tag) return field.second;
    }
    return std::string();
}

/// ClOrdID, QuoteID, MassStatusReqID, MDReqID, SecurityReqID, SecurityStatusReqID, PosReqID.
constexpr int name_tags[] = {11, 117, 584, 262, 320, 324, 710};

std::string name_of(const std::vector<std::pair<int, std::string>>& fields) {
    for (const int tag : name_tags) {
        const std::string name = value_of(fields, tag);
        if (!name.empty()) return name;
    }
    return std::string();
}

/// The fields from NoQuoteSets (296) on: sets, which begin with QuoteSetID, of entries, which begin with QuoteEntryID.
void add_quotes(const std::vector<std::pair<int, std::string>>& fields, FIX::Message& message) {
    std::vector<FIX::Group> entries;
    std::vector<std::pair<int, std::string>> set;
    const auto end_set = [&] {
        if (set.empty()) return;
        FIX::Group group(296, 302);
        for (const auto& field : set) group.setField(field.first, field.second);
        for (const FIX::Group& entry : entries) group.addGroup(entry);
        message.addGroup(group);
        entries.clear();
        set.clear();
    };
    for (const auto& field : fields) {
        if (field.first == 302) end_set();
        if (field.first == 299) entries.emplace_back(295, 299);
        if (field.first == 295) continue;  // QuickFIX counts
        if (entries.empty()) {
            set.push_back(field);
        } else {
            entries.back().setField(field.first, field.second);
        }
    }
    end_set();
}

std::vector<step> read_plan(const std::string& path) {
    std::ifstream file(path);
    std::vector<step> plan;
    for (std::string line; std::getline(file, line);) {
        step next;
        if (line != "wait") {
            const std::vector<std::string> words = split(line, ' ');
            next.sender = words.at(0);
            next.type = words.at(1);
            next.fields = fields_of(words.at(2));
            next.name = name_of(next.fields);
            // The end of a subscription has no answer.
            next.is_answered = next.type != "V" || value_of(next.fields, 263) != "2";
        }
        plan.push_back(next);
    }
    return plan;
}

class client : public FIX::Application {
 public:
    client(const FIX::SessionSettings& settings, std::vector<step> plan, const std::string& log_path)
        : settings_(settings), plan_(std::move(plan)) {
        read_log(log_path);
        log_ = open(log_path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        if (log_ < 0) throw std::runtime_error("cannot write " + log_path);
        for (const FIX::SessionID& id : settings.getSessions()) sessions_[id.getSenderCompID().getValue()] = id;
    }

    /// Sends what the log does not have, and returns when all is answered.
    void play(const std::string& how, std::size_t count) {
        wait_for_logons();
        while (sent_ < plan_.size()) {
            const step& next = plan_[sent_];
            wait_for_answers(next.sender.empty() ? 0 : unanswered_max);
            ++sent_;
            write("> " + std::to_string(sent_));
            if (!next.sender.empty()) send(next);
            if (how == "die" && sent_ == count) static_cast<void>(kill(getpid(), SIGKILL));
            if (how == "lose" && sent_ == count) {
                std::cout << "sent" << std::endl;
                std::string go;
                std::getline(std::cin, go);
            }
        }
        wait_for_answers(0);
    }

    void onCreate(const FIX::SessionID& /*id*/) override {}
    void onLogon(const FIX::SessionID& on) override {
        const std::lock_guard<std::mutex> lock(mutex_);
        logged_on_.insert(on.getSenderCompID().getValue());
        changed_.notify_all();
    }
    void onLogout(const FIX::SessionID& /*on*/) override {}
    void toAdmin(FIX::Message& message, const FIX::SessionID& on) override {
        const std::string type = message.getHeader().getField(35);
        if (type == "A") message.setField(554, settings_.get(on).getString("Password"));
        if (type == "3") write(line('!', message, on));
    }
    void toApp(FIX::Message& message, const FIX::SessionID& on) throw(FIX::DoNotSend) override {
        if (message.getHeader().getField(35) == "j") return write(line('!', message, on));
        const std::lock_guard<std::mutex> lock(mutex_);
        std::string& name = by_number_[key(on, message.getHeader().getField(34))];
        for (const int tag : name_tags) {
            if (name.empty() && message.isSetField(tag)) name = message.getField(tag);
        }
    }
    void fromAdmin(const FIX::Message& message,
                   const FIX::SessionID& on) throw(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue,
                                                   FIX::RejectLogon) override {
        if (message.getHeader().getField(35) == "3") take(message, on);
    }
    void fromApp(const FIX::Message& message,
                 const FIX::SessionID& on) throw(FIX::FieldNotFound, FIX::IncorrectDataFormat, FIX::IncorrectTagValue,
                                                 FIX::UnsupportedMessageType) override {
        take(message, on);
    }

 private:
    using named = std::pair<std::string, std::string>;  ///< SenderCompID and name, or MsgSeqNum

    static named key(const FIX::SessionID& on, const std::string& what) {
        return {on.getSenderCompID().getValue(), what};
    }
    static std::string line(char kind, const FIX::Message& message, const FIX::SessionID& on) {
        std::string text = message.toString();
        std::replace(text.begin(), text.end(), '\x01', '|');
        return std::string(1, kind) + ' ' + on.getSenderCompID().getValue() + ' ' + text;
    }
    void write(std::string text) const {
        text += '\n';
        if (::write(log_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::terminate();
    }
    void read_log(const std::string& path) {
        std::ifstream file(path);
        for (std::string text; std::getline(file, text);) {
            const std::vector<std::string> words = split(text, ' ');
            if (words.at(0) == ">") {
                sent_ = std::stoul(words.at(1));
                const step& was = plan_.at(sent_ - 1);
                if (!was.name.empty() && was.is_answered) unanswered_.insert({was.sender, was.name});
            } else if (words.at(0) == "<") {
                const std::vector<std::pair<int, std::string>> fields = fields_of(text.substr(text.find("8=")));
                for (const int tag : name_tags) unanswered_.erase({words.at(1), value_of(fields, tag)});
            }
        }
    }
    // The entries of the groups of a MarketDataRequest have one field each.
    static void set_fields(const std::string& type, const std::vector<std::pair<int, std::string>>& fields,
                           FIX::Message* message) {
        int group = 0;
        for (const auto& field : fields) {
            const bool is_entry = type == "V" && (field.first == 269 || field.first == 55);
            if (is_entry) {
                FIX::Group entry(group, field.first);
                entry.setField(field.first, field.second);
                message->addGroup(entry);
            } else if (type == "V" && (field.first == 267 || field.first == 146)) {
                group = field.first;
            } else {
                message->setField(field.first, field.second);
            }
        }
    }
    void send(const step& next) {
        FIX::Message message;
        message.getHeader().setField(35, next.type);
        auto groups = next.fields.begin();
        while (groups != next.fields.end() && groups->first != 296) ++groups;
        set_fields(next.type, {next.fields.begin(), groups}, &message);
        if (groups != next.fields.end()) add_quotes({groups + 1, next.fields.end()}, message);
        if (next.is_answered) {
            const std::lock_guard<std::mutex> lock(mutex_);
            unanswered_.insert({next.sender, next.name});
        }
        // False without a connection: the message is stored, and the venue asks for it.
        static_cast<void>(FIX::Session::sendToTarget(message, sessions_.at(next.sender)));
    }
    void take(const FIX::Message& message, const FIX::SessionID& on) {
        write(line('<', message, on));
        const std::lock_guard<std::mutex> lock(mutex_);
        bool has_name = false;
        for (const int tag : name_tags) {
            if (!message.isSetField(tag)) continue;
            unanswered_.erase(key(on, message.getField(tag)));
            has_name = true;
        }
        if (!has_name && message.isSetField(45)) {
            unanswered_.erase(key(on, by_number_[key(on, message.getField(45))]));
        }
        changed_.notify_all();
    }
    // A request before the first Logon would take number 1.
    void wait_for_logons() {
        std::unique_lock<std::mutex> lock(mutex_);
        const bool came = changed_.wait_for(lock, patience, [&] { return logged_on_.size() == sessions_.size(); });
        if (!came) throw std::runtime_error("a Logon is not answered");
    }
    void wait_for_answers(std::size_t max) {
        std::unique_lock<std::mutex> lock(mutex_);
        const bool came =
            changed_.wait_for(lock, patience, [&] { return unanswered_.empty() || unanswered_.size() < max; });
        if (!came) {
            const named& first = *unanswered_.begin();
            throw std::runtime_error(std::to_string(unanswered_.size()) + " requests have no answer; one is " +
                                     first.first + " " + first.second);
        }
    }

    const FIX::SessionSettings& settings_;
    const std::vector<step> plan_;
    std::map<std::string, FIX::SessionID> sessions_;
    int log_ = -1;
    std::size_t sent_ = 0;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::set<std::string> logged_on_;  ///< at least once
    std::set<named> unanswered_;
    std::map<named, std::string> by_number_;  ///< of what was sent, by MsgSeqNum
};

}  // namespace

int main(int count, char** arguments) {
    try {
        const std::vector<std::string> given(arguments + 1, arguments + count);
        const FIX::SessionSettings settings(given.at(0));
        client application(settings, read_plan(given.at(1)), given.at(2));
        FIX::FileStoreFactory store(settings);
        FIX::FileLogFactory log(settings);
        FIX::SocketInitiator initiator(application, store, settings, log);
        initiator.start();
        try {
            application.play(given.size() > 3 ? given.at(3) : "", given.size() > 4 ? std::stoul(given.at(4)) : 0);
        } catch (const std::exception& wrong) {
            std::cerr << wrong.what() << std::endl;
            std::_Exit(1);  // the initiator's threads still run
        }
        initiator.stop();
        return 0;
    } catch (const std::exception& wrong) {
        std::cerr << wrong.what() << std::endl;
        return 1;
    }
}
