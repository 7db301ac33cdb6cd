// The sample client: one session of one tenant, its sockets, and the reasons of refusals.

import { Sessions, call, config, openSocket } from "./api.js";
import { byId, confirmed, el, handling, notice, poll, setMeter, setText, showError } from "./dom.js";
import { count, duration, messageError, number, refusal, time } from "./words.js";

/** With more tenants than this, the page offers a text field instead of a select. */
const MAX_TENANTS = 100;
const MAX_LOG_ENTRIES = 300;
const TENANT_ID = /^[a-z0-9][a-z0-9-]{0,35}$/;
const SESSION_ID = /^[0-9a-f]{32}$/;

const settings = await config();
let sessions = new Sessions(settings.sessionUrl);
/** `{tenantId, sessionId}`, or undefined. */
let session;
/** The last answer of the session API. */
let known;
/** The desired number of sockets, and the open sockets. */
let desired = 0;
const sockets = new Set();
let opening = false;
/** Why the next socket waits: `{title, text, from, until}`; without `until` it waits for another to close. */
let waiting;
let failures = 0;
let messages = 0;

// Tenants

async function offerTenants() {
  const select = byId("tenant");
  const input = byId("tenant-id");
  const part = settings.tenantUrl ? (await call(settings.tenantUrl)).body : { tenants: [], next: true };
  const ids = part.tenants.sort();
  if (part.next || ids.length > MAX_TENANTS) {
    byId("tenant-ids").append(...ids.map((id) => el("option", { value: id })));
    select.hidden = true;
    input.hidden = false;
  } else if (ids.length === 0) {
    select.replaceChildren(el("option", { value: "" }, "No tenants yet. Onboard one on the operator page"));
  } else {
    select.replaceChildren(...ids.map((id) => el("option", { value: id }, id)));
    select.disabled = false;
  }
  byId("create").disabled = !part.next && ids.length === 0;
}

function tenantField() {
  return byId("tenant-id").hidden ? byId("tenant") : byId("tenant-id");
}

function choose(tenantId) {
  const select = byId("tenant");
  if (byId("tenant-id").hidden && ![...select.options].some((option) => option.value === tenantId)) {
    select.append(el("option", { value: tenantId }, tenantId));
    select.disabled = false;
  }
  tenantField().value = tenantId;
}

// The session

async function createSession() {
  const tenantId = tenantField().value.trim();
  if (settings.sessionAccess === "jwt") {
    sessions = new Sessions(settings.sessionUrl, byId("token").value.trim());
  }
  leave();
  const created = await sessions.create(tenantId);
  log("session", "Session", `Created for ${tenantId}.`);
  join(created.tenantId, created.sessionId);
  byId("connect").focus();
}

/** Puts the session into the address, so that another window can join it. */
function join(tenantId, sessionId) {
  if (session && session.sessionId !== sessionId) {
    disconnect();
  }
  session = { tenantId, sessionId };
  history.replaceState(null, "", fragment(session));
  byId("second").href = fragment(session);
  choose(tenantId);
  show();
  look();
}

/**
 * Uses the tenant and session in the address. A link could name the session of an attacker, who would
 * receive the messages; so the page asks before it joins a session.
 */
async function fromAddress() {
  const named = location.hash;
  const address = new URLSearchParams(named.slice(1));
  const tenantId = address.get("tenant") ?? "";
  const sessionId = address.get("session") ?? "";
  if (!TENANT_ID.test(tenantId) || sessionId === session?.sessionId) {
    return;
  }
  if (!SESSION_ID.test(sessionId)) {
    choose(tenantId);
    return;
  }
  const joins = await confirmed(
    "Join this session?",
    `The link names session ${sessionId} of ${tenantId}. The author of the link may see the messages that you send.`,
    "Join");
  if (location.hash !== named) {
    return;
  }
  if (joins) {
    join(tenantId, sessionId);
  } else {
    history.replaceState(null, "", session ? fragment(session) : location.pathname);
  }
}

const fragment = ({ tenantId, sessionId }) =>
  `#${new URLSearchParams({ tenant: tenantId, session: sessionId })}`;

function leave() {
  disconnect();
  session = undefined;
  known = undefined;
  waiting = undefined;
  history.replaceState(null, "", location.pathname);
  show();
}

async function deleteSession() {
  const { tenantId, sessionId } = session;
  leave();
  await sessions.end(tenantId, sessionId);
  log("session", "Session", "Deleted; its sockets are closed.");
}

