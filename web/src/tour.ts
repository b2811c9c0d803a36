// SPDX-License-Identifier: Apache-2.0
// The guided minute of a first visit.

import { byId, setText } from "./dom";

const steps: readonly { panel: string; title: string; text: string }[] = [
    {
        panel: "heatmap-panel",
        title: "A market, drawn as it happens",
        text: "Time runs to the right and prices upwards. The brighter a place, the more waits there to be bought or sold. Two lines are the best bid and the best ask, and bubbles are trades.",
    },
    {
        panel: "ladder-panel",
        title: "The same book, as it is now",
        text: "Each row is a price. Buyers wait on the left, sellers on the right. After you have logged on, a click on a size column places a limit order at that price.",
    },
    {
        panel: "ticket-panel",
        title: "Place an order",
        text: "Log on with a key of the venue: the demonstration prints keys that everybody may use. Then choose buy or sell. Post-only orders wait in the book.",
    },
    {
        panel: "blotter-panel",
        title: "See it in the queue",
        text: "Open orders are listed here, with what trades before them, and marked in the ladder and in the heatmap. Click your order in the ladder, or cancel it here.",
    },
    {
        panel: "heatmap-panel",
        title: "Go back in time",
        text: "Drag the heatmap to the right to see what was. The button live, or the key End, brings you back.",
    },
];
const seenKey = "corro-tour-seen";

export class Tour {
    private readonly dialog = byId<HTMLDialogElement>("tour-dialog");
    private step = 0;

    constructor() {
        byId("tour").addEventListener("click", () => this.begin());
        byId("tour-next").addEventListener("click", () => this.next());
        this.dialog.addEventListener("close", () => this.mark(null));
        if (localStorage.getItem(seenKey) === null) this.begin();
        localStorage.setItem(seenKey, "yes");
    }

    private begin(): void {
        this.step = -1;
        this.dialog.show();
        this.next();
    }

    private next(): void {
        // A run has no ticket.
        do ++this.step;
        while (this.step < steps.length && byId(steps[this.step]!.panel).offsetParent === null);
        const step = steps[this.step];
        if (step === undefined) {
            this.dialog.close();
            return;
        }
        setText(byId("tour-title"), step.title);
        setText(byId("tour-text"), step.text);
        setText(byId("tour-next"), this.step + 1 === steps.length ? "done" : "next");
        this.mark(step.panel);
    }

    private mark(panel: string | null): void {
        for (const each of document.querySelectorAll("section")) each.classList.toggle("shown", each.id === panel);
        if (panel !== null) byId(panel).scrollIntoView({ block: "nearest" });
    }
}
