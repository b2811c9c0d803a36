// SPDX-License-Identifier: Apache-2.0
// The dashboard: one connection, one market, and panels that draw it once per frame.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { Account } from "./account";
import { Blotter } from "./blotter";
import { Chain } from "./chain";
import { ColumnStore } from "./column_store";
import { Connection } from "./connection";
import { announce, byId, element, setText } from "./dom";
import { Heatmap, type OwnLevel } from "./heatmap";
import { type Instrument, type ReportedInstrument, amountText, instrumentOf, lotsOf, priceText, ticksOf } from "./instrument";
import { JournalColumns } from "./journal_columns";
import { bindKeys } from "./keyboard";
import { Ladder } from "./ladder";
import { type BestLevel, Market } from "./market";
import { MarketFeed } from "./market_feed";
import { Operations } from "./operations";
import type { Theme } from "./palette";
import { Past, instrumentOfAddress } from "./past";
import { Quality } from "./quality";
import { Queue } from "./queue";
import { type Run, RunPlayer, loadRun } from "./run_player";
import { Spreads } from "./spreads";
import { Status } from "./status";
import { Tape } from "./tape";
import { Ticket } from "./ticket";
import { Tickers } from "./tickers";
import { Tour } from "./tour";
import { Watchlist } from "./watchlist";

/** Milliseconds between two looks at the top line. */
const factsInterval = 100;

class Dashboard {
    private readonly store = new ColumnStore();
    private readonly tape: Tape;
    private readonly ladder: Ladder;
    private readonly ticket: Ticket;
    private readonly blotter: Blotter;
    private readonly queue: Queue;
    private readonly quality: Quality;
    private readonly heatmap: Heatmap;
    private readonly watchlist: Watchlist;
    private readonly chain: Chain;
    private readonly spreads: Spreads;
    private readonly past: Past | null = null;
    /** Of a run that was exported; then there is no venue. */
    private readonly player: RunPlayer | null = null;
    private readonly earlier: JournalColumns;
    private hasPast = false;
    private feed: MarketFeed | null = null;
    private ownVersion = -1;
    private factsDrawnAt = 0;

    constructor(
        private readonly connection: Connection,
        private readonly market: Market,
        private readonly account: Account,
        private readonly status: Status,
        private readonly instruments: ReadonlyMap<string, Instrument>,
        private instrument: Instrument,
        run: Run | null,
    ) {
        const theme = document.documentElement.dataset.theme as Theme;
        this.tape = new Tape(byId<HTMLTableSectionElement>("tape"), market, instrument);
        this.ticket = new Ticket(connection, account, market, instrument);
        this.queue = new Queue(connection, account, instrument);
        this.blotter = new Blotter(connection, account, instruments, this.queue);
        this.ladder = new Ladder(
            byId<HTMLTableElement>("ladder"),
            market,
            account,
            instrument,
            (side, price) => {
                if (run === null) void this.ticket.place(side, price);
            },
            (side, price) => void this.blotter.cancelAt(this.instrument, side, price),
        );
        this.quality = new Quality(byId("quality"), market, instrument);
        this.heatmap = new Heatmap(
            byId<HTMLCanvasElement>("heatmap"),
            this.store,
            market,
            instrument,
            theme,
            (isLive) => byId("heatmap-live").classList.toggle("off", !isLive),
            (text) => setText(byId("heatmap-box"), text),
        );
        const tickers = new Tickers(connection, instruments.keys());
        this.watchlist = new Watchlist(tickers, instruments, (chosen) => this.show(chosen));
        this.chain = new Chain(tickers, instruments, (chosen) => this.show(chosen));
        this.spreads = new Spreads(tickers, instruments, (chosen) => this.show(chosen));
        if (run === null) this.past = new Past(instrument, () => (this.hasPast = true));
        else this.player = new RunPlayer(run, market, () => this.forget(), () => this.note());
        this.earlier = new JournalColumns(instrument.name, this.store, this.heatmap.bubbles, () => this.heatmap.repaint());
        new Operations(connection, account, instruments);
        this.bindControls();
        this.follow();
        this.mark();
        requestAnimationFrame((now) => this.draw(now));
    }

    private mark(): void {
        this.watchlist.mark(this.instrument);
        byId<HTMLSelectElement>("instrument").value = this.instrument.name;
    }

