// SPDX-License-Identifier: Apache-2.0
// Trades for the heatmap: those of one price, side and column are one entry, and those of a few columns one bubble.

import { columnsMax } from "./column_store";

interface Entry {
    readonly column: number;
    readonly price: number;
    readonly side: 1 | -1;
    lots: number;
    /** NaN where only sums are known. */
    trades: number;
}

/** What a side took within a few columns. */
export interface Bubble {
    lots: number;
    /** The sum of price and lots. */
    turnover: number;
}

export interface TradedSum {
    trades: number;
    bought: number;
    sold: number;
    /** Of the price; null without trades. */
    mean: number | null;
}

const entriesMax = 100_000;

export class Bubbles {
    private entries: Entry[] = [];
    private buckets = new Map<number, { buy: Bubble; sell: Bubble }>();

    /** Columns of a bubble. */
    constructor(private width: number) {}

    clear(): void {
        this.entries = [];
        this.buckets.clear();
    }

    setWidth(columns: number): void {
        if (this.width === columns) return;
        this.width = columns;
        this.sort();
    }

    add(column: number, price: number, side: 1 | -1, lots: number): void {
        this.addToBucket(column, price, side, lots);
        for (let k = this.entries.length - 1; k >= 0 && this.entries[k]!.column === column; --k) {
            const entry = this.entries[k]!;
            if (entry.price !== price || entry.side !== side) continue;
            entry.lots += lots;
            ++entry.trades;
            return;
        }
        this.entries.push({ column, price, side, lots, trades: 1 });
        if (this.entries.length > 2 * entriesMax) {
            this.entries = this.entries.slice(-entriesMax);
            this.sort();
        }
    }

    /** Sums of before all that is known, oldest first. */
    addEarlier(sums: readonly { column: number; price: number; side: 1 | -1; lots: number }[]): void {
        const first = this.entries[0]?.column ?? Infinity;
        const earlier = sums.filter((each) => each.column < first).map((each) => ({ ...each, trades: NaN }));
        this.entries = earlier.concat(this.entries);
        this.sort();
    }

    /** The bubbles of columns, each with the column of its middle. */
    *between(first: number, last: number): Generator<{ column: number; buy: Bubble; sell: Bubble }> {
        for (let key = Math.floor(first / this.width); key * this.width <= last; ++key) {
            const found = this.buckets.get(key);
            if (found !== undefined) yield { column: (key + 0.5) * this.width, ...found };
        }
    }

    sum(firstColumn: number, lastColumn: number, lowest: number, highest: number): TradedSum {
        const sum = { trades: 0, bought: 0, sold: 0 };
        let turnover = 0;
        for (let k = this.entries.length - 1; k >= 0 && this.entries[k]!.column >= firstColumn; --k) {
            const entry = this.entries[k]!;
            if (entry.column > lastColumn || entry.price < lowest || entry.price > highest) continue;
            sum.trades += entry.trades;
            turnover += entry.price * entry.lots;
            if (entry.side === 1) sum.bought += entry.lots;
            else sum.sold += entry.lots;
        }
        const lots = sum.bought + sum.sold;
        return { ...sum, mean: lots === 0 ? null : turnover / lots };
    }

    private addToBucket(column: number, price: number, side: 1 | -1, lots: number): void {
        const key = Math.floor(column / this.width);
        let bucket = this.buckets.get(key);
        if (bucket === undefined) {
            bucket = { buy: { lots: 0, turnover: 0 }, sell: { lots: 0, turnover: 0 } };
            this.buckets.set(key, bucket);
            const gone = key - Math.ceil(columnsMax / this.width);
            this.buckets.delete(gone);
        }
        const bubble = side === 1 ? bucket.buy : bucket.sell;
        bubble.lots += lots;
        bubble.turnover += price * lots;
    }

    private sort(): void {
        this.buckets.clear();
        for (const each of this.entries) this.addToBucket(each.column, each.price, each.side, each.lots);
    }
}
