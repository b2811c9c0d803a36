// SPDX-License-Identifier: Apache-2.0
// The laboratory: a simulated market that runs, stops, changes and forks.

import "uplot/dist/uPlot.min.css";
import "../style.css";
import "./style.css";
import { ColumnStore } from "../column_store";
import { announce, byId, element, setClass, setText } from "../dom";
import { Heatmap } from "../heatmap";
import { type Instrument, amountText, instrumentOf, priceText } from "../instrument";
import { bindKeys } from "../keyboard";
import { Ladder } from "../ladder";
import { LastingSocket, socketUrl } from "../lasting_socket";
import { Market } from "../market";
import type { Theme } from "../palette";
import { Agents } from "./agents";
import { type News, type Now, type Terms, ask, marketTime } from "./api";
import { Changes } from "./changes";
import { Compare } from "./compare";
import { LabQuality } from "./lab_quality";
import { type Moment, differenceOf, linkTo, momentOf } from "./link";

/** The server sends at least one message each second. */
const silenceMax = 6_000;
const nobody = { version: 0, openByPrice: () => new Map<string, number>() };

function applyTheme(theme: Theme): void {
    document.documentElement.dataset.theme = theme;
    setText(byId("theme"), theme === "dark" ? "light" : "dark");
}

class LaboratoryPage {
    private readonly market = new Market();
    private readonly store = new ColumnStore();
    private readonly agents = new Agents();
    private readonly changes = new Changes();
    private readonly compare = new Compare();
    private readonly quality = new LabQuality();
    private heatmap: Heatmap | null = null;
    private ladder: Ladder | null = null;
    private instrument: Instrument | null = null;
    private terms: Terms | null = null;
    private now: Now | null = null;
    private socket: LastingSocket;
    /** Of the address, until the market is there. */
    private wanted: Moment | null = momentOf(location.hash);
    private readonly moment = byId<HTMLInputElement>("moment");

    constructor() {
        this.market.clock = () => this.market.time;
        this.socket = this.connect("");
        this.bindControls();
        requestAnimationFrame((now) => this.draw(now));
    }

    private connect(instrument: string): LastingSocket {
        const query = instrument === "" ? "" : `?instrument=${encodeURIComponent(instrument)}`;
        const socket = new LastingSocket(
            socketUrl(`/ws/lab/v1${query}`),
            {
                onOpen: () => this.setConnection(true),
                onMessage: (data) => this.take(JSON.parse(data as string) as News),
                onLost: () => this.setConnection(false),
            },
            silenceMax,
        );
        socket.open();
        return socket;
    }

    private setConnection(isOpen: boolean): void {
        byId("lost").hidden = isOpen;
        document.body.classList.toggle("stale", !isOpen);
        if (isOpen) return;
        this.market.lose();
        setText(byId("state"), "lost");
        setClass(byId("state"), "pill lost");
    }

    private take(news: News): void {
        if (news.terms !== undefined) this.takeTerms(news.terms);
        const { market, terms, instrument } = this;
        if (terms === null || instrument === null) return;
        if (news.begins) this.forget(instrument);
        const time = (ns: number) => (terms.start_ns + ns) / 1e6;
        market.isCurrent = true;
        for (const [at, phase, bids, asks] of news.columns?.rows ?? []) {
            this.setBook(bids, asks);
            market.phase = phase;
            market.setTime(time(at));
            this.store.add(market, time(at));
            this.heatmap?.notePhase();
        }
        const first = news.trades?.first ?? 0;
        news.trades?.rows.forEach(([at, price, lots, side], k) => {
            market.addTrade({ number: first + k + 1, time: time(at), price, lots, side });
        });
        for (const each of news.samples?.rows ?? []) this.quality.add(each, terms);
        if (news.book !== undefined) {
            this.setBook(news.book.bids, news.book.asks);
            market.phase = news.book.phase;
            market.last = news.book.last;
            market.volume = news.book.volume;
        }
        this.now = news.now;
        market.setTime(time(news.now.time_ns));
        if (news.agents !== undefined) this.agents.show(news.agents);
        if (news.metrics !== undefined) this.showMetrics(news.metrics);
        if (news.comparison !== undefined) this.compare.show(news.comparison);
        this.drawFacts(news.now);
    }

    private setBook(bids: [number, number][], asks: [number, number][]): void {
        const { market } = this;
        market.bids.clear();
        market.asks.clear();
        for (const [price, lots] of bids) market.bids.set(price, lots);
        for (const [price, lots] of asks) market.asks.set(price, lots);
        ++market.version;
    }

