// SPDX-License-Identifier: Apache-2.0
// Time series with one axis of time and one cursor for all of them.

import uPlot from "uplot";

export interface PlotTerms {
    readonly title: string;
    readonly names: readonly string[];
    /** Of the style sheet: "--buy". */
    readonly colours: readonly string[];
}

type Value = number | null;

interface Plot extends PlotTerms {
    values: Value[][];
    drawn: uPlot | null;
}

export class Plots {
    private times: number[] = [];
    private readonly plots: Plot[];
    private isStale = true;

    /** Plots with the same `key` share the cursor. `timeText` writes a time of the axis. */
    constructor(
        private readonly into: HTMLElement,
        private readonly key: string,
        private readonly timeText: (seconds: number) => string,
        terms: readonly PlotTerms[],
    ) {
        this.plots = terms.map((each) => ({ ...each, values: each.names.map(() => []), drawn: null }));
        new ResizeObserver(() => this.resize()).observe(into);
        this.make();
    }

    clear(): void {
        this.times = [];
        for (const each of this.plots) each.values = each.values.map(() => []);
        this.isStale = true;
    }

    /** A moment, with the values of each plot. */
    add(time: number, values: readonly (readonly Value[])[]): void {
        this.times.push(time);
        values.forEach((of, index) => of.forEach((value, k) => this.plots[index]!.values[k]!.push(value)));
        this.isStale = true;
    }

    /** Forgets all but the newest. */
    keep(count: number): void {
        const more = this.times.length - count;
        if (more <= 0) return;
        this.times.splice(0, more);
        for (const each of this.plots) for (const values of each.values) values.splice(0, more);
    }

    /** With the colours of the page as they are now. */
    make(): void {
        const style = getComputedStyle(this.into);
        const colour = (name: string) => style.getPropertyValue(name).trim();
        this.into.replaceChildren();
        for (const each of this.plots) {
            const axis = { stroke: colour("--text"), grid: { stroke: colour("--faint"), width: 0.5 }, ticks: { show: false } };
            each.drawn = new uPlot(
                {
                    ...this.sizeOfPlot(),
                    title: each.title,
                    legend: { show: each.names.length > 1 },
                    cursor: { sync: { key: this.key }, y: false },
                    scales: { x: { time: true } },
                    axes: [{ ...axis, size: 28, space: 70, values: (_, times) => times.map(this.timeText) }, { ...axis, size: 64 }],
                    series: [
                        { value: (_, time) => (time === null ? "" : this.timeText(time)) },
                        ...each.names.map((label, k) => ({ label, stroke: colour(each.colours[k]!), width: 1.25, points: { show: false } })),
                    ],
                },
                this.data(each),
                this.into,
            );
        }
    }

    draw(): void {
        if (!this.isStale) return;
        this.isStale = false;
        for (const each of this.plots) each.drawn?.setData(this.data(each));
    }

    private data(of: Plot): uPlot.AlignedData {
        return [this.times, ...of.values];
    }

    private sizeOfPlot(): { width: number; height: number } {
        const width = this.into.clientWidth;
        const columns = width > 760 ? Math.min(4, this.plots.length) : width > 440 ? 2 : 1;
        return { width: Math.max(160, Math.floor(width / columns) - 4), height: 128 };
    }

    private resize(): void {
        for (const each of this.plots) each.drawn?.setSize(this.sizeOfPlot());
    }
}
