// The heatmap: time to the right, price upwards, resting size by colour. Its pixels are in a ring as wide as the picture: a
// new column is one column of pixels written, and the picture is two copies of the ring. All else is drawn on top.

import { type ColumnStore, columnRows, columnsMax, lotsOfLevel, nothing } from "./column_store";
import { type Instrument, amountText, priceText } from "./instrument";
import type { Market, Trade } from "./market";
import { type Colours, type Theme, coloursOf, heatColours } from "./palette";

const axisWidth = 64;
const axisHeight = 18;
const rowHeights = [2, 3, 4, 6, 8, 12, 16, 24];
/** Columns of the store for each pixel; below 1, pixels for each column. */
const timeSteps = [0.25, 0.5, 1, 2, 4, 8, 16];
/** Trades of a side at a price within so many columns are one bubble. */
const bubbleColumns = 8;
const bubblesMax = 8192;

interface Bubble {
    column: number;
    price: number;
    side: 1 | -1;
    lots: number;
}

export interface OwnLevel {
    readonly price: number;
    readonly side: 1 | -1;
    readonly lots: number;
}

export class Heatmap {
    ownOrders: readonly OwnLevel[] = [];
    private readonly context: CanvasRenderingContext2D;
    private readonly ring = document.createElement("canvas");
    private ringContext: CanvasRenderingContext2D;
    private strip = new ImageData(1, 1);
    private pixels = new Uint32Array(1);
    private colours: Colours;
    private heat: Uint32Array;
    private levelMax = 96;
    private width = 0;
    private height = 0;
    private rowHeightIndex = 4;
    private timeIndex = 2;
    /** The price of the top row. */
    private top = 0;
    /** The last column in the picture; null: the newest. */
    private end: number | null = null;
    /** What the ring has: columns of pixels up to this number of pixel columns. */
    private painted = -1;
    private bubbles: Bubble[] = [];
    private pointer: { x: number; y: number } | null = null;
    private drag: { x: number; y: number; end: number; top: number } | null = null;
    private keepsPrice = false;

    constructor(
        private readonly canvas: HTMLCanvasElement,
        private readonly store: ColumnStore,
        private readonly market: Market,
        private instrument: Instrument,
        private theme: Theme,
        private readonly onView: (isLive: boolean) => void,
    ) {
        this.context = canvas.getContext("2d", { alpha: false })!;
        this.ringContext = this.ring.getContext("2d", { alpha: false })!;
        this.colours = coloursOf(canvas);
        this.heat = heatColours(theme, this.levelMax);
        market.onTrade((trade) => this.addTrade(trade));
        new ResizeObserver(() => this.resize()).observe(canvas);
        canvas.addEventListener("wheel", (event) => this.turn(event), { passive: false });
        canvas.addEventListener("pointerdown", (event) => this.take(event));
        canvas.addEventListener("pointermove", (event) => this.move(event));
        canvas.addEventListener("pointerup", () => (this.drag = null));
        canvas.addEventListener("pointerleave", () => (this.pointer = null));
        canvas.addEventListener("dblclick", () => this.goLive());
        this.resize();
    }

    show(instrument: Instrument): void {
        this.instrument = instrument;
        this.bubbles = [];
        this.goLive();
    }

    setTheme(theme: Theme): void {
        this.theme = theme;
        this.colours = coloursOf(this.canvas);
        this.heat = heatColours(theme, this.levelMax);
        this.painted = -1;
    }

    goLive(): void {
        this.keepsPrice = false;
        this.painted = -1;
        this.setEnd(null);
        this.centre();
    }

    /** Positive: more time in the picture. */
    zoomTime(steps: number): void {
        this.timeIndex = Math.min(Math.max(this.timeIndex + steps, 0), timeSteps.length - 1);
        this.painted = -1;
    }

    /** Positive: fewer prices in the picture. */
    zoomPrice(steps: number): void {
        const middle = this.top - this.rows() / 2;
        this.rowHeightIndex = Math.min(Math.max(this.rowHeightIndex + steps, 0), rowHeights.length - 1);
        this.layOut();
        this.top = Math.round(middle + this.rows() / 2);
    }

