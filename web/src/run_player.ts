// SPDX-License-Identifier: Apache-2.0
// A run that was exported: the frames of the binary market channel from files, played at any speed, from any moment.

import { byId, setText } from "./dom";
import { type ReportedInstrument, timeText } from "./instrument";
import type { Market } from "./market";
import { applyFrame } from "./market_feed";

interface MarketFile {
    file: string;
    first_timestamp: number;
    last_timestamp: number;
    instrument: ReportedInstrument;
}

export interface Run {
    version: number;
    venue: string;
    markets: MarketFile[];
}

const version = 1;
const kindAt = 1;
const kindSnapshot = 1;
const timeAt = 4;
/** What is played before a moment, so that the heatmap has a past there. */
const leadIn = 60_000;
/** Milliseconds: moments of the slider are between ticks, so each has a whole book. */
const sliderStep = 100;

export async function loadRun(address: string): Promise<Run> {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
    const run = (await answer.json()) as Run;
    if (run.version !== version) throw new Error(`a run of version ${run.version}; this page knows ${version}`);
    return run;
}

/** Frames of a file, in order, with the times of the events in them. */
class Frames {
    readonly begins: number[] = [];
    readonly times: number[] = [];
    readonly isSnapshot: boolean[] = [];

    constructor(private readonly numbers: Float64Array) {
        for (let at = 0; at < numbers.length; at += 1 + numbers[at]!) {
            this.begins.push(at + 1);
            this.isSnapshot.push(numbers[at + 1 + kindAt] === kindSnapshot);
            this.times.push(numbers[at + 1 + timeAt]! / 1000);
        }
    }

    at(index: number): Float64Array {
        const begin = this.begins[index]!;
        return this.numbers.subarray(begin, begin + this.numbers[begin - 1]!);
    }

    /** How many frames are not later than a time. */
    until(time: number): number {
        let low = 0;
        let high = this.times.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.times[middle]! <= time) low = middle + 1;
            else high = middle;
        }
        return low;
    }
}

export class RunPlayer {
    readonly bytes = 0;
    private frames: Frames | null = null;
    private next = 0;
    private time = NaN;
    private playedAt = 0;
    private isPlaying = true;
    private shown: MarketFile | null = null;
    private readonly slider = byId<HTMLInputElement>("run-slider");
    private readonly speed = byId<HTMLSelectElement>("run-speed");
    private readonly first: number;
    private readonly last: number;

    /** `onJump` forgets what was drawn of another moment; `onFrame` is called after each frame that the market has taken. */
    constructor(
        private readonly run: Run,
        private readonly market: Market,
        private readonly onJump: () => void,
        private readonly onFrame: () => void,
    ) {
        this.first = sliderStep * Math.floor(Math.min(...run.markets.map((each) => each.first_timestamp)) / sliderStep);
        this.last = sliderStep * Math.ceil((Math.max(...run.markets.map((each) => each.last_timestamp)) + 1) / sliderStep);
        this.slider.min = String(this.first);
        this.slider.max = String(this.last);
        this.slider.step = String(sliderStep);
        this.slider.addEventListener("input", () => this.goTo(this.slider.valueAsNumber));
        byId("run-play").addEventListener("click", () => this.toggle());
        byId("run-panel").hidden = false;
        setText(byId("run-title"), run.venue === "" ? "Run" : `Run of ${run.venue}`);
        market.clock = () => this.time;
        const wanted = Number.parseInt(location.hash.split("@")[1] ?? "", 10);
        // A first look is at a market that has a past.
        this.time = Number.isNaN(wanted) ? Math.min(this.last, this.first + leadIn / 2) : wanted;
    }

    async show(instrument: string): Promise<void> {
        const chosen = this.run.markets.find((each) => each.instrument.instrument_name === instrument)!;
        this.shown = chosen;
        this.frames = null;
        const answer = await fetch(chosen.file);
        if (this.shown !== chosen) return;
        if (!answer.ok) throw new Error(`${chosen.file}: ${answer.status}`);
        this.frames = new Frames(new Float64Array(await answer.arrayBuffer()));
        this.goTo(this.time);
    }

    toggle(): void {
        this.isPlaying = !this.isPlaying;
        if (this.isPlaying && this.time >= this.last) this.goTo(this.first);
        setText(byId("run-play"), this.isPlaying ? "pause" : "play");
        if (!this.isPlaying) this.nameMoment();
    }

    /** The book at a moment is that of the last snapshot before it and of the changes behind that. */
    goTo(time: number): void {
        this.time = Math.min(Math.max(time, this.first), this.last);
        const { frames, market } = this;
        if (frames === null) return;
        market.clear();
        this.onJump();
        let from = Math.max(0, frames.until(this.time - leadIn) - 1);
        while (from > 0 && !frames.isSnapshot[from]) --from;
        this.next = from;
        this.playTo(frames, this.time);
        this.draw();
        this.nameMoment();
    }

    /** Once per frame of the screen, before the panels. */
    advance(now: number): void {
        const elapsed = Math.min(now - this.playedAt, 250);
        this.playedAt = now;
        const { frames } = this;
        if (!this.isPlaying || frames === null) return;
        this.playTo(frames, Math.min(this.last, this.time + elapsed * Number(this.speed.value)));
        if (this.time >= this.last) this.toggle();
        this.draw();
    }

    private playTo(frames: Frames, end: number): void {
        for (; this.next < frames.times.length && frames.times[this.next]! <= end; ++this.next) {
            this.time = frames.times[this.next]!;
            applyFrame(this.market, frames.at(this.next));
            this.onFrame();
        }
        this.time = end;
    }

    private draw(): void {
        const text = String(sliderStep * Math.round(this.time / sliderStep));
        if (this.slider.value !== text) this.slider.value = text;
        const date = new Date(this.time).toISOString().slice(0, 10);
        setText(byId("run-time"), `${date} ${timeText(this.time)}`);
    }

    private nameMoment(): void {
        if (this.shown === null) return;
        const name = encodeURIComponent(this.shown.instrument.instrument_name);
        history.replaceState(null, "", `#${name}@${Math.round(this.time)}`);
    }
}
