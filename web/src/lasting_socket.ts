// SPDX-License-Identifier: Apache-2.0
// A WebSocket that comes back when it is lost. One that is silent for too long is lost, too.

const retryFirst = 250;
const retryMax = 4_000;

export interface SocketEvents {
    onOpen(): void;
    onMessage(data: string | ArrayBuffer): void;
    onLost(): void;
}

export class LastingSocket {
    bytes = 0;
    private socket: WebSocket | null = null;
    private retry = retryFirst;
    private heard = 0;
    private isEnded = false;
    private readonly watch: number;

    constructor(
        private readonly url: string,
        private readonly events: SocketEvents,
        silenceMax: number,
    ) {
        this.watch = window.setInterval(() => {
            if (this.socket !== null && performance.now() - this.heard > silenceMax) this.socket.close();
        }, 500);
    }

    open(): void {
        if (this.isEnded) return;
        const socket = new WebSocket(this.url);
        socket.binaryType = "arraybuffer";
        this.socket = socket;
        this.heard = performance.now();
        socket.onopen = () => {
            if (this.isEnded) return;
            this.retry = retryFirst;
            this.events.onOpen();
        };
        socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
            if (this.isEnded) return;
            this.heard = performance.now();
            this.bytes += typeof data === "string" ? data.length : data.byteLength;
            this.events.onMessage(data);
        };
        socket.onclose = () => {
            this.socket = null;
            if (this.isEnded) return;
            this.events.onLost();
            setTimeout(() => this.open(), this.retry * (0.75 + Math.random() / 2));
            this.retry = Math.min(2 * this.retry, retryMax);
        };
    }

    /** Nothing comes after it. */
    end(): void {
        this.isEnded = true;
        clearInterval(this.watch);
        this.socket?.close();
    }

    /** False without a connection. */
    send(text: string): boolean {
        if (this.socket?.readyState !== WebSocket.OPEN) return false;
        this.socket.send(text);
        return true;
    }
}

/** The address of a path of the server that the page is from. */
export function socketUrl(path: string): string {
    return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
}