    /** Moves the picture by a share of its width; negative into the past. */
    scroll(share: number): void {
        const now = this.end ?? this.store.count - 1;
        this.moveEnd(now + Math.round(share * this.width * this.columnsPerPixel()));
    }

    /** Once per frame, after the store has its column. */
    draw(): void {
        if (this.width <= 0) return;
        const { context, store } = this;
        if (this.end === null) {
            this.follow();
        } else if (this.end < store.first() + 1) {
            this.end = store.first() + 1;
        }
        this.paintRing();
        context.fillStyle = this.colours.panel;
        context.fillRect(0, 0, this.width + axisWidth, this.height + axisHeight);
        const split = (this.painted + 1) % this.width;
        const rows = this.rows();
        const height = rows * rowHeights[this.rowHeightIndex]!;
        context.imageSmoothingEnabled = false;
        context.save();
        context.beginPath();
        context.rect(0, 0, this.width, this.height);
        context.clip();
        if (split < this.width) context.drawImage(this.ring, split, 0, this.width - split, rows, 0, 0, this.width - split, height);
        if (split > 0) context.drawImage(this.ring, 0, 0, split, rows, this.width - split, 0, split, height);
        this.drawBubbles();
        this.drawOwnOrders();
        context.restore();
        this.drawAxes();
        this.drawPointer();
    }

    /** Columns of the store for each pixel. */
    private columnsPerPixel(): number {
        return timeSteps[this.timeIndex]!;
    }

    private rows(): number {
        return this.ring.height;
    }

    private resize(): void {
        const ratio = window.devicePixelRatio || 1;
        const box = this.canvas.getBoundingClientRect();
        this.width = Math.max(0, Math.floor(box.width) - axisWidth);
        this.height = Math.max(0, Math.floor(box.height) - axisHeight);
        this.canvas.width = Math.floor(box.width * ratio);
        this.canvas.height = Math.floor(box.height * ratio);
        this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
        this.layOut();
    }

    private layOut(): void {
        const rows = Math.min(Math.max(1, Math.ceil(this.height / rowHeights[this.rowHeightIndex]!)), columnRows);
        const middle = this.top - this.rows() / 2;
        this.ring.width = Math.max(1, this.width);
        this.ring.height = rows;
        this.top = Math.round(middle + rows / 2);
        this.strip = new ImageData(1, rows);
        this.pixels = new Uint32Array(this.strip.data.buffer);
        this.painted = -1;
    }

    private centre(): void {
        const middle = this.market.middle();
        if (middle === null) return;
        this.top = Math.round(middle + this.rows() / 2);
        this.painted = -1;
    }

    /** Keeps the market in the middle three fifths of the picture. */
    private follow(): void {
        const middle = this.market.middle();
        if (middle === null || this.keepsPrice) return;
        const share = (this.top - middle) / this.rows();
        if (share < 0.2 || share > 0.8) this.centre();
    }

    private setEnd(end: number | null): void {
        const was = this.end === null;
        this.end = end;
        if (was !== (end === null)) this.onView(end === null);
    }

    private moveEnd(to: number): void {
        const last = this.store.count - 1;
        const perPixel = this.columnsPerPixel();
        const first = Math.min(last, this.store.first() + Math.ceil(this.width * perPixel * 0.1));
        this.setEnd(to >= last ? null : Math.max(to, first));
    }

    /** The number of the pixel column in which a column of the store ends. Pixel columns have numbers, as columns have. */
    private pixelOf(column: number): number {
        return Math.floor(column / this.columnsPerPixel());
    }

    private paintRing(): void {
        const last = this.pixelOf(this.end ?? this.store.count - 1);
        if (last < 0) return;
        let from = this.painted + 1;
        if (this.painted < 0 || last < this.painted || last - this.painted > this.width) {
            this.fitColours(last);
            from = last - this.width + 1;
        }
        for (let pixel = from; pixel <= last; ++pixel) this.paintPixelColumn(pixel);
        this.painted = last;
    }

