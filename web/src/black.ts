// SPDX-License-Identifier: Apache-2.0
// Black's model of options on a forward price, without interest.

export interface Greeks {
    /** A year's standard deviation, as a share. */
    volatility: number;
    delta: number;
    gamma: number;
    /** Change of the price for a hundredth of volatility. */
    vega: number;
}

export interface OptionTerms {
    right: "call" | "put";
    forward: number;
    strike: number;
    years: number;
}

const volatilityMax = 10;

function density(x: number): number {
    return Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
}

/** The normal distribution within 7.5e-8: Abramowitz and Stegun, 26.2.17. */
function distribution(x: number): number {
    const t = 1 / (1 + 0.2316419 * Math.abs(x));
    const factors = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429];
    const sum = factors.reduceRight((rest, factor) => t * (factor + rest), 0);
    const above = density(x) * sum;
    return x >= 0 ? 1 - above : above;
}

function price(of: OptionTerms, volatility: number): number {
    const spread = volatility * Math.sqrt(of.years);
    const d1 = Math.log(of.forward / of.strike) / spread + spread / 2;
    const call = of.forward * distribution(d1) - of.strike * distribution(d1 - spread);
    return of.right === "call" ? call : call - of.forward + of.strike;
}

/** Of an option with this price; null when no volatility gives it. */
export function greeksOf(of: OptionTerms, observed: number): Greeks | null {
    if (of.years <= 0 || of.forward <= 0 || of.strike <= 0) return null;
    let low = 1e-4;
    let high = volatilityMax;
    if (!(observed > price(of, low) && observed < price(of, high))) return null;
    while (high - low > 1e-7) {
        const middle = (low + high) / 2;
        if (price(of, middle) < observed) low = middle;
        else high = middle;
    }
    const volatility = (low + high) / 2;
    const root = Math.sqrt(of.years);
    const d1 = Math.log(of.forward / of.strike) / (volatility * root) + (volatility * root) / 2;
    const ofCall = distribution(d1);
    return {
        volatility,
        delta: of.right === "call" ? ofCall : ofCall - 1,
        gamma: density(d1) / (of.forward * volatility * root),
        vega: (of.forward * density(d1) * root) / 100,
    };
}
