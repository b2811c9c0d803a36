// The blotter: open orders with their cancels and changes, own trades, positions with what they have made.

import type { Account, Order } from "./account";
import type { CallError, Connection } from "./connection";
import { announce, button, byId, element, setText } from "./dom";
import { type Instrument, priceText, ticksOf, timeText } from "./instrument";
import type { Market } from "./market";

const tradesShown = 50;

export class Blotter {
    private drawn = -1;
    private readonly profits = new Map<string, HTMLElement>();

    constructor(
        private readonly connection: Connection,
        private readonly account: Account,
        private readonly instruments: ReadonlyMap<string, Instrument>,
    ) {
        byId("cancel-all").addEventListener("click", () => void this.cancelAll());
    }

    draw(market: Market, instrument: Instrument): void {
        if (this.account.version !== this.drawn) {
            this.drawn = this.account.version;
            this.drawOrders();
            this.drawTrades();
            this.drawPositions();
        }
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

    private drawOrders(): void {
        const rows = [...this.account.open.values()].map((order) => {
            const price = this.text(order.instrument_name, order.price);
            const words = `${order.direction} ${order.amount - order.filled_amount} ${order.instrument_name} at ${price}`;
            return element(
                "tr",
                { class: order.direction, "data-order": order.order_id },
                element("td", {}, order.instrument_name),
                element("td", {}, order.direction),
                element("td", { class: "number" }, price),
                element("td", { class: "number" }, `${order.amount - order.filled_amount} of ${order.amount}`),
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
