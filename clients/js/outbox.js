// Messages until they are answered. See docs/client-protocol.md, "Messages".

import { TollgateError } from "./error.js";

export const MAX_FRAME_BYTES = 32 * 1024;
/** Messages at once that may still be refused: a session may have 60 refused frames at once. */
const MAX_IN_FLIGHT = 32;
/** How soon after `accepted` a refusal usually comes. */
const REFUSED_WITHIN = 1_000;
/** How long after `accepted` a message counts as processed if no refusal came on the same socket. */
const PROCESSED_WITHIN = 10_000;
const ACCEPTED_WITHIN = 10_000;
/** How long copies are safe: the server knows a processed message for five minutes. */
const COPIES_WITHIN = 240_000;
/** How long a message may wait for an answer: a reply that was lost with a socket does not come again. */
const TIMEOUT = 120_000;
const REPLY_TIMEOUT = 60_000;
/** Refusals that say that one copy was not processed. */
const REFUSES_A_COPY = ["SUSPENDED", "BAD_FRAME", "NOT_SILO", "TOO_BIG"];
const ID = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Keeps messages in order, sends them while there is a socket, and sends them again until they are answered. The Javadoc of the Java
 * client's `Outbox` explains the algorithm; both use the same names.
 *
 * A message is `unsent`, `sent`, `accepted` or `processed`: accepted, and taken as processed unless a refusal comes late. `startedAt` is
 * when it was first sent, `copyAt` when the first copy was sent that the server may have processed, and `copies` how many were sent since.
 */
export class Outbox {
  #messages = new Map();
  #options;
  #socket;
  #pausedUntil = 0;
  #throttledUntil = 0;
  #receivedAt = 0;
  #timer;
  #failures = 0;

  /**
   * @param options `queueLimit`, `timeout` (ms; may be undefined), `clock`, `random`, and the callbacks `backOff(n)`, `onRefused(detail)`,
   *   `onSent()`, and `onDead()`: nobody answers on the socket
   */
  constructor(options) {
    this.#options = options;
  }

  /** The messages that are not answered. */
  get size() {
    return this.#messages.size - this.#all("processed").length;
  }

