// SPDX-License-Identifier: Apache-2.0
// JSON-RPC over a WebSocket.

import { LastingSocket, socketUrl } from "./lasting_socket";

export class CallError extends Error {
    constructor(
        readonly code: number,
        message: string,
        readonly reason: string,
    ) {
        super(reason === "" ? message : `${message}: ${reason}`);
    }
}

/** The code of an error that the API has not sent. */
export const noConnection = 0;

export type ConnectionState = "connecting" | "open" | "lost";

interface Waiting {
    resolve: (result: any) => void;
    reject: (error: CallError) => void;
    sent: number;
    method: string;
}

const heartbeatSeconds = 10;
const silenceMax = 25_000;

export class Connection {
    state: ConnectionState = "connecting";
    /** Called with the method, and the milliseconds from the request to its answer: seen from here, and within the API. */
    onAnswered: (method: string, milliseconds: number, withinApi: number) => void = () => {};
    /** The API's clock less the clock of this machine, in milliseconds, as the last answer had it. */
    ahead = 0;
    private nextId = 1;
    private readonly socket: LastingSocket;
    private readonly waiting = new Map<number, Waiting>();
    private readonly channels = new Map<string, (data: any) => void>();
    private readonly stateListeners: ((state: ConnectionState) => void)[] = [];

    constructor() {
        this.socket = new LastingSocket(
            socketUrl("/ws/api/v2"),
            {
                onOpen: () => {
                    this.enter("open");
                    this.call("public/set_heartbeat", { interval: heartbeatSeconds }).catch(() => {});
                },
                onMessage: (data) => this.take(data as string),
                onLost: () => this.lose(),
            },
            silenceMax,
        );
    }

    open(): void {
        this.socket.open();
    }

    get bytes(): number {
        return this.socket.bytes;
    }

    onState(listener: (state: ConnectionState) => void): void {
        this.stateListeners.push(listener);
    }

    call(method: string, params: object = {}): Promise<any> {
        const id = this.nextId++;
        if (!this.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }))) {
            return Promise.reject(new CallError(noConnection, "not connected", ""));
        }
        return new Promise((resolve, reject) => {
            this.waiting.set(id, { resolve, reject, sent: performance.now(), method });
        });
    }

    /** Calls `listener` with the data of each message of the channels, from the subscription on. */
    async subscribe(channels: string[], listener: (data: any) => void, scope: "public" | "private" = "public"): Promise<void> {
        for (const name of channels) this.channels.set(name, listener);
        await this.call(`${scope}/subscribe`, { channels });
    }

    /** Ends channels; a message that is under way is for no one. */
    async unsubscribe(channels: string[]): Promise<void> {
        for (const name of channels) this.channels.delete(name);
        await this.call("public/unsubscribe", { channels });
    }

    private lose(): void {
        this.channels.clear();
        const lost = [...this.waiting.values()];
        this.waiting.clear();
        for (const each of lost) each.reject(new CallError(noConnection, "the connection was lost", ""));
        this.enter("lost");
    }

    private enter(state: ConnectionState): void {
        this.state = state;
        for (const listener of this.stateListeners) listener(state);
    }

    private take(text: string): void {
        const message = JSON.parse(text);
        if (message.method === "subscription") {
            this.channels.get(message.params.channel)?.(message.params.data);
            return;
        }
        if (message.method === "heartbeat") {
            if (message.params.type === "test_request") this.call("public/test").catch(() => {});
            return;
        }
        const waiting = this.waiting.get(message.id);
        if (waiting === undefined) return;
        this.waiting.delete(message.id);
        this.ahead = message.usOut / 1000 - Date.now();
        this.onAnswered(waiting.method, performance.now() - waiting.sent, message.usDiff / 1000);
        if (message.error === undefined) {
            waiting.resolve(message.result);
        } else {
            const { code, message: words, data } = message.error;
            waiting.reject(new CallError(code, words, data?.reason ?? data?.param ?? ""));
        }
    }
}
