// SPDX-License-Identifier: Apache-2.0
// The heatmap's columns of before the page was opened, from the venue's journal, a minute at a time.

import type { Bubbles } from "./bubbles";
import { type ColumnStore, columnMs, columnOf, columnsMax, timeOf } from "./column_store";

const headLength = 24;
const columnsCountAt = 23;
const kindAt = 1;
const kindHistory = 3;
/** Milliseconds that are asked for at once. */
const chunk = 60_000;
/** Columns that the live market may fill while an answer is on its way. */
const spare = 400;

function known(value: number): number | null {
    return Number.isNaN(value) ? null : value;
}

function bestOf(side: ReadonlyMap<number, number>, better: (...prices: number[]) => number): number | null {
    return side.size === 0 ? null : better(...side.keys());
}

export class JournalColumns {
    private isAsking = false;
    /** Nothing is older, or the venue does not answer. */
    private isExhausted = false;
    private generation = 0;

    constructor(
        private instrument: string,
        private readonly store: ColumnStore,
        private readonly bubbles: Bubbles,
        private readonly onColumns: () => void,
    ) {}

    show(instrument: string): void {
        this.instrument = instrument;
        this.isExhausted = this.isAsking = false;
        ++this.generation;
    }

    /** Asks for a minute before the oldest column if a picture that begins at `wanted` has no columns there. */
    async extend(wanted: number): Promise<void> {
        const { store } = this;
        if (this.isAsking || this.isExhausted || store.isEmpty || wanted > store.first) return;
        if (store.last - store.first + chunk / columnMs + spare > columnsMax) return;
        this.isAsking = true;
        const { generation } = this;
        const to = timeOf(store.first);
        const moment = (time: number) => new Date(time).toISOString().replace("Z", "");
        const query = new URLSearchParams({
            instrument: this.instrument,
            from: moment(to - chunk),
            to: moment(to),
            column: String(columnMs),
        });
        try {
            const answer = await fetch(`/api/v1/columns?${query}`);
            const data = answer.ok ? new Float64Array(await answer.arrayBuffer()) : null;
            if (generation !== this.generation) return;
            if (data === null) this.isExhausted = true;
            else this.take(data);
        } catch {
            if (generation === this.generation) this.isExhausted = true;
        }
        this.isAsking = false;
    }

    private take(frame: Float64Array): void {
        const { store } = this;
        const at = (index: number) => frame[index]!;
        const count = at(columnsCountAt);
        // Before the first command there is no time: the first column is before 1970 then, and has no levels.
        const isBegin = at(headLength) <= 0;
        const from = count > 1 && isBegin ? headLength + 10 : headLength;
        const first = columnOf(at(from) / 1000);
        if (at(kindAt) !== kindHistory || count === 0 || !(first > 0) || first >= store.first) {
            this.isExhausted = true;
            return;
        }
        this.isExhausted = isBegin;
        const sides = [new Map<number, number>(), new Map<number, number>()] as const;
        const sums: { column: number; price: number; side: 1 | -1; lots: number }[] = [];
        let bestBid: number | null = null;
        let bestAsk: number | null = null;
        const end = store.first;
        let column = Math.max(first, store.last - columnsMax + spare);
        const writeUntil = (next: number) => {
            if (column >= Math.min(next, end)) return;
            // The first column has the whole book, and not its best prices.
            bestBid ??= bestOf(sides[0], Math.max);
            bestAsk ??= bestOf(sides[1], Math.min);
            for (; column < Math.min(next, end); ++column) store.write(column, sides[0], sides[1], bestBid, bestAsk);
        };
        const begin = column;
        for (let k = from === headLength ? 0 : 1, next = from; k < count; ++k) {
            const slot = columnOf(at(next) / 1000);
            writeUntil(slot);
            [bestBid, bestAsk] = [known(at(next + 2)), known(at(next + 3))];
            const [bought, sold] = [at(next + 4), at(next + 5)];
            if (bought > 0) sums.push({ column: slot, price: at(next + 6), side: 1, lots: bought });
            if (sold > 0) sums.push({ column: slot, price: at(next + 7), side: -1, lots: sold });
            const counts = [at(next + 8), at(next + 9)] as const;
            next += 10;
            for (const side of [0, 1] as const) {
                for (let level = 0; level < counts[side]; ++level, next += 2) {
                    if (at(next + 1) > 0) sides[side].set(at(next), at(next + 1));
                    else sides[side].delete(at(next));
                }
            }
        }
        writeUntil(end);
        store.first = begin;
        this.bubbles.addEarlier(sums.filter((each) => each.column < end));
        this.onColumns();
    }
}
