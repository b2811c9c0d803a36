// SPDX-License-Identifier: Apache-2.0
// Spreads of two legs as a matrix: the leg that a buyer of the spread buys is the row, the other one the column. A place
// has the best prices of the spread's own book, and those that other books imply; the diagonal has the legs themselves.

import { byId, element, setText } from "./dom";
import { type Instrument, priceText, ticksOf } from "./instrument";
import type { Ticker, Tickers } from "./tickers";

interface Place {
    of: Instrument;
    own: HTMLElement;
    implied: HTMLElement;
}

export class Spreads {
    private drawn = 0;
    private readonly places: Place[] = [];

    constructor(
        private readonly tickers: Tickers,
        instruments: ReadonlyMap<string, Instrument>,
        private readonly onChoose: (instrument: Instrument) => void,
    ) {
        const all = [...instruments.values()];
        const byNumber = new Map(all.map((each) => [each.id, each]));
        const spreads = all.filter((each) => each.legs.length === 2 && each.legs.every((leg) => byNumber.has(leg.instrument)));
        byId("spreads-panel").hidden = spreads.length === 0;
        const legs = [...new Set(spreads.flatMap((each) => each.legs.map((leg) => leg.instrument)))];
        byId("spreads-head").append(
            element("td", {}, "buy, sell"),
            ...legs.map((id) => element("th", { scope: "col" }, byNumber.get(id)!.name)),
        );
        for (const bought of legs) {
            const cells = legs.map((sold) => {
                const found =
                    bought === sold
                        ? byNumber.get(bought)
                        : spreads.find(({ legs: pair }) => {
                              const buys = pair.find((leg) => leg.direction === "buy");
                              const sells = pair.find((leg) => leg.direction === "sell");
                              return buys?.instrument === bought && sells?.instrument === sold;
                          });
                return found === undefined ? element("td", { class: "faint" }, "–") : this.makePlace(found);
            });
            byId("spreads").append(element("tr", {}, element("th", { scope: "row" }, byNumber.get(bought)!.name), ...cells));
        }
    }

    draw(): void {
        if (this.drawn === this.tickers.version) return;
        this.drawn = this.tickers.version;
        for (const { of, own, implied } of this.places) {
            const ticker = this.tickers.last.get(of.name);
            if (ticker === undefined) continue;
            setText(own, pair(of, ticker.best_bid_price, ticker.best_ask_price));
            setText(implied, hasImplied(ticker) ? `implied ${pair(of, ticker.implied_bid_price, ticker.implied_ask_price)}` : "");
        }
    }

    private makePlace(of: Instrument): HTMLTableCellElement {
        const own = element("span", {}, "–");
        const implied = element("span", { class: "implied" });
        const choose = element("button", { type: "button", title: of.name, "aria-label": `show ${of.name}` }, of.name);
        choose.addEventListener("click", () => this.onChoose(of));
        this.places.push({ of, own, implied });
        return element("td", { "data-instrument": of.name }, choose, " ", own, " ", implied);
    }
}

function hasImplied(ticker: Ticker): boolean {
    return (ticker.implied_bid_price ?? null) !== null || (ticker.implied_ask_price ?? null) !== null;
}

function pair(of: Instrument, bid: number | null | undefined, ask: number | null | undefined): string {
    const text = (price: number | null | undefined) => priceText(of, price === null || price === undefined ? null : ticksOf(of, price));
    return `${text(bid)} / ${text(ask)}`;
}
