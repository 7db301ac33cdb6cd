// Opens hundreds of sockets of one tenant and a few of a neighbour, to show that the neighbour is not affected.

import { openSocket } from "./sessions.js";

/** Chrome allows 255 sockets for all pages together. Above this number the oldest one is closed. */
const MAX_OPEN = 200;
/** The number of the tenant's attempts for each attempt of the neighbour. */
const PROBE_EVERY = 25;
/** How long the admitted sockets stay open, so that the page can show them. */
const HOLD_MS = 10_000;

/** Opens sockets of a tenant. An attempt is "admitted", "refused", or "other" if its reason is unknown. */
class Client {
  constructor(sessions, webSocketUrl, tenantId) {
    this.sessions = sessions;
    this.webSocketUrl = webSocketUrl;
    this.tenantId = tenantId;
    this.used = 0;
    this.room = 0;
    this.refusedUntil = 0;
  }

  /** Opens a socket. When a session has reached its limits, the next socket gets a new session. */
  async attempt() {
    if (this.used >= this.room) {
      await this.#newSession();
    }
    try {
      const socket = await openSocket(this.webSocketUrl, this.tenantId, this.sessionId);
      this.used++;
      return { outcome: "admitted", socket };
    } catch {
      return { outcome: await this.#outcome() };
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

  /** Asks for the reason once, and again only after the time of the next attempt. */
  async #outcome() {
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

/** A storm. It calls `onchange` after each change of its state. */
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
    this.tenant = new Client(sessions, webSocketUrl, tenantId);
    this.neighbourClient = neighbourId && new Client(sessions, webSocketUrl, neighbourId);
    this.onchange = onchange;
  }

  get attempted() {
    return this.counts.admitted + this.counts.refused + this.counts.other;
  }

  get open() {
    return this.#open.filter((socket) => socket.readyState === WebSocket.OPEN).length;
  }

  /** Runs until all sockets were attempted or the storm is stopped, and then closes the open sockets. */
  async run() {
    try {
      while (!this.#stopped && this.attempted < this.attempts) {
        if (this.neighbourClient && this.attempted % PROBE_EVERY === 0) {
          await this.#probe();
        }
        const { outcome, socket } = await this.tenant.attempt();
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
    const { outcome, socket } = await this.neighbourClient.attempt();
    this.neighbour[outcome]++;
    socket?.close(1000);
  }

  #keep(socket) {
    this.#open.push(socket);
    if (this.#open.length > MAX_OPEN) {
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