    /** The brightest colour is for the largest size that the picture shows. */
    private fitColours(last: number): void {
        const { store } = this;
        const perPixel = this.columnsPerPixel();
        let largest = 24;
        const end = Math.min(store.count - 1, Math.ceil((last + 1) * perPixel));
        const begin = Math.max(store.first(), Math.floor((last - this.width) * perPixel));
        for (let column = end; column >= begin; column -= 16) {
            const at = (column % columnsMax) * columnRows;
            for (let row = 0; row < columnRows; ++row) largest = Math.max(largest, store.levels[at + row]!);
        }
        this.levelMax = largest;
        this.heat = heatColours(this.theme, largest);
    }

    private paintPixelColumn(pixel: number): void {
        const { store, pixels, heat } = this;
        const perPixel = this.columnsPerPixel();
        const begin = perPixel < 1 ? Math.floor(pixel * perPixel) : pixel * perPixel;
        // Of several columns the last that there is: the newest pixel column may get more of them.
        const column = begin >= store.count ? begin : Math.min(begin + Math.max(perPixel, 1), store.count) - 1;
        const rows = this.rows();
        if (column < store.first() || column >= store.count) {
            pixels.fill(heat[0]!);
        } else {
            const slot = column % columnsMax;
            const at = slot * columnRows;
            const offset = this.top - store.bases[slot]!;
            for (let row = 0; row < rows; ++row) {
                const from = offset - row;
                pixels[row] = heat[from >= 0 && from < columnRows ? store.levels[at + from]! : 0]!;
            }
            const bid = this.top - store.bids[slot]!;
            const ask = this.top - store.asks[slot]!;
            if (store.bids[slot] !== nothing && bid >= 0 && bid < rows) pixels[bid] = this.colours.buyPixel;
            if (store.asks[slot] !== nothing && ask >= 0 && ask < rows) pixels[ask] = this.colours.sellPixel;
        }
        this.ringContext.putImageData(this.strip, ((pixel % this.width) + this.width) % this.width, 0);
    }

    private addTrade(trade: Trade): void {
        if (!this.market.isCurrent || this.store.count === 0) return;
        const column = this.store.count - (this.store.count % bubbleColumns);
        for (let k = this.bubbles.length - 1; k >= 0 && this.bubbles[k]!.column === column; --k) {
            const bubble = this.bubbles[k]!;
            if (bubble.price === trade.price && bubble.side === trade.side) {
                bubble.lots += trade.lots;
                return;
            }
        }
        this.bubbles.push({ column, price: trade.price, side: trade.side, lots: trade.lots });
        if (this.bubbles.length > 2 * bubblesMax) this.bubbles = this.bubbles.slice(-bubblesMax);
    }

    private xOf(column: number): number {
        return this.width - 1 - (this.painted - this.pixelOf(column));
    }

    private yOf(price: number): number {
        return (this.top - price + 0.5) * rowHeights[this.rowHeightIndex]!;
    }

    private priceAt(y: number): number {
        return this.top - Math.floor(y / rowHeights[this.rowHeightIndex]!);
    }

    private columnAt(x: number): number {
        return Math.floor((this.painted - (this.width - 1 - x)) * this.columnsPerPixel());
    }

    private drawBubbles(): void {
        const { context } = this;
        const buys = new Path2D();
        const sells = new Path2D();
        for (let k = this.bubbles.length - 1; k >= 0; --k) {
            const bubble = this.bubbles[k]!;
            const x = this.xOf(bubble.column);
            if (x < -20) break;
            const y = this.yOf(bubble.price);
            if (x > this.width || y < 0 || y > this.height) continue;
            const radius = Math.min(14, 1 + 0.8 * Math.sqrt(bubble.lots));
            const path = bubble.side === 1 ? buys : sells;
            path.moveTo(x + radius, y);
            path.arc(x, y, radius, 0, 7);
        }
        context.globalAlpha = 0.55;
        context.fillStyle = this.colours.buy;
        context.fill(buys);
        context.fillStyle = this.colours.sell;
        context.fill(sells);
        context.globalAlpha = 1;
    }

