// SPDX-License-Identifier: Apache-2.0
// A fork beside the run: both as lines of one seed, and the paired differences of all metrics over many seeds.

import { announce, byId, element, setText } from "../dom";
import { type ComparedMetric, type Comparison, type Sample, ask, marketTime } from "./api";
import { Plots } from "../plots";

function numberText(value: number): string {
    return value === 0 ? "0" : Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3 ? value.toExponential(2) : value.toPrecision(4);
}

export class Compare {
    readonly plots: Plots;
    private shown: Comparison | null = null;
    private instrument = 0;

    constructor() {
        const both = { names: ["A", "B"], colours: ["--buy", "--sell"] };
        this.plots = new Plots(byId("compare-plots"), "compare", (seconds) => marketTime(1e9 * seconds), [
            { title: "Middle, ticks", ...both },
            { title: "Spread, ticks", ...both },
            { title: "Depth of 5 levels, lots", ...both },
            { title: "Traded, lots", ...both },
        ]);
        byId("compare-stop").addEventListener("click", () => {
            ask("comparison", undefined, "DELETE").catch((error: Error) => announce(error.message, "bad"));
        });
    }

    showInstrument(index: number): void {
        this.instrument = index;
        if (this.shown !== null) this.show(this.shown);
    }

    show(comparison: Comparison | null): void {
        byId("compare-panel").hidden = comparison === null;
        if (comparison === null) return;
        this.shown = comparison;
        byId("compare-stop").hidden = !comparison.running;
        const change = Object.entries(comparison.change).map(([key, value]) => `${key} ${String(value)}`);
        setText(byId("compare-what"), `A: as it goes on. B: with ${change.join(", ")} at ${marketTime(comparison.at_ns)}`);
        setText(byId("compare-state"), this.stateText(comparison));
        if (comparison.running) return;
        this.drawPaths(comparison);
        byId("compare-metrics").replaceChildren(...(comparison.metrics ?? []).map((each) => this.row(each)));
    }

    private stateText({ running, done, seeds, error, pairs, metrics }: Comparison): string {
        if (running) return `${done} of ${seeds} seeds`;
        if (error !== undefined) return `failed: ${error}`;
        if (!metrics) return "stopped before there were two pairs";
        return `${pairs} seeds in pairs; ${metrics.filter((each) => each.differs).length} of ${metrics.length} metrics differ`;
    }

    private drawPaths({ paths }: Comparison): void {
        this.plots.clear();
        const [a, b] = [paths?.a?.[this.instrument], paths?.b?.[this.instrument]];
        if (a === undefined || b === undefined) return;
        const depth = (of: Sample) => of[3] + of[4];
        const traded = (of: Sample) => of[5] + of[6];
        a.forEach((one, k) => {
            const other = b[k];
            if (other === undefined) return;
            this.plots.add(one[0] / 1e9, [
                [one[1], other[1]],
                [one[2], other[2]],
                [depth(one), depth(other)],
                [traded(one), traded(other)],
            ]);
        });
        this.plots.draw();
    }

    private row(of: ComparedMetric): HTMLTableRowElement {
        const number = (text: string) => element("td", { class: "number" }, text);
        const sign = of.difference > 0 ? "+" : "";
        // The interval as a line, on a scale of its own around zero.
        const most = Math.max(Math.abs(of.low), Math.abs(of.high)) || 1;
        const at = (value: number) => 50 + (45 * value) / most;
        const line = element("span", { class: "interval", "aria-hidden": "true" });
        line.style.setProperty("--low", `${at(of.low)}%`);
        line.style.setProperty("--high", `${at(of.high)}%`);
        line.style.setProperty("--mean", `${at(of.difference)}%`);
        return element(
            "tr",
            of.differs ? { class: "differs" } : {},
            element("th", { scope: "row" }, of.name),
            number(numberText(of.a)),
            number(numberText(of.b)),
            number(sign + numberText(of.difference)),
            number(`${numberText(of.low)} to ${numberText(of.high)}`),
            element("td", {}, line),
            number(of.p.toFixed(4)),
            element("td", {}, of.differs ? "differs" : ""),
        );
    }
}
