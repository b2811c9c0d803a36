// JSON-RPC over a WebSocket that comes back when it is lost. Who is silent for long is lost, too.

export class CallError extends Error {
    constructor(
        readonly code: number,
        message: string,
        readonly reason: string,
    ) {
        super(reason === "" ? message : `${message}: ${reason}`);
    }
}

export type ConnectionState = "connecting" | "open" | "lost";

interface Waiting {
    resolve: (result: any) => void;
    reject: (error: CallError) => void;
    sent: number;
    method: string;
}

const heartbeatSeconds = 10;
/** Two heartbeats and a half. */
const silenceMax = 25_000;
const retryFirst = 250;
const retryMax = 4_000;

export class Connection {
    state: ConnectionState = "connecting";
    bytes = 0;
    messages = 0;
    /** Called with the method, and the milliseconds from the request to its answer: seen from here, and within the API. */
    onAnswered: (method: string, milliseconds: number, withinApi: number) => void = () => {};
    private socket: WebSocket | null = null;
    private nextId = 1;
    private retry = retryFirst;
    private heard = 0;
    private readonly waiting = new Map<number, Waiting>();
    private readonly channels = new Map<string, (data: any) => void>();
    private readonly stateListeners: ((state: ConnectionState) => void)[] = [];

    constructor(private readonly url: string) {
        setInterval(() => {
            if (this.socket !== null && performance.now() - this.heard > silenceMax) this.socket.close();
        }, 1000);
    }

    onState(listener: (state: ConnectionState) => void): void {
        this.stateListeners.push(listener);
    }

    open(): void {
        const socket = new WebSocket(this.url);
        this.socket = socket;
        this.heard = performance.now();
        socket.onopen = () => {
            this.retry = retryFirst;
            this.enter("open");
            this.call("public/set_heartbeat", { interval: heartbeatSeconds }).catch(() => {});
        };
        socket.onmessage = (event) => this.take(event.data as string);
        socket.onclose = () => {
            this.socket = null;
            this.channels.clear();
            const lost = [...this.waiting.values()];
            this.waiting.clear();
            for (const each of lost) each.reject(new CallError(0, "the connection was lost", ""));
            this.enter("lost");
            setTimeout(() => this.open(), this.retry * (0.75 + Math.random() / 2));
            this.retry = Math.min(2 * this.retry, retryMax);
        };
    }

    call(method: string, params: object = {}): Promise<any> {
        if (this.socket?.readyState !== WebSocket.OPEN) return Promise.reject(new CallError(0, "not connected", ""));
        const id = this.nextId++;
        this.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
        return new Promise((resolve, reject) => {
            this.waiting.set(id, { resolve, reject, sent: performance.now(), method });
        });
    }

    /** Calls `listener` with the data of each message of the channels, from the subscription on. */
    async subscribe(channels: string | string[], listener: (data: any) => void, scope: "public" | "private" = "public"): Promise<void> {
        const names = [channels].flat();
        for (const name of names) this.channels.set(name, listener);
        await this.call(`${scope}/subscribe`, { channels: names });
    }

    unsubscribe(channel: string): void {
        this.channels.delete(channel);
        this.call("public/unsubscribe", { channels: [channel] }).catch(() => {});
    }

    private enter(state: ConnectionState): void {
        this.state = state;
        for (const listener of this.stateListeners) listener(state);
    }

    private take(text: string): void {
        this.heard = performance.now();
        this.bytes += text.length;
        ++this.messages;
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
        this.onAnswered(waiting.method, this.heard - waiting.sent, message.usDiff / 1000);
        if (message.error === undefined) {
            waiting.resolve(message.result);
        } else {
            const { code, message: words, data } = message.error;
            waiting.reject(new CallError(code, words, data?.reason ?? data?.param ?? ""));
        }
    }
}
