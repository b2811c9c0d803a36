// SPDX-License-Identifier: Apache-2.0
// The best prices of all instruments, once a second.

import { type CallError, type Connection, noConnection } from "./connection";
import { announce } from "./dom";

export interface Ticker {
    instrument_name: string;
    best_bid_price: number | null;
    best_ask_price: number | null;
    last_price: number | null;
    /** Only if one of them exists. */
    implied_bid_price?: number | null;
    implied_ask_price?: number | null;
    stats: { volume: number };
}

/** The API has room for 500 channels of a connection. */
const channelsMax = 400;

export class Tickers {
    readonly last = new Map<string, Ticker>();
    version = 0;
    private readonly channels: string[];

    constructor(
        private readonly connection: Connection,
        names: Iterable<string>,
    ) {
        this.channels = [...names].slice(0, channelsMax).map((name) => `ticker.${name}.agg2`);
        connection.onState((state) => {
            if (state === "open") this.begin();
        });
        this.begin();
    }

    private begin(): void {
        this.connection
            .subscribe(this.channels, (ticker: Ticker) => {
                this.last.set(ticker.instrument_name, ticker);
                ++this.version;
            })
            .catch((error: CallError) => {
                if (error.code !== noConnection) announce(`no prices of all instruments: ${error.message}`, "bad");
            });
    }
}
