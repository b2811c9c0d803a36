// SPDX-License-Identifier: Apache-2.0
// The quality of the market at each sample, with one cursor: price, spread, depth, volume, volatility and impact.

import { byId } from "../dom";
import { Plots } from "../plots";
import { type Sample, type Terms, marketTime } from "./api";

/** Samples of which volatility and impact are computed. */
const windowLength = 30;

export class LabQuality {
    readonly plots: Plots;
    /** The change of the middle and the net lots that were taken, of the last samples. */
    private moves: { change: number; net: number }[] = [];
    private middle: number | null = null;

    constructor() {
        this.plots = new Plots(byId("quality"), "quality", (seconds) => marketTime(1e9 * seconds), [
            { title: "Middle, ticks", names: ["middle"], colours: ["--text"] },
            { title: "Spread, ticks", names: ["spread"], colours: ["--own"] },
            { title: "Depth of 5 levels, lots", names: ["bids", "asks"], colours: ["--buy", "--sell"] },
            { title: "Traded, lots", names: ["bought", "sold"], colours: ["--buy", "--sell"] },
            { title: "Volatility, ticks per √s", names: ["volatility"], colours: ["--text"] },
            { title: "Impact, ticks per 100 lots", names: ["impact"], colours: ["--own"] },
        ]);
    }

    clear(): void {
        this.plots.clear();
        this.moves = [];
        this.middle = null;
    }

    add(sample: Sample, terms: Terms): void {
        const [at, middle, spread, bidDepth, askDepth, bought, sold] = sample;
        if (middle !== null && this.middle !== null) {
            this.moves.push({ change: middle - this.middle, net: bought - sold });
            if (this.moves.length > windowLength) this.moves.shift();
        }
        this.middle = middle;
        this.plots.add(at / 1e9, [[middle], [spread], [bidDepth, askDepth], [bought, sold], [this.volatility(terms)], [this.impact()]]);
    }

    draw(): void {
        this.plots.draw();
    }

    private volatility({ sample_ns }: Terms): number | null {
        const { moves } = this;
        if (moves.length < 10) return null;
        const sum = moves.reduce((total, { change }) => total + change * change, 0);
        return Math.sqrt(sum / moves.length / (sample_ns / 1e9));
    }

    /** The slope of changes by net lots (Kyle's lambda). */
    private impact(): number | null {
        const { moves } = this;
        const squares = moves.reduce((total, { net }) => total + net * net, 0);
        if (moves.length < 10 || squares === 0) return null;
        return (100 * moves.reduce((total, { net, change }) => total + net * change, 0)) / squares;
    }
}
