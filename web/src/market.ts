// SPDX-License-Identifier: Apache-2.0
// The market of one instrument: its book, its last trades, its phase. A feed changes it; panels read it once per frame.

import { BookSide } from "./book_side";

export interface Trade {
    readonly number: number;
    /** Milliseconds since 1970. */
    readonly time: number;
    readonly price: number;
    readonly lots: number;
    /** Of the aggressor: 1 bought, -1 sold. */
    readonly side: 1 | -1;
}

export interface BestLevel {
    readonly price: number;
    readonly lots: number;
}

const tradesMax = 1000;
const otherDay = 12 * 3_600_000;

export class Market {
    readonly bids = new BookSide(-1);
    readonly asks = new BookSide(1);
    /** Oldest first. */
    trades: Trade[] = [];
    phase = "";
    last: number | null = null;
    high: number | null = null;
    low: number | null = null;
    volume = 0;
    openInterest = 0;
    /** What an auction would trade now. */
    indicative: BestLevel | null = null;
    /** What orders of other instruments imply, best prices. */
    impliedBid: BestLevel | null = null;
    impliedAsk: BestLevel | null = null;
    /** False from a lost connection until the next snapshot: the book is then an old one. */
    isCurrent = false;
    /** Of the last event, in milliseconds since 1970, by the venue. */
    time = 0;
    /** The venue's clock less the clock of this machine, as far as events have shown. */
    private ahead = -Infinity;
    /** The clock of the API. */
    clock: () => number = Date.now;
    /** Changes that came, for rates. */
    changes = 0;
    /** Grows with each change, so that a panel sees whether it must draw. */
    version = 0;
    private readonly tradeListeners: ((trade: Trade) => void)[] = [];

    onTrade(listener: (trade: Trade) => void): void {
        this.tradeListeners.push(listener);
    }

    addTrade(trade: Trade): void {
        const before = this.trades.at(-1);
        if (before !== undefined && trade.number <= before.number) return;
        this.trades.push(trade);
        if (this.trades.length > 2 * tradesMax) this.trades = this.trades.slice(-tradesMax);
        for (const listener of this.tradeListeners) listener(trade);
        ++this.version;
    }

    clear(): void {
        this.bids.clear();
        this.asks.clear();
        this.trades = [];
        this.phase = "";
        this.last = this.high = this.low = null;
        this.volume = this.openInterest = this.time = 0;
        this.indicative = this.impliedBid = this.impliedAsk = null;
        this.isCurrent = false;
        this.ahead = -Infinity;
        ++this.version;
    }

    /** An event has this time. */
    setTime(time: number): void {
        this.time = time;
        this.ahead = Math.max(this.ahead, time - Date.now());
    }

    /** The venue's time, in milliseconds since 1970; NaN before the first event. Without events, it goes on as the API's
     *  clock does; a venue that plays another day is where its events are. */
    now(): number {
        if (this.ahead === -Infinity) return NaN;
        const api = this.clock();
        return Math.abs(api - this.time) < otherDay ? Math.max(api, this.time) : Date.now() + this.ahead;
    }

    lose(): void {
        this.isCurrent = false;
        ++this.version;
    }

    middle(): number | null {
        const bid = this.bids.best();
        const ask = this.asks.best();
        if (bid === null || ask === null) return bid ?? ask ?? this.last;
        return (bid + ask) / 2;
    }

    spread(): number | null {
        const bid = this.bids.best();
        const ask = this.asks.best();
        return bid === null || ask === null ? null : ask - bid;
    }
}
