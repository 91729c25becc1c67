// A session with the server over its web socket: requests, notifications, and a new session when the server is back.

/** Requests that may wait for an answer; more are refused here. */
const LIMIT = 1000;
const DELAYS = [250, 500, 1000, 2000, 4000];

export class RefusedError extends Error {
  constructor(error) {
    super(error.message);
    this.kind = error.data?.kind;
    this.code = error.code;
  }
}

export class Connection {
  #token = location.pathname.split("/")[1];
  #socket = null;
  #pending = new Map();
  #id = 0;
  #attempts = 0;

  /**
   * @param onOpen called with the answer to `initialize` for each session; may be asynchronous.
   * @param onClosed called with a text for people whenever a session ends or none can be had.
   * @param onNotification called with the name and the params of each notification.
   */
  constructor({ onOpen, onClosed, onNotification }) {
    Object.assign(this, { onOpen, onClosed, onNotification });
    this.#connect();
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Number of requests without an answer. */
  get waiting() {
    return this.#pending.size;
  }

  /** The result of a method. Rejects with a RefusedError, or with another Error where the session ends. */
  call(method, params = {}, signal = undefined) {
    if (!this.isOpen) return Promise.reject(new Error("there is no connection"));
    if (this.#pending.size >= LIMIT) return Promise.reject(new Error("too many requests wait"));
    const id = ++this.#id;
    return new Promise((resolve, reject) => {
      const cancel = () => this.#send({ jsonrpc: "2.0", method: "$/cancelRequest", params: { id } });
      const forget = () => signal?.removeEventListener("abort", cancel);
      this.#pending.set(id, { resolve, reject, forget });
      signal?.addEventListener("abort", cancel, { once: true });
      this.#send({ jsonrpc: "2.0", id, method, params });
    });
  }

  #send(message) {
    if (this.isOpen) this.#socket.send(JSON.stringify(message));
  }

  #connect() {
    const socket = (this.#socket = new WebSocket(`ws://${location.host}/?token=${this.#token}`));
    socket.onopen = async () => {
      try {
        const answer = await this.call("initialize", { clientInfo: { name: "preview" }, strict: true });
        this.#send({ jsonrpc: "2.0", method: "initialized", params: {} });
        this.#attempts = 0;
        await this.onOpen(answer);
      } catch (error) {
        console.error(error);
        this.onClosed(`The page cannot follow the model: ${error.message}`);
      }
    };
    socket.onmessage = ({ data }) => this.#received(JSON.parse(data));
    socket.onclose = () => this.#closed();
  }

  #received(message) {
    if (message.id === undefined || message.method !== undefined) {
      if (message.method !== undefined) this.onNotification(message.method, message.params);
      return;
    }
    const waiting = this.#pending.get(message.id);
    if (waiting === undefined) return;
    this.#pending.delete(message.id);
    waiting.forget();
    if (message.error) waiting.reject(new RefusedError(message.error));
    else waiting.resolve(message.result);
  }

  /** Connects again, but only to a server that knows the token: somebody else may have the port meanwhile, and shall not learn it. */
  async #again() {
    const nonce = crypto.randomUUID(), text = new TextEncoder().encode(`${nonce}:${location.port}:${this.#token}`);
    try {
      const [answer, digest] = await Promise.all([fetch(`/proof/${nonce}`).then((found) => found.text()), crypto.subtle.digest("SHA-256", text)]);
      const proof = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
      if (answer === proof) return this.#connect();
    } catch {
      // Nobody is there.
    }
    this.#later();
  }

  #later() {
    setTimeout(() => this.#again(), DELAYS[Math.min(this.#attempts++, DELAYS.length - 1)]);
  }

  #closed() {
    for (const waiting of this.#pending.values()) {
      waiting.forget();
      waiting.reject(new Error("the connection has ended"));
    }
    this.#pending.clear();
    this.onClosed("The server has ended or cannot be reached. The page goes on when it is back.");
    this.#later();
  }
}