    private show(instrument: Instrument): void {
        if (instrument.name === this.instrument.name) return;
        this.feed?.end();
        this.instrument = instrument;
        this.market.clear();
        this.forget();
        for (const panel of [this.ladder, this.ticket, this.queue, this.past]) panel?.show(instrument);
        this.earlier.show(instrument.name);
        this.ownVersion = -1;
        history.replaceState(null, "", `#${encodeURIComponent(instrument.name)}`);
        this.follow();
        this.mark();
    }

    /** Begins with the market of the instrument. */
    private follow(): void {
        const { name } = this.instrument;
        if (this.player === null) this.feed = new MarketFeed(name, this.market);
        else this.player.show(name).catch((error: Error) => announce(`no market: ${error.message}`, "bad"));
    }

    /** The market has become that of a later moment. */
    private note(): void {
        this.store.add(this.market, this.market.now());
        this.quality.sample();
    }

    /** What was drawn is not of this moment. */
    private forget(): void {
        this.store.clear();
        for (const panel of [this.heatmap, this.tape, this.quality]) panel.show(this.instrument);
    }

    private draw(now: number): void {
        requestAnimationFrame((next) => this.draw(next));
        const { market, instrument, account } = this;
        this.player?.advance(now);
        if (market.isCurrent) this.store.add(market, market.now());
        this.queue.follow(now);
        const ownVersion = account.version + this.queue.version;
        if (ownVersion !== this.ownVersion) {
            this.ownVersion = ownVersion;
            this.heatmap.ownOrders = this.ownLevels();
        }
        this.heatmap.draw();
        if (this.hasPast) void this.earlier.extend(this.heatmap.span().first);
        this.ladder.draw(now);
        this.tape.draw(now);
        this.ticket.draw();
        this.blotter.draw(market, instrument, now);
        this.quality.draw();
        this.watchlist.draw();
        this.chain.draw();
        this.spreads.draw();
        this.status.draw(now, this.connection.bytes + (this.feed?.bytes ?? 0));
        if (now - this.factsDrawnAt >= factsInterval) {
            this.factsDrawnAt = now;
            this.drawFacts();
        }
    }

    /** One's own orders by price, with what stands before the first of them. */
    private ownLevels(): OwnLevel[] {
        const { instrument } = this;
        const levels = new Map<string, OwnLevel>();
        for (const order of this.account.openIn(instrument)) {
            const side = order.direction === "buy" ? 1 : -1;
            const price = ticksOf(instrument, order.price);
            const key = `${side} ${price}`;
            const lots = lotsOf(instrument, order.amount - order.filled_amount);
            const place = this.queue.place(order.order_id)?.lots ?? null;
            const other = levels.get(key) ?? { lots: 0, before: null };
            const before = other.before === null || place === null ? (other.before ?? place) : Math.min(other.before, place);
            levels.set(key, { side, price, lots: other.lots + lots, before });
        }
        return [...levels.values()];
    }

    private drawFacts(): void {
        const { market, instrument } = this;
        const levels = { indicative: market.indicative, "implied-bid": market.impliedBid, "implied-ask": market.impliedAsk };
        for (const [id, level] of Object.entries(levels)) this.showLevel(byId(id), level);
        setText(byId("best-bid"), priceText(instrument, market.bids.best()));
        setText(byId("best-ask"), priceText(instrument, market.asks.best()));
        setText(byId("last"), priceText(instrument, market.last));
        setText(byId("high"), priceText(instrument, market.high));
        setText(byId("low"), priceText(instrument, market.low));
        setText(byId("volume"), amountText(instrument, market.volume));
        setText(byId("open-interest"), amountText(instrument, market.openInterest));
    }

    private showLevel(into: HTMLElement, level: BestLevel | null): void {
        into.parentElement!.hidden = level === null;
        if (level !== null) setText(into, `${amountText(this.instrument, level.lots)} at ${priceText(this.instrument, level.price)}`);
    }