/** Reads the session, and retries a waiting socket if it would be admitted now. */
async function look() {
  const asked = session;
  if (!asked) {
    return;
  }
  try {
    const answer = await sessions.show(asked.tenantId, asked.sessionId);
    if (asked === session) {
      known = answer;
    }
  } catch (failed) {
    if (asked === session && failed.status === 404) {
      leave();
      log("session", "Session", "Expired.");
      notice("info", "The session has expired. Create a new session.");
      return;
    }
    showError(failed);
  }
  if (waiting && !waiting.until && known?.admission.admitted) {
    waiting = undefined;
    openMissing();
  }
  show();
}

// Sockets

async function connect(n) {
  desired = n;
  failures = 0;
  waiting = undefined;
  await openMissing();
}

function disconnect() {
  desired = 0;
  waiting = undefined;
  sockets.forEach((socket) => socket.close(1000));
}

/** Opens the missing sockets, one after another, until one is refused. */
async function openMissing() {
  if (opening) {
    return;
  }
  opening = true;
  while (session && !waiting && sockets.size < desired) {
    show();
    const { tenantId, sessionId } = session;
    try {
      keep(await openSocket(settings.webSocketUrl, tenantId, sessionId));
      failures = 0;
    } catch {
      await explainRefusal();
    }
  }
  opening = false;
  look();
}

function keep(socket) {
  if (sockets.size >= desired) {
    socket.close(1000);
    return;
  }
  sockets.add(socket);
  socket.number = sockets.size;
  log("open", "Connected", `Socket ${socket.number} of ${desired} is open.`);
  socket.addEventListener("message", ({ data }) => received(socket, data));
  socket.addEventListener("close", ({ code }) => {
    sockets.delete(socket);
    log("session", "Closed", `Socket ${socket.number} is closed${code === 1000 ? "" : ` (code ${code})`}.`);
    if (code === 1000) {
      desired = Math.min(desired, sockets.size);
      look();
    } else {
      openMissing();
    }
    show();
  });
}

/** Asks the session API for the reason of a refusal, which browsers do not expose. */
async function explainRefusal() {
  await look();
  if (!session || desired === 0) {
    return;
  }
  const admission = known?.admission;
  if (admission && !admission.admitted) {
    failures = 0;
    wait("Refused", refusal(admission, known.limits), admission.retryAfterSeconds);
  } else {
    failures++;
    wait("Connection failed", "The server gave no reason. It may be busy.", Math.min(2 ** failures, 30));
  }
  log("refused", "Refused", waiting.text + (waiting.until ? ` Next attempt in ${duration(seconds())}.` : ""));
}

function wait(title, text, retryAfterSeconds) {
  const now = performance.now();
  const until = retryAfterSeconds === undefined ? undefined : now + retryAfterSeconds * 1000;
  waiting = { title, text, from: now, until };
}

const seconds = () => (waiting.until - performance.now()) / 1000;

function tick() {
  if (waiting?.until && seconds() <= 0) {
    waiting = undefined;
    openMissing();
  }
  showVerdict();
}

// Messages

function send(action) {
  const [socket] = sockets;
  messages++;
  const text = byId("message").value.replaceAll("{{n}}", messages);
  const id = crypto.randomUUID();
  socket.send(JSON.stringify({ action, id, message: text }));
  log("sent", action === "SiloSQS" ? "Sent silo" : "Sent pooled", text);
}

const shown = (message) => (typeof message === "string" ? message : JSON.stringify(message));

/** Logs a frame. A message that several sockets of this window receive is one entry with their numbers. */
function received(socket, data) {
  const frame = JSON.parse(data);
  switch (frame.type) {
    case "accepted":
      log("accepted", "Accepted", "Queued.");
      break;
    case "message":
      log("received", "Received", shown(frame.message), { key: `message ${frame.id}`, socket });
      break;
    case "reply":
      log("reply", "Reply", shown(frame.message), { key: `reply ${frame.id}`, socket });
      break;
    default:
      log("refused", frame.code === "THROTTLED" ? "Throttled" : "Error", messageError(frame));
  }
}

const BADGES = { open: "good", reply: "good", accepted: "good", received: "accent", refused: "bad" };

