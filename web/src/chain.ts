// SPDX-License-Identifier: Apache-2.0
// The options of the venue by expiry and strike, with the volatility that their prices imply and its greeks.

import { type Greeks, greeksOf } from "./black";
import { byId, element, setText } from "./dom";
import { type Instrument, priceText, ticksOf } from "./instrument";
import type { Ticker, Tickers } from "./tickers";

interface Side {
    option: Instrument;
    cells: HTMLElement[];
}

const yearMs = 365 * 86_400_000;

export class Chain {
    private drawn = 0;
    private readonly sides: Side[] = [];

    constructor(
        private readonly tickers: Tickers,
        private readonly instruments: ReadonlyMap<string, Instrument>,
        onChoose: (instrument: Instrument) => void,
    ) {
        const options = [...instruments.values()].filter((each) => each.kind === "option");
        byId("chain-panel").hidden = options.length === 0;
        const strikes = new Map<string, Instrument[]>();
        const order = (each: Instrument) => each.expiry ?? Infinity;
        options.sort((a, b) => order(a) - order(b) || a.strike! - b.strike!);
        for (const option of options) {
            const key = `${option.product} ${option.expiry} ${option.strike}`;
            strikes.set(key, [...(strikes.get(key) ?? []), option]);
        }
        for (const pair of strikes.values()) byId("chain").append(this.makeRow(pair, onChoose));
    }

    draw(): void {
        if (this.drawn === this.tickers.version) return;
        this.drawn = this.tickers.version;
        for (const side of this.sides) {
            const ticker = this.tickers.last.get(side.option.name);
            if (ticker !== undefined) this.drawSide(side, ticker);
        }
    }

    private makeRow(pair: Instrument[], onChoose: (instrument: Instrument) => void): HTMLTableRowElement {
        const first = pair[0]!;
        const half = (right: "call" | "put") => {
            const option = pair.find((each) => each.right === right);
            const cells = Array.from({ length: 6 }, () => element("td", { class: "number" }, ""));
            if (option !== undefined) this.sides.push({ option, cells });
            const name = element("td");
            if (option !== undefined) {
                const choose = element("button", { type: "button" }, option.name);
                choose.addEventListener("click", () => onChoose(option));
                name.append(choose);
            }
            return [name, ...cells];
        };
        const expiry = first.expiry === undefined ? "none" : new Date(first.expiry).toISOString().slice(0, 10);
        return element(
            "tr",
            {},
            element("td", {}, expiry),
            ...half("call"),
            element("th", { scope: "row", class: "number" }, String(first.strike)),
            ...half("put"),
        );
    }

    private drawSide(side: Side, ticker: Ticker): void {
        const { option, cells } = side;
        const text = (price: number | null) => priceText(option, price === null ? null : ticksOf(option, price));
        const greeks = this.greeks(option, middleOf(ticker));
        const decimals = (value: number | undefined, count: number) => (value === undefined ? "–" : value.toFixed(count));
        [
            text(ticker.best_bid_price),
            text(ticker.best_ask_price),
            greeks === null ? "–" : `${(100 * greeks.volatility).toFixed(1)}%`,
            decimals(greeks?.delta, 3),
            decimals(greeks?.gamma, 5),
            decimals(greeks?.vega, 3),
        ].forEach((each, k) => setText(cells[k]!, each));
    }

    private greeks(option: Instrument, observed: number | null): Greeks | null {
        const forward = this.forwardOf(option);
        if (observed === null || forward === null || option.expiry === undefined) return null;
        const years = (option.expiry - Date.now()) / yearMs;
        return greeksOf({ right: option.right!, forward, strike: option.strike!, years }, observed);
    }

    /** The middle of the product's future with the option's expiry, or else of its first future. */
    private forwardOf(option: Instrument): number | null {
        const futures = [...this.instruments.values()].filter((each) => each.kind === "future" && each.product === option.product);
        const future = futures.find((each) => each.expiry === option.expiry) ?? futures[0];
        const ticker = future === undefined ? undefined : this.tickers.last.get(future.name);
        return ticker === undefined ? null : middleOf(ticker);
    }
}

function middleOf(ticker: Ticker): number | null {
    const { best_bid_price: bid, best_ask_price: ask } = ticker;
    return bid === null || ask === null ? null : (bid + ask) / 2;
}
