// Trades of a heatmap, gathered: those of a side at a price within a few columns are one bubble.

import type { Trade } from "./market";

const bubbleColumns = 8;
const bubblesMax = 8192;

export interface Bubble {
    readonly column: number;
    readonly price: number;
    readonly side: 1 | -1;
    lots: number;
    trades: number;
}

export interface TradedSum {
    trades: number;
    bought: number;
    sold: number;
    /** The mean price of a lot, in ticks; null without trades. */
    mean: number | null;
}

export class Bubbles {
    private all: Bubble[] = [];

    clear(): void {
        this.all = [];
    }

    add(trade: Trade, newestColumn: number): void {
        const column = newestColumn - (newestColumn % bubbleColumns);
        for (let k = this.all.length - 1; k >= 0 && this.all[k]!.column === column; --k) {
            const bubble = this.all[k]!;
            if (bubble.price !== trade.price || bubble.side !== trade.side) continue;
            bubble.lots += trade.lots;
            ++bubble.trades;
            return;
        }
        this.all.push({ column, price: trade.price, side: trade.side, lots: trade.lots, trades: 1 });
        if (this.all.length > 2 * bubblesMax) this.all = this.all.slice(-bubblesMax);
    }

    /** Newest first, down to a column. */
    *since(column: number): Generator<Bubble> {
        for (let k = this.all.length - 1; k >= 0 && this.all[k]!.column >= column; --k) yield this.all[k]!;
    }

    sum(firstColumn: number, lastColumn: number, lowest: number, highest: number): TradedSum {
        const sum = { trades: 0, bought: 0, sold: 0 };
        let turnover = 0;
        for (const bubble of this.since(firstColumn)) {
            if (bubble.column > lastColumn || bubble.price < lowest || bubble.price > highest) continue;
            sum.trades += bubble.trades;
            turnover += bubble.price * bubble.lots;
            if (bubble.side === 1) sum.bought += bubble.lots;
            else sum.sold += bubble.lots;
        }
        const lots = sum.bought + sum.sold;
        return { ...sum, mean: lots === 0 ? null : turnover / lots };
    }
}
