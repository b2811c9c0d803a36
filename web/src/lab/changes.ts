// SPDX-License-Identifier: Apache-2.0
// The form of a change: made now, or in a fork that is compared with the run as it goes on.

import { announce, byId, element, setText } from "../dom";
import { type Comparison, type Now, type Terms, ask, marketTime } from "./api";

type Change = Record<string, string | number | boolean>;

/** Fields of each kind of change; the names are those of a scenario's events. */
const fieldsOf: Record<string, readonly string[]> = {
    phase: ["instrument", "phase", "length"],
    news: ["fundamental", "ticks"],
    fat_finger: ["instrument", "side", "lots"],
    latency: ["group", "factor", "length"],
    withdraw: ["group"],
    kill_switch: ["group", "on"],
};
const numbers = new Set(["ticks", "lots", "factor"]);

export class Changes {
    private readonly kind = byId<HTMLSelectElement>("change-kind");
    private readonly form = byId<HTMLFormElement>("change");

    constructor() {
        this.kind.addEventListener("change", () => this.showFields());
        this.form.addEventListener("submit", (event) => {
            event.preventDefault();
            const forks = (event as SubmitEvent).submitter?.id === "change-compare";
            void this.send(forks);
        });
        this.showFields();
    }

    show(terms: Terms): void {
        const fill = (name: string, values: readonly string[]) => {
            const select = this.field<HTMLSelectElement>(name);
            const was = select.value;
            select.replaceChildren(...values.map((each) => element("option", { value: each }, each)));
            if (values.includes(was)) select.value = was;
        };
        fill("instrument", terms.instruments.map((each) => each.instrument_name));
        fill("fundamental", terms.fundamentals);
        fill("group", terms.groups.map((each) => each.name));
        const rows = terms.events.map(({ at_ns, kind }) =>
            element("tr", {}, element("th", { scope: "row" }, marketTime(at_ns)), element("td", {}, kind.replace("_", " "))),
        );
        byId("events").replaceChildren(...rows);
        setText(byId("events-injected"), String(terms.injected));
    }

    /** A market order for a form that is sent by its own button. */
    suggestOrder(side: "buy" | "sell", lots: number): void {
        this.kind.value = "fat_finger";
        this.showFields();
        this.field<HTMLSelectElement>("side").value = side;
        this.field<HTMLInputElement>("lots").value = String(Math.max(1, lots));
        byId("change-now").focus();
    }

    private field<T extends HTMLElement>(name: string): T {
        return byId<T>(`change-${name}`);
    }

    private showFields(): void {
        const shown = fieldsOf[this.kind.value]!;
        for (const label of this.form.querySelectorAll<HTMLElement>("[data-field]")) {
            const isShown = shown.includes(label.dataset.field!);
            label.hidden = !isShown;
            label.querySelector<HTMLInputElement>("input, select")!.disabled = !isShown;
        }
    }

    private read(): Change {
        const change: Change = { kind: this.kind.value };
        for (const name of fieldsOf[this.kind.value]!) {
            const { value } = this.field<HTMLInputElement>(name);
            if (value === "") continue;
            change[name] = name === "on" ? value === "true" : numbers.has(name) ? Number(value) : value;
        }
        return change;
    }

    private async send(forks: boolean): Promise<void> {
        try {
            const change = this.read();
            if (forks) {
                const seeds = byId<HTMLInputElement>("change-seeds").valueAsNumber;
                await ask<Comparison>("comparison", { event: change, seeds });
                announce("the comparison runs");
            } else {
                const now = await ask<Now>("inject", change);
                announce(`done at ${marketTime(now.time_ns)}`);
            }
        } catch (error) {
            announce((error as Error).message, "bad");
        }
    }
}
