// Orders, trades and levels as comma-separated lines. The columns are docs/spec/export.md.

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "domain/decimal.hpp"
#include "domain/definition.hpp"
#include "history/exporter.hpp"
#include "history/moment.hpp"
#include "history/text_file.hpp"

namespace corro::history {
namespace {

using domain::event_kind;

std::string_view name_of(event_kind kind) noexcept {
    switch (kind) {
        case event_kind::order_entered: return "entered";
        case event_kind::order_amended: return "amended";
        case event_kind::order_cancelled: return "cancelled";
        case event_kind::order_executed: return "executed";
        case event_kind::order_rejected: return "rejected";
        default: return "";
    }
}

std::string_view name_of(domain::side side) noexcept {
    return side == domain::side::buy ? "buy" : "sell";
}

std::string_view name_of(domain::order_type type) noexcept {
    switch (type) {
        case domain::order_type::limit: return "limit";
        case domain::order_type::market: return "market";
        case domain::order_type::market_to_limit: return "market_to_limit";
        case domain::order_type::market_protected: return "market_protected";
        case domain::order_type::stop: return "stop";
        case domain::order_type::stop_limit: return "stop_limit";
        case domain::order_type::market_if_touched: return "market_if_touched";
    }
    return "";
}

std::string_view name_of(domain::time_in_force t) noexcept {
    switch (t) {
        case domain::time_in_force::day: return "day";
        case domain::time_in_force::gtc: return "gtc";
        case domain::time_in_force::ioc: return "ioc";
        case domain::time_in_force::fok: return "fok";
        case domain::time_in_force::gtd: return "gtd";
        case domain::time_in_force::at_the_open: return "at_the_open";
        case domain::time_in_force::at_the_close: return "at_the_close";
    }
    return "";
}

/// Whether an order has a limit price of its owner.
bool has_limit(domain::order_type type) noexcept {
    return type == domain::order_type::limit || type == domain::order_type::stop_limit;
}

class csv_exporter final : public exporter {
 public:
    csv_exporter(const std::filesystem::path& directory, std::span<const domain::instrument> instruments,
                 domain::instrument_id only, export_choice what)
        : instruments_(instruments.begin(), instruments.end()), only_(only) {
        std::ranges::sort(instruments_, {}, &domain::instrument::id);
        if (what.orders) {
            orders_.emplace(directory / "orders.csv");
            *orders_ << "sequence,time,event,instrument,side,order,client_order,account,session,price,quantity,open,"
                        "aggressor,reason,type,time_in_force,trigger_price,display_quantity,minimum_quantity";
            orders_->end_line();
        }
        if (what.trades) {
            trades_.emplace(directory / "trades.csv");
            *trades_ << "sequence,time,trade,instrument,price,quantity,aggressor,buy_order,buy_account,sell_order,"
                        "sell_account";
            trades_->end_line();
        }
        if (what.levels) {
            levels_.emplace(directory / "levels.csv");
            *levels_ << "sequence,time,instrument,side,price,quantity,orders";
            levels_->end_line();
        }
    }

    /// Orders that are already in the book come first, with the number and time of the command before.
    void begin(const facility::facility& state) override {
        struct visitor final : facility::book_visitor {
            void visit_level(domain::side side, const domain::level& level) override {
                if (to->levels_) to->write_level(position.sequence, position.time, *of, side, level);
            }
            void visit_order(domain::side, const facility::resting_order& o) override {
                to->known_.insert(o.order.value);
            }
            csv_exporter* to = nullptr;
            const domain::instrument* of = nullptr;
            facility::snapshot_position position;
        } levels;
        levels.to = this;
        levels.position = state.position();
        for (const domain::instrument& i : instruments_) {
            if (!is_wanted(i.id)) continue;
            levels.of = &i;
            state.visit_book(i.id, levels);
        }
    }
    void finish() override {
        for (auto* file : {&orders_, &trades_, &levels_}) {
            if (*file) (*file)->close();
        }
    }
    [[nodiscard]] std::uint64_t lines_count() const noexcept override {
        std::uint64_t count = 0;
        for (const auto* file : {&orders_, &trades_, &levels_}) {
            if (*file) count += (*file)->lines_count();
        }
        return count;
    }

