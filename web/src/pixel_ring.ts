// The pixels of a heatmap, a row for each price: a ring as wide as the picture. A new column is one column of pixels
// written, and the picture is two copies of the ring.

import { type ColumnStore, columnRows, columnsMax, nothing } from "./column_store";
import { type Colours, type Theme, heatColours } from "./palette";

/** The brightest colour stands for at least this level. */
const levelLeast = 24;
/** Of so many columns one is looked at for the largest size. */
const lookedAt = 16;

export class PixelRing {
    /** The last pixel column that is painted; -1: all must be painted. Pixel columns have numbers, as columns have. */
    painted = -1;
    private readonly canvas = document.createElement("canvas");
    private readonly context = this.canvas.getContext("2d", { alpha: false })!;
    private strip = new ImageData(1, 1);
    private pixels = new Uint32Array(1);
    private heat: Uint32Array = new Uint32Array(256);

    constructor(private readonly store: ColumnStore) {}

    get rows(): number {
        return this.canvas.height;
    }

    resize(width: number, rows: number): void {
        this.canvas.width = Math.max(1, width);
        this.canvas.height = rows;
        this.strip = new ImageData(1, rows);
        this.pixels = new Uint32Array(this.strip.data.buffer);
        this.painted = -1;
    }

    /** Paints what is missing up to a pixel column; `top` is the price of the first row. */
    paint(last: number, top: number, columnsPerPixel: number, colours: Colours, theme: Theme): void {
        const { width } = this.canvas;
        let from = this.painted + 1;
        if (this.painted < 0 || last < this.painted || last - this.painted > width) {
            this.heat = heatColours(theme, this.largestLevel(last, columnsPerPixel));
            from = last - width + 1;
        }
        for (let pixel = from; pixel <= last; ++pixel) this.paintColumn(pixel, top, columnsPerPixel, colours);
        this.painted = last;
    }

    copyTo(context: CanvasRenderingContext2D, rowHeight: number): void {
        const { width, height } = this.canvas;
        const split = (this.painted + 1) % width;
        context.imageSmoothingEnabled = false;
        context.drawImage(this.canvas, split, 0, width - split, height, 0, 0, width - split, height * rowHeight);
        if (split > 0) context.drawImage(this.canvas, 0, 0, split, height, width - split, 0, split, height * rowHeight);
    }

    private largestLevel(last: number, columnsPerPixel: number): number {
        const { store } = this;
        let largest = levelLeast;
        const end = Math.min(store.count - 1, Math.ceil((last + 1) * columnsPerPixel));
        const begin = Math.max(store.first(), Math.floor((last - this.canvas.width) * columnsPerPixel));
        for (let column = end; column >= begin; column -= lookedAt) {
            const at = (column % columnsMax) * columnRows;
            for (let row = 0; row < columnRows; ++row) largest = Math.max(largest, store.levels[at + row]!);
        }
        return largest;
    }

    private paintColumn(pixel: number, top: number, columnsPerPixel: number, colours: Colours): void {
        const { store, pixels, heat } = this;
        const begin = columnsPerPixel < 1 ? Math.floor(pixel * columnsPerPixel) : pixel * columnsPerPixel;
        // Of several columns the last that there is: the newest pixel column may get more of them.
        const column = begin >= store.count ? begin : Math.min(begin + Math.max(columnsPerPixel, 1), store.count) - 1;
        const rows = this.rows;
        if (column < store.first() || column >= store.count) {
            pixels.fill(heat[0]!);
        } else {
            const slot = column % columnsMax;
            const at = slot * columnRows;
            const offset = top - store.bases[slot]!;
            for (let row = 0; row < rows; ++row) {
                const from = offset - row;
                pixels[row] = heat[from >= 0 && from < columnRows ? store.levels[at + from]! : 0]!;
            }
            const bid = top - store.bids[slot]!;
            const ask = top - store.asks[slot]!;
            if (store.bids[slot] !== nothing && bid >= 0 && bid < rows) pixels[bid] = colours.buyPixel;
            if (store.asks[slot] !== nothing && ask >= 0 && ask < rows) pixels[ask] = colours.sellPixel;
        }
        const { width } = this.canvas;
        this.context.putImageData(this.strip, ((pixel % width) + width) % width, 0);
    }
}
