// SPDX-License-Identifier: Apache-2.0
#include "market/whole/repeated_market.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "market/whole/whole_market.hpp"

namespace corro::market {
namespace {

class known_commands final : public command_source {
 public:
    known_commands(std::vector<domain::command> all, std::int64_t start_ns)
        : all_(std::move(all)), start_ns_(start_ns) {}
    [[nodiscard]] std::int64_t next_ns() const noexcept override {
        return next_ == all_.size() ? never_ns : all_[next_].time.value - start_ns_;
    }
    [[nodiscard]] bool take(const market& /*world*/, domain::command& into) override {
        into = all_[next_++];
        return true;
    }
    void on_executed(const market& /*world*/) override {}

 private:
    std::vector<domain::command> all_;
    std::int64_t start_ns_;
    std::size_t next_ = 0;
};

struct named_note {
    std::int64_t at_ns = 0;
    std::string what;
    double value = 0;
};

behaviour note_again(agent& me, std::vector<named_note> all) {
    for (const named_note& each : all) {
        const bool goes_on = co_await me.sleep(each.at_ns - me.now_ns());
        if (!goes_on) co_return;
        me.note(each.what, each.value);
    }
}

}  // namespace

whole_record run_whole(std::unique_ptr<market> agents, std::int64_t duration_ns) {
    CORRO_ASSERT(agents->options().start_ns == whole_market::start_ns(), "both clocks begin at the same time of day");
    whole_record made;
    whole_market whole(std::move(agents), whole_options());
    whole.run(duration_ns);
    made.state_hash = whole.state_hash();
    made.arrivals_digest = whole.digest();
    whole.close();
    const std::int64_t end_ns = whole_market::start_ns() + duration_ns;
    for (const domain::command& each : whole.commands()) {
        const bool is_of_agent = each.request() != 0;  // others are the notes of sessions
        if (is_of_agent && each.time.value <= end_ns) made.commands.push_back(each);
    }
    const market& world = whole.agents();
    made.notes.resize(world.agents_count());
    for (const note& each : world.notes()) {
        made.notes[each.agent].push_back(each);
        while (made.note_names.size() <= each.what) {
            made.note_names.emplace_back(world.note_name(static_cast<std::uint32_t>(made.note_names.size())));
        }
    }
    for (std::size_t i = 0; i < world.agents_count(); ++i) {
        made.agent_names.push_back(world.name_of(i));
        made.are_operators.push_back(world.is_operator(i));
    }
    return made;
}

std::unique_ptr<market> repeat(const whole_record& record, market_options options) {
    const std::int64_t start_ns = options.start_ns;
    auto made = std::make_unique<market>(std::move(options));
    for (std::size_t i = 0; i < record.agent_names.size(); ++i) {
        agent_options who;
        who.name = record.agent_names[i];
        who.is_operator = record.are_operators[i];
        std::vector<named_note> noted;
        for (const note& each : record.notes[i]) {
            noted.push_back({each.at_ns, record.note_names[each.what], each.value});
        }
        made->add_agent(std::move(who), [noted = std::move(noted)](agent& me) { return note_again(me, noted); });
    }
    made->take_commands_from(std::make_shared<known_commands>(record.commands, start_ns));
    return made;
}

}  // namespace corro::market
