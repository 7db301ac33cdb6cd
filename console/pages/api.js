// Calls the deployment's HTTP APIs and turns their errors into sentences.

/** A failed call. Its message is a sentence for a person. */
export class CallFailed extends Error {
  constructor(message, status, retryAfterSeconds) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const GATEWAY = {
  401: "You are not signed in, or your sign-in has expired.",
  403: "Permission denied.",
  404: "Not found in this deployment.",
  429: "Too many requests. Wait a moment and try again.",
  503: "A service did not respond in time. Try again.",
};

function sentence(status, document) {
  if (document.detail) {
    const text = document.detail[0].toUpperCase() + document.detail.slice(1);
    return /[.!?)]$/.test(text) ? text : `${text}.`;
  }
  return GATEWAY[status] ?? `The request failed with status ${status}.`;
}

/** The answer that `first.js` asked for before this module was there, if it did; each only once. */
function early(url, method) {
  const answer = method === "GET" ? globalThis.firstAnswers?.get(url) : undefined;
  globalThis.firstAnswers?.delete(url);
  return answer;
}

/**
 * Calls an API; resolves to `{status, body, headers}`. With `version`, only that version is changed.
 *
 * @throws {CallFailed} with status 0 if there is no response
 */
export async function call(url, { method = "GET", body, form, token, version } = {}) {
  const headers = {};
  if (body !== undefined) {
    headers["content-type"] = "application/json";
  }
  if (token) {
    headers.authorization = `Bearer ${token}`;
  }
  if (version !== undefined) {
    headers["if-match"] = `"${version}"`;
  }
  let response;
  let document = {};
  try {
    response = await (early(url, method) ?? fetch(url, {
      method,
      headers,
      // The browser sets the media type of a form.
      body: form ? new URLSearchParams(form) : body === undefined ? undefined : JSON.stringify(body),
      cache: "no-store",
      credentials: "omit",
    }));
    const text = await response.text();
    document = text && response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : {};
  } catch {
    throw new CallFailed("The deployment does not respond. Check that it is running.", 0);
  }
  if (!response.ok) {
    throw new CallFailed(
      sentence(response.status, document),
      response.status,
      Number(response.headers.get("retry-after")) || undefined);
  }
  return { status: response.status, body: document, headers: response.headers };
}

/** The settings of the deployment. */
export const config = async () => (await call("config.json")).body;

/** Whether a deployment has a lab: it is a demonstration, and everybody may create sessions. */
export const hasLab = ({ lab, sessionAccess }) => lab === true && sessionAccess === "open";

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