 protected:
    void write(const domain::event& e) override {
        if (domain::is_definition(e.kind)) return take_definition(e);
        const domain::instrument* const i = find(e.instrument);
        switch (e.kind) {
            case event_kind::order_entered:
            case event_kind::order_amended:
            case event_kind::order_cancelled:
            case event_kind::order_executed:
            case event_kind::order_rejected:
                if (orders_ && is_wanted(e.instrument)) {
                    if (announces(e)) write_accepted(e, i);
                    write_order(e, i);
                }
                break;
            case event_kind::trade_capture:
                if (e.side == domain::side::buy)
                    buyer_ = e.capture;
                else
                    seller_ = e.capture;
                break;
            case event_kind::trade:
                if (trades_ && i != nullptr && is_wanted(e.instrument)) write_trade(e, *i);
                break;
            case event_kind::level_changed:
                if (levels_ && i != nullptr && is_wanted(e.instrument)) {
                    write_level(e.command, e.time, *i, e.side, e.level);
                }
                break;
            default: break;
        }
    }

 private:
    void take_definition(const domain::event& e) {
        if (!definitions_.take(e)) return;
        const domain::instrument* const like = find(definitions_.get().like);
        if (like == nullptr || find(e.instrument) != nullptr) return;
        const domain::instrument made = domain::define_like(*like, definitions_.get()).value;
        instruments_.insert(std::ranges::upper_bound(instruments_, made.id, {}, &domain::instrument::id), made);
    }
    [[nodiscard]] bool is_wanted(domain::instrument_id id) const noexcept { return only_.value == 0 || id == only_; }
    [[nodiscard]] const domain::instrument* find(domain::instrument_id id) const noexcept {
        const auto at = std::ranges::lower_bound(instruments_, id, {}, &domain::instrument::id);
        return at != instruments_.end() && at->id == id ? &*at : nullptr;
    }
    static std::string_view price_text(const domain::instrument* i, domain::price_ticks price,
                                       domain::decimal_text& room) noexcept {
        if (i == nullptr || price == domain::no_price) return {};
        room = domain::format_decimal(domain::to_nano(*i, price).value);
        return room.view();
    }
    /// Quantities in units of the instrument; for an unknown instrument the sender's number.
    static std::uint64_t units(const domain::instrument* i, std::uint64_t lots) noexcept {
        return i == nullptr ? lots : lots * i->lot_size;
    }
    std::string_view time_text(domain::time_ns time) {
        if (time != time_ || time_text_.empty()) {
            time_ = time;
            time_text_ = format_time(time);
        }
        return time_text_;
    }