  /** Whether a message was sent whose reply has not come. */
  get awaitsReply() {
    return [...this.#messages.values()].some(({ reply, state }) => reply && state !== "unsent");
  }

  /** Adds a message; the promise settles when it is answered. */
  add(message, { action = "PooledSQS", id = randomId(), reply = false } = {}) {
    return new Promise((resolve, reject) => {
      const text = JSON.stringify({ action, id, message });
      const bytes = new TextEncoder().encode(text).length;
      if (message === undefined || typeof message === "function" || typeof message === "symbol") {
        reject(new TollgateError("BAD_FRAME", "The message is not JSON.", id));
      } else if (typeof id !== "string" || !ID.test(id)) {
        reject(new TollgateError("BAD_FRAME", "An id has 1 to 64 letters, digits, - and _.", id));
      } else if (bytes > MAX_FRAME_BYTES) {
        reject(new TollgateError("TOO_BIG", `The message has ${bytes} bytes with its frame; the limit is ${MAX_FRAME_BYTES}.`, id));
      } else if ((this.#messages.get(id)?.state ?? "processed") !== "processed") {
        reject(new TollgateError("BAD_FRAME", `A message with the id ${id} is under way.`, id));
      } else if (this.#all("unsent").length >= this.#options.queueLimit) {
        reject(new TollgateError("QUEUE_FULL", `${this.#options.queueLimit} messages wait to be sent. Send fewer, or wait for answers.`, id));
      } else {
        this.#messages.delete(id);
        this.#messages.set(id, { id, action, text, bytes, reply, resolve, reject, state: "unsent", copies: 0 });
        this.#work();
      }
    });
  }

  /** A socket is open: sends what is unanswered, in order. */
  opened(socket) {
    this.dropped();
    this.#socket = socket;
    this.#receivedAt = this.#now();
    // Replies go to all sockets of the session, so one may come to a message that is too old.
    this.#unsend((message) => this.#receivedAt < this.#copiesUntil(message));
    this.#work();
  }

  /** The socket is gone. Refusals of its messages are lost. */
  dropped() {
    this.#socket = undefined;
    this.#all("processed").forEach(({ id }) => this.#messages.delete(id));
    this.#work();
  }

  /** The session is over: what may have been processed fails, what was never sent stays. */
  sessionEnded() {
    this.#failAll(
      (message) => message.copyAt !== undefined,
      "SESSION_ENDED", "The session ended before the answer came. The message may have been processed.");
  }

  /** Fails all messages. */
  close(why) {
    this.dropped();
    this.#failAll(() => true, "CLOSED", `The client was closed before the answer came. ${why}`.trim());
  }

  /** The server closed the socket because of a frame: the biggest one, if any is too big. */
  tooBig() {
    const sent = this.#all("sent");
    if (sent.length > 0) {
      this.#fail(sent.reduce((a, b) => (b.bytes > a.bytes ? b : a)), "TOO_BIG", "The server does not take this message.");
    }
  }

  /** Any frame was received. */
  heard() {
    this.#receivedAt = this.#now();
  }

  accepted(id) {
    const message = this.#messages.get(id);
    // The answer to a copy that was refused meanwhile may come after the refusal; it says nothing about the next copy.
    if (message?.state === "sent") {
      message.state = "accepted";
      message.acceptedAt = this.#now();
      this.#failures = 0;
      if (!message.reply) {
        message.resolve({ id });
      }
    }
    this.#work();
  }

  replied(id, reply) {
    const message = this.#messages.get(id);
    if (message) {
      this.#messages.delete(id);
      message.resolve({ id, reply });
    }
    this.#work();
  }

  /** An error frame that is not the answer to a heartbeat. */
  refused(frame) {
    const named = this.#messages.get(frame.id);
    switch (frame.code) {
      case "THROTTLED":
        this.#throttled(named, frame.retryAfterSeconds * 1000);
        break;
      case "SUSPENDED":
        this.#fail(named, frame.code, frame.detail);
        break;
      case "BAD_FRAME":
        this.#fail(named ?? (frame.id ? undefined : this.#onlySent()), frame.code, frame.detail);
        break;
      case "NOT_SILO":
        this.#failAll(
          (message) => message.state === "sent" && message.action === "SiloSQS", frame.code, frame.detail);
        break;
      default:
        // The queue or API Gateway is unavailable, and the frame does not say for which message. In an outage the server sends
        // one such frame for each message under way. They count as one failure.
        if (this.#all("sent").length > 0) {
          this.#pausedUntil = this.#now() + this.#options.backOff(this.#failures++);
          this.#unsend(({ state }) => state === "sent");
        }
    }
    this.#work();
  }

