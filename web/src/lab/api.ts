// SPDX-License-Identifier: Apache-2.0
// What the laboratory's server sends and takes: docs/howto/laboratory.md.

import type { ReportedInstrument } from "../instrument";

export interface Group {
    name: string;
    kind: string;
    count: number;
    has_link: boolean;
}

export interface Terms {
    scenario: string;
    about: string;
    seed: number;
    start_ns: number;
    duration_ns: number;
    sample_ns: number;
    column_ns: number;
    instruments: ReportedInstrument[];
    groups: Group[];
    fundamentals: string[];
    events: { at_ns: number; kind: string }[];
    injected: number;
}

export interface Now {
    time_ns: number;
    state: "paused" | "running" | "busy" | "ended" | "failed";
    speed: number;
    commands: number;
    trades: number;
    rejects: number;
    digest: string;
    error?: string;
}

export interface Agent {
    account: number;
    name: string;
    lots: number;
    profit: number | null;
    orders: number;
    requests: number;
    fills: number;
    order_to_trade: number | null;
    ahead_buy: number | null;
    ahead_sell: number | null;
}

export type Levels = [price: number, lots: number][];
export type Column = [at: number, phase: string, bids: Levels, asks: Levels];
export type TradeRow = [at: number, price: number, lots: number, side: 1 | -1];
export type Sample = [
    at: number,
    middle: number | null,
    spread: number | null,
    bidDepth: number,
    askDepth: number,
    bought: number,
    sold: number,
];

interface Part<Row> {
    first: number;
    next: number;
    rows: Row[];
}

export interface ComparedMetric {
    name: string;
    a: number;
    b: number;
    difference: number;
    low: number;
    high: number;
    p: number;
    differs: boolean;
}

export interface Comparison {
    running: boolean;
    at_ns: number;
    change: Record<string, string | number | boolean>;
    seed: number;
    seeds: number;
    done: number;
    pairs?: number;
    error?: string;
    paths?: { a: Sample[][] | null; b: Sample[][] | null } | null;
    metrics?: ComparedMetric[] | null;
}

export interface News {
    now: Now;
    begins?: boolean;
    terms?: Terms;
    comparison?: Comparison | null;
    columns?: Part<Column>;
    trades?: Part<TradeRow>;
    samples?: Part<Sample>;
    book?: { phase: string; last: number | null; volume: number; bids: Levels; asks: Levels };
    agents?: Agent[];
    metrics?: Record<string, number>;
}

/** @throws Error with the server's words. */
export async function ask<Answer>(path: string, body?: unknown, method?: string): Promise<Answer> {
    const answer = await fetch(`/api/lab/v1/${path}`, {
        method: method ?? (body === undefined ? "GET" : "POST"),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const got = (await answer.json()) as Answer & { error?: string };
    if (!answer.ok) throw new Error(got.error ?? `status ${answer.status}`);
    return got;
}

/** Minutes, seconds and tenths of the market's time. */
export function marketTime(ns: number): string {
    const tenths = Math.floor(ns / 1e8);
    const minutes = Math.floor(tenths / 600);
    return `${minutes}:${((tenths % 600) / 10).toFixed(1).padStart(4, "0")}`;
}
