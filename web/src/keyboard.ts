// SPDX-License-Identifier: Apache-2.0
// Keys, one table for what they do and for the help.

import { byId, element } from "./dom";

export interface Key {
    /** As `KeyboardEvent.key` has it. */
    readonly key: string;
    readonly name?: string;
    readonly what: string;
    readonly does: () => void;
}

export function bindKeys(keys: readonly Key[]): void {
    for (const each of keys) {
        byId("keys").append(
            element("tr", {}, element("td", {}, element("kbd", {}, each.name ?? each.key)), element("td", {}, each.what)),
        );
    }
    document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if ((event.target as Element).closest("input, select, textarea, dialog")) return;
        const found = keys.find((each) => each.key === event.key);
        if (found === undefined || (event.key === " " && (event.target as Element).closest("button"))) return;
        event.preventDefault();
        found.does();
    });
}
