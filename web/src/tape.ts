// The tape: the last trades, newest first.

import { element } from "./dom";
import { timeText } from "./heatmap";
import { type Instrument, amountText, priceText } from "./instrument";
import type { Market } from "./market";

const rowsMax = 60;
const drawInterval = 100;

export class Tape {
    private shown = 0;
    private drawnAt = 0;

    constructor(
        private readonly body: HTMLTableSectionElement,
        private readonly market: Market,
        private instrument: Instrument,
    ) {}

    show(instrument: Instrument): void {
        this.instrument = instrument;
        this.shown = 0;
        this.body.replaceChildren();
    }

    draw(now: number): void {
        const newest = this.market.trades.at(-1)?.number ?? 0;
        if (newest === this.shown || now - this.drawnAt < drawInterval) return;
        this.drawnAt = now;
        const fresh = this.market.trades.slice(-rowsMax).filter((trade) => trade.number > this.shown);
        this.shown = newest;
        this.body.prepend(
            ...fresh.reverse().map((trade) =>
                element(
                    "tr",
                    { class: trade.side === 1 ? "buy" : "sell", "data-number": String(trade.number) },
                    element("td", {}, timeText(trade.time)),
                    element("td", {}, trade.side === 1 ? "buy" : "sell"),
                    element("td", { class: "number" }, priceText(this.instrument, trade.price)),
                    element("td", { class: "number" }, amountText(this.instrument, trade.lots)),
                ),
            ),
        );
        while (this.body.childElementCount > rowsMax) this.body.lastElementChild!.remove();
    }
}
