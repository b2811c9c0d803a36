// SPDX-License-Identifier: Apache-2.0
// The instruments with their best prices; a click shows one in all panels.

import { byId, element, setClass, setText } from "./dom";
import { type Instrument, priceText, ticksOf } from "./instrument";
import type { Tickers } from "./tickers";

interface Row {
    row: HTMLTableRowElement;
    cells: HTMLElement[];
}

/** Further instruments are in the list of names only. */
const rowsMax = 100;

export class Watchlist {
    private readonly rows = new Map<string, Row>();
    private drawn = 0;

    constructor(
        private readonly tickers: Tickers,
        private readonly instruments: ReadonlyMap<string, Instrument>,
        onChoose: (instrument: Instrument) => void,
    ) {
        for (const instrument of [...instruments.values()].slice(0, rowsMax)) {
            const choose = element("button", { type: "button" }, instrument.name);
            choose.addEventListener("click", () => onChoose(instrument));
            const cells = ["bid", "ask", "last", "volume"].map(() => element("td", { class: "number" }, "–"));
            const row = element("tr", {}, element("th", { scope: "row" }, choose), ...cells);
            byId("watchlist").append(row);
            this.rows.set(instrument.name, { row, cells });
        }
    }

    mark(chosen: Instrument): void {
        for (const [name, row] of this.rows) setClass(row.row, name === chosen.name ? "chosen" : "");
    }

    draw(): void {
        if (this.drawn === this.tickers.version) return;
        this.drawn = this.tickers.version;
        for (const [name, row] of this.rows) {
            const ticker = this.tickers.last.get(name);
            const instrument = this.instruments.get(name);
            if (ticker === undefined || instrument === undefined) continue;
            const prices = [ticker.best_bid_price, ticker.best_ask_price, ticker.last_price];
            const texts = prices.map((price) => priceText(instrument, price === null ? null : ticksOf(instrument, price)));
            [...texts, String(ticker.stats.volume)].forEach((text, k) => setText(row.cells[k]!, text));
        }
    }
}