function log(kind, label, text, { key, socket } = {}) {
  const list = byId("log");
  const before = key && [...list.children].find((entry) => entry.dataset.key === key);
  if (before) {
    const numbers = [...before.dataset.sockets.split(","), socket.number].sort((a, b) => a - b);
    before.dataset.sockets = numbers;
    setText(before.querySelector(".on"), ` · sockets ${numbers.join(", ")}`);
    return;
  }
  list.querySelector(".empty")?.remove();
  const entry = el(
    "li",
    { "data-kind": kind, "data-key": key, "data-sockets": socket?.number },
    el("time", {}, time()),
    el("span", { class: `badge ${BADGES[kind] ?? ""}` }, label),
    el("span", { class: "text" }, text,
      ...(socket ? [el("span", { class: "muted small on" }, ` · socket ${socket.number}`)] : [])));
  list.append(entry);
  while (list.children.length > MAX_LOG_ENTRIES) {
    list.firstElementChild.remove();
  }
  list.parentElement.scrollTop = list.parentElement.scrollHeight;
}

function clearLog() {
  byId("log").replaceChildren(el("li", { class: "empty" }, "No events yet."));
}

// Rendering

function show() {
  const open = sockets.size;
  byId("delete").disabled = !session;
  byId("second").hidden = !session;
  byId("connect").disabled = !session || (desired > 0 && open < desired);
  byId("disconnect").disabled = desired === 0 && open === 0;
  byId("silo").disabled = byId("pooled").disabled = open === 0;
  setText(byId("session-status"), session
    ? `Session …${session.sessionId.slice(-6)} of ${session.tenantId} is open.`
    : "No session yet.");
  setText(byId("connect-status"), connectStatus(open));
  showLimits();
  showVerdict();
}

function connectStatus(open) {
  if (desired === 0) {
    return open === 0 ? "Not connected." : "Closing …";
  }
  const how = `${open} of ${count(desired, "socket")} open`;
  if (open === desired) {
    return `${how}.`;
  }
  return waiting ? `${how}; the others retry automatically.` : `${how}; connecting …`;
}

function showLimits() {
  const limits = known?.limits;
  const left = known?.left ?? {};
  const of = (id, value, max) => {
    setText(byId(id), limits && value !== undefined ? `${number(value)} of ${number(max)}` : "–");
    setMeter(byId(`${id}-bar`), limits ? value ?? 0 : 0, limits ? max : 1);
  };
  of("tenant-rate", left.connect, limits?.tenantPerMinute);
  of("session-rate", left.session, limits?.sessionPerMinute);
  of("tenant-open", known?.tenantConnections, limits?.tenantConnections);
  of("session-open", known?.connections, limits?.connectionsPerSession);
  setText(byId("message-rate"), limits ? number(limits.messagesPerMinute) : "–");
  setText(byId("session-ttl"), limits ? duration(limits.sessionTTL) : "–");
}

function showVerdict() {
  let kind = "";
  let title = "Create a session to find out.";
  let text = "\u00a0";
  if (waiting) {
    kind = "bad";
    title = waiting.title;
    text = `${waiting.text} ${waiting.until
      ? `Next attempt in ${duration(seconds())}.`
      : "This page retries when another connection closes."}`;
  } else if (known && !known.admission.admitted) {
    kind = "bad";
    title = "No";
    text = refusal(known.admission, known.limits);
    if (known.admission.retryAfterSeconds !== undefined) {
      text += ` Retry in ${duration(known.admission.retryAfterSeconds)}.`;
    }
  } else if (known) {
    kind = "good";
    title = "Yes";
    text = "A token is available, and no limit is reached.";
  }
  byId("verdict").className = `verdict ${kind}`;
  setText(byId("verdict-title"), title);
  setText(byId("verdict-text"), text);
  byId("wait-bar").hidden = !waiting?.until;
  if (waiting?.until) {
    byId("wait-bar").value = 1 - seconds() * 1000 / Math.max(1, waiting.until - waiting.from);
  }
}

const handlingAndShow = (action) => handling(async (event) => {
  try {
    await action(event);
  } finally {
    show();
  }
});

byId("session-form").addEventListener("submit", handlingAndShow(createSession));
byId("delete").addEventListener("click", handlingAndShow(deleteSession));
byId("connect-form").addEventListener("submit", handlingAndShow(() => connect(byId("sockets").valueAsNumber)));
byId("disconnect").addEventListener("click", handlingAndShow(disconnect));
byId("send-form").addEventListener("submit", handlingAndShow((event) => send(event.submitter.value)));
byId("clear").addEventListener("click", clearLog);

clearLog();
show();
byId("token-field").hidden = settings.sessionAccess !== "jwt";
if (settings.sessionAccess === "signed") {
  notice("info", "This deployment creates sessions only for signed requests, which a page cannot make. Use the command line: ./tollgate connect");
}
await offerTenants().catch(showError);
addEventListener("hashchange", fromAddress);
poll(look);
setInterval(tick, 250);
await fromAddress();
