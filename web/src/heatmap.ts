// SPDX-License-Identifier: Apache-2.0
// The heatmap: time to the right, price upwards, resting size by colour; trades, own orders and changes of phase on top.

import { Bubbles } from "./bubbles";
import { type ColumnStore, columnMs, columnOf, lotsOfLevel, timeOf } from "./column_store";
import { type Instrument, amountText, priceText, timeText } from "./instrument";
import type { Market } from "./market";
import { type Colours, type Theme, coloursOf } from "./palette";
import { PixelRing } from "./pixel_ring";

const axisWidth = 64;
const axisHeight = 18;
const rowHeights = [2, 3, 4, 6, 8, 12, 16, 24];
/** Columns of the store for each pixel; below 1, pixels for each column. */
const timeSteps = [0.25, 0.5, 1, 2, 4, 8, 16];
/** Pixels between the middles of two bubbles. */
const bubbleWidth = 8;
const radiusMax = 9;
/** Seconds between two times of the axis. */
const labelSteps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600];
const font = "11px system-ui, sans-serif";

interface Point {
    readonly x: number;
    readonly y: number;
}

export interface OwnLevel {
    readonly price: number;
    readonly side: 1 | -1;
    readonly lots: number;
    /** Lots of others before the first of one's own; null: not known. */
    readonly before: number | null;
}

