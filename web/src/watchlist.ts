// The instruments with their best prices; a click shows one in all panels.

import type { Connection } from "./connection";
import { byId, element, setClass, setText } from "./dom";
import { type Instrument, priceText, ticksOf } from "./instrument";

/** Further instruments are in the list of names only. */
const rowsMax = 100;

interface Row {
    row: HTMLTableRowElement;
    bid: HTMLElement;
    ask: HTMLElement;
    last: HTMLElement;
    volume: HTMLElement;
}

export class Watchlist {
    private readonly rows = new Map<string, Row>();

    constructor(
        private readonly connection: Connection,
        private readonly instruments: ReadonlyMap<string, Instrument>,
        onChoose: (instrument: Instrument) => void,
    ) {
        for (const instrument of [...instruments.values()].slice(0, rowsMax)) {
            const choose = element("button", { type: "button" }, instrument.name);
            choose.addEventListener("click", () => onChoose(instrument));
            const cell = () => element("td", { class: "number" }, "–");
            const [bid, ask, last, volume] = [cell(), cell(), cell(), cell()] as [HTMLElement, HTMLElement, HTMLElement, HTMLElement];
            const row = element("tr", {}, element("th", { scope: "row" }, choose), bid, ask, last, volume);
            byId("watchlist").append(row);
            this.rows.set(instrument.name, { row, bid, ask, last, volume });
        }
    }

    async begin(): Promise<void> {
        const channels = [...this.rows.keys()].map((name) => `ticker.${name}.agg2`);
        await this.connection.subscribe(channels, (data) => this.take(data));
    }

    mark(chosen: Instrument): void {
        for (const [name, row] of this.rows) setClass(row.row, name === chosen.name ? "chosen" : "");
    }

    private take(ticker: any): void {
        const instrument = this.instruments.get(ticker.instrument_name);
        const row = this.rows.get(ticker.instrument_name);
        if (instrument === undefined || row === undefined) return;
        const text = (price: number | null) => priceText(instrument, price === null ? null : ticksOf(instrument, price));
        setText(row.bid, text(ticker.best_bid_price));
        setText(row.ask, text(ticker.best_ask_price));
        setText(row.last, text(ticker.last_price));
        setText(row.volume, String(ticker.stats.volume));
    }
}
