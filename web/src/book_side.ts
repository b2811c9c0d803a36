// One side of a book: lots by price, and its prices in order.

export class BookSide {
    private readonly lots = new Map<number, number>();
    private ordered: number[] = [];
    private isOrdered = true;

    /** `sign` is 1 for asks, whose lowest price is the best, and -1 for bids. */
    constructor(private readonly sign: 1 | -1) {}

    clear(): void {
        this.lots.clear();
        this.isOrdered = false;
    }

    set(price: number, lots: number): void {
        if (lots > 0) {
            if (!this.lots.has(price)) this.isOrdered = false;
            this.lots.set(price, lots);
        } else if (this.lots.delete(price)) {
            this.isOrdered = false;
        }
    }

    at(price: number): number {
        return this.lots.get(price) ?? 0;
    }

    /** Best first. Valid until the next change. */
    prices(): readonly number[] {
        if (!this.isOrdered) {
            this.ordered = [...this.lots.keys()].sort((a, b) => this.sign * (a - b));
            this.isOrdered = true;
        }
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
}
