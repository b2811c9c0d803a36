// Keeps a market by the channels of JSON-RPC: each change of the book, each trade.

import type { Connection } from "./connection";
import { type Instrument, lotsOf, ticksOf } from "./instrument";
import type { Market } from "./market";

interface BookMessage {
    type: "snapshot" | "change";
    change_id: number;
    prev_change_id?: number;
    timestamp: number;
    bids: [string, number, number][];
    asks: [string, number, number][];
}

interface TradeMessage {
    trade_seq: number;
    timestamp: number;
    price: number;
    amount: number;
    direction: "buy" | "sell";
}

const phases: Record<string, string> = {
    open: "continuous",
    halted: "halted",
    pre_open: "pre-open",
    opening_auction: "opening auction",
    volatility_auction: "volatility auction",
    closing_auction: "closing auction",
    closed: "closed",
};

export class JsonFeed {
    private changeId = 0;
    private readonly channels: string[];

    constructor(
        private readonly connection: Connection,
        private readonly instrument: Instrument,
        private readonly market: Market,
    ) {
        this.channels = ["book", "trades", "ticker"].map((each) => `${each}.${instrument.name}.${each === "ticker" ? "100ms" : "raw"}`);
    }

    async begin(): Promise<void> {
        const [book, trades, ticker] = this.channels as [string, string, string];
        await this.connection.subscribe([trades], (data: TradeMessage[]) => this.addTrades(data));
        await this.connection.subscribe([ticker], (data) => this.takeTicker(data));
        await this.connection.subscribe([book], (data: BookMessage) => this.takeBook(data, book));
        const past = await this.connection.call("public/get_last_trades_by_instrument", {
            instrument_name: this.instrument.name,
            count: 200,
        });
        if (this.market.trades.length === 0) this.addTrades((past.trades as TradeMessage[]).reverse());
    }

    end(): void {
        this.connection.unsubscribe(this.channels);
    }

    private takeBook(message: BookMessage, channel: string): void {
        const { market, instrument } = this;
        if (message.type === "snapshot") {
            market.bids.clear();
            market.asks.clear();
            market.isCurrent = true;
        } else if (message.prev_change_id !== this.changeId) {
            // A gap: what this page has is not the venue's book. A new subscription begins with a snapshot.
            market.lose();
            this.connection.unsubscribe([channel]);
            this.connection.subscribe([channel], (data: BookMessage) => this.takeBook(data, channel)).catch(() => {});
            return;
        }
        this.changeId = message.change_id;
        market.time = message.timestamp;
        for (const [, price, amount] of message.bids) market.bids.set(ticksOf(instrument, price), lotsOf(instrument, amount));
        for (const [, price, amount] of message.asks) market.asks.set(ticksOf(instrument, price), lotsOf(instrument, amount));
        market.changes += message.bids.length + message.asks.length;
        ++market.version;
    }

    private addTrades(trades: TradeMessage[]): void {
        for (const each of trades) {
            this.market.addTrade({
                number: each.trade_seq,
                time: each.timestamp,
                price: ticksOf(this.instrument, each.price),
                lots: lotsOf(this.instrument, each.amount),
                side: each.direction === "buy" ? 1 : -1,
            });
            ++this.market.changes;
        }
    }

    private takeTicker(ticker: any): void {
        const { market, instrument } = this;
        const ticks = (price: number | null) => (price === null ? null : ticksOf(instrument, price));
        market.phase = phases[ticker.state] ?? "";
        market.openInterest = lotsOf(instrument, ticker.open_interest);
        market.last = ticks(ticker.last_price);
        market.high = ticks(ticker.stats.high);
        market.low = ticks(ticker.stats.low);
        market.volume = lotsOf(instrument, ticker.stats.volume);
        ++market.version;
    }
}
