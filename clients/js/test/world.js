// A clock that tests move, and a server that plays Tollgate's part on it.

/** A stopwatch and its timers. It begins at a random reading, as `performance.now()` does. */
export class ManualClock {
  #now;
  #timers = new Map();
  #next = 1;
  #skewMillis;

  constructor({ start = 12_345.6, skewMillis = 0 } = {}) {
    this.#now = start;
    this.#skewMillis = skewMillis;
  }

  get timers() {
    return this.#timers.size;
  }

  now() {
    return this.#now;
  }

  /** The time of day of a machine whose clock is wrong. */
  date() {
    return new Date(this.serverTime() + this.#skewMillis);
  }

  serverTime() {
    return Date.UTC(2026, 2, 12, 9) + this.#now;
  }

  setTimeout(action, millis) {
    this.#timers.set(this.#next, { at: this.#now + Math.max(0, millis), action });
    return this.#next++;
  }

  clearTimeout(timer) {
    this.#timers.delete(timer);
  }

  /** Lets time pass: each timer that comes due runs, and what follows from it. */
  async advance(millis) {
    const end = this.#now + millis;
    await settle();
    for (;;) {
      let due;
      for (const [id, { at }] of this.#timers) {
        if (at <= end && (due === undefined || at < this.#timers.get(due).at)) {
          due = id;
        }
      }
      if (due === undefined) {
        break;
      }
      const { at, action } = this.#timers.get(due);
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, at);
      action();
      await settle();
    }
    this.#now = end;
  }
}

/** Lets all promises settle that wait for nothing but each other. */
export const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Mulberry32: a random number generator with a seed. */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export const LIMITS = {
  tenantPerMinute: 30, sessionPerMinute: 60, connectionsPerSession: 2, tenantConnections: 100, sessionTTL: 300,
  messagesPerMinute: 6000, sessionLifetime: 86400, sessionsPerSubject: 10,
};

/**
 * A server with one tenant, `acme`. It answers after `latency()` milliseconds. `fault(kind)` says whether a fault strikes: `http`
 * (500), `lost` (no answer), `handshake` (refused without a reason), `unavailable`, `drop` (the socket, instead of an answer).
 */
export class Server {
  /** What clients did: `{at, what, …}`. */
  log = [];
  /** How often each message was processed, by session and id. */
  processed = new Map();
  /** The order in which messages were processed. */
  order = [];
  sessions = new Map();
  sockets = new Set();
  limits = { ...LIMITS };
  suspended = false;
  grace = 2_000;
  /** Tokens in the `connect` bucket; they come back at `tenantPerMinute`. */
  tokens = 30;
  messageTokens = Infinity;
  replies = true;
  silent = false;
  /** Milliseconds for which the queue holds a message. */
  backlog = 0;
  issued = 0;

  constructor({ clock, latency = () => 20, fault = () => false }) {
    this.clock = clock;
    this.latency = latency;
    this.fault = fault;
    this.nextSlot = -Infinity;
    this.fetch = this.#fetch.bind(this);
    const server = this;
    this.WebSocket = class extends FakeSocket {
      constructor(url) {
        super(server, url);
      }
    };
  }

  count(what) {
    return this.log.filter((entry) => entry.what === what).length;
  }

  note(what, rest = {}) {
    this.log.push({ at: this.clock.now(), what, ...rest });
  }

  later(action, millis = this.latency()) {
    this.clock.setTimeout(action, millis);
  }

  // The session API

