// SPDX-License-Identifier: Apache-2.0
// Time travel: the book after any command of the venue's journal, by a slider or played. The address names the moment, and
// the digest of the venue's state there: an address of another journal is noticed.

import { byId, element, setText } from "./dom";
import { type Instrument, priceText, ticksOf } from "./instrument";

interface Row {
    side: "buy" | "sell";
    price: number;
    quantity: number;
    orders: number;
}

const depth = 10;
interface Answer {
    rows: Row[];
    sequence: number;
    time: string;
    digest: string;
}

/** What an address names beside the instrument. */
interface Link {
    sequence: number;
    digest: string;
}

/** Milliseconds without another moment, after which the address gets the digest: the venue reads its whole state for it. */
const settlingTime = 300;
/** Milliseconds between two moments that are played. */
const playInterval = 100;

export class Past {
    private readonly slider = byId<HTMLInputElement>("past-slider");
    private readonly step = byId<HTMLSelectElement>("past-step");
    private playing = 0;
    private isAsking = false;
    private wanted: number | null = null;
    private shown = 0;
    private settling = 0;

    /** `onFound` is called when the venue answers questions about its past. */
    constructor(
        private instrument: Instrument,
        private readonly onFound: () => void,
    ) {
        this.slider.addEventListener("input", () => this.scrub(this.slider.valueAsNumber));
        byId("past-back").addEventListener("click", () => this.move(-1));
        byId("past-on").addEventListener("click", () => this.move(1));
        byId("past-play").addEventListener("click", () => (this.playing === 0 ? this.play() : this.pause()));
        byId("past-newest").addEventListener("click", () => void this.begin());
        void this.begin(linkOf(location.hash));
    }

    show(instrument: Instrument): void {
        this.instrument = instrument;
        this.pause();
        void this.begin();
    }

    /** Asks for the last book; the panel is there if the venue answers questions about its past. */
    private async begin(link: Link | null = null): Promise<void> {
        setText(byId("past-link"), "");
        const answer = await this.ask(null);
        byId("past-panel").hidden = answer === null;
        if (answer === null) return;
        this.onFound();
        this.slider.max = String(answer.sequence);
        this.slider.value = String(answer.sequence);
        if (link === null) this.draw(answer);
        else await this.follow(link, answer.sequence);
    }

    private async follow(link: Link, last: number): Promise<void> {
        if (link.sequence > last) {
            setText(byId("past-link"), `The journal has no command ${link.sequence} yet, or the link is of another journal.`);
        }
        const there = await this.go(Math.min(link.sequence, last));
        if (there === null || there.sequence !== link.sequence || link.digest === "") return;
        const proof = await this.ask(link.sequence, true);
        if (proof === null || proof.digest === link.digest) return;
        const words = `After command ${link.sequence} the state has the digest ${proof.digest}; the link has ${link.digest}.`;
        setText(byId("past-link"), `${words} It is of another journal.`);
    }

    private move(direction: 1 | -1): void {
        const to = this.slider.valueAsNumber + direction * Number(this.step.value);
        this.slider.value = String(to);
        this.scrub(this.slider.valueAsNumber);
    }

    private scrub(moment: number): void {
        setText(byId("past-link"), "");
        void this.go(moment);
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
        this.settle();
    }

    /** Of moments that are wanted while a question is open only the last is asked for. */
    private async go(moment: number): Promise<Answer | null> {
        this.slider.value = String(moment);
        this.wanted = moment;
        if (this.isAsking) return null;
        this.isAsking = true;
        let shown: Answer | null = null;
        while (this.wanted !== null) {
            const at: number = this.wanted;
            this.wanted = null;
            const { instrument } = this;
            const answer = await this.ask(at);
            if (answer === null || instrument !== this.instrument) continue;
            this.draw(answer);
            shown = answer;
        }
        this.isAsking = false;
        return shown;
    }

    private async ask(at: number | null, withDigest = false): Promise<Answer | null> {
        const query = new URLSearchParams({ instrument: this.instrument.name, depth: String(depth), format: "json" });
        if (at !== null) query.set("at", String(at));
        if (withDigest) query.set("digest", "1");
        try {
            const answer = await fetch(`/api/v1/book?${query}`);
            if (!answer.ok) {
                if (withDigest) return null;
                setText(byId("past-time"), answer.status === 429 ? "too many questions: wait a moment" : "the venue has no answer");
                return null;
            }
            const head = (name: string) => answer.headers.get(name) ?? "";
            return {
                rows: await answer.json(),
                sequence: Number(head("Corro-Sequence")),
                time: head("Corro-Time"),
                digest: head("Corro-Digest"),
            };
        } catch {
            return null;
        }
    }

    private draw({ rows, sequence, time }: Answer): void {
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
        this.shown = sequence;
        this.setAddress("");
        this.settle();
    }

    private settle(): void {
        clearTimeout(this.settling);
        if (this.playing === 0) this.settling = window.setTimeout(() => void this.sign(), settlingTime);
    }

    /** Adds the digest to the address. */
    private async sign(): Promise<void> {
        const { instrument, shown } = this;
        const answer = await this.ask(shown, true);
        if (answer !== null && instrument === this.instrument && answer.sequence === this.shown) this.setAddress(answer.digest);
    }

    private setAddress(digest: string): void {
        const moment = `${encodeURIComponent(this.instrument.name)}@${this.shown}`;
        history.replaceState(null, "", `#${moment}${digest === "" ? "" : `:${digest}`}`);
    }
}

/** The address of a page: the instrument, and after @ a command, and after : the digest of the state there. */
export function instrumentOfAddress(hash: string): string {
    return decodeURIComponent(hash.slice(1).split("@")[0]!);
}

function linkOf(hash: string): Link | null {
    const [sequence, digest] = (hash.split("@")[1] ?? "").split(":");
    const number = Number.parseInt(sequence!, 10);
    return Number.isNaN(number) ? null : { sequence: number, digest: digest ?? "" };
}
