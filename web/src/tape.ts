// SPDX-License-Identifier: Apache-2.0
// The tape: the last trades, newest first, as many as the panel has room for. Its rows stay, and their texts change.

import { element, setClass, setText } from "./dom";
import { type Instrument, amountText, priceText, timeText } from "./instrument";
import type { Market } from "./market";

const rowsLeast = 5;
const rowHeight = 19;
const drawInterval = 200;

export class Tape {
    private shown = 0;
    private drawnAt = 0;
    private rows: HTMLTableRowElement[] = [];
    private room = rowsLeast;

    constructor(
        private readonly body: HTMLTableSectionElement,
        private readonly market: Market,
        private instrument: Instrument,
    ) {
        const panel = body.closest(".fill")!;
        new ResizeObserver(() => {
            this.room = Math.max(rowsLeast, Math.floor(panel.clientHeight / rowHeight) - 1);
            this.shown = 0;
        }).observe(panel);
    }

    show(instrument: Instrument): void {
        this.instrument = instrument;
        this.shown = 0;
        this.rows = [];
        this.body.replaceChildren();
    }

    draw(now: number): void {
        const newest = this.market.trades.at(-1)?.number ?? 0;
        if (newest === this.shown || now - this.drawnAt < drawInterval) return;
        this.drawnAt = now;
        this.shown = newest;
        const trades = this.market.trades.slice(-this.room).reverse();
        while (this.rows.length < trades.length) this.addRow();
        while (this.rows.length > trades.length) this.rows.pop()!.remove();
        trades.forEach((trade, k) => {
            const row = this.rows[k]!;
            const side = trade.side === 1 ? "buy" : "sell";
            const texts = [timeText(trade.time), side, priceText(this.instrument, trade.price), amountText(this.instrument, trade.lots)];
            setClass(row, side);
            texts.forEach((text, at) => setText(row.cells[at]!, text));
        });
    }

    private addRow(): void {
        const cells = ["", "", "number", "number"].map((name) => element("td", { class: name }));
        const row = element("tr", {}, ...cells);
        this.rows.push(row);
        this.body.append(row);
    }
}
