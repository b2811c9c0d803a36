// SPDX-License-Identifier: Apache-2.0
// The past of a book as columns: for each slot of time, how much rested at each price around the middle. A ring of fixed
// size. Columns have the numbers of their slots, so that what was seen live and what the journal has fit together.

import type { Market } from "./market";

/** Prices that a column has. */
export const columnRows = 512;
/** Milliseconds of a column. */
export const columnMs = 50;
/** Half an hour. */
export const columnsMax = 36_000;
export const nothing = -(2 ** 31);

/** Columns that were missed are like the one before; of more nothing is known. */
const missedMax = 40;

/** Sizes on a scale of logarithms: 0 for none, 12 steps for each doubling. */
const levelSteps = 12;
const knownLevels = new Uint8Array(4096);
for (let lots = 1; lots < knownLevels.length; ++lots) knownLevels[lots] = level(lots);

function level(lots: number): number {
    return Math.min(255, Math.max(1, Math.round(levelSteps * Math.log2(1 + lots))));
}

export function levelOf(lots: number): number {
    return lots < knownLevels.length ? knownLevels[lots]! : level(lots);
}

/** The lots that a level stands for, within three in a hundred. */
export function lotsOfLevel(value: number): number {
    return value === 0 ? 0 : Math.round(2 ** (value / levelSteps) - 1);
}

export function columnOf(time: number): number {
    return Math.floor(time / columnMs);
}

export function timeOf(column: number): number {
    return column * columnMs;
}

/** A side of a book at some moment. */
export type Levels = Iterable<[number, number]>;

export class ColumnStore {
    /** The oldest and the newest column; there is none if the newest is smaller. */
    first = 0;
    last = -1;
    private version = -1;
    readonly levels = new Uint8Array(columnsMax * columnRows);
    /** The lowest price of each column. */
    readonly bases = new Int32Array(columnsMax);
    readonly bids = new Int32Array(columnsMax);
    readonly asks = new Int32Array(columnsMax);

    get isEmpty(): boolean {
        return this.last < this.first;
    }

    has(column: number): boolean {
        return column >= this.first && column <= this.last;
    }

    clear(): void {
        this.first = 0;
        this.last = this.version = -1;
    }

    /** The column of a time becomes the market as it is. @return Whether anything has changed. */
    add(market: Market, time: number): boolean {
        if (market.middle() === null) return false;
        const column = Math.max(columnOf(time), this.last);
        if (column === this.last && market.version === this.version) return false;
        this.version = market.version;
        if (this.isEmpty) {
            this.first = column;
        } else {
            const missed = column - this.last - 1;
            for (let k = Math.max(this.last + 1, column - columnsMax); k < column; ++k) {
                if (missed <= missedMax) this.repeat(k);
                else this.writeNothing(k);
            }
        }
        this.write(column, market.bids.entries(), market.asks.entries(), market.bids.best(), market.asks.best());
        this.last = column;
        this.first = Math.max(this.first, column - columnsMax + 1);
        return true;
    }

    /** A column before the oldest one, from which on all must then be written, up to the oldest. */
    write(column: number, bids: Levels, asks: Levels, bestBid: number | null, bestAsk: number | null): void {
        const slot = column % columnsMax;
        const middle = bestBid === null || bestAsk === null ? (bestBid ?? bestAsk ?? 0) : (bestBid + bestAsk) / 2;
        const base = Math.round(middle) - columnRows / 2;
        const begin = slot * columnRows;
        this.levels.fill(0, begin, begin + columnRows);
        for (const side of [bids, asks]) {
            for (const [price, lots] of side) {
                const row = price - base;
                if (row >= 0 && row < columnRows) this.levels[begin + row] = levelOf(lots);
            }
        }
        this.bases[slot] = base;
        this.bids[slot] = bestBid ?? nothing;
        this.asks[slot] = bestAsk ?? nothing;
    }

    /** The level at a price in a column, 0 where it has none. */
    levelAt(column: number, price: number): number {
        const slot = column % columnsMax;
        const row = price - this.bases[slot]!;
        return row >= 0 && row < columnRows ? this.levels[slot * columnRows + row]! : 0;
    }

    private repeat(column: number): void {
        const [from, to] = [(column - 1) % columnsMax, column % columnsMax];
        this.levels.copyWithin(to * columnRows, from * columnRows, (from + 1) * columnRows);
        for (const each of [this.bases, this.bids, this.asks]) each[to] = each[from]!;
    }

    private writeNothing(column: number): void {
        this.write(column, [], [], null, null);
    }
}
