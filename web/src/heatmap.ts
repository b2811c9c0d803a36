// The heatmap: time to the right, price upwards, resting size by colour; trades, own orders and changes of phase on top.

import { Bubbles } from "./bubbles";
import { type ColumnStore, columnRows, columnsMax, lotsOfLevel } from "./column_store";
import { type Instrument, amountText, priceText } from "./instrument";
import type { Market } from "./market";
import { type Colours, type Theme, coloursOf } from "./palette";
import { PixelRing } from "./pixel_ring";

const axisWidth = 64;
const axisHeight = 18;
const rowHeights = [2, 3, 4, 6, 8, 12, 16, 24];
/** Columns of the store for each pixel; below 1, pixels for each column. */
const timeSteps = [0.25, 0.5, 1, 2, 4, 8, 16];

interface Point {
    readonly x: number;
    readonly y: number;
}

export interface OwnLevel {
    readonly price: number;
    readonly side: 1 | -1;
    readonly lots: number;
}

export class Heatmap {
    ownOrders: readonly OwnLevel[] = [];
    private readonly context: CanvasRenderingContext2D;
    private readonly ring: PixelRing;
    private colours: Colours;
    private width = 0;
    private height = 0;
    private rowHeightIndex = 4;
    private timeIndex = 2;
    /** The price of the top row. */
    private top = 0;
    /** The last column in the picture; null: the newest. */
    private end: number | null = null;
    private readonly bubbles = new Bubbles();
    private phase = "";
    private phaseChanges: { column: number; phase: string }[] = [];
    private pointer: Point | null = null;
    private drag: (Point & { end: number; top: number }) | null = null;
    /** From where a box is being drawn. */
    private corner: Point | null = null;
    private keepsPrice = false;

    constructor(
        private readonly canvas: HTMLCanvasElement,
        private readonly store: ColumnStore,
        private readonly market: Market,
        private instrument: Instrument,
        private theme: Theme,
        private readonly onView: (isLive: boolean) => void,
        private readonly onBox: (text: string) => void,
    ) {
        this.context = canvas.getContext("2d", { alpha: false })!;
        this.ring = new PixelRing(store);
        this.colours = coloursOf(canvas);
        market.onTrade((trade) => {
            if (market.isCurrent && store.count > 0) this.bubbles.add(trade, store.count);
        });
        new ResizeObserver(() => this.resize()).observe(canvas);
        canvas.addEventListener("wheel", (event) => this.turn(event), { passive: false });
        canvas.addEventListener("pointerdown", (event) => this.take(event));
        canvas.addEventListener("pointermove", (event) => this.move(event));
        canvas.addEventListener("pointerup", (event) => this.release(event));
        canvas.addEventListener("pointerleave", () => (this.pointer = null));
        canvas.addEventListener("dblclick", () => this.goLive());
        this.resize();
    }

    show(instrument: Instrument): void {
        this.instrument = instrument;
        this.bubbles.clear();
        this.phaseChanges = [];
        this.phase = "";
        this.onBox("");
        this.goLive();
    }

    setTheme(theme: Theme): void {
        this.theme = theme;
        this.colours = coloursOf(this.canvas);
        this.ring.painted = -1;
    }

    goLive(): void {
        this.keepsPrice = false;
        this.ring.painted = -1;
        this.setEnd(null);
        this.centre();
    }

    /** Positive: more time in the picture. */
    zoomTime(steps: number): void {
        this.timeIndex = Math.min(Math.max(this.timeIndex + steps, 0), timeSteps.length - 1);
        this.ring.painted = -1;
    }

    /** Positive: fewer prices in the picture. */
    zoomPrice(steps: number): void {
        const middle = this.top - this.ring.rows / 2;
        this.rowHeightIndex = Math.min(Math.max(this.rowHeightIndex + steps, 0), rowHeights.length - 1);
        this.layOut();
        this.top = Math.round(middle + this.ring.rows / 2);
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
        this.notePhase();
        if (this.end === null) {
            this.follow();
        } else if (this.end < store.first() + 1) {
            this.end = store.first() + 1;
        }
        const last = this.pixelOf(this.end ?? store.count - 1);
        if (last >= 0) this.ring.paint(last, this.top, this.columnsPerPixel(), this.colours, this.theme);
        context.fillStyle = this.colours.panel;
        context.fillRect(0, 0, this.width + axisWidth, this.height + axisHeight);
        context.save();
        context.beginPath();
        context.rect(0, 0, this.width, this.height);
        context.clip();
        if (last >= 0) this.ring.copyTo(context, this.rowHeight());
        this.drawBubbles();
        this.drawPhaseChanges();
        this.drawOwnOrders();
        context.restore();
        this.drawAxes();
        this.drawPointer();
    }

    /** Columns of the store for each pixel. */
    private columnsPerPixel(): number {
        return timeSteps[this.timeIndex]!;
    }

    private rowHeight(): number {
        return rowHeights[this.rowHeightIndex]!;
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
        const rows = Math.min(Math.max(1, Math.ceil(this.height / this.rowHeight())), columnRows);
        const middle = this.top - this.ring.rows / 2;
        this.ring.resize(this.width, rows);
        this.top = Math.round(middle + rows / 2);
    }

    private centre(): void {
        const middle = this.market.middle();
        if (middle === null) return;
        this.top = Math.round(middle + this.ring.rows / 2);
        this.ring.painted = -1;
    }