    private takeTerms(terms: Terms): void {
        this.terms = terms;
        setText(byId("scenario"), terms.scenario);
        setText(byId("about"), terms.about);
        setText(byId("seed-now"), String(terms.seed));
        this.moment.max = String(terms.duration_ns / 1e9);
        setText(byId("duration"), marketTime(terms.duration_ns));
        this.changes.show(terms);
        const select = byId<HTMLSelectElement>("instrument");
        if (select.childElementCount === 0) {
            select.append(...terms.instruments.map(({ instrument_name: name }) => element("option", { value: name }, name)));
        }
        const chosen = terms.instruments.findIndex((each) => each.instrument_name === select.value);
        this.instrument = instrumentOf(terms.instruments[chosen]!);
        this.compare.showInstrument(chosen);
        const { wanted } = this;
        this.wanted = null;
        if (wanted !== null) void this.follow(wanted, terms);
        if (this.heatmap === null) this.makePictures(this.instrument);
    }

    private makePictures(instrument: Instrument): void {
        const { market, store } = this;
        const theme = document.documentElement.dataset.theme as Theme;
        this.heatmap = new Heatmap(
            byId<HTMLCanvasElement>("heatmap"),
            store,
            market,
            instrument,
            theme,
            (isLive) => byId("heatmap-live").classList.toggle("off", !isLive),
            (text) => setText(byId("heatmap-box"), text),
        );
        this.ladder = new Ladder(
            byId<HTMLTableElement>("ladder"),
            market,
            nobody,
            instrument,
            (column, price) => this.suggest(column === "buy" ? "sell" : "buy", price),
            () => {},
            { bid: "market order that sells down to", ask: "market order that buys up to" },
        );
    }

    /** All that rests up to a price becomes the size of a market order in the form. */
    private suggest(side: "buy" | "sell", price: number): void {
        const { bids, asks } = this.market;
        let lots = 0;
        for (const [at, resting] of (side === "buy" ? asks : bids).entries()) {
            if (side === "buy" ? at <= price : at >= price) lots += resting;
        }
        this.changes.suggestOrder(side, lots);
    }

    private forget(instrument: Instrument): void {
        this.market.clear();
        this.store.clear();
        this.quality.clear();
        this.heatmap?.show(instrument);
        this.ladder?.show(instrument);
    }

    private showMetrics(metrics: Record<string, number>): void {
        const body = byId<HTMLTableSectionElement>("metrics");
        const all = Object.entries(metrics);
        while (body.rows.length > all.length) body.deleteRow(-1);
        all.forEach(([name, value], k) => {
            const row = body.rows[k] ?? body.appendChild(element("tr", {}, element("th", { scope: "row" }), element("td", { class: "number" })));
            setText(row.cells[0]!, name);
            setText(row.cells[1]!, Number.isInteger(value) ? String(value) : value.toPrecision(5));
        });
    }

    private drawFacts(now: Now): void {
        const { market, instrument } = this;
        if (instrument === null) return;
        setText(byId("state"), now.state);
        setClass(byId("state"), `pill ${now.state === "failed" ? "lost" : now.state === "running" ? "live" : ""}`);
        setText(byId("run"), now.state === "running" ? "pause" : "run");
        setText(byId("time"), marketTime(now.time_ns));
        if (!this.moment.matches(":active")) this.moment.value = String(now.time_ns / 1e9);
        setText(byId("phase"), market.phase);
        setText(byId("best-bid"), priceText(instrument, market.bids.best()));
        setText(byId("best-ask"), priceText(instrument, market.asks.best()));
        setText(byId("last"), priceText(instrument, market.last));
        setText(byId("volume"), amountText(instrument, market.volume));
        setText(byId("commands"), String(now.commands));
        setText(byId("trades"), String(now.trades));
        setText(byId("digest"), now.digest);
    }

    private draw(now: number): void {
        requestAnimationFrame((next) => this.draw(next));
        this.heatmap?.draw();
        this.ladder?.draw(now);
        this.quality.draw();
    }

    private async control(asked: Record<string, string | number>): Promise<void> {
        try {
            await ask<Now>("control", asked);
        } catch (error) {
            announce((error as Error).message, "bad");
        }
    }

    /** Brings the market to the moment of a link, and says so when it is another one there. */
    private async follow(wanted: Moment, terms: Terms): Promise<void> {
        setText(byId("link-problem"), "");
        try {
            if (wanted.seed !== terms.seed) await ask<Now>("control", { do: "restart", seed: wanted.seed });
            const there = await ask<Now>("control", { do: "go", seconds: wanted.timeNs / 1e9 });
            setText(byId("link-problem"), differenceOf(wanted, terms.scenario, there));
        } catch (error) {
            setText(byId("link-problem"), `The link leads nowhere: ${(error as Error).message}`);
        }
    }

