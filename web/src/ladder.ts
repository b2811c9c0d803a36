// SPDX-License-Identifier: Apache-2.0
// The ladder: prices with what rests at them. Who is logged on places an order by a click, and cancels it by another.

import { button, element, setClass, setText } from "./dom";
import { type Instrument, amountText, priceText } from "./instrument";
import type { Market } from "./market";

/** One's own orders, of who has any: lots by "buy PRICE" and "sell PRICE". */
export interface OwnOrders {
    readonly version: number;
    openByPrice(instrument: Instrument): ReadonlyMap<string, number>;
}

/** A button with a size, and with words for who does not see where it is. */
interface Cell {
    button: HTMLButtonElement;
    size: HTMLElement;
    words: HTMLElement;
}

interface Row {
    ownBuy: Cell;
    bid: Cell;
    price: HTMLElement;
    ask: Cell;
    ownSell: Cell;
    row: HTMLTableRowElement;
}

/** Faster than this nobody reads. */
const drawInterval = 100;
/** The bars of sizes have steps, so that they change seldom. */
const shareStep = 10;

export class Ladder {
    private rows: Row[] = [];
    /** The price of the first row. */
    private top = 0;
    private drawn = -1;
    private drawnAt = 0;
    private readonly body: HTMLTableSectionElement;

    constructor(
        private readonly table: HTMLTableElement,
        private readonly market: Market,
        private readonly account: OwnOrders,
        private instrument: Instrument,
        private readonly onPlace: (side: "buy" | "sell", price: number) => void,
        private readonly onCancel: (side: "buy" | "sell", price: number) => void,
        /** What a click on a size does, for screen readers. */
        private readonly words = { bid: "buy at", ask: "sell at" },
    ) {
        this.body = table.tBodies[0]!;
        new ResizeObserver(() => this.layOut()).observe(table.parentElement!);
        table.addEventListener("wheel", (event) => this.turn(event), { passive: false });
        this.layOut();
    }

    show(instrument: Instrument): void {
        this.instrument = instrument;
        this.drawn = -1;
    }

    centre(): void {
        const middle = this.market.middle();
        if (middle === null) return;
        this.top = Math.round(middle) + Math.floor(this.rows.length / 2);
        this.drawn = -1;
    }

    draw(now: number): void {
        const version = this.market.version + this.account.version;
        if (version === this.drawn || (this.drawn >= 0 && now - this.drawnAt < drawInterval)) return;
        this.drawnAt = now;
        const middle = this.market.middle();
        if (this.drawn < 0 && middle !== null && Math.abs(this.top - middle) > this.rows.length) this.centre();
        if (middle !== null && !this.table.matches(":hover, :focus-within")) {
            const share = (this.top - middle) / this.rows.length;
            if (share < 0.15 || share > 0.85) this.centre();
        }
        this.drawn = version;
        const { market, instrument } = this;
        const bestBid = market.bids.best();
        const bestAsk = market.asks.best();
        const own = this.account.openByPrice(instrument);
        let largest = 1;
        for (let price = this.top; price > this.top - this.rows.length; --price) {
            largest = Math.max(largest, market.bids.at(price), market.asks.at(price));
        }
        largest = 2 ** Math.ceil(Math.log2(largest));
        this.rows.forEach((row, index) => {
            const price = this.top - index;
            this.drawSize(row.bid, market.bids.at(price), largest);
            this.drawSize(row.ask, market.asks.at(price), largest);
            this.drawOwn(row.ownBuy, own.get(`buy ${price}`) ?? 0);
            this.drawOwn(row.ownSell, own.get(`sell ${price}`) ?? 0);
            const last = price === market.last ? " last" : "";
            setClass(row.row, (price === bestBid ? "best-bid" : price === bestAsk ? "best-ask" : "") + last);
            if (row.row.dataset.price === String(price) && row.price.textContent === priceText(instrument, price)) return;
            row.row.dataset.price = String(price);
            const text = priceText(instrument, price);
            setText(row.price, text);
            setText(row.bid.words, ` ${this.words.bid} ${text}`);
            setText(row.ask.words, ` ${this.words.ask} ${text}`);
            setText(row.ownBuy.words, ` cancel own buy orders at ${text}`);
            setText(row.ownSell.words, ` cancel own sell orders at ${text}`);
        });
    }

    private drawSize(cell: Cell, lots: number, largest: number): void {
        setText(cell.size, lots === 0 ? "" : amountText(this.instrument, lots));
        const share = `${shareStep * Math.ceil((100 * lots) / largest / shareStep)}%`;
        if (cell.button.style.getPropertyValue("--share") !== share) cell.button.style.setProperty("--share", share);
    }

    private drawOwn(cell: Cell, lots: number): void {
        setText(cell.size, lots === 0 ? "" : amountText(this.instrument, lots));
        cell.button.disabled = lots === 0;
    }

    private layOut(): void {
        const height = this.table.parentElement!.clientHeight;
        const count = Math.max(9, Math.floor((height - 26) / 20));
        if (count === this.rows.length) return;
        this.body.replaceChildren();
        this.rows = [];
        for (let index = 0; index < count; ++index) this.rows.push(this.makeRow());
        this.drawn = -1;
        this.centre();
    }

    private makeRow(): Row {
        const at = () => Number(row.dataset.price);
        const row = element("tr");
        const cell = (name: string, kind: string, onClick: () => void): Cell => {
            const made = { button: button("", onClick), size: element("span"), words: element("span", { class: "unseen" }) };
            made.button.append(made.size, made.words);
            made.button.dataset.does = kind;
            row.append(element("td", { class: name }, made.button));
            return made;
        };
        const ownBuy = cell("own", "cancel-buy", () => this.onCancel("buy", at()));
        const bid = cell("bid", "buy", () => this.onPlace("buy", at()));
        const price = element("th", { scope: "row" });
        row.append(price);
        const ask = cell("ask", "sell", () => this.onPlace("sell", at()));
        const ownSell = cell("own", "cancel-sell", () => this.onCancel("sell", at()));
        this.body.append(row);
        return { ownBuy, bid, price, ask, ownSell, row };
    }

    private turn(event: WheelEvent): void {
        event.preventDefault();
        this.top -= 2 * Math.sign(event.deltaY);
        this.drawn = -1;
    }
}
