// SPDX-License-Identifier: Apache-2.0
// Operations: the state of the venue, and what its operators may do to accounts and instruments. The panel is there for a
// key whose account is an operator's; the venue decides that. Each action asks a second question, and leaves a line.

import type { Account } from "./account";
import type { CallError, Connection } from "./connection";
import { announce, byId, element, setText } from "./dom";
import { type Instrument, timeText } from "./instrument";

interface PartitionStatus {
    partition: number;
    timestamp: number;
    last_command: number;
    durable_command: number;
    snapshot_command: number;
    journal: "none" | "open" | "cancels_only" | "failed";
    commands_waiting: number;
    sessions: number;
    sessions_max: number;
}

/** An action: its fields in the form, its request, and the second question. */
interface Action {
    readonly fields: readonly string[];
    request(): { method: string; params: Record<string, unknown> };
    question(): string;
}

const pollInterval = 1_000;
const linesMax = 50;
const journalWords = {
    none: "is not kept",
    open: "takes all commands",
    cancels_only: "takes cancels only: the disk is full",
    failed: "has failed and takes no commands",
};

function isFine(status: PartitionStatus): boolean {
    return status.journal === "open" || status.journal === "none";
}

export class Operations {
    private readonly form = byId<HTMLFormElement>("operate");
    private before: PartitionStatus[] = [];
    /** Whose key is logged on: not known yet, an operator's, or another's, which is not asked again. */
    private state: "off" | "unknown" | "operator" | "other" = "off";
    private isAsking = false;
    private readonly actions: Record<string, Action>;

