// The past of a book as columns: at each frame, how much rested at each price around the middle. A ring of fixed size.

import type { Market } from "./market";

/** Prices that a column has. */
export const columnRows = 512;
/** Ten minutes at 60 frames a second. */
export const columnsMax = 36_000;
export const nothing = -(2 ** 31);

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

export class ColumnStore {
    /** Columns ever added; the last one is `count - 1`. */
    count = 0;
    readonly levels = new Uint8Array(columnsMax * columnRows);
    /** The lowest price of each column. */
    readonly bases = new Int32Array(columnsMax);
    readonly bids = new Int32Array(columnsMax);
    readonly asks = new Int32Array(columnsMax);
    /** Milliseconds since 1970. */
    readonly times = new Float64Array(columnsMax);

    first(): number {
        return Math.max(0, this.count - columnsMax);
    }

    clear(): void {
        this.count = 0;
    }

    add(market: Market, time: number): void {
        const middle = market.middle();
        if (middle === null) return;
        const slot = this.count % columnsMax;
        const base = Math.round(middle) - columnRows / 2;
        const begin = slot * columnRows;
        this.levels.fill(0, begin, begin + columnRows);
        for (const side of [market.bids, market.asks]) {
            for (const [price, lots] of side.entries()) {
                const row = price - base;
                if (row >= 0 && row < columnRows) this.levels[begin + row] = levelOf(lots);
            }
        }
        this.bases[slot] = base;
        this.bids[slot] = market.bids.best() ?? nothing;
        this.asks[slot] = market.asks.best() ?? nothing;
        this.times[slot] = time;
        ++this.count;
    }

    /** The level at a price in a column, 0 where it has none. */
    levelAt(column: number, price: number): number {
        const slot = column % columnsMax;
        const row = price - this.bases[slot]!;
        return row >= 0 && row < columnRows ? this.levels[slot * columnRows + row]! : 0;
    }

    /** The last column that is not later than a time; -1 if all are. */
    at(time: number): number {
        let low = this.first();
        let high = this.count;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.times[middle % columnsMax]! <= time) low = middle + 1;
            else high = middle;
        }
        return low > this.first() ? low - 1 : -1;
    }
}
