// SPDX-License-Identifier: Apache-2.0
// Market quality as time series: spread, depth and trades, once a second, with one cursor for all.

import { type Instrument, timeText } from "./instrument";
import type { Market } from "./market";
import { Plots } from "./plots";

const samplesMax = 900;
const interval = 1_000;

export class Quality {
    private readonly plots: Plots;
    /** The venue's time of the last note; 0 before the first. */
    private sampledAt = 0;
    private bought = 0;
    private sold = 0;

    constructor(
        into: HTMLElement,
        private readonly market: Market,
        private instrument: Instrument,
    ) {
        this.plots = new Plots(into, "quality", clock, [
            { title: "Price", names: ["middle"], colours: ["--text"] },
            { title: "Spread", names: ["spread"], colours: ["--own"] },
            { title: "Depth of 5 levels", names: ["bids", "asks"], colours: ["--buy", "--sell"] },
            { title: "Traded per second", names: ["bought", "sold"], colours: ["--buy", "--sell"] },
        ]);
        market.onTrade((trade) => {
            if (!market.isCurrent) return;
            if (trade.side === 1) this.bought += trade.lots;
            else this.sold += trade.lots;
        });
    }

    show(instrument: Instrument): void {
        this.instrument = instrument;
        this.plots.clear();
        this.bought = this.sold = this.sampledAt = 0;
    }

    /** With the colours of the page as they are now. */
    make(): void {
        this.plots.make();
    }

    /** Notes the market if a second of the venue's time has passed since the last note. */
    sample(): void {
        const { market, instrument } = this;
        const now = market.now();
        if (!market.isCurrent || now - this.sampledAt < interval) return;
        const seconds = (now - this.sampledAt) / 1000;
        const isFirst = this.sampledAt === 0;
        this.sampledAt = now;
        const middle = market.middle();
        const spread = market.spread();
        const rate = (lots: number) => (isFirst ? null : (lots * instrument.lotSize) / seconds);
        this.plots.add(now / 1000, [
            [middle === null ? null : middle * instrument.tickSize],
            [spread === null ? null : spread * instrument.tickSize],
            [market.bids.depth(5) * instrument.lotSize, market.asks.depth(5) * instrument.lotSize],
            [rate(this.bought), rate(this.sold)],
        ]);
        this.bought = this.sold = 0;
        this.plots.keep(samplesMax);
    }

    draw(): void {
        this.sample();
        this.plots.draw();
    }
}

function clock(seconds: number): string {
    return timeText(1000 * seconds).slice(0, 8);
}
