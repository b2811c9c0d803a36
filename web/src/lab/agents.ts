// SPDX-License-Identifier: Apache-2.0
// The agents' table. A click on the head of a column sorts by it.

import { byId, element, setText } from "../dom";
import type { Agent } from "./api";

interface ColumnTerms {
    readonly key: keyof Agent;
    readonly title: string;
    readonly digits?: number;
}

const columns: readonly ColumnTerms[] = [
    { key: "name", title: "agent" },
    { key: "lots", title: "position" },
    { key: "profit", title: "profit", digits: 1 },
    { key: "orders", title: "open" },
    { key: "requests", title: "requests" },
    { key: "fills", title: "fills" },
    { key: "order_to_trade", title: "order to trade", digits: 2 },
    { key: "ahead_buy", title: "before its bid" },
    { key: "ahead_sell", title: "before its ask" },
];

export class Agents {
    private agents: Agent[] = [];
    private sortedBy: ColumnTerms = columns[0]!;
    private isDescending = false;
    private readonly heads: HTMLTableCellElement[];
    private readonly body = byId<HTMLTableSectionElement>("agents");

    constructor() {
        this.heads = columns.map((each) => {
            const head = element("th", { scope: "col" });
            const chooses = element("button", { type: "button" }, each.title);
            chooses.addEventListener("click", () => this.sort(each));
            head.append(chooses);
            return head;
        });
        byId("agents-head").append(...this.heads);
        this.draw();
    }

    show(agents: Agent[]): void {
        this.agents = agents;
        this.draw();
    }

    private sort(by: ColumnTerms): void {
        // Numbers begin with the largest.
        this.isDescending = by === this.sortedBy ? !this.isDescending : by.key !== "name";
        this.sortedBy = by;
        this.draw();
    }

    private draw(): void {
        const { key } = this.sortedBy;
        const sign = this.isDescending ? -1 : 1;
        const sorted = [...this.agents].sort((a, b) => {
            if (key === "name") return sign * (a.account - b.account);
            const [x, y] = [a[key], b[key]];
            // Without a value: last.
            if (x === null || y === null) return Number(x === null) - Number(y === null);
            return sign * (Number(x) - Number(y)) || a.account - b.account;
        });
        columns.forEach((each, k) => {
            const order = each !== this.sortedBy ? "none" : this.isDescending ? "descending" : "ascending";
            this.heads[k]!.setAttribute("aria-sort", order);
        });
        while (this.body.rows.length > sorted.length) this.body.deleteRow(-1);
        sorted.forEach((agent, index) => {
            const row = this.body.rows[index] ?? this.addRow();
            columns.forEach(({ key: of, digits }, k) => {
                const value = agent[of];
                const text = typeof value === "number" && digits !== undefined ? value.toFixed(digits) : String(value ?? "–");
                setText(row.cells[k]!, text);
            });
        });
        setText(byId("agents-count"), String(sorted.length));
    }

    private addRow(): HTMLTableRowElement {
        const row = element("tr", {}, element("th", { scope: "row" }));
        for (let k = 1; k < columns.length; ++k) row.append(element("td", { class: "number" }));
        this.body.append(row);
        return row;
    }
}
