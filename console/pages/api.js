// Calls to the deployment's HTTP APIs, whose errors become sentences.

/** A call that was not done; its message is a sentence for people. */
export class CallFailed extends Error {
  constructor(message, status, retryAfterSeconds) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const GATEWAY = {
  401: "You are not signed in, or no longer.",
  403: "This deployment does not let you do that.",
  404: "This deployment has no such address.",
  429: "More requests came than the API takes. Wait a moment.",
  503: "A service does not answer in time. Try again.",
};

function sentence(status, document) {
  if (document.detail) {
    const text = document.detail[0].toUpperCase() + document.detail.slice(1);
    return /[.!?)]$/.test(text) ? text : `${text}.`;
  }
  return GATEWAY[status] ?? `The answer was ${status}, without a reason.`;
}

/**
 * Calls an API; resolves to `{status, body, headers}`.
 *
 * @throws {CallFailed} with status 0 if nobody answered
 */
export async function call(url, { method = "GET", body, form, token } = {}) {
  const headers = {};
  if (body !== undefined) {
    headers["content-type"] = "application/json";
  }
  if (token) {
    headers.authorization = `Bearer ${token}`;
  }
  let response;
  let document = {};
  try {
    response = await fetch(url, {
      method,
      headers,
      // A form's media type is set by what it is.
      body: form ? new URLSearchParams(form) : body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      credentials: "omit",
    });
    const text = await response.text();
    document = text && response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : {};
  } catch {
    throw new CallFailed("The deployment does not answer. Is it still up?", 0);
  }
  if (!response.ok) {
    throw new CallFailed(
      sentence(response.status, document),
      response.status,
      Number(response.headers.get("retry-after")) || undefined);
  }
  return { status: response.status, body: document, headers: response.headers };
}

/** What the pages must know of their deployment. */
export const config = async () => (await call("config.json")).body;

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

  /** The session, with `left`: what is left of each limit, by the limit's name. */
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

/** Opens a socket of a session; rejects if the handshake is refused, which tells no reason. */
export function openSocket(webSocketUrl, tenantId, sessionId) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${webSocketUrl}?${new URLSearchParams({ tenantId, sessionId })}`);
    socket.addEventListener("open", () => resolve(socket), { once: true });
    socket.addEventListener("close", () => reject(new Error("refused")), { once: true });
  });
}