  #throttled(message, wait) {
    const until = this.#now() + wait;
    // Each refusal tells a later token than the ones before it. So the earliest token is the first one told.
    this.#throttledUntil = this.#throttledUntil > this.#now() ? Math.min(this.#throttledUntil, until) : until;
    if (!message) {
      return;
    }
    message.state = "unsent";
    message.notBefore = until;
    if (message.copies <= 1) {
      message.copyAt = undefined;
      message.copies = 0;
    }
    const final = until > this.#deadline(message);
    const unknown = message.copies > 0;
    this.#options.onRefused({ id: message.id, code: "THROTTLED", retryAfterSeconds: wait / 1000, final, unknown });
    if (final) {
      this.#messages.delete(message.id);
      message.reject(new TollgateError(
        "THROTTLED", "The tenant sends more messages than its limit allows.", message.id, wait / 1000, unknown));
    }
  }

  #unsend(which) {
    for (const message of this.#messages.values()) {
      if (which(message)) {
        message.state = "unsent";
      }
    }
  }

  #onlySent() {
    const sent = this.#all("sent");
    return sent.length === 1 ? sent[0] : undefined;
  }

  #fail(message, code, detail) {
    // A listener that heard of another message may have ended this one.
    if (message && this.#messages.get(message.id) === message) {
      this.#messages.delete(message.id);
      const copies = REFUSES_A_COPY.includes(code) ? message.copies - 1 : message.copies;
      const unknown = copies > 0;
      this.#options.onRefused({ id: message.id, code, detail, final: true, unknown });
      message.reject(new TollgateError(code, detail, message.id, undefined, unknown));
    }
  }

  #failAll(which, code, detail) {
    [...this.#messages.values()].filter(which).forEach((message) => this.#fail(message, code, detail));
    this.#work();
  }

  /** Does what is due, and sets the timer for what is due next. */
  #work() {
    this.#expire();
    if (this.#socket) {
      this.#findUnanswered();
      this.#sendUnsent();
    }
    this.#options.clock.clearTimeout(this.#timer);
    const due = this.#nextDue();
    if (due < Infinity) {
      this.#timer = this.#options.clock.setTimeout(() => this.#work(), Math.max(0, due - this.#now()));
    }
  }

  #expire() {
    const now = this.#now();
    for (const message of [...this.#messages.values()]) {
      if (this.#socket && message.state === "accepted" && !message.reply && now >= message.acceptedAt + PROCESSED_WITHIN) {
        message.state = "processed";
      } else if (now >= this.#deadline(message) && message.state === "processed") {
        this.#messages.delete(message.id);
      } else if (now >= this.#deadline(message)) {
        this.#fail(message, "UNANSWERED", "No answer came in time. The message may have been processed.");
      }
    }
  }

  #deadline(message) {
    const until = (message.startedAt ?? Infinity) + (this.#options.timeout ?? (message.reply ? REPLY_TIMEOUT : TIMEOUT));
    const copiesUntil = this.#copiesUntil(message);
    return message.state === "processed" ? copiesUntil
      : message.state === "accepted" && message.reply ? until : Math.min(until, copiesUntil);
  }

  #copiesUntil({ copyAt }) {
    return (copyAt ?? Infinity) + COPIES_WITHIN;
  }

  #findUnanswered() {
    const now = this.#now();
    for (const message of this.#messages.values()) {
      if (message.state === "sent" && now >= message.sentAt + ACCEPTED_WITHIN) {
        if (this.#receivedAt <= message.sentAt) {
          this.#socket = undefined;
          this.#options.onDead();
          return;
        }
        message.state = "unsent";
      }
    }
  }

  /**
   * When an unsent message may be sent: a refused one at its own time, the others once all refused ones may be sent and the
   * bucket has a token.
   */
  #sendableAt(message, refusedUntil) {
    return Math.max(this.#pausedUntil, message.notBefore ?? Math.max(this.#throttledUntil, refusedUntil));
  }

  #refusedUntil() {
    return this.#all("unsent")
      .filter(({ notBefore }) => notBefore !== undefined)
      .reduce((latest, { notBefore }) => Math.max(latest, notBefore), 0);
  }

  #sendUnsent() {
    const now = this.#now();
    if (!this.#socket) {
      return;
    }
    let inFlight = this.#inFlight();
    const refusedUntil = this.#refusedUntil();
    for (const message of this.#messages.values()) {
      if (inFlight >= MAX_IN_FLIGHT) {
        return;
      }
      if (message.state === "unsent" && now >= this.#sendableAt(message, refusedUntil)) {
        inFlight++;
        message.state = "sent";
        message.sentAt = now;
        message.startedAt ??= now;
        message.copyAt ??= now;
        message.copies++;
        this.#socket.send(message.text);
        this.#options.onSent();
      }
    }
  }

  #inFlight() {
    const now = this.#now();
    return [...this.#messages.values()].filter(({ state, acceptedAt }) =>
      state === "sent" || (state === "accepted" && now < acceptedAt + REFUSED_WITHIN)).length;
  }

  #nextDue() {
    const now = this.#now();
    let due = Infinity;
    const at = (time) => {
      due = Math.min(due, time);
    };
    const full = this.#inFlight() >= MAX_IN_FLIGHT;
    const refusedUntil = this.#refusedUntil();
    for (const message of this.#messages.values()) {
      at(this.#deadline(message));
      if (this.#socket && message.state === "accepted" && !message.reply) {
        at(message.acceptedAt + PROCESSED_WITHIN);
      }
      if (this.#socket && message.state === "sent") {
        at(message.sentAt + ACCEPTED_WITHIN);
      }
      if (full && message.state === "accepted" && now < message.acceptedAt + REFUSED_WITHIN) {
        at(message.acceptedAt + REFUSED_WITHIN);
      }
      if (this.#socket && message.state === "unsent") {
        const sendable = this.#sendableAt(message, refusedUntil);
        if (now < sendable) {
          at(sendable);
        }
      }
    }
    return due;
  }

  #all(state) {
    return [...this.#messages.values()].filter((message) => message.state === state);
  }

  #now() {
    return this.#options.clock.now();
  }
}

function randomId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