export class Heatmap {
    readonly bubbles = new Bubbles(bubbleWidth);
    private own: readonly OwnLevel[] = [];
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
    private phase = "";
    private phaseChanges: { column: number; phase: string }[] = [];
    private pointer: Point | null = null;
    private drag: (Point & { end: number; top: number }) | null = null;
    /** From where a box is being drawn. */
    private corner: Point | null = null;
    private keepsPrice = false;
    /** Whether the picture must be drawn though no column has begun. */
    private isChanged = true;
    /** The price of the top row of the axis. */
    private axisTop = NaN;

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
            if (market.isCurrent && !store.isEmpty) {
                this.bubbles.add(Math.max(store.first, columnOf(trade.time)), trade.price, trade.side, trade.lots);
            }
        });
        new ResizeObserver(() => this.resize()).observe(canvas);
        canvas.addEventListener("wheel", (event) => this.turn(event), { passive: false });
        canvas.addEventListener("pointerdown", (event) => this.take(event));
        canvas.addEventListener("pointermove", (event) => this.move(event));
        canvas.addEventListener("pointerup", (event) => this.release(event));
        canvas.addEventListener("pointerleave", () => this.point(null));
        canvas.addEventListener("dblclick", () => this.goLive());
        this.resize();
    }

    set ownOrders(orders: readonly OwnLevel[]) {
        this.own = orders;
        this.isChanged = true;
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
        this.repaint();
    }

    goLive(): void {
        this.keepsPrice = false;
        this.setEnd(null);
        this.centre();
        this.repaint();
    }

    /** Positive: more time in the picture. */
    zoomTime(steps: number): void {
        this.timeIndex = Math.min(Math.max(this.timeIndex + steps, 0), timeSteps.length - 1);
        this.bubbles.setWidth(Math.max(1, bubbleWidth * this.columnsPerPixel()));
        this.repaint();
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
        const now = this.end ?? this.store.last;
        this.moveEnd(now + Math.round(share * this.width * this.columnsPerPixel()));
    }

    /** The columns that the picture shows. */
    span(): { first: number; last: number } {
        const last = this.end ?? this.store.last;
        return { first: last - Math.ceil(this.width * this.columnsPerPixel()), last };
    }

    /** Columns were added before the oldest one. */
    repaint(): void {
        this.ring.invalidate();
        this.isChanged = true;
    }

    /** Once per frame, after the store has its column. Draws when a column has begun, or the view has changed. */
    draw(): void {
        const { store } = this;
        if (this.width <= 0 || store.isEmpty) return;
        this.notePhase();
        if (this.end === null) {
            this.follow();
        } else if (this.end < store.first + 1) {
            this.end = store.first + 1;
        }
        const last = this.pixelOf(this.end ?? store.last);
        if (!this.isChanged && last === this.ring.painted) return;
        const hasAxis = this.axisTop === this.top && !this.isChanged;
        this.isChanged = false;
        this.axisTop = this.top;
        this.ring.paint(last, this.top, this.columnsPerPixel(), this.colours, this.theme);
        this.drawPicture();
        this.drawTimes();
        if (!hasAxis) this.drawPrices();
    }

    private drawPicture(): void {
        const { context } = this;
        context.save();
        context.beginPath();
        context.rect(0, 0, this.width, this.height);
        context.clip();
        this.ring.copyTo(context);
        this.drawBubbles();
        this.drawPhaseChanges();
        this.drawOwnOrders();
        this.drawPointer();
        context.restore();
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
        this.context.fillStyle = this.colours.panel;
        this.context.fillRect(0, 0, box.width, box.height);
        this.layOut();
    }

    private layOut(): void {
        const rows = Math.max(1, Math.ceil(this.height / this.rowHeight()));
        const middle = this.top - this.ring.rows / 2;
        this.ring.resize(this.width, rows, this.rowHeight());
        this.top = Math.round(middle + rows / 2);
        this.isChanged = true;
    }

    private centre(): void {
        const middle = this.market.middle();
        if (middle === null) return;
        this.top = Math.round(middle + this.ring.rows / 2);
        this.repaint();
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
        this.isChanged = true;
        if (was !== (end === null)) this.onView(end === null);
    }

    private moveEnd(to: number): void {
        const { first, last } = this.store;
        const least = Math.min(last, first + Math.ceil(this.width * this.columnsPerPixel() * 0.1));
        this.setEnd(to >= last ? null : Math.max(to, least));
    }

    /** The number of the pixel column in which a column of the store ends. Pixel columns have numbers, as columns have. */
    private pixelOf(column: number): number {
        return Math.floor(column / this.columnsPerPixel());
    }

    /** The market has become that of a later moment. `draw` does it, too. */
    notePhase(): void {
        const { phase } = this.market;
        if (phase === this.phase) return;
        if (this.phase !== "") this.phaseChanges.push({ column: this.store.last, phase });
        this.phase = phase;
        this.isChanged = true;
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

    /** Areas in proportion to what was traded. */
    private drawBubbles(): void {
        const { context } = this;
        const shown = [...this.bubbles.between(this.columnAt(-bubbleWidth), this.columnAt(this.width + bubbleWidth))];
        const most = Math.max(...shown.map(({ buy, sell }) => Math.max(buy.lots, sell.lots)));
        context.strokeStyle = this.colours.panel;
        context.lineWidth = 1;
        for (const side of ["buy", "sell"] as const) {
            const path = new Path2D();
            for (const each of shown) {
                const { lots, turnover } = each[side];
                if (lots === 0) continue;
                const radius = Math.max(1, radiusMax * Math.sqrt(lots / most));
                const [x, y] = [this.xOf(each.column), this.yOf(turnover / lots)];
                path.moveTo(x + radius, y);
                path.arc(x, y, radius, 0, 7);
            }
            context.fillStyle = this.colours[side];
            context.globalAlpha = 0.75;
            context.fill(path);
            context.globalAlpha = 1;
        }
    }

    private drawPhaseChanges(): void {
        const { context, colours } = this;
        context.font = font;
        context.textAlign = "left";
        context.textBaseline = "top";
        context.fillStyle = colours.text;
        context.strokeStyle = colours.text;
        for (const { column, phase } of this.phaseChanges) {
            const x = this.xOf(column);
            if (x < 0 || x > this.width) continue;
            context.fillRect(x, 0, 1, this.height);
            context.fillText(phase, x + 4, 4);
        }
    }

    private drawOwnOrders(): void {
        const { context } = this;
        context.strokeStyle = this.colours.own;
        context.setLineDash([6, 4]);
        for (const order of this.own) {
            const y = this.yOf(order.price);
            context.beginPath();
            context.moveTo(this.width * 0.6, y);
            context.lineTo(this.width, y);
            context.stroke();
            const before = order.before === null ? "" : `, ${amountText(this.instrument, order.before)} before it`;
            const text = `own ${order.side === 1 ? "buy" : "sell"} ${amountText(this.instrument, order.lots)}${before}`;
            this.label(text, this.width - 4, y - 2, "right", this.colours.own);
        }
        context.setLineDash([]);
    }

    /** A text on the panel's colour, so that it can be read on any picture; `y` is its lower edge. */
    private label(text: string, x: number, y: number, align: "left" | "right", colour: string): void {
        const { context, colours } = this;
        context.font = font;
        context.textAlign = align;
        context.textBaseline = "bottom";
        const width = context.measureText(text).width + 8;
        context.fillStyle = colours.panel;
        context.fillRect(align === "right" ? x - width + 4 : x - 4, y - 15, width, 16);
        context.fillStyle = colour;
        context.fillText(text, x, y);
    }

    private drawPrices(): void {
        const { context, colours } = this;
        context.fillStyle = colours.panel;
        context.fillRect(this.width, 0, axisWidth, this.height + axisHeight);
        context.font = font;
        context.fillStyle = colours.text;
        context.textAlign = "left";
        context.textBaseline = "middle";
        const rowsPerLabel = Math.max(1, Math.ceil(24 / this.rowHeight()));
        const firstPrice = Math.floor(this.top / rowsPerLabel) * rowsPerLabel;
        for (let price = firstPrice; price > this.top - this.ring.rows; price -= rowsPerLabel) {
            const y = this.yOf(price);
            if (y > 6 && y < this.height - 6) context.fillText(priceText(this.instrument, price), this.width + 6, y);
        }
    }

    /** Under the picture, at whole steps of time. */
    private drawTimes(): void {
        const { context, colours } = this;
        context.fillStyle = colours.panel;
        context.fillRect(0, this.height, this.width, axisHeight);
        context.font = font;
        context.fillStyle = colours.text;
        context.textAlign = "center";
        context.textBaseline = "middle";
        const secondsPerPixel = (this.columnsPerPixel() * columnMs) / 1000;
        const seconds = labelSteps.find((step) => step / secondsPerPixel >= 90) ?? labelSteps.at(-1)!;
        const columns = (1000 * seconds) / columnMs;
        for (let column = Math.ceil(this.columnAt(0) / columns) * columns; ; column += columns) {
            const x = this.xOf(column);
            if (x > this.width - 24) return;
            if (x > 24) context.fillText(timeText(timeOf(column)).slice(0, 8), x, this.height + axisHeight / 2);
        }
    }

    private drawPointer(): void {
        const at = this.pointer;
        if (at === null || at.x >= this.width || at.y >= this.height) return;
        const { context, colours, store } = this;
        if (this.corner !== null) {
            context.strokeStyle = colours.own;
            context.strokeRect(this.corner.x, this.corner.y, at.x - this.corner.x, at.y - this.corner.y);
            return;
        }
        context.fillStyle = colours.faint;
        context.fillRect(0, at.y, this.width, 1);
        context.fillRect(at.x, 0, 1, this.height);
        const column = this.columnAt(at.x);
        const price = this.priceAt(at.y);
        let text = priceText(this.instrument, price);
        if (store.has(column)) {
            text += `   about ${amountText(this.instrument, lotsOfLevel(store.levelAt(column, price)))}   `;
            text += timeText(timeOf(column));
        }
        const isRight = at.x > this.width / 2;
        this.label(text, at.x + (isRight ? -8 : 8), Math.max(16, at.y - 4), isRight ? "right" : "left", colours.text);
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
        else this.drag = { ...at, end: this.end ?? this.store.last, top: this.top };
    }

    private point(at: Point | null): void {
        this.pointer = at;
        this.isChanged = true;
    }

    private move(event: PointerEvent): void {
        this.point({ x: event.offsetX, y: event.offsetY });
        if (this.drag === null) return;
        const columns = Math.round((this.drag.x - event.offsetX) * this.columnsPerPixel());
        if (columns !== 0) this.moveEnd(this.drag.end + columns);
        const rows = Math.round((event.offsetY - this.drag.y) / this.rowHeight());
        if (rows === 0) return;
        this.top = this.drag.top + rows;
        this.keepsPrice = true;
        this.repaint();
    }

    private release(event: PointerEvent): void {
        this.drag = null;
        if (this.corner === null) return;
        this.describeBox(this.corner, { x: event.offsetX, y: event.offsetY });
        this.corner = null;
        this.isChanged = true;
    }

    /** What was traded in a box, and what rested there on average. */
    private describeBox(from: Point, to: Point): void {
        const { store, instrument } = this;
        const first = Math.max(store.first, this.columnAt(Math.min(from.x, to.x)));
        const last = Math.min(store.last, this.columnAt(Math.max(from.x, to.x)));
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
        const seconds = (timeOf(last) - timeOf(first)) / 1000;
        const trades = Number.isNaN(sum.trades) ? "" : `${sum.trades} trades, `;
        const mean = sum.mean === null ? "" : `, mean price ${(sum.mean * instrument.tickSize).toFixed(instrument.decimals + 1)}`;
        this.onBox(
            `${priceText(instrument, lowest)} to ${priceText(instrument, highest)}, ${seconds.toFixed(1)} s: ${trades}` +
                `${amountText(instrument, sum.bought)} bought, ${amountText(instrument, sum.sold)} sold${mean}, ` +
                `about ${amountText(instrument, Math.round(rested / (last - first + 1)))} rested`,
        );
    }
}
