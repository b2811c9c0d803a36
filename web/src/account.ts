// SPDX-License-Identifier: Apache-2.0
// Who is logged on: open orders, trades and positions of a key. The secret is never kept; the tokens are kept in memory only.

import { type CallError, type Connection, noConnection } from "./connection";
import { type Instrument, lotsOf, ticksOf } from "./instrument";

export interface Order {
    order_id: string;
    order_state: "open" | "filled" | "cancelled" | "rejected";
    order_type: string;
    instrument_name: string;
    direction: "buy" | "sell";
    price: number | "market_price";
    amount: number;
    filled_amount: number;
    time_in_force: string;
    post_only: boolean;
    label: string;
    creation_timestamp: number;
    last_update_timestamp: number;
}

export interface OwnTrade {
    trade_id: string;
    trade_seq: number;
    order_id: string;
    instrument_name: string;
    direction: "buy" | "sell";
    price: number;
    amount: number;
    timestamp: number;
    liquidity: "M" | "T";
}

export interface Position {
    instrument_name: string;
    size: number;
    bought: number;
    sold: number;
}

/** What the trades of an instrument come to. */
export interface Profit {
    size: number;
    /** Paid less received, in the currency of the price. */
    spent: number;
    /** Whether all trades are in it. */
    isWhole: boolean;
}

const changes = "user.changes.any.any.raw";
const refreshInterval = 600_000;
const tradesPerRequest = 1000;

export class Account {
    clientId: string | null = null;
    readonly open = new Map<string, Order>();
    /** Oldest first. */
    readonly trades: OwnTrade[] = [];
    readonly positions = new Map<string, Position>();
    version = 0;
    private readonly spent = new Map<string, { size: number; spent: number }>();
    private readonly known = new Set<string>();
    private refreshToken: string | null = null;
    private listeners: (() => void)[] = [];

    constructor(private readonly connection: Connection) {
        connection.onState((state) => {
            if (state === "open" && this.refreshToken !== null) void this.resume();
            else this.change();
        });
        setInterval(() => {
            if (this.refreshToken !== null && connection.state === "open") void this.refresh();
        }, refreshInterval);
    }

    onChange(listener: () => void): void {
        this.listeners.push(listener);
    }

    get isOn(): boolean {
        return this.clientId !== null && this.connection.state === "open";
    }

    async logOn(clientId: string, secret: string): Promise<void> {
        const answer = await this.connection.call("public/auth", {
            grant_type: "client_credentials",
            client_id: clientId,
            client_secret: secret,
        });
        this.refreshToken = answer.refresh_token;
        this.clientId = clientId;
        await this.load();
    }

    /** The orders stay. A new connection forgets what the old one had proved. */
    logOff(): void {
        this.refreshToken = null;
        this.clientId = null;
        this.clear();
        this.change();
        this.connection.call("private/logout").catch(() => {});
    }

    /** Lots of open orders by side and price. */
    openByPrice(instrument: Instrument): Map<string, number> {
        const sums = new Map<string, number>();
        for (const order of this.openIn(instrument)) {
            const key = `${order.direction} ${ticksOf(instrument, order.price)}`;
            sums.set(key, (sums.get(key) ?? 0) + lotsOf(instrument, order.amount - order.filled_amount));
        }
        return sums;
    }

    /** The open orders of an instrument that have a price. */
    *openIn(instrument: Instrument): Iterable<Order & { price: number }> {
        for (const order of this.open.values()) {
            if (order.instrument_name === instrument.name && order.price !== "market_price") yield order as Order & { price: number };
        }
    }

    profit(instrument: string): Profit {
        const own = this.spent.get(instrument) ?? { size: 0, spent: 0 };
        return { ...own, isWhole: own.size === (this.positions.get(instrument)?.size ?? 0) };
    }

    private async resume(): Promise<void> {
        if (await this.refresh()) await this.load();
    }

    private async refresh(): Promise<boolean> {
        const token = this.refreshToken;
        try {
            const answer = await this.connection.call("public/auth", { grant_type: "refresh_token", refresh_token: token });
            this.refreshToken = answer.refresh_token;
            return true;
        } catch (error) {
            // Without a connection the next one tries the token once more.
            if ((error as CallError).code !== noConnection) {
                this.refreshToken = null;
                this.clientId = null;
                this.clear();
                this.change();
            }
            return false;
        }
    }

    private clear(): void {
        this.open.clear();
        this.trades.length = 0;
        this.positions.clear();
        this.spent.clear();
        this.known.clear();
    }

    private async load(): Promise<void> {
        this.clear();
        await this.connection.subscribe([changes], (data) => this.take(data), "private");
        for (const order of (await this.connection.call("private/get_open_orders")) as Order[]) this.takeOrder(order);
        for (const position of (await this.connection.call("private/get_positions")) as Position[]) {
            this.positions.set(position.instrument_name, position);
        }
        for (const name of this.positions.keys()) {
            const past = await this.connection.call("private/get_user_trades_by_instrument", {
                instrument_name: name,
                count: tradesPerRequest,
                sorting: "desc",
            });
            for (const trade of (past.trades as OwnTrade[]).reverse()) this.takeTrade(trade);
        }
        this.trades.sort((a, b) => a.trade_seq - b.trade_seq);
        this.change();
    }

    private take(data: { orders: Order[]; trades: OwnTrade[]; positions: Position[] }): void {
        for (const order of data.orders) this.takeOrder(order);
        for (const trade of data.trades) this.takeTrade(trade);
        for (const position of data.positions) this.positions.set(position.instrument_name, position);
        this.change();
    }

    private takeOrder(order: Order): void {
        const before = this.open.get(order.order_id);
        if (before !== undefined && before.filled_amount > order.filled_amount) return;
        if (order.order_state === "open") this.open.set(order.order_id, order);
        else this.open.delete(order.order_id);
    }

    private takeTrade(trade: OwnTrade): void {
        const key = `${trade.order_id} ${trade.trade_id}`;
        if (this.known.has(key)) return;
        this.known.add(key);
        this.trades.push(trade);
        const own = this.spent.get(trade.instrument_name) ?? { size: 0, spent: 0 };
        const signed = trade.direction === "buy" ? trade.amount : -trade.amount;
        own.size += signed;
        own.spent += signed * trade.price;
        this.spent.set(trade.instrument_name, own);
    }

    private change(): void {
        ++this.version;
        for (const listener of this.listeners) listener();
    }
}
