// Calls the deployment's HTTP APIs and turns their errors into sentences.

/** A failed call. Its message is a sentence for a person. */
export class CallFailed extends Error {
  constructor(message, status, retryAfterSeconds) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The API answers within 30 s: a request that takes longer has lost its connection. */
const TIMEOUT_MS = 35_000;

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

/** The answer that `first-requests.js` asked for before this module was there, if it did; each only once. */
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
      signal: AbortSignal.timeout(TIMEOUT_MS),
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

const TOKEN = "token";

/** The operator's token, which this tab keeps; undefined without a sign-in. */
export const token = () => sessionStorage.getItem(TOKEN) ?? undefined;

export const keepToken = (value) => sessionStorage.setItem(TOKEN, value);

export const forgetToken = () => sessionStorage.removeItem(TOKEN);

/** The settings of the deployment. */
export const config = async () => (await call("config.json")).body;

/** Whether a deployment has a lab: it is a demonstration, and everybody may create sessions. */
export const hasLab = ({ lab, sessionAccess }) => lab === true && sessionAccess === "open";