  #fetch(url, { method, headers, signal }) {
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("aborted")));
      this.later(() => {
        if (this.fault("lost")) {
          this.note(method, { status: 0 });
          this.later(() => reject(new TypeError("network")), 1000);
          return;
        }
        const query = new URL(url).searchParams;
        const answer = this.fault("http")
          ? [500, { message: "Internal Server Error" }]
          : (this.answer?.(method, query, headers) ?? this.#answer(method, query.get("tenantId"), query.get("sessionId")));
        const [status, body, fields = {}] = answer;
        this.note(method, { status, sessionId: query.get("sessionId") });
        const response = new Response(status === 204 ? null : JSON.stringify(body), {
          status,
          headers: { "content-type": status < 300 ? "application/json" : "application/problem+json", ...fields },
        });
        this.later(() => resolve(response));
      });
    });
  }

  #answer(method, tenantId, sessionId) {
    if (tenantId !== "acme") {
      return [404, problem("not-found", 404)];
    }
    if (method === "PUT" && this.suspended) {
      return [403, problem("suspended", 403)];
    }
    if (method === "PUT" && !sessionId) {
      const session = { sessionId: (++this.issued).toString(16).padStart(32, "0"), open: new Set(), slot: undefined };
      this.sessions.set(session.sessionId, session);
      this.use(session);
      return [201, this.#document(session)];
    }
    const session = this.live(sessionId);
    if (!session) {
      return [404, problem("not-found", 404)];
    }
    if (method === "PUT") {
      this.use(session);
      return [200, this.#document(session)];
    }
    if (method === "DELETE") {
      this.end(session);
      return [204];
    }
    return [200, { ...this.#document(session), limits: this.limits, admission: this.#admission(session) }];
  }

  #document({ sessionId, endsAt }) {
    return {
      tenantId: "acme", sessionId, expiresAt: this.#instant(endsAt), webSocketUrl: "ws://server/production",
    };
  }

  #instant(at) {
    return new Date(this.clock.serverTime() + at - this.clock.now()).toISOString();
  }

  #admission(session) {
    const now = this.clock.now();
    const refused = (reason, at, rest) => ({
      admitted: false, reason, detail: reason,
      ...(at === undefined ? {} : { retryAfterSeconds: Math.ceil((at - now) / 1000), nextAttemptAt: this.#instant(at) }),
      ...rest,
    });
    if (this.suspended) {
      return refused("SUSPENDED");
    }
    if (session.open.size >= this.limits.connectionsPerSession) {
      return refused("SESSION_CONNECTIONS");
    }
    const slot = this.#slotOf(session) ?? (this.#lineIsLive() ? this.nextSlot : undefined);
    if (slot !== undefined && slot > now) {
      return refused("TENANT_RATE", slot, {
        ahead: [...this.sessions.values()].filter((other) => other.slot > now && other.slot < slot).length,
      });
    }
    return { admitted: true };
  }

  /** The session, unless it is over. */
  live(sessionId) {
    const session = this.sessions.get(sessionId);
    if (session && session.endsAt <= this.clock.now()) {
      this.end(session);
      return undefined;
    }
    return session;
  }

  use(session) {
    session.endsAt = this.clock.now() + this.limits.sessionTTL * 1000;
  }

  end(session) {
    this.sessions.delete(session.sessionId);
    [...session.open].forEach((socket) => this.drop(socket, 1000));
  }

  // The line

  get #interval() {
    return 60_000 / this.limits.tenantPerMinute;
  }

  #lineIsLive() {
    return this.nextSlot - this.#interval + this.grace > this.clock.now();
  }

  #slotOf(session) {
    return session.slot !== undefined && session.slot + this.grace > this.clock.now() ? session.slot : undefined;
  }

  /** Whether a handshake of the session gets a token. */
  #takesToken(session) {
    const now = this.clock.now();
    const slot = this.#slotOf(session);
    if (slot !== undefined && slot <= now) {
      session.slot = undefined;
      return true;
    }
    if (slot === undefined && !this.#lineIsLive() && this.tokens > 0) {
      this.tokens--;
      return true;
    }
    if (slot === undefined) {
      session.slot = Math.max(this.nextSlot, now + this.#interval);
      this.nextSlot = session.slot + this.#interval;
      session.endsAt = Math.max(session.endsAt, session.slot + 30_000);
    }
    return false;
  }

  // Sockets

  shake(socket, sessionId) {
    const session = this.live(sessionId);
    const status = this.fault("handshake") ? 500
      : !session || this.suspended ? 403
      : session.open.size >= this.limits.connectionsPerSession || !this.#takesToken(session) ? 429 : 101;
    this.note("handshake", { status, sessionId, slot: session?.slot });
    if (status !== 101) {
      socket.ended(1006);
      return;
    }
    this.use(session);
    session.open.add(socket);
    this.sockets.add(socket);
    socket.session = session;
    socket.opened();
  }

  /** Closes a socket from the server's side, or because the network fails. */
  drop(socket, code = 1006) {
    this.gone(socket);
    socket.ended(code);
  }

  gone(socket) {
    socket.session?.open.delete(socket);
    this.sockets.delete(socket);
  }

  receive(socket, text) {
    if (this.silent || !this.sockets.has(socket)) {
      return;
    }
    const frame = JSON.parse(text);
    if (!["PooledSQS", "SiloSQS"].includes(frame.action)) {
      this.note("heartbeat");
      socket.receive({ type: "error", code: "BAD_FRAME", detail: "not understood" });
    } else if (frame.action === "SiloSQS") {
      socket.receive({ type: "error", code: "NOT_SILO", detail: "no queue of its own" });
    } else if (this.fault("unavailable")) {
      socket.receive({ type: "error", code: "UNAVAILABLE", detail: "again" });
    } else {
      this.note("frame", { id: frame.id, sessionId: socket.session.sessionId });
      const lost = this.fault("drop");
      this.later(() => this.#process(socket, frame), socket.inOrder());
      if (lost) {
        this.drop(socket);
      } else {
        socket.receive({ type: "accepted", id: frame.id });
      }
    }
  }

  #process(socket, frame) {
    const name = `${socket.session.sessionId}/${frame.id}`;
    if (this.processed.has(name)) {
      return;
    }
    if (this.messageTokens < 1) {
      this.note("throttled", { id: frame.id });
      socket.receive({ type: "error", id: frame.id, code: "THROTTLED", detail: "over", retryAfterSeconds: 7 });
      return;
    }
    this.messageTokens--;
    this.processed.set(name, (this.processed.get(name) ?? 0) + 1);
    this.order.push(frame.message);
    this.use(socket.session);
    if (this.replies) {
      [...socket.session.open].forEach((each) => each.receive({ type: "reply", id: frame.id, message: frame.message }));
    }
  }
}