    private bindControls(): void {
        const { heatmap, ladder, ticket } = this;
        const select = byId<HTMLSelectElement>("instrument");
        select.append(...[...this.instruments.keys()].map((name) => element("option", { value: name }, name)));
        select.addEventListener("change", () => this.show(this.instruments.get(select.value)!));
        const onClick = (id: string, does: () => void) => byId(id).addEventListener("click", does);
        onClick("heatmap-past", () => heatmap.scroll(-0.25));
        onClick("heatmap-later", () => heatmap.scroll(0.25));
        onClick("heatmap-live", () => heatmap.goLive());
        onClick("heatmap-more-time", () => heatmap.zoomTime(1));
        onClick("heatmap-less-time", () => heatmap.zoomTime(-1));
        onClick("heatmap-more-prices", () => heatmap.zoomPrice(-1));
        onClick("heatmap-less-prices", () => heatmap.zoomPrice(1));
        onClick("ladder-centre", () => ladder.centre());
        onClick("theme", () => this.setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
        onClick("help", () => byId<HTMLDialogElement>("help-dialog").showModal());
        const colours = byId<HTMLSelectElement>("colours");
        colours.value = document.documentElement.dataset.colours ?? "blue";
        colours.addEventListener("change", () => {
            document.documentElement.dataset.colours = colours.value;
            localStorage.setItem("corro-colours", colours.value);
            this.recolour();
        });
        bindKeys([
            { key: "b", what: "to the buy button of the ticket, with the best bid as price", does: () => ticket.focus("buy") },
            { key: "s", what: "to the sell button of the ticket, with the best ask as price", does: () => ticket.focus("sell") },
            { key: "x", what: "cancel all open orders", does: () => void this.blotter.cancelAll() },
            { key: "c", what: "centre the ladder", does: () => ladder.centre() },
            { key: "ArrowLeft", name: "←", what: "the heatmap's past", does: () => heatmap.scroll(-0.25) },
            { key: "ArrowRight", name: "→", what: "the heatmap towards now", does: () => heatmap.scroll(0.25) },
            { key: "End", what: "the heatmap live", does: () => heatmap.goLive() },
            { key: "-", what: "more time in the heatmap", does: () => heatmap.zoomTime(1) },
            { key: "+", what: "less time in the heatmap", does: () => heatmap.zoomTime(-1) },
            { key: "[", what: "more prices in the heatmap", does: () => heatmap.zoomPrice(-1) },
            { key: "]", what: "fewer prices in the heatmap", does: () => heatmap.zoomPrice(1) },
            { key: " ", name: "space", what: "play or pause a run", does: () => this.player?.toggle() },
            { key: "t", what: "dark or light", does: () => byId("theme").click() },
            { key: "?", what: "this list", does: () => byId("help").click() },
        ]);
    }

    private setTheme(theme: Theme): void {
        applyTheme(theme);
        localStorage.setItem("corro-theme", theme);
        this.recolour();
    }

    private recolour(): void {
        this.heatmap.setTheme(document.documentElement.dataset.theme as Theme);
        this.quality.make();
    }
}

interface Parts {
    connection: Connection;
    market: Market;
    account: Account;
    status: Status;
}

function applyTheme(theme: Theme): void {
    document.documentElement.dataset.theme = theme;
    setText(byId("theme"), theme === "dark" ? "light" : "dark");
}

/** All instruments, the one that the address names, or else the first. */
function begin(reported: readonly ReportedInstrument[], all: Parts, run: Run | null): void {
    const instruments = new Map(reported.map((each) => [each.instrument_name, instrumentOf(each)]));
    const first = instruments.get(instrumentOfAddress(location.hash)) ?? [...instruments.values()][0];
    if (first === undefined) throw new Error("there are no instruments");
    new Dashboard(all.connection, all.market, all.account, all.status, instruments, first, run);
    new Tour();
}

async function beginRun(address: string, all: Parts): Promise<void> {
    all.status.liveWord = "recorded";
    const run = await loadRun(address);
    const reported = run.markets.map((each) => each.instrument);
    begin(reported, all, run);
}

function start(): void {
    const wanted = localStorage.getItem("corro-theme") ?? (matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark");
    applyTheme(wanted as Theme);
    document.documentElement.dataset.colours = localStorage.getItem("corro-colours") ?? "blue";
    const connection = new Connection();
    const market = new Market();
    market.clock = () => Date.now() + connection.ahead;
    const account = new Account(connection);
    const status = new Status(connection, market);
    const all = { connection, market, account, status };
    const complain = (error: Error) => announce(`no market: ${error.message}`, "bad");
    const run = document.documentElement.dataset.run;
    if (run !== undefined) {
        beginRun(run, all).catch(complain);
        return;
    }
    let begun = false;
    connection.onState(async (state) => {
        if (state !== "open" || begun) return;
        begun = true;
        try {
            begin(await connection.call("public/get_instruments"), all, null);
        } catch (error) {
            begun = false;
            complain(error as Error);
        }
    });
    connection.open();
}

start();