    private async copyLink(): Promise<void> {
        const { now, terms } = this;
        if (now === null || terms === null) return;
        setText(byId("link-problem"), "");
        history.replaceState(null, "", linkTo(terms, now));
        try {
            await navigator.clipboard.writeText(location.href);
            announce("the link to this moment is copied, and is the address of the page");
        } catch {
            announce("the address of the page is a link to this moment");
        }
    }

    private toggle(): void {
        if (this.now?.state === "running") void this.control({ do: "pause" });
        else void this.control({ do: "run", speed: Number(byId<HTMLSelectElement>("speed").value) });
    }

    private step(): void {
        void this.control({ do: "step", seconds: Number(byId<HTMLSelectElement>("step-length").value) });
    }

    private bindControls(): void {
        const onClick = (id: string, does: () => void) => byId(id).addEventListener("click", does);
        onClick("run", () => this.toggle());
        onClick("step", () => this.step());
        onClick("link", () => void this.copyLink());
        addEventListener("hashchange", () => {
            const wanted = momentOf(location.hash);
            if (wanted !== null && this.terms !== null) void this.follow(wanted, this.terms);
        });
        onClick("restart", () => {
            const seed = byId<HTMLInputElement>("seed");
            void this.control({ do: "restart", ...(seed.value === "" ? {} : { seed: seed.valueAsNumber }) });
        });
        byId("speed").addEventListener("change", () => {
            if (this.now?.state === "running") void this.control({ do: "run", speed: Number(byId<HTMLSelectElement>("speed").value) });
        });
        this.moment.addEventListener("change", () => void this.control({ do: "go", seconds: this.moment.valueAsNumber }));
        byId("instrument").addEventListener("change", (event) => {
            this.socket.end();
            this.socket = this.connect((event.target as HTMLSelectElement).value);
        });
        onClick("heatmap-past", () => this.heatmap?.scroll(-0.25));
        onClick("heatmap-later", () => this.heatmap?.scroll(0.25));
        onClick("heatmap-live", () => this.heatmap?.goLive());
        onClick("heatmap-more-time", () => this.heatmap?.zoomTime(1));
        onClick("heatmap-less-time", () => this.heatmap?.zoomTime(-1));
        onClick("heatmap-more-prices", () => this.heatmap?.zoomPrice(-1));
        onClick("heatmap-less-prices", () => this.heatmap?.zoomPrice(1));
        onClick("ladder-centre", () => this.ladder?.centre());
        onClick("theme", () => {
            const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
            applyTheme(theme);
            localStorage.setItem("corro-theme", theme);
            this.recolour();
        });
        onClick("help", () => byId<HTMLDialogElement>("help-dialog").showModal());
        const colours = byId<HTMLSelectElement>("colours");
        colours.value = document.documentElement.dataset.colours ?? "blue";
        colours.addEventListener("change", () => {
            document.documentElement.dataset.colours = colours.value;
            localStorage.setItem("corro-colours", colours.value);
            this.recolour();
        });
        bindKeys([
            { key: " ", name: "space", what: "run or pause", does: () => this.toggle() },
            { key: ".", what: "a step", does: () => this.step() },
            { key: "i", what: "to the form of a change", does: () => byId("change-kind").focus() },
            { key: "c", what: "centre the ladder", does: () => this.ladder?.centre() },
            { key: "ArrowLeft", name: "←", what: "the heatmap's past", does: () => this.heatmap?.scroll(-0.25) },
            { key: "ArrowRight", name: "→", what: "the heatmap towards now", does: () => this.heatmap?.scroll(0.25) },
            { key: "End", what: "the heatmap live", does: () => this.heatmap?.goLive() },
            { key: "-", what: "more time in the heatmap", does: () => this.heatmap?.zoomTime(1) },
            { key: "+", what: "less time in the heatmap", does: () => this.heatmap?.zoomTime(-1) },
            { key: "t", what: "dark or light", does: () => byId("theme").click() },
            { key: "?", what: "this list", does: () => byId("help").click() },
        ]);
    }

    private recolour(): void {
        this.heatmap?.setTheme(document.documentElement.dataset.theme as Theme);
        this.quality.plots.make();
        this.compare.plots.make();
    }
}

const wanted = localStorage.getItem("corro-theme") ?? (matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark");
applyTheme(wanted as Theme);
document.documentElement.dataset.colours = localStorage.getItem("corro-colours") ?? "blue";
new LaboratoryPage();
