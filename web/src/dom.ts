// SPDX-License-Identifier: Apache-2.0
// The few things that every panel does with the page.

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
    const found = document.getElementById(id);
    if (found === null) throw new Error(`the page has no #${id}`);
    return found as T;
}

export function element<K extends keyof HTMLElementTagNameMap>(
    name: K,
    attributes: Record<string, string> = {},
    ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
}

/** Writes a text only when it differs: the browser then has nothing to lay out again. */
export function setText(into: HTMLElement, text: string): void {
    if (into.textContent !== text) into.textContent = text;
}

export function setClass(of: HTMLElement, text: string): void {
    if (of.className !== text) of.className = text;
}

export function button(text: string, onClick: () => void, label?: string): HTMLButtonElement {
    const made = element("button", { type: "button", ...(label === undefined ? {} : { "aria-label": label }) }, text);
    made.addEventListener("click", onClick);
    return made;
}

/** Read by screen readers, and shown for a while. */
export function announce(text: string, kind: "good" | "bad" = "good"): void {
    const notes = byId("notes");
    const note = element("p", { class: kind }, text);
    notes.append(note);
    while (notes.childElementCount > 4) notes.firstElementChild!.remove();
    setTimeout(() => note.remove(), 8000);
}
