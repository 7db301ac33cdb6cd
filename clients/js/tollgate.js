// A client of Tollgate for browsers and Node: waits in line, reconnects, sends again. See docs/client-protocol.md.

import { TollgateError } from "./error.js";
import { Outbox } from "./outbox.js";
import { CLOSE_WITHIN, SessionApi } from "./session.js";

export { TollgateError };

const HANDSHAKE_WITHIN = 30_000;
const FIRST_ATTEMPT_WITHIN = 1_000;
const MAX_BACK_OFF = 30_000;
/** A socket that was open for so long was no failure. */
const STABLE_AFTER = 10_000;
const HEARTBEAT_AFTER = 300_000;
const HEARTBEAT = JSON.stringify({ action: "Heartbeat" });
const ANSWER_WITHIN = 10_000;
/** A socket is replaced at a random age between these, because API Gateway closes it after two hours. */
const REPLACE_AFTER = [90 * 60_000, 110 * 60_000];
const POLL_AFTER = [5_000, 10_000];
const MAX_JITTER = 10_000;

const NORMAL = 1000;
const REFUSES_MESSAGE = [1003, 1009];

/** The longest delay of a timer, in milliseconds: a longer one would fire at once. */
const MAX_DELAY = 2 ** 31 - 1;

const systemClock = {
  now: () => performance.now(),
  date: () => new Date(),
  setTimeout: (action, millis) => setTimeout(action, Math.min(millis, MAX_DELAY)),
  clearTimeout: (timer) => clearTimeout(timer),
};

/** Opens a socket of this runtime. In Node it can be terminated, as those of the package `ws` can. */
function runtimeSocket(url) {
  const dispatcher = globalThis[Symbol.for("undici.globalDispatcher.1")];
  if (!dispatcher) {
    return new globalThis.WebSocket(url);
  }
  let connection;
  const noting = {
    dispatch(options, handler) {
      const upgrade = handler.onUpgrade;
      handler.onUpgrade = function (status, headers, upgraded) {
        connection = upgraded;
        return upgrade.call(this, status, headers, upgraded);
      };
      return dispatcher.dispatch(options, handler);
    },
  };
  return Object.assign(new globalThis.WebSocket(url, { dispatcher: noting }), { terminate: () => connection?.destroy() });
}

/** Connects to a tenant; see `Options` in `tollgate.d.ts`. */
export function connect(options) {
  return new Tollgate(options);
}

/**
 * One socket of one session, kept open.
 *
 * Its `state` is `connecting`, `waiting`, `open`, `reconnecting` or `closed`. Whatever it awaits, it first checks that nothing
 * else happened meanwhile: each change of state begins another `#turn`.
 */
export class Tollgate extends EventTarget {
  #options;
  #api;
  #outbox;
  #state = "connecting";
  #turn = 0;
  #timers = new Map();
  #failures = 0;
  #session;
  /** The answer to the request for a new session, while it is under way. */
  #creating;
  #limits;
  #socket;
  #opening;
  #heartbeatSent = false;
  #wait;
  #closedBecause = "";

