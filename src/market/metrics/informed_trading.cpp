// SPDX-License-Identifier: Apache-2.0
#include "market/metrics/informed_trading.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "market/number.hpp"

namespace corro::market {
namespace {

/// How likely each kind of period is, given its trades; and the logarithm of the likelihood of the trades.
struct responsibility {
    double none = 0;
    double good = 0;
    double bad = 0;
    double log_likelihood = 0;
};

double log_or_never(double x) noexcept {
    return x > 0 ? log_of(x) : -1e200;
}

/// The logarithm of the probability of a count, without its factorial.
double log_poisson(double count, double rate) noexcept {
    return (count > 0 ? count * log_or_never(rate) : 0) - rate;
}

responsibility look_at(const informed_trading& model, const period_trades& of) noexcept {
    const double buys = of.buys;
    const double sells = of.sells;
    const double none =
        log_or_never(1 - model.news_share) + log_poisson(buys, model.buys) + log_poisson(sells, model.sells);
    const double good = log_or_never(model.news_share * (1 - model.bad_news_share)) +
                        log_poisson(buys, model.buys + model.informed) + log_poisson(sells, model.sells);
    const double bad = log_or_never(model.news_share * model.bad_news_share) + log_poisson(buys, model.buys) +
                       log_poisson(sells, model.sells + model.informed);
    const double most = std::max({none, good, bad});
    responsibility made{exp_of(std::max(none - most, -700.0)), exp_of(std::max(good - most, -700.0)),
                        exp_of(std::max(bad - most, -700.0)), 0};
    const double sum = made.none + made.good + made.bad;
    made.none /= sum;
    made.good /= sum;
    made.bad /= sum;
    made.log_likelihood = most + log_of(sum);
    return made;
}

/// One step: the parameters that are most likely if each period is of each kind as likely as the model says.
informed_trading improved(const informed_trading& model, std::span<const period_trades> periods) noexcept {
    double good = 0;
    double bad = 0;
    double informed = 0;
    double buys = 0;
    double sells = 0;
    double log_likelihood = 0;
    for (const period_trades& each : periods) {
        const responsibility is = look_at(model, each);
        good += is.good;
        bad += is.bad;
        log_likelihood += is.log_likelihood;
        // Of a period with news, the rates share the trades of the informed side.
        const auto shared = [&](double rate) { return rate + model.informed > 0 ? rate / (rate + model.informed) : 0; };
        const double informed_buys = is.good * each.buys * (1 - shared(model.buys));
        const double informed_sells = is.bad * each.sells * (1 - shared(model.sells));
        informed += informed_buys + informed_sells;
        buys += each.buys - informed_buys;
        sells += each.sells - informed_sells;
    }
    const auto count = static_cast<double>(periods.size());
    informed_trading made;
    made.news_share = (good + bad) / count;
    made.bad_news_share = good + bad > 0 ? bad / (good + bad) : 0;
    made.informed = good + bad > 0 ? informed / (good + bad) : 0;
    made.buys = buys / count;
    made.sells = sells / count;
    made.log_likelihood = log_likelihood;
    return made;
}

}  // namespace

double vpin_of(std::span<const double> signed_lots, std::size_t buckets_count) noexcept {
    double volume = 0;
    for (const double each : signed_lots) volume += std::fabs(each);
    if (volume <= 0 || buckets_count == 0) return 0;
    const double size = volume / static_cast<double>(buckets_count);
    double room = size;
    double imbalance = 0;
    double sum = 0;
    for (const double each : signed_lots) {
        double left = std::fabs(each);
        while (left > 0) {
            const double part = std::min(left, room);
            imbalance += each > 0 ? part : -part;
            left -= part;
            room -= part;
            if (room > 0) continue;
            sum += std::fabs(imbalance);
            imbalance = 0;
            room = size;
        }
    }
    return (sum + std::fabs(imbalance)) / volume;
}

informed_trading estimate_informed_trading(std::span<const period_trades> periods) noexcept {
    informed_trading best;
    if (periods.empty()) return best;
    double buys = 0;
    double sells = 0;
    for (const period_trades& each : periods) {
        buys += each.buys;
        sells += each.sells;
    }
    buys /= static_cast<double>(periods.size());
    sells /= static_cast<double>(periods.size());
    constexpr int steps_max = 500;
    constexpr double enough = 1e-9;
    bool has_one = false;
    // How much of the trading the others are, at the beginning.
    for (const double others : {0.9, 0.7, 0.5, 0.3, 0.1}) {
        informed_trading model;
        model.news_share = 0.5;
        model.bad_news_share = 0.5;
        model.buys = buys * others;
        model.sells = sells * others;
        model.informed = (buys + sells) * (1 - others) / model.news_share;
        double before = -1e200;
        for (int i = 0; i < steps_max; ++i) {
            model = improved(model, periods);
            if (model.log_likelihood - before < enough) break;
            before = model.log_likelihood;
        }
        if (!has_one || model.log_likelihood > best.log_likelihood) best = model;
        has_one = true;
    }
    return best;
}

}  // namespace corro::market
