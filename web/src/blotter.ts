// SPDX-License-Identifier: Apache-2.0
// The blotter: open orders with their cancels and changes, own trades, positions with what they have made.

import type { Account, Order } from "./account";
import type { CallError, Connection } from "./connection";
import { announce, button, byId, element, setText } from "./dom";
import { type Instrument, amountText, priceText, ticksOf, timeText } from "./instrument";
import type { Market } from "./market";
import type { Place, Queue } from "./queue";

const tradesShown = 50;
/** Milliseconds between two looks at the places in the queue. */
const placesInterval = 200;

export class Blotter {
    private drawn = -1;
    private readonly profits = new Map<string, HTMLElement>();
    /** By order: where it stands in its queue. */
    private readonly places = new Map<string, HTMLElement>();
    private placesDrawn = -1;
    private placesDrawnAt = 0;

    constructor(
        private readonly connection: Connection,
        private readonly account: Account,
        private readonly instruments: ReadonlyMap<string, Instrument>,
        private readonly queue: Queue,
    ) {
        byId("cancel-all").addEventListener("click", () => void this.cancelAll());
    }

    draw(market: Market, instrument: Instrument, now: number): void {
        if (this.account.version !== this.drawn) {
            this.drawn = this.account.version;
            this.drawOrders();
            this.drawTrades();
            this.drawPositions();
        }
        this.drawPlaces(now);
        const middle = market.middle();
        const profit = this.profits.get(instrument.name);
        if (profit === undefined || middle === null) return;
        const own = this.account.profit(instrument.name);
        const value = own.size * middle * instrument.tickSize - own.spent;
        setText(profit, own.isWhole ? value.toFixed(2) : "–");
    }

    async cancel(order: Order): Promise<void> {
        await this.request("private/cancel", { order_id: order.order_id });
    }

    async cancelAt(instrument: Instrument, side: "buy" | "sell", price: number): Promise<void> {
        for (const order of [...this.account.open.values()]) {
            if (order.instrument_name !== instrument.name || order.direction !== side || order.price === "market_price") continue;
            if (ticksOf(instrument, order.price) === price) await this.cancel(order);
        }
    }

    async cancelAll(): Promise<void> {
        const count = await this.request("private/cancel_all", {});
        if (count !== undefined) announce(`${count} orders cancelled`);
    }

    private async request(method: string, params: object): Promise<any> {
        try {
            return await this.connection.call(method, params);
        } catch (error) {
            announce((error as CallError).message, "bad");
            return undefined;
        }
    }

    private text(name: string, price: number | string): string {
        const instrument = this.instruments.get(name);
        return instrument === undefined || typeof price === "string" ? "market" : priceText(instrument, ticksOf(instrument, price));
    }

    private drawPlaces(now: number): void {
        if (this.queue.version === this.placesDrawn || now - this.placesDrawnAt < placesInterval) return;
        this.placesDrawn = this.queue.version;
        this.placesDrawnAt = now;
        for (const [id, cell] of this.places) {
            const order = this.account.open.get(id);
            const instrument = order === undefined ? undefined : this.instruments.get(order.instrument_name);
            if (instrument !== undefined) setText(cell, placeText(instrument, this.queue.place(id)));
        }
    }

    private drawOrders(): void {
        this.places.clear();
        this.placesDrawn = -1;
        this.placesDrawnAt = 0;
        const rows = [...this.account.open.values()].map((order) => {
            const price = this.text(order.instrument_name, order.price);
            const place = element("td", { class: "number" }, "–");
            this.places.set(order.order_id, place);
            const words = `${order.direction} ${order.amount - order.filled_amount} ${order.instrument_name} at ${price}`;
            return element(
                "tr",
                { class: order.direction, "data-order": order.order_id },
                element("td", {}, order.instrument_name),
                element("td", {}, order.direction),
                element("td", { class: "number" }, price),
                element("td", { class: "number" }, `${order.amount - order.filled_amount} of ${order.amount}`),
                place,
                element("td", {}, order.label),
                element(
                    "td",
                    {},
                    button("change", () => void this.edit(order), `change: ${words}`),
                    button("cancel", () => void this.cancel(order), `cancel: ${words}`),
                ),
            );
        });
        byId("orders").replaceChildren(...rows);
        setText(byId("orders-count"), String(rows.length));
    }

    /** Puts the order into the form below the orders. */
    private async edit(order: Order): Promise<void> {
        const dialog = byId<HTMLDialogElement>("change-dialog");
        const price = byId<HTMLInputElement>("change-price");
        const amount = byId<HTMLInputElement>("change-amount");
        const instrument = this.instruments.get(order.instrument_name);
        if (instrument === undefined) return;
        setText(byId("change-what"), `${order.direction} ${order.amount} ${order.instrument_name}`);
        price.value = this.text(order.instrument_name, order.price);
        price.step = String(instrument.tickSize);
        amount.value = String(order.amount);
        amount.step = amount.min = String(instrument.lotSize);
        dialog.returnValue = "";
        dialog.showModal();
        await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
        if (dialog.returnValue !== "change") return;
        await this.request("private/edit", {
            order_id: order.order_id,
            amount: amount.valueAsNumber,
            price: price.valueAsNumber,
        });
    }

    private drawTrades(): void {
        const rows = this.account.trades.slice(-tradesShown).reverse();
        byId("own-trades").replaceChildren(
            ...rows.map((trade) =>
                element(
                    "tr",
                    { class: trade.direction },
                    element("td", {}, timeText(trade.timestamp)),
                    element("td", {}, trade.instrument_name),
                    element("td", {}, trade.direction),
                    element("td", { class: "number" }, this.text(trade.instrument_name, trade.price)),
                    element("td", { class: "number" }, String(trade.amount)),
                    element("td", {}, trade.liquidity === "M" ? "maker" : "taker"),
                ),
            ),
        );
        setText(byId("trades-count"), String(this.account.trades.length));
    }

    private drawPositions(): void {
        this.profits.clear();
        const rows = [...this.account.positions.values()].map((position) => {
            const profit = element("td", { class: "number profit" }, "–");
            this.profits.set(position.instrument_name, profit);
            return element(
                "tr",
                { "data-instrument": position.instrument_name },
                element("td", {}, position.instrument_name),
                element("td", { class: "number" }, String(position.size)),
                element("td", { class: "number" }, String(position.bought)),
                element("td", { class: "number" }, String(position.sold)),
                profit,
            );
        });
        byId("positions").replaceChildren(...rows);
        setText(byId("positions-count"), String(rows.length));
    }
}

/** The orders before an order: "12 in 3 orders". */
function placeText(instrument: Instrument, place: Place | null): string {
    if (place === null) return "–";
    if (place.orders === 0) return "first";
    return `${amountText(instrument, place.lots)} in ${place.orders} order${place.orders === 1 ? "" : "s"}`;
}
