// SPDX-License-Identifier: Apache-2.0
// The last values of something that is timed.

export class Percentiles {
    private readonly values: Float64Array;
    private next = 0;
    count = 0;

    constructor(size: number) {
        this.values = new Float64Array(size);
    }

    add(value: number): void {
        this.values[this.next] = value;
        this.next = (this.next + 1) % this.values.length;
        this.count = Math.min(this.count + 1, this.values.length);
    }

    /** Of the kept values; null without any. */
    at(share: number): number | null {
        if (this.count === 0) return null;
        const ordered = this.values.slice(0, this.count).sort();
        return ordered[Math.min(this.count - 1, Math.floor(share * this.count))]!;
    }
}