    constructor(
        private readonly connection: Connection,
        private readonly account: Account,
        instruments: ReadonlyMap<string, Instrument>,
    ) {
        const field = (id: string) => byId<HTMLInputElement>(`operate-${id}`);
        const select = byId<HTMLSelectElement>("operate-instrument");
        select.append(...[...instruments.keys()].map((name) => element("option", { value: name }, name)));
        const accountId = () => field("account").valueAsNumber;
        const one = () => (select.value === "" ? {} : { instrument_name: select.value });
        const where = () => (select.value === "" ? "all instruments" : select.value);
        const limits = () => {
            const given = ["order_max", "position_max", "open_orders_max"].map((name) => [name, field(name).valueAsNumber] as const);
            return Object.fromEntries(given.filter(([, value]) => value > 0));
        };
        this.actions = {
            kill: {
                fields: ["account"],
                request: () => ({ method: "private/kill_account", params: { account_id: accountId() } }),
                question: () => `Stop account ${accountId()}? Its open orders are cancelled, and new ones refused until it is released.`,
            },
            release: {
                fields: ["account"],
                request: () => ({ method: "private/release_account", params: { account_id: accountId() } }),
                question: () => `Release account ${accountId()}? It may trade again.`,
            },
            clear: {
                fields: ["account", "instrument"],
                request: () => ({ method: "private/clear_account", params: { account_id: accountId(), ...one() } }),
                question: () => `Cancel the open orders of account ${accountId()} in ${where()}? It may enter new ones.`,
            },
            limits: {
                fields: ["account", "limits"],
                request: () => ({ method: "private/limit_account", params: { account_id: accountId(), ...limits() } }),
                question: () => {
                    const words = Object.entries(limits()).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`);
                    return `Replace the limits of account ${accountId()} by ${words.length === 0 ? "no limits" : words.join(", ")}?`;
                },
            },
            phase: {
                fields: ["instrument", "phase"],
                request: () => ({ method: "private/change_phase", params: { phase: field("phase").value, ...one() } }),
                question: () => `Move ${where()} to the phase ${field("phase").value.replaceAll("_", " ")}?`,
            },
            settle: {
                fields: ["instrument", "price"],
                request: () => ({ method: "private/settle_instrument", params: { ...one(), price: field("price").valueAsNumber } }),
                question: () => `End ${where()} at the price ${field("price").value}? Its orders are cancelled, and this cannot be undone.`,
            },
        };
        this.form.addEventListener("submit", (event) => {
            event.preventDefault();
            void this.act();
        });
        byId("operate-action").addEventListener("change", () => this.fitAction());
        account.onChange(() => this.join());
        setInterval(() => void this.poll(), pollInterval);
        this.fitAction();
    }

    private get action(): Action {
        return this.actions[byId<HTMLSelectElement>("operate-action").value]!;
    }

    private fitAction(): void {
        for (const label of this.form.querySelectorAll<HTMLElement>("[data-field]")) {
            label.hidden = !this.action.fields.includes(label.dataset.field!);
            for (const each of label.querySelectorAll<HTMLInputElement>("input, select")) each.disabled = label.hidden;
        }
        byId<HTMLSelectElement>("operate-instrument").required = this.action.fields.includes("price");
    }

    private join(): void {
        if (this.account.isOn === (this.state !== "off")) return;
        this.enter(this.account.isOn ? "unknown" : "off");
        void this.poll();
    }

    private enter(state: Operations["state"]): void {
        this.state = state;
        byId("operations-panel").hidden = state !== "operator";
        if (state !== "operator") this.before = [];
    }

    private async poll(): Promise<void> {
        if (this.state === "off" || this.state === "other" || this.isAsking) return;
        this.isAsking = true;
        try {
            const told = (await this.connection.call("private/get_venue_status")) as PartitionStatus[];
            if (this.account.isOn) {
                this.alert(told);
                this.draw(told);
                this.enter("operator");
            }
        } catch (error) {
            if ((error as CallError).reason === "not_an_operator") this.enter("other");
        }
        this.isAsking = false;
    }

    /** A journal that has ceased to take all commands. */
    private alert(told: PartitionStatus[]): void {
        told.forEach((now, k) => {
            if (isFine(now) || (this.before[k] !== undefined && this.before[k].journal === now.journal)) return;
            announce(`partition ${now.partition + 1}: the journal ${journalWords[now.journal]}`, "bad");
        });
    }

    private draw(told: PartitionStatus[]): void {
        const rows = told.map((now, k) => {
            const before = this.before[k];
            const seconds = before === undefined ? 0 : (now.timestamp - before.timestamp) / 1000;
            const rate = seconds > 0 ? String(Math.round((now.last_command - before!.last_command) / seconds)) : "–";
            const texts = [
                String(now.last_command),
                rate,
                now.journal === "none" ? "–" : String(now.last_command - now.durable_command),
                now.snapshot_command === 0 ? "none" : String(now.snapshot_command),
                String(now.commands_waiting),
                `${now.sessions} of ${now.sessions_max}`,
                journalWords[now.journal],
            ];
            const last = texts.length - 1;
            const cells = texts.map((text, at) => element("td", { class: at < last ? "number" : isFine(now) ? "" : "bad" }, text));
            return element("tr", {}, element("th", { scope: "row" }, `partition ${now.partition + 1}`), ...cells);
        });
        byId("venue-status").replaceChildren(...rows);
        this.before = told;
    }

    private async act(): Promise<void> {
        const { method, params } = this.action.request();
        const question = this.action.question();
        const dialog = byId<HTMLDialogElement>("operate-dialog");
        setText(byId("operate-question"), question);
        dialog.returnValue = "";
        dialog.showModal();
        await new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
        if (dialog.returnValue !== "do") return;
        const what = question.slice(0, question.indexOf("?"));
        try {
            const result = await this.connection.call(method, params);
            this.note(what, typeof result === "number" ? `${result} orders cancelled` : "done");
        } catch (error) {
            this.note(what, `refused: ${(error as CallError).message}`);
        }
    }

    private note(what: string, answer: string): void {
        const lines = byId("operate-lines");
        lines.prepend(
            element(
                "tr",
                {},
                element("td", {}, timeText(Date.now())),
                element("td", {}, this.account.clientId ?? ""),
                element("td", {}, what),
                element("td", {}, answer),
            ),
        );
        while (lines.childElementCount > linesMax) lines.lastElementChild!.remove();
    }
}