    private drawOwnOrders(): void {
        const { context } = this;
        context.strokeStyle = this.colours.own;
        context.fillStyle = this.colours.own;
        context.font = "11px system-ui, sans-serif";
        context.textAlign = "right";
        context.textBaseline = "bottom";
        context.setLineDash([6, 4]);
        for (const order of this.ownOrders) {
            const y = this.yOf(order.price);
            context.beginPath();
            context.moveTo(this.width * 0.6, y);
            context.lineTo(this.width, y);
            context.stroke();
            const text = `${order.side === 1 ? "buy" : "sell"} ${amountText(this.instrument, order.lots)}`;
            context.fillText(text, this.width - 4, y - 1);
        }
        context.setLineDash([]);
    }

    private drawAxes(): void {
        const { context, colours } = this;
        context.font = "11px system-ui, sans-serif";
        context.fillStyle = colours.text;
        context.textAlign = "left";
        context.textBaseline = "middle";
        const rowsPerLabel = Math.max(1, Math.ceil(24 / rowHeights[this.rowHeightIndex]!));
        const firstPrice = Math.floor(this.top / rowsPerLabel) * rowsPerLabel;
        for (let price = firstPrice; price > this.top - this.rows(); price -= rowsPerLabel) {
            const y = this.yOf(price);
            if (y > 6 && y < this.height - 6) context.fillText(priceText(this.instrument, price), this.width + 6, y);
        }
        context.textAlign = "center";
        for (let x = 60; x < this.width; x += 140) {
            const column = this.columnAt(x);
            if (column < this.store.first() || column >= this.store.count) continue;
            context.fillText(timeText(this.store.times[column % columnsMax]!), x, this.height + axisHeight / 2);
        }
    }

    private drawPointer(): void {
        const at = this.pointer;
        if (at === null || at.x >= this.width || at.y >= this.height) return;
        const { context, colours, store } = this;
        context.strokeStyle = colours.faint;
        context.beginPath();
        context.moveTo(0, at.y);
        context.lineTo(this.width, at.y);
        context.moveTo(at.x, 0);
        context.lineTo(at.x, this.height);
        context.stroke();
        const column = this.columnAt(at.x);
        const price = this.priceAt(at.y);
        let text = priceText(this.instrument, price);
        if (column >= store.first() && column < store.count) {
            text += `   about ${amountText(this.instrument, lotsOfLevel(store.levelAt(column, price)))}   `;
            text += timeText(store.times[column % columnsMax]!);
        }
        context.textAlign = at.x > this.width / 2 ? "right" : "left";
        context.textBaseline = "bottom";
        const x = at.x + (at.x > this.width / 2 ? -8 : 8);
        const width = context.measureText(text).width + 8;
        context.fillStyle = colours.panel;
        context.fillRect(at.x > this.width / 2 ? x - width + 4 : x - 4, at.y - 20, width, 18);
        context.fillStyle = colours.text;
        context.fillText(text, x, at.y - 4);
    }

    private turn(event: WheelEvent): void {
        event.preventDefault();
        const direction = Math.sign(event.deltaY || event.deltaX);
        if (event.shiftKey || event.ctrlKey) this.zoomPrice(-direction);
        else this.zoomTime(direction);
    }

    private take(event: PointerEvent): void {
        this.canvas.setPointerCapture(event.pointerId);
        this.drag = { x: event.offsetX, y: event.offsetY, end: this.end ?? this.store.count - 1, top: this.top };
    }

    private move(event: PointerEvent): void {
        this.pointer = { x: event.offsetX, y: event.offsetY };
        if (this.drag === null) return;
        const columns = Math.round((this.drag.x - event.offsetX) * this.columnsPerPixel());
        if (columns !== 0) this.moveEnd(this.drag.end + columns);
        const rows = Math.round((event.offsetY - this.drag.y) / rowHeights[this.rowHeightIndex]!);
        if (rows === 0) return;
        this.top = this.drag.top + rows;
        this.keepsPrice = true;
        this.painted = -1;
    }
}

export function timeText(milliseconds: number): string {
    const time = new Date(milliseconds);
    return time.toLocaleTimeString("en-GB") + "." + String(time.getMilliseconds()).padStart(3, "0").slice(0, 1);
}
