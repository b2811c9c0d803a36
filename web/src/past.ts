// SPDX-License-Identifier: Apache-2.0
// Time travel: the book after any command of the venue's journal, by a slider or played. The address names the moment.

import { byId, element, setText } from "./dom";
import { type Instrument, priceText, ticksOf } from "./instrument";

interface Row {
    side: "buy" | "sell";
    price: number;
    quantity: number;
    orders: number;
}

const depth = 10;
/** Milliseconds between two moments that are played. */
const playInterval = 100;

export class Past {
    private readonly slider = byId<HTMLInputElement>("past-slider");
    private readonly step = byId<HTMLSelectElement>("past-step");
    private playing = 0;
    private isAsking = false;
    private wanted: number | null = null;

    /** `onFound` is called when the venue answers questions about its past. */
    constructor(
        private instrument: Instrument,
        private readonly onFound: () => void,
    ) {
        this.slider.addEventListener("input", () => void this.go(this.slider.valueAsNumber));
        byId("past-back").addEventListener("click", () => this.move(-1));
        byId("past-on").addEventListener("click", () => this.move(1));
        byId("past-play").addEventListener("click", () => (this.playing === 0 ? this.play() : this.pause()));
        byId("past-newest").addEventListener("click", () => void this.begin());
        void this.begin(momentOf(location.hash));
    }

    show(instrument: Instrument): void {
        this.instrument = instrument;
        this.pause();
        void this.begin();
    }

    /** Asks for the last book; the panel is there if the venue answers questions about its past. */
    private async begin(moment: number | null = null): Promise<void> {
        const answer = await this.ask(null);
        byId("past-panel").hidden = answer === null;
        if (answer === null) return;
        this.onFound();
        this.slider.max = String(answer.sequence);
        this.slider.value = String(answer.sequence);
        if (moment === null) this.draw(answer.rows, answer.sequence, answer.time);
        else await this.go(moment);
    }

    private move(direction: 1 | -1): void {
        const to = this.slider.valueAsNumber + direction * Number(this.step.value);
        this.slider.value = String(to);
        void this.go(this.slider.valueAsNumber);
    }

    private play(): void {
        setText(byId("past-play"), "pause");
        this.playing = window.setInterval(() => {
            // One that has not been answered is waited for.
            if (!this.isAsking) this.move(1);
            if (this.slider.value === this.slider.max) this.pause();
        }, playInterval);
    }

    private pause(): void {
        clearInterval(this.playing);
        this.playing = 0;
        setText(byId("past-play"), "play");
    }

    /** Of moments that are wanted while a question is open only the last is asked for. */
    private async go(moment: number): Promise<void> {
        this.slider.value = String(moment);
        this.wanted = moment;
        if (this.isAsking) return;
        this.isAsking = true;
        while (this.wanted !== null) {
            const at: number = this.wanted;
            this.wanted = null;
            const { instrument } = this;
            const answer = await this.ask(at);
            if (answer !== null && instrument === this.instrument) this.draw(answer.rows, at, answer.time);
        }
        this.isAsking = false;
    }

    private async ask(at: number | null): Promise<{ rows: Row[]; sequence: number; time: string } | null> {
        const query = new URLSearchParams({ instrument: this.instrument.name, depth: String(depth), format: "json" });
        if (at !== null) query.set("at", String(at));
        try {
            const answer = await fetch(`/api/v1/book?${query}`);
            if (!answer.ok) {
                setText(byId("past-time"), answer.status === 429 ? "too many questions: wait a moment" : "the venue has no answer");
                return null;
            }
            const sequence = Number(answer.headers.get("Corro-Sequence"));
            return { rows: await answer.json(), sequence, time: answer.headers.get("Corro-Time") ?? "" };
        } catch {
            return null;
        }
    }

    private draw(rows: Row[], sequence: number, time: string): void {
        const bids = rows.filter((row) => row.side === "buy");
        const asks = rows.filter((row) => row.side === "sell");
        const cells = (row: Row | undefined, side: string) =>
            [row?.orders, row?.quantity, row && priceText(this.instrument, ticksOf(this.instrument, row.price))].map((value) =>
                element("td", { class: `number ${side}` }, String(value ?? "")),
            );
        byId("past-book").replaceChildren(
            ...Array.from({ length: Math.max(bids.length, asks.length) }, (_, k) =>
                element("tr", {}, ...cells(bids[k], "buy"), ...cells(asks[k], "sell").reverse()),
            ),
        );
        setText(byId("past-time"), `command ${sequence}, ${time}`);
        history.replaceState(null, "", `#${encodeURIComponent(this.instrument.name)}@${sequence}`);
    }
}

/** The address of a page: the instrument, and after @ a moment. */
export function instrumentOfAddress(hash: string): string {
    return decodeURIComponent(hash.slice(1).split("@")[0]!);
}

function momentOf(hash: string): number | null {
    const moment = Number.parseInt(hash.split("@")[1] ?? "", 10);
    return Number.isNaN(moment) ? null : moment;
}
