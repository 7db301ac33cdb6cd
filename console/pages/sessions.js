// The session API, and sockets of sessions.

import { call } from "./api.js";

/** The sessions of a tenant. */
export class Sessions {
  constructor(url, token) {
    this.url = url;
    this.token = token;
  }

  #at(parameters) {
    return `${this.url}?${new URLSearchParams(parameters)}`;
  }

  async create(tenantId) {
    return (await call(this.#at({ tenantId }), { method: "PUT", token: this.token })).body;
  }

  /** The session, with `left`: the remaining tokens of each limit, by its name. */
  async show(tenantId, sessionId) {
    const { body, headers } = await call(this.#at({ tenantId, sessionId }), { token: this.token });
    return { ...body, left: rateLimit(headers.get("ratelimit") ?? "") };
  }

  async end(tenantId, sessionId) {
    await call(this.#at({ tenantId, sessionId }), { method: "DELETE", token: this.token });
  }
}

/** `"connect";r=57;t=0, "session";r=4;t=0` → `{connect: 57, session: 4}`. */
export function rateLimit(field) {
  return Object.fromEntries(
    [...field.matchAll(/"([a-z-]+)";r=(\d+)/g)].map(([, name, left]) => [name, Number(left)]));
}

/** Opens a socket of a session; rejects, without a reason, if the handshake is refused. */
export function openSocket(webSocketUrl, tenantId, sessionId) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${webSocketUrl}?${new URLSearchParams({ tenantId, sessionId })}`);
    socket.addEventListener("open", () => resolve(socket), { once: true });
    socket.addEventListener("close", () => reject(new Error("refused")), { once: true });
  });
}
