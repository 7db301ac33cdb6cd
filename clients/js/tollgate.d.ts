/** The state of a client; see docs/client-protocol.md. */
export type State = "connecting" | "waiting" | "open" | "reconnecting" | "closed";

/** Why a client is closed. */
export type CloseReason =
  /** `close()` was called. */
  | "closed"
  /** The tenant is suspended. */
  | "suspended"
  /** The session is over, and the option `newSession` is false. */
  | "session-ended"
  | "unknown-tenant"
  /** The deployment needs a token, or does not take this one. */
  | "unauthorized"
  /** The token is of another tenant, or the deployment takes signed requests only. */
  | "forbidden"
  /** An option has a value that the server does not take. */
  | "invalid";

/** Why a connection waits. */
export type WaitReason = "TENANT_RATE" | "SESSION_RATE" | "TENANT_CONNECTIONS" | "SESSION_CONNECTIONS";

/** Why a message failed; see the README. */
export type ErrorCode =
  | "THROTTLED"
  | "UNANSWERED"
  | "SUSPENDED"
  | "BAD_FRAME"
  | "NOT_SILO"
  | "TOO_BIG"
  | "QUEUE_FULL"
  | "SESSION_ENDED"
  | "CLOSED";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** What a client measures time with. A test moves its own. */
export interface Clock {
  /** Milliseconds of a stopwatch that nobody sets. */
  now(): number;
  /** The time of day of this machine, for display only. */
  date(): Date;
  setTimeout(action: () => void, millis: number): unknown;
  clearTimeout(timer: unknown): void;
}

/** The part of a WebSocket that a client uses. */
export interface Socket {
  send(text: string): void;
  close(code?: number): void;
  /** Ends the connection without waiting for the server, if the runtime can. */
  terminate?(): void;
  addEventListener(type: string, listener: (event: any) => void): void;
}

export interface Options {
  tenantId: string;
  /** The output `SessionURL` of the deployment. Leave it out if your back end calls the session API for you. */
  sessionUrl?: string;
  /** A session to go on with; it keeps its place in line. Without one, a session is created. */
  sessionId?: string;
  /** Where sockets are opened; needed without `sessionUrl`. */
  webSocketUrl?: string;
  /** A JSON Web Token, or a function that returns a fresh one, if the deployment needs it. */
  token?: string | (() => string | Promise<string>);
  /** Whether a session that is over is replaced by a new one. True by default; false for a session that others share. */
  newSession?: boolean;
  /** How many messages may wait to be sent. 1000 by default. */
  queueLimit?: number;
  /** Seconds from a message's first sending until it fails without an answer. By default 60 for a message that waits for a reply, else 120. */
  timeout?: number;
  /** The WebSocket of this runtime by default. */
  WebSocket?: new (url: string) => Socket;
  fetch?: typeof globalThis.fetch;
  clock?: Clock;
  /** A number from 0 to 1, for jitter. */
  random?: () => number;
}

export interface SendOptions {
  /** `SiloSQS` for the tenant's own queue, if it has one. `PooledSQS` by default. */
  action?: "PooledSQS" | "SiloSQS";
  /** 1 to 64 letters, digits, `-` and `_`; random by default. Use it for no other message within ten minutes. */
  id?: string;
  /** Whether the promise waits for the application's answer. False by default. */
  reply?: boolean;
}

/** The tenant's limits, as `GET /session` shows them. */
export interface Limits {
  tenantPerMinute: number;
  sessionPerMinute: number;
  connectionsPerSession: number;
  tenantConnections: number;
  sessionTTL: number;
  messagesPerMinute: number;
  sessionLifetime: number;
  sessionsPerSubject: number;
}

export interface TollgateEvents {
  state: CustomEvent<{ state: State; previous: State; reason?: CloseReason; detail?: string }>;
  /** While the state is `waiting`: at once, and then each second if the time is known. */
  waiting: CustomEvent<{
    reason: WaitReason;
    detail: string;
    /** How many sessions are before this one in line. */
    ahead?: number;
    /** Whole seconds until the next attempt; missing if a connection must close first. */
    retryAfterSeconds?: number;
    /** The same by this machine's clock, for display. */
    retryAt?: Date;
  }>;
  /** The session was created (`isNew`), or found to be still there. */
  session: CustomEvent<{ tenantId: string; sessionId: string; isNew: boolean }>;
  /** Another socket of the session sent a message. */
  message: CustomEvent<{ id: string; message: any }>;
  /** The application answered a message of this session. */
  reply: CustomEvent<{ id: string; message: any }>;
  /** The backend sent a message unasked. Its id is the backend's. */
  push: CustomEvent<{ id: string; message: any }>;
  /**
   * A message failed, or its fate is unknown (`unknown`): then it was perhaps processed. Unless `final`, it is sent again. It may come
   * after `accepted`, when the promise of the message has resolved.
   */
  refused: CustomEvent<{
    id: string; code: ErrorCode; detail?: string; retryAfterSeconds?: number; final: boolean; unknown: boolean;
  }>;
}

/** One socket of one session, kept open. An `EventTarget`. */
export class Tollgate {
  constructor(options: Options);
  readonly state: State;
  readonly sessionId: string | undefined;
  readonly limits: Limits | undefined;
  /** The number of messages that are not answered. */
  readonly unanswered: number;
  /** Sends a message, now or when there is a socket. Resolves when it is queued at the server. */
  send(message: Json, options?: SendOptions & { reply?: false }): Promise<{ id: string }>;
  /** Resolves when the application has answered. */
  send(message: Json, options: SendOptions & { reply: true }): Promise<{ id: string; reply: any }>;
  /** Closes the socket; ends the session as well if `endSession` is true. */
  close(options?: { endSession?: boolean }): Promise<void>;
  addEventListener<T extends keyof TollgateEvents>(
    type: T, listener: (event: TollgateEvents[T]) => void, options?: boolean | AddEventListenerOptions): void;
  removeEventListener<T extends keyof TollgateEvents>(
    type: T, listener: (event: TollgateEvents[T]) => void, options?: boolean | EventListenerOptions): void;
}

/** Why a message failed. */
export class TollgateError extends Error {
  constructor(code: ErrorCode, message: string, id?: string, retryAfterSeconds?: number, unknown?: boolean);
  readonly code: ErrorCode;
  readonly id?: string;
  readonly retryAfterSeconds?: number;
  /** Whether the message was perhaps processed. */
  readonly unknown: boolean;
}

export function connect(options: Options): Tollgate;