  constructor(options) {
    super();
    this.#options = {
      clock: systemClock,
      random: Math.random,
      fetch: globalThis.fetch?.bind(globalThis),
      WebSocket: globalThis.WebSocket && runtimeSocket,
      newSession: true,
      queueLimit: 1000,
      ...options,
    };
    const { sessionId, webSocketUrl, sessionUrl, tenantId, timeout } = this.#options;
    if (!tenantId || !(sessionUrl || (sessionId && webSocketUrl))) {
      throw new TypeError("connect: tenantId is needed, and sessionUrl, or sessionId and webSocketUrl");
    }
    if (!this.#options.WebSocket) {
      throw new TypeError(
        "connect: this runtime has no WebSocket. Pass one as the option WebSocket, or run node --experimental-websocket");
    }
    this.#session = sessionId && { sessionId, webSocketUrl };
    this.#api = new SessionApi(this.#options);
    this.#outbox = new Outbox({
      clock: this.#options.clock,
      queueLimit: this.#options.queueLimit,
      timeout: timeout && timeout * 1000,
      backOff: (failures) => this.#backOff(failures),
      onRefused: (detail) => this.#emit("refused", detail),
      onSent: () => this.#beatLater(),
      onDead: () => this.#lost(),
    });
    // The caller adds its listeners first.
    queueMicrotask(() => this.#state === "connecting" && this.#connect());
  }

  get state() {
    return this.#state;
  }

  get sessionId() {
    return this.#session?.sessionId;
  }

  /** The tenant's limits, once they are known. */
  get limits() {
    return this.#limits;
  }

  /** The number of messages that are not answered. */
  get unanswered() {
    return this.#outbox.size;
  }

  /**
   * Sends a message, now or when there is a socket. The promise resolves to `{id}` when the server has queued the message; with
   * `{reply: true}`, to `{id, reply}` when the application has answered. Else it rejects with a `TollgateError`.
   */
  send(message, options) {
    const answered = this.#state === "closed"
      ? Promise.reject(new TollgateError("CLOSED", `The client is closed. ${this.#closedBecause}`.trim()))
      : this.#outbox.add(message, options);
    // Whoever ignores the promise has the event `refused`.
    answered.catch(() => {});
    return answered;
  }

  /** Closes the socket. The session stays, for a later client, unless `endSession` is true. */
  async close({ endSession = false } = {}) {
    const session = this.#session;
    const creating = endSession ? this.#creating : undefined;
    this.#close("closed", undefined, creating !== undefined);
    const giveUp = creating && this.#options.clock.setTimeout(() => this.#api.abort(), CLOSE_WITHIN);
    const created = await creating;
    this.#options.clock.clearTimeout(giveUp);
    const sessionId = session?.sessionId ?? created?.body?.sessionId;
    if (endSession && sessionId) {
      await this.#api.delete(sessionId);
    }
  }

  // Connecting

  async #connect() {
    const turn = this.#enter("connecting");
    if (turn !== this.#turn || this.#state === "closed") {
      return;
    }
    if (!this.#session?.webSocketUrl) {
      const request = this.#api.put(this.sessionId);
      this.#creating = this.sessionId ? undefined : request;
      const answer = await request;
      this.#creating = undefined;
      if (turn !== this.#turn) {
        return;
      }
      if (answer.kind !== "ok") {
        this.#notAnswered(answer);
        return;
      }
      const isNew = this.sessionId !== answer.body.sessionId;
      this.#session = answer.body;
      this.#emit("session", { tenantId: answer.body.tenantId, sessionId: this.sessionId, isNew });
      if (turn !== this.#turn) {
        return;
      }
    }
    const socket = await this.#handshake();
    if (turn !== this.#turn) {
      socket && this.#leave(socket);
    } else if (socket) {
      this.#opened(socket);
    } else {
      await this.#explain(turn);
    }
  }

  /** Closes a socket, and gives up waiting for the server's part of it where the runtime can. */
  #leave(socket) {
    const { clock } = this.#options;
    const timer = clock.setTimeout(() => socket.terminate?.(), CLOSE_WITHIN);
    socket.addEventListener("close", () => clock.clearTimeout(timer));
    socket.close(NORMAL);
  }

  /** Resolves to an open socket, or to undefined if the handshake is refused. */
  #handshake() {
    const { tenantId, WebSocket, clock } = this.#options;
    const query = new URLSearchParams({ tenantId, sessionId: this.sessionId });
    let socket;
    try {
      socket = new WebSocket(`${this.#session.webSocketUrl}?${query}`);
    } catch {
      // The page may open no such socket, or the address is none.
      return Promise.resolve(undefined);
    }
    this.#opening = socket;
    return new Promise((resolve) => {
      const done = (result) => {
        clock.clearTimeout(timer);
        if (this.#opening === socket) {
          this.#opening = undefined;
        }
        resolve(result);
      };
      const timer = clock.setTimeout(() => {
        done(undefined);
        socket.close();
      }, HANDSHAKE_WITHIN);
      socket.addEventListener("open", () => done(socket));
      // An error comes before each close without a handshake; Node ends the process if nobody listens for it.
      socket.addEventListener("error", () => done(undefined));
      socket.addEventListener("close", () => done(undefined));
    });
  }

  /**
   * Asks why the server refuses the connection, or why it closed it, and goes on accordingly.
   *
   * @param wasOpen whether the server closed the connection: then there is no place to wait at before another handshake
   */
  async #explain(turn, wasOpen = false) {
    const answer = await this.#show();
    if (turn !== this.#turn) {
      return;
    }
    const polls = this.#state === "waiting";
    const atLeast = wasOpen ? FIRST_ATTEMPT_WITHIN : 0;
    if (answer.kind === "again" && polls) {
      this.#poll(turn, this.#spread(answer.afterSeconds));
    } else if (answer.kind !== "ok") {
      this.#notAnswered(answer, atLeast);
    } else if (answer.body.admission.reason === "SUSPENDED") {
      this.#close("suspended", answer.body.admission.detail);
    } else if (answer.body.admission.admitted && polls) {
      this.#connect();
    } else if (answer.body.admission.admitted || wasOpen) {
      this.#retry(atLeast, wasOpen ? "The server closed the socket." : "The handshake failed.");
    } else {
      this.#waitFor(answer.body.admission);
    }
  }

  async #show() {
    const session = this.#session;
    const answer = await this.#api.get(session.sessionId);
    if (answer.kind === "ok" && session === this.#session && this.#state !== "closed") {
      this.#limits = answer.body.limits;
      if (!this.#timers.has("renew")) {
        this.#renewLater();
      }
    }
    return answer;
  }

  #notAnswered(answer, atLeast = 0) {
    if (answer.kind === "final") {
      this.#close(answer.reason, answer.detail);
    } else if (answer.kind === "again") {
      this.#retry(Math.max(atLeast, this.#spread(answer.afterSeconds)), "The session API did not answer.");
    } else if (this.#options.newSession) {
      this.#session = undefined;
      this.#cancel("renew");
      this.#outbox.sessionEnded();
      this.#retry(0, "The session ended.");
    } else {
      this.#close("session-ended", "The session is over.");
    }
  }

  // Waiting and backing off

  #waitFor(admission) {
    const { retryAfterSeconds: seconds, ahead } = admission;
    const { clock, random } = this.#options;
    const turn = this.#enter("waiting");
    if (turn !== this.#turn) {
      return;
    }
    this.#failures = 0;
    if (seconds === undefined) {
      this.#wait = { admission };
      this.#poll(turn);
    } else {
      // Each session in line has a slot of its own. Others are told the same time as everybody.
      const jitter = ahead === undefined ? random() * Math.min(seconds * 1000, MAX_JITTER) : 0;
      const millis = Math.max(seconds, 1) * 1000 + jitter;
      this.#wait = { admission, millis, until: clock.now() + millis };
      this.#after("attempt", millis, () => this.#connect());
    }
    if (turn === this.#turn) {
      this.#countDown();
    }
  }

  /** Asks again, later, whether a connection is free. */
  #poll(turn, atLeast = 0) {
    this.#after("attempt", Math.max(atLeast, this.#between(POLL_AFTER)), () => this.#explain(turn));
  }

  /** Tells how long the wait still is, now and each second. */
  #countDown() {
    const { admission, millis, until } = this.#wait;
    const { clock } = this.#options;
    const left = until === undefined ? undefined : Math.max(0, until - clock.now());
    const { reason, detail, ahead } = admission;
    this.#emit("waiting", {
      reason,
      detail,
      ahead: ahead === undefined || !millis ? ahead : Math.ceil(ahead * left / millis),
      retryAfterSeconds: left === undefined ? undefined : Math.ceil(left / 1000),
      retryAt: left === undefined ? undefined : new Date(clock.date().getTime() + left),
    });
    if (left > 0) {
      this.#after("countdown", left % 1000 || 1000, () => this.#countDown());
    }
  }

  #retry(atLeast, detail) {
    const millis = Math.max(atLeast, this.#backOff(this.#failures++));
    this.#enter("reconnecting", undefined, detail);
    this.#after("attempt", millis, () => this.#connect());
  }

  #backOff(failures) {
    return this.#options.random() * Math.min(MAX_BACK_OFF, FIRST_ATTEMPT_WITHIN * 2 ** failures);
  }

  /** Adds up to 100 % jitter, bounded, to a time that others were told as well; in milliseconds. */
  #spread(seconds) {
    return seconds * 1000 + this.#options.random() * Math.min(seconds * 1000, MAX_JITTER);
  }

  #between([from, to]) {
    return from + this.#options.random() * (to - from);
  }

  // Open

  #opened(socket) {
    this.#use(socket);
    const turn = this.#enter("open");
    if (turn !== this.#turn) {
      return;
    }
    this.#after("stable", STABLE_AFTER, () => {
      this.#failures = 0;
    });
    this.#outbox.opened(socket);
    this.#learnLimits(turn);
    this.#replaceLater(this.#between(REPLACE_AFTER), turn);
  }

  /** Asks for the limits until they are known: without them nothing renews the session. */
  async #learnLimits(turn, failures = 0) {
    const answer = await this.#show();
    if (turn === this.#turn && answer.kind === "again" && this.#options.sessionUrl) {
      const millis = Math.max(this.#spread(answer.afterSeconds), this.#backOff(failures));
      this.#after("limits", millis, () => this.#learnLimits(turn, failures + 1));
    }
  }

  #use(socket) {
    this.#socket = socket;
    this.#heartbeatSent = false;
    this.#cancel("heartbeat-answer");
    this.#beatLater();
    socket.addEventListener("message", ({ data }) => socket === this.#socket && this.#received(data));
    socket.addEventListener("close", ({ code }) => socket === this.#socket && this.#dropped(code));
  }

  #dropped(code) {
    if (REFUSES_MESSAGE.includes(code)) {
      this.#outbox.tooBig();
    }
    this.#release();
    if (this.#state === "closed") {
      return;
    }
    if (code === NORMAL) {
      this.#explain(this.#enter("connecting"), true);
    } else {
      this.#retry(0, `The socket was closed with code ${code}.`);
    }
  }

  /** Nobody answers on the socket. */
  #lost() {
    const socket = this.#socket;
    this.#release();
    this.#leave(socket);
    if (this.#state !== "closed") {
      this.#retry(0, "The server did not answer a heartbeat.");
    }
  }

  #release() {
    this.#socket = undefined;
    ["stable", "limits", "heartbeat", "heartbeat-answer", "replace"].forEach((name) => this.#cancel(name));
    this.#outbox.dropped();
  }

  #received(data) {
    let frame;
    try {
      frame = JSON.parse(data);
    } catch {
      return;
    }
    if (typeof frame !== "object" || frame === null) {
      return;
    }
    this.#outbox.heard();
    this.#cancel("heartbeat-answer");
    switch (frame.type) {
      case "accepted":
        this.#outbox.accepted(frame.id);
        break;
      case "reply":
        this.#outbox.replied(frame.id, frame.message);
        this.#emit("reply", { id: frame.id, message: frame.message });
        break;
      case "message":
      case "push":
        this.#emit(frame.type, { id: frame.id, message: frame.message });
        break;
      default:
        if (frame.code === "BAD_FRAME" && !frame.id && this.#heartbeatSent) {
          this.#heartbeatSent = false;
        } else {
          this.#outbox.refused(frame);
        }
    }
    if (this.#socket) {
      this.#beatLater();
    }
  }

  /** Sends a heartbeat when nothing was sent or received for a time: a short one while a reply is due, which may be lost. */
  #beatLater() {
    this.#after("heartbeat", this.#outbox.awaitsReply ? ANSWER_WITHIN : HEARTBEAT_AFTER, () => {
      this.#socket.send(HEARTBEAT);
      this.#heartbeatSent = true;
      this.#after("heartbeat-answer", ANSWER_WITHIN, () => this.#lost());
      this.#beatLater();
    });
  }

  #renewLater(millis = (this.#limits.sessionTTL * 1000) / 2, failures = 0) {
    const renew = async () => {
      const session = this.#session;
      const answer = await this.#api.put(session.sessionId);
      if (session !== this.#session || this.#state === "closed") {
        return;
      }
      // If the session is over, its socket is closed or its handshake refused; that decides.
      if (answer.kind === "ok") {
        this.#renewLater();
      } else {
        const soon = Math.min((this.#limits.sessionTTL * 1000) / 8, this.#backOff(failures) + 1000);
        this.#renewLater(Math.max(soon, (answer.afterSeconds ?? 0) * 1000), failures + 1);
      }
    };
    this.#after("renew", millis, renew);
  }

  #replaceLater(millis, turn, failures = 0) {
    this.#after("replace", millis, async () => {
      const socket = await this.#handshake();
      if (turn !== this.#turn) {
        socket && this.#leave(socket);
        return;
      }
      if (socket) {
        const old = this.#socket;
        this.#use(socket);
        this.#leave(old);
        this.#outbox.opened(socket);
        this.#replaceLater(this.#between(REPLACE_AFTER), turn);
        return;
      }
      const answer = await this.#show();
      if (turn === this.#turn) {
        const { retryAfterSeconds: seconds, ahead } = answer.body?.admission ?? {};
        const told = ahead === undefined ? this.#spread(seconds) : seconds * 1000;
        this.#replaceLater(seconds === undefined ? 60_000 + this.#backOff(failures) : told, turn, failures + 1);
      }
    });
  }

  // The end, timers and events

  #close(reason, detail, awaitsSession = false) {
    if (this.#state === "closed") {
      return;
    }
    this.#closedBecause = detail ?? "";
    if (!awaitsSession) {
      this.#api.abort();
    }
    const socket = this.#socket;
    this.#socket = undefined;
    [...this.#timers.keys()].forEach((name) => this.#cancel(name));
    this.#enter("closed", reason, detail);
    socket && this.#leave(socket);
    this.#opening?.close();
    this.#outbox.close(this.#closedBecause);
  }

  /** Begins another turn; only a change of state is told. */
  #enter(state, reason, detail) {
    const previous = this.#state;
    const turn = ++this.#turn;
    if (previous === "closed") {
      // A listener closed the client in the middle of a step; the rest of the step leads nowhere.
      return turn;
    }
    this.#cancel("attempt");
    this.#cancel("countdown");
    this.#wait = undefined;
    this.#state = state;
    if (state !== previous) {
      this.#emit("state", { state, previous, reason, detail });
    }
    return turn;
  }

  #after(name, millis, action) {
    this.#cancel(name);
    if (this.#state !== "closed") {
      this.#timers.set(name, this.#options.clock.setTimeout(() => {
        this.#timers.delete(name);
        action();
      }, millis));
    }
  }

  #cancel(name) {
    this.#options.clock.clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }

  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
