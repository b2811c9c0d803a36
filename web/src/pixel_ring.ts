// SPDX-License-Identifier: Apache-2.0
// The pixels of a heatmap: a ring as wide as the picture. A new column is one column of pixels written, and the picture
// is two copies of the ring.

import { type ColumnStore, columnRows, columnsMax, nothing } from "./column_store";
import { type Colours, type Theme, heatColours } from "./palette";

/** The brightest colour stands for a level of at least this, and always for a whole number of doublings. */
const levelLeast = 24;
const levelsPerDoubling = 12;
/** Of so many columns one is looked at for the largest size. */
const lookedAt = 16;

export class PixelRing {
    /** The last pixel column that is painted. Pixel columns have numbers, as columns have. */
    painted = 0;
    rows = 1;
    private isStale = true;
    private rowHeight = 1;
    private readonly canvas = document.createElement("canvas");
    private readonly context = this.canvas.getContext("2d", { alpha: false })!;
    private strip = new ImageData(1, 1);
    private pixels = new Uint32Array(1);
    private heat: Uint32Array = new Uint32Array(256);
    private brightest = levelLeast;

    constructor(private readonly store: ColumnStore) {}

    resize(width: number, rows: number, rowHeight: number): void {
        this.rows = rows;
        this.rowHeight = rowHeight;
        this.canvas.width = Math.max(1, width);
        this.canvas.height = rows * rowHeight;
        this.strip = new ImageData(1, rows * rowHeight);
        this.pixels = new Uint32Array(this.strip.data.buffer);
        this.isStale = true;
    }

    /** All is painted again with the next frame. */
    invalidate(): void {
        this.isStale = true;
        this.brightest = levelLeast;
    }

    /** Paints up to a pixel column what has changed; `top` is the price of the first row. */
    paint(last: number, top: number, columnsPerPixel: number, colours: Colours, theme: Theme): void {
        const { width } = this.canvas;
        // The newest column changes until the next one begins.
        let from = this.painted + 1 - Math.ceil(1 / columnsPerPixel);
        if (this.isStale || last < this.painted || last - this.painted > width) {
            this.isStale = false;
            this.brightest = Math.max(this.brightest, this.largestLevel(last, columnsPerPixel));
            this.heat = heatColours(theme, this.brightest);
            from = last - width + 1;
        }
        this.painted = last;
        for (let pixel = from; pixel <= last; ++pixel) this.paintColumn(pixel, top, columnsPerPixel, colours);
    }

    copyTo(context: CanvasRenderingContext2D): void {
        const { width, height } = this.canvas;
        const split = (this.painted + 1) % width;
        context.imageSmoothingEnabled = false;
        context.drawImage(this.canvas, split, 0, width - split, height, 0, 0, width - split, height);
        if (split > 0) context.drawImage(this.canvas, 0, 0, split, height, width - split, 0, split, height);
    }

    private largestLevel(last: number, columnsPerPixel: number): number {
        const { store } = this;
        let largest = levelLeast;
        const end = Math.min(store.last, Math.ceil((last + 1) * columnsPerPixel));
        const begin = Math.max(store.first, Math.floor((last - this.canvas.width) * columnsPerPixel));
        for (let column = end; column >= begin; column -= lookedAt) {
            const at = (column % columnsMax) * columnRows;
            for (let row = 0; row < columnRows; ++row) largest = Math.max(largest, store.levels[at + row]!);
        }
        return wholeDoublings(largest);
    }

    private paintColumn(pixel: number, top: number, columnsPerPixel: number, colours: Colours): void {
        const { store, pixels, heat, rows, rowHeight } = this;
        const begin = columnsPerPixel < 1 ? Math.floor(pixel * columnsPerPixel) : pixel * columnsPerPixel;
        // Of several columns the last that there is: the newest pixel column may get more of them.
        const column = begin > store.last ? begin : Math.min(begin + Math.max(columnsPerPixel, 1) - 1, store.last);
        if (!store.has(column)) {
            pixels.fill(heat[0]!);
        } else {
            const slot = column % columnsMax;
            const at = slot * columnRows;
            const offset = top - store.bases[slot]!;
            let largest = 0;
            for (let row = 0; row < rows; ++row) {
                const from = offset - row;
                const level = from >= 0 && from < columnRows ? store.levels[at + from]! : 0;
                if (level > largest) largest = level;
                pixels.fill(heat[level]!, row * rowHeight, (row + 1) * rowHeight);
            }
            // A size that the scale does not have: from the next frame on it has.
            if (largest > this.brightest) {
                this.brightest = wholeDoublings(largest);
                this.isStale = true;
            }
            this.line(store.bids[slot]!, top, [0, 1], colours.buyPixel);
            this.line(store.asks[slot]!, top, [rowHeight - 1, rowHeight - 2], colours.sellPixel);
        }
        const { width } = this.canvas;
        this.context.putImageData(this.strip, ((pixel % width) + width) % width, 0);
    }

    /** A best price, at the edge of its row that is nearer to the middle of the market. */
    private line(price: number, top: number, [edge, next]: [number, number], colour: number): void {
        const row = top - price;
        if (price === nothing || row < 0 || row >= this.rows) return;
        this.pixels[row * this.rowHeight + edge] = colour;
        if (this.rowHeight >= 4) this.pixels[row * this.rowHeight + next] = colour;
    }
}

function wholeDoublings(level: number): number {
    return Math.ceil(level / levelsPerDoubling) * levelsPerDoubling;
}
