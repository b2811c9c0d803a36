// SPDX-License-Identifier: Apache-2.0
// Market quality as time series: spread, depth and trades, once a second, with one cursor for all.

import uPlot from "uplot";
import { type Instrument, timeText } from "./instrument";
import type { Market } from "./market";

const samplesMax = 900;
const interval = 1_000;

interface Series {
    title: string;
    names: string[];
    colours: string[];
    values: (number | null)[][];
    plot: uPlot | null;
}

export class Quality {
    private times: number[] = [];
    private readonly series: Series[];
    /** The venue's time of the last note; 0 before the first. */
    private sampledAt = 0;
    private isStale = true;
    private bought = 0;
    private sold = 0;

    constructor(
        private readonly into: HTMLElement,
        private readonly market: Market,
        private instrument: Instrument,
    ) {
        this.series = [
            { title: "Price", names: ["middle"], colours: ["--text"], values: [[]], plot: null },
            { title: "Spread", names: ["spread"], colours: ["--own"], values: [[]], plot: null },
            { title: "Depth of 5 levels", names: ["bids", "asks"], colours: ["--buy", "--sell"], values: [[], []], plot: null },
            { title: "Traded per second", names: ["bought", "sold"], colours: ["--buy", "--sell"], values: [[], []], plot: null },
        ];
        market.onTrade((trade) => {
            if (!market.isCurrent) return;
            if (trade.side === 1) this.bought += trade.lots;
            else this.sold += trade.lots;
        });
        new ResizeObserver(() => this.resize()).observe(into);
        this.make();
    }

    show(instrument: Instrument): void {
        this.instrument = instrument;
        this.times = [];
        for (const each of this.series) each.values = each.values.map(() => []);
        this.bought = this.sold = this.sampledAt = 0;
        this.isStale = true;
    }

    /** With the colours of the page as they are now. */
    make(): void {
        const style = getComputedStyle(this.into);
        const colour = (name: string) => style.getPropertyValue(name).trim();
        this.into.replaceChildren();
        for (const each of this.series) {
            const axis = { stroke: colour("--text"), grid: { stroke: colour("--faint"), width: 0.5 }, ticks: { show: false } };
            each.plot = new uPlot(
                {
                    ...this.sizeOfPlot(),
                    title: each.title,
                    legend: { show: each.names.length > 1 },
                    cursor: { sync: { key: "quality" }, y: false },
                    scales: { x: { time: true } },
                    axes: [{ ...axis, size: 28, space: 70, values: (_, times) => times.map(clock) }, { ...axis, size: 64 }],
                    series: [
                        { value: (_, time) => (time === null ? "" : clock(time)) },
                        ...each.names.map((label, k) => ({ label, stroke: colour(each.colours[k]!), width: 1.25, points: { show: false } })),
                    ],
                },
                this.data(each),
                this.into,
            );
        }
    }

    /** Notes the market if a second of the venue's time has passed since the last note. */
    sample(): void {
        const { market, instrument } = this;
        const now = market.now();
        if (!market.isCurrent || now - this.sampledAt < interval) return;
        const seconds = (now - this.sampledAt) / 1000;
        const isFirst = this.sampledAt === 0;
        this.sampledAt = now;
        this.isStale = true;
        const middle = market.middle();
        const spread = market.spread();
        this.times.push(now / 1000);
        const add = (index: number, ...values: (number | null)[]) =>
            values.forEach((value, k) => this.series[index]!.values[k]!.push(value));
        add(0, middle === null ? null : middle * instrument.tickSize);
        add(1, spread === null ? null : spread * instrument.tickSize);
        add(2, market.bids.depth(5) * instrument.lotSize, market.asks.depth(5) * instrument.lotSize);
        const rate = (lots: number) => (isFirst ? null : (lots * instrument.lotSize) / seconds);
        add(3, rate(this.bought), rate(this.sold));
        this.bought = this.sold = 0;
        if (this.times.length > samplesMax) {
            this.times.shift();
            for (const each of this.series) for (const values of each.values) values.shift();
        }
    }

    draw(): void {
        this.sample();
        if (!this.isStale) return;
        this.isStale = false;
        for (const each of this.series) each.plot?.setData(this.data(each));
    }

    private data(of: Series): uPlot.AlignedData {
        return [this.times, ...of.values];
    }

    private sizeOfPlot(): { width: number; height: number } {
        const width = this.into.clientWidth;
        const columns = width > 760 ? 4 : width > 440 ? 2 : 1;
        return { width: Math.max(160, Math.floor(width / columns) - 4), height: 128 };
    }

    private resize(): void {
        for (const each of this.series) each.plot?.setSize(this.sizeOfPlot());
    }
}

function clock(seconds: number): string {
    return timeText(1000 * seconds).slice(0, 8);
}
