// SPDX-License-Identifier: Apache-2.0
// Keeps a market by the binary channel: a frame per tick, of 64-bit floating-point numbers (docs/spec/api.md).

import { LastingSocket, socketUrl } from "./lasting_socket";
import type { BestLevel, Market } from "./market";

const version = 1;
const headerLength = 24;
const kinds = { snapshot: 1, changes: 2 };
/** Without changes there is a frame each second. */
const silenceMax = 5_000;
const phases = ["continuous", "halted", "pre-open", "opening auction", "volatility auction", "closing auction", "closed"];

function known(value: number): number | null {
    return Number.isNaN(value) ? null : value;
}

function level(price: number, lots: number): BestLevel | null {
    return Number.isNaN(price) ? null : { price, lots };
}

export class MarketFeed {
    private sequence = 0;
    private readonly socket: LastingSocket;

    constructor(
        instrument: string,
        private readonly market: Market,
    ) {
        this.socket = new LastingSocket(
            socketUrl(`/ws/market/v1?instrument=${encodeURIComponent(instrument)}`),
            { onOpen: () => {}, onMessage: (data) => this.take(data as ArrayBuffer), onLost: () => market.lose() },
            silenceMax,
        );
        this.socket.open();
    }

    end(): void {
        this.socket.end();
    }

    get bytes(): number {
        return this.socket.bytes;
    }

    private take(data: ArrayBuffer): void {
        const frame = new Float64Array(data);
        const [layout, kind, sequence, before] = frame as unknown as [number, number, number, number];
        if (layout !== version) throw new Error(`a frame of version ${layout}; this page knows ${version}: load it again`);
        if (kind !== kinds.snapshot && before !== this.sequence) {
            // A gap: what this page has is not the venue's book.
            this.market.lose();
            this.socket.send("snapshot");
            return;
        }
        this.sequence = sequence;
        applyFrame(this.market, frame);
    }
}

/** Changes a market by a frame of either kind, which must be the next one. */
export function applyFrame(market: Market, frame: Float64Array): void {
    const isSnapshot = frame[1] === kinds.snapshot;
    if (isSnapshot) {
        market.bids.clear();
        market.asks.clear();
    }
    const at = (index: number) => frame[index]!;
    const [bids, asks, trades] = [at(20), at(21), at(22)];
    let next = headerLength;
    for (let k = 0; k < bids; ++k, next += 2) market.bids.set(at(next), at(next + 1));
    for (let k = 0; k < asks; ++k, next += 2) market.asks.set(at(next), at(next + 1));
    for (let k = 0; k < trades; ++k, next += 5) {
        market.addTrade({
            number: at(next),
            time: at(next + 1) / 1000,
            price: at(next + 2),
            lots: at(next + 3),
            side: at(next + 4) > 0 ? 1 : -1,
        });
    }
    market.setTime(at(4) / 1000);
    market.isCurrent = at(6) === 1;
    market.phase = phases[at(7)] ?? "";
    market.last = known(at(8));
    market.high = known(at(9));
    market.low = known(at(10));
    market.volume = known(at(12)) ?? 0;
    market.openInterest = known(at(13)) ?? 0;
    market.indicative = level(at(14), at(15));
    market.impliedBid = level(at(16), at(17));
    market.impliedAsk = level(at(18), at(19));
    if (!isSnapshot) market.changes += bids + asks + trades;
    ++market.version;
}
