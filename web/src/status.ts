// SPDX-License-Identifier: Apache-2.0
// The status panel: is the market current, how fast do messages and frames come, how long do answers take, and the stages
// of requests inside the venue.

import type { Connection } from "./connection";
import { byId, element, setClass, setText } from "./dom";
import { timeText } from "./instrument";
import type { Market } from "./market";
import { Percentiles } from "./percentiles";

const drawInterval = 500;
const probeInterval = 2_000;

/** Of public/get_latencies. */
interface Stage {
    request: string;
    stage: string;
    count: number;
    p50_ns: number;
    p99_ns: number;
    p999_ns: number;
}

export class Status {
    readonly frames = new Percentiles(600);
    private readonly answers = new Map<string, { seen: Percentiles; within: Percentiles }>();
    /** What the market is when it is current. */
    liveWord = "live";
    private lastFrame = 0;
    private drawnAt = 0;
    private framesSince = 0;
    private changesAt = 0;
    private bytesAt = 0;

    constructor(
        private readonly connection: Connection,
        private readonly market: Market,
    ) {
        connection.onAnswered = (method, seen, within) => this.addAnswer(method, seen, within);
        connection.onState(() => this.drawConnection());
        setInterval(() => {
            if (connection.state === "open") void this.askStages();
        }, probeInterval);
    }

    /** The question is also the probe of how long an answer takes. */
    private async askStages(): Promise<void> {
        try {
            this.drawStages((await this.connection.call("public/get_latencies")) as Stage[]);
        } catch {
            // The next one is asked in any case.
        }
    }

    private drawStages(all: Stage[]): void {
        const table = byId<HTMLTableElement>("stages");
        // Once it was there it stays, also when a few seconds have no requests.
        if (all.length > 0) table.hidden = false;
        const rows = all.map((one) =>
            element(
                "tr",
                {},
                element("th", { scope: "row" }, `${one.request.replace("_", " ")}: ${one.stage}`),
                ...[one.p50_ns, one.p99_ns, one.p999_ns].map((ns) => element("td", { class: "number" }, (ns / 1000).toFixed(1))),
                element("td", { class: "number" }, String(one.count)),
            ),
        );
        table.tBodies[0]!.replaceChildren(...rows);
    }

    draw(now: number, bytes: number): void {
        if (this.lastFrame > 0) this.frames.add(now - this.lastFrame);
        this.lastFrame = now;
        ++this.framesSince;
        this.drawConnection();
        const elapsed = (now - this.drawnAt) / 1000;
        if (elapsed * 1000 < drawInterval) return;
        this.drawnAt = now;
        const { market } = this;
        const perSecond = (count: number) => String(Math.round(count / elapsed));
        setText(byId("frame-rate"), perSecond(this.framesSince));
        setText(byId("frame-p99"), milliseconds(this.frames.at(0.99)));
        setText(byId("change-rate"), perSecond(Math.max(0, market.changes - this.changesAt)));
        setText(byId("byte-rate"), perSecond((bytes - this.bytesAt) / 1024));
        this.framesSince = 0;
        this.changesAt = market.changes;
        this.bytesAt = bytes;
        this.drawAnswers();
    }

    private drawConnection(): void {
        const { connection, market } = this;
        const isLost = connection.state === "lost" || (!market.isCurrent && market.time > 0);
        const state = isLost ? "lost" : market.isCurrent ? "live" : "connecting";
        setText(byId("connection"), state === "live" ? this.liveWord : state);
        setClass(byId("connection"), `pill ${state}`);
        setText(byId("phase"), market.phase);
        byId("lost").hidden = !isLost;
        if (isLost) setText(byId("lost-since"), market.time === 0 ? "nothing yet" : `the market of ${timeText(market.time)}`);
        document.body.classList.toggle("stale", isLost);
    }

    private addAnswer(method: string, seen: number, within: number): void {
        let of = this.answers.get(method);
        if (of === undefined) {
            of = { seen: new Percentiles(1000), within: new Percentiles(1000) };
            this.answers.set(method, of);
        }
        of.seen.add(seen);
        of.within.add(within);
    }

    private drawAnswers(): void {
        const rows = [...this.answers].map(([method, of]) =>
            element(
                "tr",
                {},
                element("th", { scope: "row" }, method.replace(/^.*\//, "")),
                ...[of.seen.at(0.5), of.seen.at(0.99), of.within.at(0.5), of.within.at(0.99)].map((value) =>
                    element("td", { class: "number" }, milliseconds(value)),
                ),
                element("td", { class: "number" }, String(of.seen.count)),
            ),
        );
        byId("answers").replaceChildren(...rows);
    }
}

function milliseconds(value: number | null): string {
    return value === null ? "–" : value.toFixed(value < 10 ? 2 : 1);
}
