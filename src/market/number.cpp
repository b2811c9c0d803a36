// SPDX-License-Identifier: Apache-2.0
#include "market/number.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace corro::market {
namespace {

constexpr double ln2_high = 0x1.62e42fee00000p-1;  // the first 32 bits of ln 2: a multiple by an exponent is exact
constexpr double ln2_low = 0x1.a39ef35793c76p-33;
constexpr double sqrt_half = 0.70710678118654752440;

/// x times 2^n, for results within the normal numbers.
double scaled(double x, int n) noexcept {
    return x * std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52U);
}

template <std::size_t Count>
double polynomial(const double (&c)[Count], double x) noexcept {
    double sum = c[Count - 1];
    for (std::size_t i = Count - 1; i-- > 0;) sum = sum * x + c[i];
    return sum;
}

}  // namespace

double log_of(double x) noexcept {
    int exponent = 0;
    if (x < 0x1p-1022) {  // subnormal
        x *= 0x1p54;
        exponent = -54;
    }
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    exponent += static_cast<int>(bits >> 52U) - 1022;
    double m = std::bit_cast<double>((bits & 0x000F'FFFF'FFFF'FFFFULL) | 0x3FE0'0000'0000'0000ULL);  // [0.5, 1)
    if (m < sqrt_half) {
        m *= 2;
        --exponent;
    }
    // log m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172: the terms beyond s^23 are below 1e-18.
    const double s = (m - 1) / (m + 1);
    const double z = s * s;
    static constexpr double terms[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                                       2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
    const double tail = s * z * polynomial(terms, z);
    return exponent * ln2_high + (2 * s + (tail + exponent * ln2_low));
}

double exp_of(double x) noexcept {
    if (x < -700) return 0;
    if (x > 700) x = 700;
    const double scaled_x = x * 1.4426950408889634074;
    const int n = static_cast<int>(scaled_x + (scaled_x < 0 ? -0.5 : 0.5));
    const double r = (x - n * ln2_high) - n * ln2_low;  // |r| <= 0.35
    static constexpr double terms[] = {
        1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,
        1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0};
    return scaled(polynomial(terms, r), n);
}

double sqrt_of(double x) noexcept {
    return std::sqrt(x);  // IEEE 754 demands correct rounding
}

double power_of(double x, double y) noexcept {
    return exp_of(y * log_of(x));
}

double normal_quantile(double p) noexcept {
    static constexpr double a[] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                   1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                   3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static constexpr double b[] = {1.0,
                                   4.2313330701600911252e+1,
                                   6.8718700749205790830e+2,
                                   5.3941960214247511077e+3,
                                   2.1213794301586595867e+4,
                                   3.9307895800092710610e+4,
                                   2.8729085735721942674e+4,
                                   5.2264952788528545610e+3};
    static constexpr double c[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                   3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                   2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static constexpr double d[] = {1.0,
                                   2.05319162663775882187e0,
                                   1.67638483018380384940e0,
                                   6.89767334985100004550e-1,
                                   1.48103976427480074590e-1,
                                   1.51986665636164571966e-2,
                                   5.47593808499534494600e-4,
                                   1.05075007164441684324e-9};
    static constexpr double e[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                   2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                   2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static constexpr double f[] = {1.0,
                                   5.99832206555887937690e-1,
                                   1.36929880922735805310e-1,
                                   1.48753612908506148525e-2,
                                   7.86869131145613259100e-4,
                                   1.84631831751005468180e-5,
                                   1.42151175831644588870e-7,
                                   2.04426310338993978564e-15};
    const double q = p - 0.5;
    if (q >= -0.425 && q <= 0.425) {
        const double r = 0.180625 - q * q;
        return q * polynomial(a, r) / polynomial(b, r);
    }
    double r = sqrt_of(-log_of(q < 0 ? p : 1 - p));
    double value = 0;
    if (r <= 5) {
        r -= 1.6;
        value = polynomial(c, r) / polynomial(d, r);
    } else {
        r -= 5;
        value = polynomial(e, r) / polynomial(f, r);
    }
    return q < 0 ? -value : value;
}

double normal_probability(double x) noexcept {
    // Phi(x) = 1/2 + phi(x) (x + x^3/3 + x^5/15 + ...): all terms have one sign, so nothing cancels.
    if (x < -8) return 0;
    if (x > 8) return 1;
    double term = x;
    double sum = x;
    for (int k = 1; k < 200; ++k) {
        term *= x * x / (2 * k + 1);
        const double next = sum + term;
        if (next == sum) break;
        sum = next;
    }
    return 0.5 + sum * 0.39894228040143267794 * exp_of(-x * x / 2);
}

long long rounded(double x) noexcept {
    constexpr double most = 0x1p62;
    if (x >= most) return static_cast<long long>(most);
    if (x <= -most) return -static_cast<long long>(most);
    return static_cast<long long>(x < 0 ? x - 0.5 : x + 0.5);
}

}  // namespace corro::market
