// The session API over HTTP, reduced to what a client decides by. See docs/client-protocol.md, "Sessions".

const ANSWER_WITHIN = 30_000;
/** How long `close()` waits for a request. A session that could not be ended ends by itself. */
export const CLOSE_WITHIN = 5_000;
const NOT_FOUND = "urn:tollgate:problem:not-found";

/**
 * Calls the session API of one tenant. A call never rejects; it resolves to one of
 * - `{kind: "ok", body}`
 * - `{kind: "over"}`: there is no such session any more
 * - `{kind: "final", reason, detail}`: repeating does not help
 * - `{kind: "again", afterSeconds}`: repeat, but not before these seconds (0 if the server named none)
 */
export class SessionApi {
  #options;
  #aborted = new AbortController();

  constructor(options) {
    this.#options = options;
  }

  /** Creates a session; with an id, renews that session. */
  put(sessionId) {
    return this.#call("PUT", sessionId);
  }

  get(sessionId) {
    return this.#call("GET", sessionId);
  }

  delete(sessionId) {
    return this.#call("DELETE", sessionId);
  }

  /** Gives up all requests but `DELETE`, for good. */
  abort() {
    this.#aborted.abort();
  }

  async #call(method, sessionId) {
    if (!this.#options.sessionUrl) {
      return { kind: "again", afterSeconds: 0 };
    }
    try {
      let answer = await this.#send(method, sessionId);
      if (answer.status === 401 && typeof this.#options.token === "function") {
        answer = await this.#send(method, sessionId);
      }
      return verdict(answer, method, sessionId, this.#options.sessionUrl);
    } catch {
      return { kind: "again", afterSeconds: 0 };
    }
  }

  /** Sends a request, and waits for its token and its whole answer only for a time. */
  async #send(method, sessionId) {
    const { clock } = this.#options;
    const giveUp = new AbortController();
    const abort = () => giveUp.abort();
    const aborted = method === "DELETE" ? undefined : this.#aborted.signal;
    aborted?.throwIfAborted();
    aborted?.addEventListener("abort", abort);
    const timer = clock.setTimeout(abort, method === "DELETE" ? CLOSE_WITHIN : ANSWER_WITHIN);
    try {
      return await Promise.race([
        this.#exchange(method, sessionId, giveUp.signal),
        new Promise((_, reject) => giveUp.signal.addEventListener("abort", () => reject(giveUp.signal.reason))),
      ]);
    } finally {
      clock.clearTimeout(timer);
      aborted?.removeEventListener("abort", abort);
    }
  }

  async #exchange(method, sessionId, signal) {
    const { sessionUrl, tenantId, token, fetch } = this.#options;
    const bearer = typeof token === "function" ? await token() : token;
    signal.throwIfAborted();
    const response = await fetch(
      `${sessionUrl}?${new URLSearchParams(sessionId ? { tenantId, sessionId } : { tenantId })}`, {
        method,
        headers: {
          accept: "application/json, application/problem+json",
          ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
        },
        cache: "no-store",
        credentials: "omit",
        signal,
      });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json");
    return {
      status: response.status,
      body: text && isJson ? JSON.parse(text) : {},
      afterSeconds: seconds(response.headers.get("retry-after")),
    };
  }
}

/** A header with whole seconds; 0 if it has none, or more than 30 years of them. */
function seconds(header) {
  return /^[0-9]{1,9}$/.test(header ?? "") ? Number(header) : 0;
}

/** Whether an answer is one of a session API, and not that of a portal or of a page for all addresses. */
function isAnswer(method, body) {
  switch (method) {
    case "PUT":
      return typeof body?.sessionId === "string" && typeof body.webSocketUrl === "string";
    case "GET":
      return typeof body?.admission === "object" && body.limits?.sessionTTL > 0;
    default:
      return true;
  }
}

function verdict({ status, body, afterSeconds }, method, sessionId, sessionUrl) {
  const final = (reason) => ({ kind: "final", reason, detail: body?.detail ?? body?.message ?? `status ${status}` });
  if (status >= 200 && status < 300) {
    return isAnswer(method, body) ? { kind: "ok", body } : { kind: "again", afterSeconds };
  }
  switch (status) {
    case 400:
      return final("invalid");
    case 401:
      return final("unauthorized");
    case 403:
      return final(body?.type === "urn:tollgate:problem:suspended" ? "suspended" : "forbidden");
    case 404:
      if (sessionId) {
        return { kind: "over" };
      }
      return body?.type === NOT_FOUND
        ? final("unknown-tenant")
        : { kind: "final", reason: "invalid", detail: `There is no Tollgate session API at ${sessionUrl}.` };
    default:
      return { kind: "again", afterSeconds };
  }
}
