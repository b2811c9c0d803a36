// SPDX-License-Identifier: Apache-2.0
// What trades. Everywhere in these pages prices are whole ticks and quantities whole lots, so that they compare exactly.

/** A leg of a strategy: what its buyer does. */
export interface Leg {
    readonly instrument: number;
    readonly direction: "buy" | "sell";
}

export interface Instrument {
    readonly name: string;
    readonly id: number;
    /** Of a strategy; otherwise empty. */
    readonly legs: readonly Leg[];
    readonly kind: string;
    readonly tickSize: number;
    readonly lotSize: number;
    /** Decimals of a price. */
    readonly decimals: number;
    /** Of an option. */
    readonly strike?: number;
    readonly right?: "call" | "put";
    /** Milliseconds since 1970; undefined without an expiry. */
    readonly expiry?: number;
    readonly product: string;
}

/** As `public/get_instruments` reports it. */
export interface ReportedInstrument {
    instrument_name: string;
    instrument_id: number;
    legs?: { instrument_id: number; direction: "buy" | "sell" }[];
    kind: string;
    tick_size: number;
    min_trade_amount: number;
    base_currency: string;
    settlement_period: string;
    expiration_timestamp: number;
    strike?: number;
    option_type?: "call" | "put";
}

function decimalsOf(step: number): number {
    const text = step.toFixed(9).replace(/0+$/, "");
    return text.length - text.indexOf(".") - 1;
}

export function instrumentOf(reported: ReportedInstrument): Instrument {
    return {
        name: reported.instrument_name,
        id: reported.instrument_id,
        legs: (reported.legs ?? []).map(({ instrument_id, direction }) => ({ instrument: instrument_id, direction })),
        kind: reported.kind,
        tickSize: reported.tick_size,
        lotSize: reported.min_trade_amount,
        decimals: decimalsOf(reported.tick_size),
        product: reported.base_currency,
        ...(reported.strike === undefined ? {} : { strike: reported.strike }),
        ...(reported.option_type === undefined ? {} : { right: reported.option_type }),
        ...(reported.settlement_period === "perpetual" ? {} : { expiry: reported.expiration_timestamp }),
    };
}

export function ticksOf(instrument: Instrument, price: number): number {
    return Math.round(price / instrument.tickSize);
}

export function lotsOf(instrument: Instrument, amount: number): number {
    return Math.round(amount / instrument.lotSize);
}

export function priceText(instrument: Instrument, ticks: number | null): string {
    return ticks === null ? "–" : (ticks * instrument.tickSize).toFixed(instrument.decimals);
}

export function amountText(instrument: Instrument, lots: number | null): string {
    return lots === null ? "–" : String(lots * instrument.lotSize);
}

/** The decimal that the API takes: exact for a multiple of the tick. */
export function priceNumber(instrument: Instrument, ticks: number): number {
    return Number((ticks * instrument.tickSize).toFixed(instrument.decimals));
}

/** The time of day to a tenth of a second, by the clock of the browser's place. */
export function timeText(milliseconds: number): string {
    const time = new Date(milliseconds);
    const two = (value: number) => String(value).padStart(2, "0");
    return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${Math.floor(time.getMilliseconds() / 100)}`;
}
