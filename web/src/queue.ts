// SPDX-License-Identifier: Apache-2.0
// What stands before one's own orders: the book by order of the instrument that is shown, as long as one has orders in it.

import type { Account } from "./account";
import type { Connection } from "./connection";
import { type Instrument, lotsOf, ticksOf } from "./instrument";

/** What trades before an order: other orders at its price. */
export interface Place {
    readonly lots: number;
    readonly orders: number;
}

/** The orders at a price, and the place of each; null until one of them is asked for. */
interface Level {
    readonly orders: Map<string, Resting>;
    places: Map<string, Place> | null;
}

interface Resting {
    readonly level: string;
    readonly lots: number;
    readonly priority: number;
}

type Change = ["new" | "change", string, number, number, number] | ["delete", string];

interface Message {
    type: "snapshot" | "change";
    bids: Change[];
    asks: Change[];
}

function placesOf(level: ReadonlyMap<string, Resting>): Map<string, Place> {
    const places = new Map<string, Place>();
    let lots = 0;
    const inOrder = [...level].sort(([, one], [, other]) => one.priority - other.priority);
    for (const [id, order] of inOrder) {
        places.set(id, { lots, orders: places.size });
        lots += order.lots;
    }
    return places;
}

/** A snapshot of a large book costs credits, so the channel is not joined again at once. */
const joinInterval = 3_000;
/** It stays for this long after the last order. */
const lastsFor = 60_000;

export class Queue {
    /** Grows with each message. */
    version = 0;
    private readonly orders = new Map<string, Resting>();
    /** By side and price, in ticks. */
    private readonly levels = new Map<string, Level>();
    /** The channel that was joined. */
    private channel: string | null = null;
    private hasSnapshot = false;
    private joinedAt = -Infinity;
    private neededAt = -Infinity;
    private seenVersion = -1;
    private hasOrders = false;

    constructor(
        private readonly connection: Connection,
        private readonly account: Account,
        private instrument: Instrument,
    ) {
        // A connection that is lost has no channels; without a frame between, nobody else would notice.
        connection.onState((state) => {
            if (state !== "open" && this.channel !== null) this.forget();
        });
    }

    show(instrument: Instrument): void {
        this.instrument = instrument;
        this.seenVersion = -1;
    }

    /** Joins the channel when it is needed, and leaves it when it is not. Once per frame. */
    follow(now: number): void {
        if (this.account.version !== this.seenVersion) {
            this.seenVersion = this.account.version;
            const { name } = this.instrument;
            this.hasOrders = this.account.isOn && [...this.account.open.values()].some((order) => order.instrument_name === name);
        }
        if (this.hasOrders) this.neededAt = now;
        const wanted = `orders.${this.instrument.name}.100ms`;
        const isOver = !this.account.isOn || this.channel !== wanted || now - this.neededAt > lastsFor;
        if (this.channel !== null && isOver) this.leave();
        if (this.channel === null && this.hasOrders && now - this.joinedAt >= joinInterval) this.join(wanted, now);
    }

    /**
     * What stands before an open order; null as long as the book by order does not have it. The places at a price are
     * computed once after each change of it, however many orders one has there.
     */
    place(orderId: string): Place | null {
        const own = this.orders.get(orderId);
        if (own === undefined) return null;
        const level = this.levels.get(own.level)!;
        level.places ??= placesOf(level.orders);
        return level.places.get(orderId)!;
    }

    private join(channel: string, now: number): void {
        this.channel = channel;
        this.joinedAt = now;
        this.connection.subscribe([channel], (message: Message) => this.take(message)).catch(() => this.forget());
    }

    private leave(): void {
        this.connection.unsubscribe([this.channel!]).catch(() => {});
        this.forget();
    }

    private forget(): void {
        this.channel = null;
        this.clear();
    }

    private clear(): void {
        this.hasSnapshot = false;
        this.orders.clear();
        this.levels.clear();
        ++this.version;
    }

    private take(message: Message): void {
        if (message.type === "snapshot") {
            this.clear();
            this.hasSnapshot = true;
        }
        if (!this.hasSnapshot) return;
        for (const side of ["buy", "sell"] as const) {
            for (const change of side === "buy" ? message.bids : message.asks) {
                this.remove(change[1]);
                if (change[0] === "delete") continue;
                const [, id, price, amount, priority] = change;
                this.add(id, `${side} ${ticksOf(this.instrument, price)}`, lotsOf(this.instrument, amount), priority);
            }
        }
        ++this.version;
    }

    private add(id: string, level: string, lots: number, priority: number): void {
        const made = { level, lots, priority };
        this.orders.set(id, made);
        const at = this.levels.get(level);
        if (at === undefined) {
            this.levels.set(level, { orders: new Map([[id, made]]), places: null });
        } else {
            at.orders.set(id, made);
            at.places = null;
        }
    }

    private remove(id: string): void {
        const before = this.orders.get(id);
        if (before === undefined) return;
        this.orders.delete(id);
        const at = this.levels.get(before.level)!;
        at.orders.delete(id);
        at.places = null;
        if (at.orders.size === 0) this.levels.delete(before.level);
    }
}