const problem = (type, status) => ({ type: `urn:tollgate:problem:${type}`, title: type, status, detail: type });

/** A WebSocket whose other end is a `Server`. Frames keep their order. */
class FakeSocket {
  readyState = 0;
  #listeners = { open: [], message: [], close: [], error: [] };
  #upAt = 0;
  #downAt = 0;

  constructor(server, url) {
    this.server = server;
    server.later(() => server.shake(this, new URL(url).searchParams.get("sessionId")));
  }

  addEventListener(type, listener) {
    this.#listeners[type].push(listener);
  }

  #dispatch(type, event = {}) {
    this.#listeners[type].forEach((listener) => listener(event));
  }

  opened() {
    if (this.readyState === 0) {
      this.readyState = 1;
      this.#dispatch("open");
    } else {
      this.server.gone(this);
    }
  }

  ended(code) {
    if (this.readyState < 3) {
      const wasOpen = this.readyState === 1;
      this.readyState = 3;
      if (!wasOpen) {
        this.#dispatch("error", { message: "handshake" });
      }
      this.#dispatch("close", { code });
    }
  }

  send(text) {
    if (this.readyState === 0) {
      throw new Error("InvalidStateError");
    }
    if (this.readyState === 1) {
      const { clock } = this.server;
      this.#upAt = Math.max(this.#upAt, clock.now() + this.server.latency());
      this.server.later(() => this.server.receive(this, text), this.#upAt - clock.now());
    }
  }

  /** Milliseconds after which the next step of this socket's messages is due, so that they stay in order. */
  inOrder() {
    const { clock } = this.server;
    this.processAt = Math.max(this.processAt ?? 0, clock.now() + this.server.latency() + this.server.backlog);
    return this.processAt - clock.now();
  }

  /** The server sends a frame. */
  receive(frame) {
    const { clock } = this.server;
    this.#downAt = Math.max(this.#downAt, clock.now() + this.server.latency());
    this.server.later(() => {
      if (this.readyState === 1 && this.server.sockets.has(this)) {
        this.#dispatch("message", { data: JSON.stringify(frame) });
      }
    }, this.#downAt - clock.now());
  }

  close(code) {
    if (this.readyState < 2) {
      this.readyState = 2;
      this.server.gone(this);
      this.server.later(() => this.ended(code ?? 1006));
    }
  }
}