    /// Whether the event is the first about the order that the running command enters: one with its account, session
    /// and id that no earlier event had.
    bool announces(const domain::event& e) {
        const bool is_fill = e.kind == event_kind::order_executed;
        const std::uint64_t order = is_fill ? e.execution.order.value : e.order.order.value;
        const bool has_ended = e.kind == event_kind::order_cancelled || (is_fill && e.execution.leaves.value == 0);
        const bool is_new = has_ended ? known_.erase(order) == 0 : known_.insert(order).second;
        const domain::command& c = command();
        if (!is_new || order == 0 || accepted_ == e.command || e.command != c.sequence) return false;
        if (c.kind != domain::command_kind::enter_order || c.instrument != e.instrument) return false;
        if (e.reason == domain::reject_reason::expired || e.reason == domain::reject_reason::triggered) return false;
        const bool is_own = is_fill ? e.execution.account == c.account && e.execution.session == c.session &&
                                          e.execution.client_order == c.client_order
                                    : e.order.account == c.account && e.order.session == c.session &&
                                          e.order.client_order == c.client_order;
        if (is_own) accepted_ = e.command;
        return is_own;
    }
    /// Writes the order as sent, with all its lots, independent of immediate fills.
    void write_accepted(const domain::event& e, const domain::instrument* i) {
        domain::decimal_text price;
        domain::decimal_text trigger;
        const domain::command& c = command();
        const std::uint64_t order =
            e.kind == event_kind::order_executed ? e.execution.order.value : e.order.order.value;
        const domain::order_terms& terms = c.order_terms();
        const domain::enter_order& o = c.enter_order();
        const bool waits = terms.type >= domain::order_type::stop;
        text_file& to = *orders_;
        to << e.command.value << ',' << time_text(e.time) << ",accepted,"
           << (i == nullptr ? std::string_view{} : i->name.view()) << ',' << name_of(terms.side) << ',' << order << ','
           << c.client_order.value << ',' << c.account.value << ',' << c.session.value << ','
           << (has_limit(terms.type) ? price_text(i, o.price, price) : std::string_view{}) << ','
           << units(i, o.quantity.value) << ',' << units(i, o.quantity.value) << ",0,," << name_of(terms.type) << ','
           << name_of(terms.time_in_force) << ','
           << (waits ? price_text(i, o.trigger_price, trigger) : std::string_view{}) << ','
           << units(i, o.display_quantity.value) << ',' << units(i, o.minimum_quantity.value);
        to.end_line();
    }
    void write_order(const domain::event& e, const domain::instrument* i) {
        domain::decimal_text price;
        text_file& to = *orders_;
        to << e.command.value << ',' << time_text(e.time) << ',' << name_of(e.kind) << ','
           << (i == nullptr ? std::string_view{} : i->name.view()) << ',' << name_of(e.side) << ',';
        if (e.kind == event_kind::order_executed) {
            const domain::execution& x = e.execution;
            to << x.order.value << ',' << x.client_order.value << ',' << x.account.value << ',' << x.session.value
               << ',' << price_text(i, x.price, price) << ',' << units(i, x.quantity.value) << ','
               << units(i, x.leaves.value) << ',' << ((e.flags & domain::event_flag::aggressor) != 0 ? 1 : 0);
        } else {
            const domain::private_order& o = e.order;
            const bool stays = e.kind == event_kind::order_entered || e.kind == event_kind::order_amended;
            to << o.order.value << ',' << o.client_order.value << ',' << o.account.value << ',' << o.session.value
               << ',' << price_text(i, o.price, price) << ',' << units(i, o.quantity.value) << ','
               << (stays ? units(i, o.quantity.value) : 0) << ',' << 0;
        }
        to << ',' << (e.reason == domain::reject_reason::none ? std::string_view{} : domain::to_string(e.reason));
        to << ",,,,,";
        to.end_line();
    }
    void write_trade(const domain::event& e, const domain::instrument& i) {
        domain::decimal_text price;
        *trades_ << e.command.value << ',' << time_text(e.time) << ',' << e.trade.trade.value << ',' << i.name.view()
                 << ',' << price_text(&i, e.trade.price, price) << ',' << units(&i, e.trade.quantity.value) << ','
                 << name_of(e.side) << ',';
        write_party(buyer_, e.trade.trade);
        *trades_ << ',';
        write_party(seller_, e.trade.trade);
        trades_->end_line();
    }
    void write_party(const domain::capture& party, domain::trade_id trade) {
        if (party.trade == trade) {
            *trades_ << party.order.value << ',' << party.account.value;
        } else {
            *trades_ << ',';
        }
    }
    void write_level(domain::sequence_number sequence, domain::time_ns time, const domain::instrument& i,
                     domain::side side, const domain::level& level) {
        domain::decimal_text price;
        *levels_ << sequence.value << ',' << time_text(time) << ',' << i.name.view() << ',' << name_of(side) << ','
                 << price_text(&i, level.price, price) << ',' << units(&i, level.quantity.value) << ','
                 << level.orders_count;
        levels_->end_line();
    }

    std::vector<domain::instrument> instruments_;  ///< by id
    domain::definition_reader definitions_;
    domain::instrument_id only_;
    std::optional<text_file> orders_;
    std::optional<text_file> trades_;
    std::optional<text_file> levels_;
    std::unordered_set<std::uint64_t> known_;  ///< orders that are open according to the events
    domain::sequence_number accepted_{};       ///< the last command whose order was written as accepted
    domain::capture buyer_{};                  ///< of the current trade
    domain::capture seller_{};
    domain::time_ns time_{};
    std::string time_text_;
};

}  // namespace

std::unique_ptr<exporter> make_csv_exporter(const std::filesystem::path& directory,
                                            std::span<const domain::instrument> instruments, domain::instrument_id only,
                                            export_choice what) {
    return std::make_unique<csv_exporter>(directory, instruments, only, what);
}

}  // namespace corro::history
