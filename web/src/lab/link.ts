// SPDX-License-Identifier: Apache-2.0
// Links to a moment of a run: scenario, seed, time, number of commands, digest of the commands. Scenario and seed give
// the same market again; the digest proves it.

import { type Now, type Terms } from "./api";

export interface Moment {
    scenario: string;
    seed: number;
    timeNs: number;
    commands: number;
    digest: string;
}

/** What follows the path of the page. */
export function linkTo(terms: Terms, now: Now): string {
    const { scenario, seed } = terms;
    const parts = { scenario, seed, time_ns: now.time_ns, command: now.commands, digest: now.digest };
    return `#${new URLSearchParams(Object.entries(parts).map(([name, value]) => [name, String(value)]))}`;
}

/** Null when the address has no moment. */
export function momentOf(hash: string): Moment | null {
    const given = new URLSearchParams(hash.slice(1));
    const number = (name: string) => (given.has(name) ? Number(given.get(name)) : NaN);
    const moment = {
        scenario: given.get("scenario") ?? "",
        seed: number("seed"),
        timeNs: number("time_ns"),
        commands: number("command"),
        digest: given.get("digest") ?? "",
    };
    return Number.isSafeInteger(moment.seed) && Number.isSafeInteger(moment.timeNs) ? moment : null;
}

/** Sentences; empty when the market is at the moment of the link. */
export function differenceOf(wanted: Moment, scenario: string, there: Now): string {
    if (there.digest === wanted.digest && there.time_ns === wanted.timeNs) return "";
    if (scenario !== wanted.scenario) {
        return `The link is of the scenario ${wanted.scenario}; this laboratory runs ${scenario}.`;
    }
    return (
        `This is another market than the link's: ${there.commands} commands with digest ${there.digest} instead of ` +
        `${wanted.commands} with ${wanted.digest}. The scenario has other changes, or another version.`
    );
}
