// SPDX-License-Identifier: Apache-2.0
// Colours. The heat scale rises in lightness, so it reads without colour vision, too.

export type Theme = "dark" | "light";

type Stops = readonly (readonly [number, number, number])[];

const darkStops: Stops = [
    [13, 17, 27],
    [24, 42, 92],
    [64, 78, 128],
    [124, 123, 120],
    [187, 173, 98],
    [255, 234, 70],
];
const lightStops: Stops = [
    [255, 255, 255],
    [226, 229, 235],
    [188, 194, 205],
    [140, 148, 164],
    [92, 99, 118],
    [38, 42, 58],
];

function mix(stops: Stops, share: number): [number, number, number] {
    const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
    const index = Math.min(Math.floor(at), stops.length - 2);
    const [from, to] = [stops[index]!, stops[index + 1]!];
    return [0, 1, 2].map((k) => Math.round(from[k]! + (at - index) * (to[k]! - from[k]!))) as [number, number, number];
}

function packed([red, green, blue]: readonly [number, number, number]): number {
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** A colour for each level of a column store, as pixels of ImageData in the byte order of all machines with browsers. */
export function heatColours(theme: Theme, levelMax: number): Uint32Array {
    const stops = theme === "dark" ? darkStops : lightStops;
    const colours = new Uint32Array(256);
    for (let level = 0; level < 256; ++level) {
        // Levels are logarithms: most are near the largest, and the power spreads those.
        colours[level] = packed(mix(stops, level === 0 ? 0 : 0.1 + 0.9 * (level / levelMax) ** 2.5));
    }
    return colours;
}

/** Colours that the style sheet has, for what is drawn. */
export interface Colours {
    text: string;
    faint: string;
    panel: string;
    buy: string;
    sell: string;
    own: string;
    buyPixel: number;
    sellPixel: number;
}

export function coloursOf(element: Element): Colours {
    const style = getComputedStyle(element);
    const named = (name: string) => style.getPropertyValue(name).trim();
    const pixel = (hex: string) =>
        packed([1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as [number, number, number]);
    const [buy, sell] = [named("--buy"), named("--sell")];
    return {
        text: named("--text"),
        faint: named("--faint"),
        panel: named("--panel"),
        buy,
        sell,
        own: named("--own"),
        buyPixel: pixel(buy),
        sellPixel: pixel(sell),
    };
}