    /** Keeps the market in the middle three fifths of the picture. */
    private follow(): void {
        const middle = this.market.middle();
        if (middle === null || this.keepsPrice) return;
        const share = (this.top - middle) / this.ring.rows;
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

    private notePhase(): void {
        const { phase } = this.market;
        if (phase === this.phase) return;
        if (this.phase !== "") this.phaseChanges.push({ column: this.store.count, phase });
        this.phase = phase;
    }

    private xOf(column: number): number {
        return this.width - 1 - (this.ring.painted - this.pixelOf(column));
    }

    private yOf(price: number): number {
        return (this.top - price + 0.5) * this.rowHeight();
    }

    private priceAt(y: number): number {
        return this.top - Math.floor(y / this.rowHeight());
    }

    private columnAt(x: number): number {
        return Math.floor((this.ring.painted - (this.width - 1 - x)) * this.columnsPerPixel());
    }

    private drawBubbles(): void {
        const { context } = this;
        const buys = new Path2D();
        const sells = new Path2D();
        for (const bubble of this.bubbles.since(this.columnAt(-20))) {
            const x = this.xOf(bubble.column);
            const y = this.yOf(bubble.price);
            if (x > this.width || y < 0 || y > this.height) continue;
            const radius = Math.min(14, 0.8 + 0.6 * Math.sqrt(bubble.lots));
            const path = bubble.side === 1 ? buys : sells;
            path.moveTo(x + radius, y);
            path.arc(x, y, radius, 0, 7);
        }
        context.globalAlpha = 0.5;
        context.fillStyle = this.colours.buy;
        context.fill(buys);
        context.fillStyle = this.colours.sell;
        context.fill(sells);
        context.globalAlpha = 1;
    }

    private drawPhaseChanges(): void {
        const { context, colours } = this;
        context.font = "11px system-ui, sans-serif";
        context.textAlign = "left";
        context.textBaseline = "top";
        context.fillStyle = colours.text;
        context.strokeStyle = colours.text;
        for (const { column, phase } of this.phaseChanges) {
            const x = this.xOf(column);
            if (x < 0 || x > this.width) continue;
            context.beginPath();
            context.moveTo(x, 0);
            context.lineTo(x, this.height);
            context.stroke();
            context.fillText(phase, x + 4, 4);
        }
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
        const rowsPerLabel = Math.max(1, Math.ceil(24 / this.rowHeight()));
        const firstPrice = Math.floor(this.top / rowsPerLabel) * rowsPerLabel;
        for (let price = firstPrice; price > this.top - this.ring.rows; price -= rowsPerLabel) {
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
        if (this.corner !== null) {
            context.strokeStyle = colours.own;
            context.strokeRect(this.corner.x, this.corner.y, at.x - this.corner.x, at.y - this.corner.y);
            return;
        }
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
        const at = { x: event.offsetX, y: event.offsetY };
        if (event.shiftKey) this.corner = at;
        else this.drag = { ...at, end: this.end ?? this.store.count - 1, top: this.top };
    }

    private move(event: PointerEvent): void {
        this.pointer = { x: event.offsetX, y: event.offsetY };
        if (this.drag === null) return;
        const columns = Math.round((this.drag.x - event.offsetX) * this.columnsPerPixel());
        if (columns !== 0) this.moveEnd(this.drag.end + columns);
        const rows = Math.round((event.offsetY - this.drag.y) / this.rowHeight());
        if (rows === 0) return;
        this.top = this.drag.top + rows;
        this.keepsPrice = true;
        this.ring.painted = -1;
    }

    private release(event: PointerEvent): void {
        this.drag = null;
        if (this.corner === null) return;
        this.describeBox(this.corner, { x: event.offsetX, y: event.offsetY });
        this.corner = null;
    }

    /** What was traded in a box, and what rested there on average. */
    private describeBox(from: Point, to: Point): void {
        const { store, instrument } = this;
        const first = Math.max(store.first(), this.columnAt(Math.min(from.x, to.x)));
        const last = Math.min(store.count - 1, this.columnAt(Math.max(from.x, to.x)));
        const highest = this.priceAt(Math.min(from.y, to.y));
        const lowest = this.priceAt(Math.max(from.y, to.y));
        if (last <= first) {
            this.onBox("");
            return;
        }
        const sum = this.bubbles.sum(first, last, lowest, highest);
        let rested = 0;
        for (let column = first; column <= last; ++column) {
            for (let price = lowest; price <= highest; ++price) rested += lotsOfLevel(store.levelAt(column, price));
        }
        const seconds = (store.times[last % columnsMax]! - store.times[first % columnsMax]!) / 1000;
        const mean = sum.mean === null ? "" : `, mean price ${(sum.mean * instrument.tickSize).toFixed(instrument.decimals + 1)}`;
        this.onBox(
            `${priceText(instrument, lowest)} to ${priceText(instrument, highest)}, ${seconds.toFixed(1)} s: ${sum.trades} trades, ` +
                `${amountText(instrument, sum.bought)} bought, ${amountText(instrument, sum.sold)} sold${mean}, ` +
                `about ${amountText(instrument, Math.round(rested / (last - first + 1)))} rested`,
        );
    }
}

export function timeText(milliseconds: number): string {
    const time = new Date(milliseconds);
    return time.toLocaleTimeString("en-GB") + "." + String(time.getMilliseconds()).padStart(3, "0").slice(0, 1);
}
