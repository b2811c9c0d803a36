// SPDX-License-Identifier: Apache-2.0
// One side of a book: lots by price, and its prices in order.

export class BookSide {
    private readonly lots = new Map<number, number>();
    /** Best first. */
    private readonly ordered: number[] = [];

    /** `sign` is 1 for asks, whose lowest price is the best, and -1 for bids. */
    constructor(private readonly sign: 1 | -1) {}

    clear(): void {
        this.lots.clear();
        this.ordered.length = 0;
    }

    set(price: number, lots: number): void {
        if (lots > 0) {
            if (!this.lots.has(price)) this.ordered.splice(this.rank(price), 0, price);
            this.lots.set(price, lots);
        } else if (this.lots.delete(price)) {
            this.ordered.splice(this.rank(price), 1);
        }
    }

    at(price: number): number {
        return this.lots.get(price) ?? 0;
    }

    /** Best first. Valid until the next change. */
    prices(): readonly number[] {
        return this.ordered;
    }

    best(): number | null {
        return this.prices()[0] ?? null;
    }

    get size(): number {
        return this.lots.size;
    }

    entries(): IterableIterator<[number, number]> {
        return this.lots.entries();
    }

    /** Lots of the best `count` levels. */
    depth(count: number): number {
        let sum = 0;
        for (const price of this.prices().slice(0, count)) sum += this.at(price);
        return sum;
    }

    /** How many prices are better. */
    private rank(price: number): number {
        let low = 0;
        let high = this.ordered.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.sign * (this.ordered[middle]! - price) < 0) low = middle + 1;
            else high = middle;
        }
        return low;
    }
}
