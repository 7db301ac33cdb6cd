// Hundreds of sockets on one tenant, and now and then one on a neighbour, to see that it notices nothing.

import { openSocket } from "./api.js";

/** Chrome keeps 255 sockets of all its pages together; beyond this the oldest goes. */
const MOST_OPEN = 200;
/** One attempt on the neighbour for so many on the tenant. */
const PROBE_EVERY = 25;
/** How long what was let in stays open, so that it can be seen. */
const HOLD_MS = 10_000;

/** A handshake: "admitted", "refused", or "other" if nobody knows why it failed. */
class Visitor {
  constructor(sessions, webSocketUrl, tenantId) {
    this.sessions = sessions;
    this.webSocketUrl = webSocketUrl;
    this.tenantId = tenantId;
    this.used = 0;
    this.room = 0;
    this.refusedUntil = 0;
  }

  /** Opens a socket; a session takes so many as its limits allow, and then there is another. */
  async knock() {
    if (this.used >= this.room) {
      await this.#newSession();
    }
    try {
      const socket = await openSocket(this.webSocketUrl, this.tenantId, this.sessionId);
      this.used++;
      return { outcome: "admitted", socket };
    } catch {
      return { outcome: await this.#why() };
    }
  }

  async #newSession() {
    const { sessionId } = await this.sessions.create(this.tenantId);
    const { limits } = await this.sessions.show(this.tenantId, sessionId);
    this.sessionId = sessionId;
    this.used = 0;
    this.room = Math.min(limits.connectionsPerSession, limits.sessionPerMinute);
    this.refusedUntil = 0;
  }

  /** Asks once, and not again before what was told is over. */
  async #why() {
    if (performance.now() < this.refusedUntil) {
      return "refused";
    }
    const { admission } = await this.sessions.show(this.tenantId, this.sessionId);
    if (admission.admitted) {
      return "other";
    }
    this.refusedUntil = performance.now() + (admission.retryAfterSeconds ?? 2) * 1000;
    return "refused";
  }
}

/** A storm, which tells of itself by `onchange`. */
export class Storm {
  #open = [];
  #stopped = false;
  #wake = () => {};

  constructor({ sessions, webSocketUrl, tenantId, neighbourId, attempts, onchange }) {
    this.tenantId = tenantId;
    this.neighbourId = neighbourId;
    this.attempts = attempts;
    this.phase = "opening";
    this.counts = { admitted: 0, refused: 0, other: 0 };
    this.neighbour = { admitted: 0, refused: 0, other: 0 };
    this.tenant = new Visitor(sessions, webSocketUrl, tenantId);
    this.neighbourVisitor = neighbourId && new Visitor(sessions, webSocketUrl, neighbourId);
    this.onchange = onchange;
  }

  get tried() {
    return this.counts.admitted + this.counts.refused + this.counts.other;
  }

  get open() {
    return this.#open.filter((socket) => socket.readyState === WebSocket.OPEN).length;
  }

  /** Runs until all was tried, or it is stopped; whatever happens, what is open is closed. */
  async run() {
    try {
      while (!this.#stopped && this.tried < this.attempts) {
        if (this.neighbourVisitor && this.tried % PROBE_EVERY === 0) {
          await this.#probe();
        }
        const { outcome, socket } = await this.tenant.knock();
        this.counts[outcome]++;
        if (socket) {
          this.#keep(socket);
        }
        this.onchange();
      }
      await this.#hold();
    } finally {
      this.phase = this.#stopped ? "stopped" : "done";
      this.#open.splice(0).forEach((socket) => socket.close(1000));
      this.onchange();
    }
  }

  stop() {
    this.#stopped = true;
    this.#wake();
  }

  async #probe() {
    const { outcome, socket } = await this.neighbourVisitor.knock();
    this.neighbour[outcome]++;
    socket?.close(1000);
  }

  #keep(socket) {
    this.#open.push(socket);
    if (this.#open.length > MOST_OPEN) {
      this.#open.shift().close(1000);
    }
  }

  async #hold() {
    if (this.#stopped || this.open === 0) {
      return;
    }
    this.phase = "holding";
    this.onchange();
    await new Promise((resolve) => {
      this.#wake = resolve;
      setTimeout(resolve, HOLD_MS);
    });
  }
}
