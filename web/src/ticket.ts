// SPDX-License-Identifier: Apache-2.0
// The order ticket: every kind of order that the API takes, and the log-on that it needs.

import type { Account } from "./account";
import type { CallError, Connection } from "./connection";
import { announce, byId } from "./dom";
import { type Instrument, amountText, priceNumber, priceText, ticksOf } from "./instrument";
import type { Market } from "./market";

export class Ticket {
    private readonly form = byId<HTMLFormElement>("ticket");
    private readonly logOnForm = byId<HTMLFormElement>("log-on");
    private readonly amount = byId<HTMLInputElement>("amount");
    private readonly price = byId<HTMLInputElement>("price");
    private readonly type = byId<HTMLSelectElement>("order-type");
    private readonly lasting = byId<HTMLSelectElement>("lasting");
    private readonly shown = byId<HTMLInputElement>("max-show");
    private readonly postOnly = byId<HTMLSelectElement>("post-only");
    private readonly label = byId<HTMLInputElement>("label");

    constructor(
        private readonly connection: Connection,
        private readonly account: Account,
        private readonly market: Market,
        private instrument: Instrument,
    ) {
        this.form.addEventListener("submit", (event) => {
            event.preventDefault();
            const side = (event.submitter as HTMLButtonElement).value as "buy" | "sell";
            void this.send(side);
        });
        this.logOnForm.addEventListener("submit", (event) => {
            event.preventDefault();
            void this.logOn();
        });
        byId("log-off").addEventListener("click", () => account.logOff());
        this.type.addEventListener("change", () => this.fitType());
        account.onChange(() => this.showAccount());
        this.show(instrument);
        this.showAccount();
    }

    show(instrument: Instrument): void {
        this.instrument = instrument;
        this.amount.min = this.amount.step = this.shown.step = String(instrument.lotSize);
        this.amount.value = String(instrument.lotSize);
        this.price.step = String(priceNumber(instrument, 1));
        this.price.value = "";
        this.fitType();
    }

    /** Fills in a price if there is none. */
    draw(): void {
        if (this.price.value !== "" || this.price.matches(":focus")) return;
        const middle = this.market.middle();
        if (middle !== null) this.price.value = priceText(this.instrument, Math.round(middle));
    }

    focus(side: "buy" | "sell"): void {
        const best = side === "buy" ? this.market.bids.best() : this.market.asks.best();
        if (best !== null) this.price.value = priceText(this.instrument, best);
        byId(`send-${side}`).focus();
    }

    /** A limit order with the ticket's amount, as a click on the ladder places it. */
    async place(side: "buy" | "sell", ticks: number): Promise<void> {
        if (!this.account.isOn) {
            announce("Log on to place orders: the form is above the order ticket.", "bad");
            byId("client-id").focus();
            return;
        }
        await this.enter(side, {
            type: "limit",
            price: priceNumber(this.instrument, ticks),
            ...(this.postOnly.value === "" ? {} : { post_only: true, reject_post_only: this.postOnly.value === "reject" }),
        });
    }

    private async send(side: "buy" | "sell"): Promise<void> {
        const more: Record<string, unknown> = { type: this.type.value, time_in_force: this.lasting.value };
        if (this.type.value === "limit") {
            more.price = priceNumber(this.instrument, ticksOf(this.instrument, this.price.valueAsNumber));
            if (this.postOnly.value !== "") {
                more.post_only = true;
                more.reject_post_only = this.postOnly.value === "reject";
            }
        }
        if (this.type.value !== "market" && this.shown.value !== "") more.max_show = this.shown.valueAsNumber;
        await this.enter(side, more);
    }

    private async enter(side: "buy" | "sell", more: Record<string, unknown>): Promise<void> {
        const amount = this.amount.valueAsNumber;
        if (this.label.value !== "") more.label = this.label.value;
        try {
            const { order } = await this.connection.call(`private/${side}`, {
                instrument_name: this.instrument.name,
                amount,
                ...more,
            });
            const filled = order.filled_amount === 0 ? "" : `, ${order.filled_amount} filled`;
            announce(`${side} ${order.amount} at ${order.price}: ${order.order_state}${filled}`);
        } catch (error) {
            announce(`${side} ${amount} was refused: ${(error as CallError).message}`, "bad");
        }
    }

    private async logOn(): Promise<void> {
        const secret = byId<HTMLInputElement>("client-secret");
        const name = byId<HTMLInputElement>("client-id").value;
        try {
            await this.account.logOn(name, secret.value);
            announce(`logged on as ${name}`);
        } catch (error) {
            announce(`not logged on: ${(error as CallError).message}`, "bad");
        }
        secret.value = "";
    }

    private fitType(): void {
        const type = this.type.value;
        this.price.disabled = type !== "limit";
        this.postOnly.disabled = type !== "limit";
        this.shown.disabled = type === "market";
        for (const option of this.lasting.options) {
            const isInstant = option.value === "immediate_or_cancel" || option.value === "fill_or_kill";
            option.disabled = type === "market" && !isInstant;
        }
        if (this.lasting.selectedOptions[0]?.disabled) this.lasting.value = "immediate_or_cancel";
        this.shown.placeholder = amountText(this.instrument, 1);
    }

    private showAccount(): void {
        const { isOn, clientId } = this.account;
        this.logOnForm.hidden = clientId !== null;
        byId("who").hidden = clientId === null;
        byId("who-name").textContent = clientId;
        byId<HTMLFieldSetElement>("ticket-fields").disabled = !isOn;
    }
}
