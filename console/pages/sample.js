// The sample client: one session of one tenant, its sockets, and why they are let in or not.

import { Sessions, call, config, openSocket } from "./api.js";
import { byId, complain, confirmed, doing, el, fill, notice, poll, say } from "./dom.js";
import { count, duration, messageError, number, refusal, time } from "./words.js";

/** More tenants than this are not offered in a list; their ids can be typed. */
const MOST_TENANTS = 100;
const LONGEST_LOG = 300;
const TENANT_ID = /^[a-z0-9][a-z0-9-]{0,35}$/;
const SESSION_ID = /^[0-9a-f]{32}$/;

const settings = await config();
let sessions = new Sessions(settings.sessionUrl);
/** `{tenantId, sessionId}`, or none. */
let session;
/** What the session API said last. */
let known;
/** How many sockets there should be, and those that there are. */
let wanted = 0;
const sockets = new Set();
let opening = false;
/** Why the next socket has to wait: `{title, text, from, until}`; without `until` for a place. */
let waiting;
let failures = 0;
let messages = 0;

// Tenants

async function offerTenants() {
  const select = byId("tenant");
  const input = byId("tenant-id");
  const part = settings.tenantUrl ? (await call(settings.tenantUrl)).body : { tenants: [], next: true };
  const ids = part.tenants.sort();
  if (part.next || ids.length > MOST_TENANTS) {
    byId("tenant-ids").append(...ids.map((id) => el("option", { value: id })));
    select.hidden = true;
    input.hidden = false;
  } else if (ids.length === 0) {
    select.replaceChildren(el("option", { value: "" }, "No tenants yet: onboard one on the operator’s page"));
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

/** The address carries the session, so that another window can have the same. */
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
 * Takes the tenant and the session that the address names, if it does. Somebody else may have made
 * the link, to read along in a session of theirs: the page joins none without being told to.
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
    `The link names session ${sessionId} of ${tenantId}. Whoever made the link may see what you send there.`,
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

/** Asks how the session stands, and tries again what had to wait if there is room now. */
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
      log("session", "Session", "It is over.");
      notice("info", "The session is over. Create another.");
      return;
    }
    complain(failed);
  }
  if (waiting && !waiting.until && known?.admission.admitted) {
    waiting = undefined;
    openWanted();
  }
  show();
}

// Sockets

async function connect(n) {
  wanted = n;
  failures = 0;
  waiting = undefined;
  await openWanted();
}

function disconnect() {
  wanted = 0;
  waiting = undefined;
  sockets.forEach((socket) => socket.close(1000));
}

/** Opens what is missing, one after another, until one is refused. */
async function openWanted() {
  if (opening) {
    return;
  }
  opening = true;
  while (session && !waiting && sockets.size < wanted) {
    show();
    const { tenantId, sessionId } = session;
    try {
      keep(await openSocket(settings.webSocketUrl, tenantId, sessionId));
      failures = 0;
    } catch {
      await whyRefused();
    }
  }
  opening = false;
  look();
}

function keep(socket) {
  if (sockets.size >= wanted) {
    socket.close(1000);
    return;
  }
  sockets.add(socket);
  socket.number = sockets.size;
  log("open", "Connected", `Socket ${socket.number} of ${wanted} is open.`);
  socket.addEventListener("message", ({ data }) => received(socket, data));
  socket.addEventListener("close", ({ code }) => {
    sockets.delete(socket);
    log("session", "Closed", `Socket ${socket.number} is closed${code === 1000 ? "" : ` (code ${code})`}.`);
    if (code === 1000) {
      wanted = Math.min(wanted, sockets.size);
      look();
    } else {
      openWanted();
    }
    show();
  });
}

/** A browser does not tell why a handshake was refused; the session API does. */
async function whyRefused() {
  await look();
  if (!session || wanted === 0) {
    return;
  }
  const admission = known?.admission;
  if (admission && !admission.admitted) {
    failures = 0;
    wait("Not let in", refusal(admission, known.limits), admission.retryAfterSeconds);
  } else {
    failures++;
    wait("No connection", "The server did not say why. It may be busy.", Math.min(2 ** failures, 30));
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
    openWanted();
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

/** What every socket of this window gets is told once, with the sockets' numbers. */
function received(socket, data) {
  const frame = JSON.parse(data);
  switch (frame.type) {
    case "accepted":
      log("accepted", "Accepted", "It is in the queue.");
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
    say(before.querySelector(".on"), ` · sockets ${numbers.join(", ")}`);
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
  while (list.children.length > LONGEST_LOG) {
    list.firstElementChild.remove();
  }
  list.parentElement.scrollTop = list.parentElement.scrollHeight;
}

function clearLog() {
  byId("log").replaceChildren(el("li", { class: "empty" }, "Nothing has happened yet."));
}

// What is shown

function show() {
  const open = sockets.size;
  byId("delete").disabled = !session;
  byId("second").hidden = !session;
  byId("connect").disabled = !session || (wanted > 0 && open < wanted);
  byId("disconnect").disabled = wanted === 0 && open === 0;
  byId("silo").disabled = byId("pooled").disabled = open === 0;
  say(byId("session-status"), session
    ? `Session …${session.sessionId.slice(-6)} of ${session.tenantId} is open.`
    : "No session yet.");
  say(byId("connect-status"), connectStatus(open));
  showLimits();
  showVerdict();
}

function connectStatus(open) {
  if (wanted === 0) {
    return open === 0 ? "Not connected." : "Closing …";
  }
  const how = `${open} of ${count(wanted, "socket")} open`;
  if (open === wanted) {
    return `${how}.`;
  }
  return waiting ? `${how}; the rest will follow by itself.` : `${how}; connecting …`;
}

function showLimits() {
  const limits = known?.limits;
  const left = known?.left ?? {};
  const of = (id, value, max) => {
    say(byId(id), limits && value !== undefined ? `${number(value)} of ${number(max)}` : "–");
    fill(byId(`${id}-bar`), limits ? value ?? 0 : 0, limits ? max : 1);
  };
  of("tenant-rate", left.connect, limits?.tenantPerMinute);
  of("session-rate", left.session, limits?.sessionPerMinute);
  of("tenant-open", known?.tenantConnections, limits?.tenantConnections);
  of("session-open", known?.connections, limits?.connectionsPerSession);
  say(byId("message-rate"), limits ? number(limits.messagesPerMinute) : "–");
  say(byId("session-ttl"), limits ? duration(limits.sessionTTL) : "–");
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
      : "This page tries again once there is room."}`;
  } else if (known && !known.admission.admitted) {
    kind = "bad";
    title = "No";
    text = refusal(known.admission, known.limits);
    if (known.admission.retryAfterSeconds !== undefined) {
      text += ` Come back in ${duration(known.admission.retryAfterSeconds)}.`;
    }
  } else if (known) {
    kind = "good";
    title = "Yes";
    text = "There is a token, and there is room.";
  }
  byId("verdict").className = `verdict ${kind}`;
  say(byId("verdict-title"), title);
  say(byId("verdict-text"), text);
  byId("wait-bar").hidden = !waiting?.until;
  if (waiting?.until) {
    byId("wait-bar").value = 1 - seconds() * 1000 / Math.max(1, waiting.until - waiting.from);
  }
}

const doingAndShow = (action) => doing(async (event) => {
  try {
    await action(event);
  } finally {
    show();
  }
});

byId("session-form").addEventListener("submit", doingAndShow(createSession));
byId("delete").addEventListener("click", doingAndShow(deleteSession));
byId("connect-form").addEventListener("submit", doingAndShow(() => connect(byId("sockets").valueAsNumber)));
byId("disconnect").addEventListener("click", doingAndShow(disconnect));
byId("send-form").addEventListener("submit", doingAndShow((event) => send(event.submitter.value)));
byId("clear").addEventListener("click", clearLog);

clearLog();
show();
byId("token-field").hidden = settings.sessionAccess !== "jwt";
if (settings.sessionAccess === "signed") {
  notice("info", "This deployment creates sessions only for signed requests, which a page cannot make. Use the command line: ./tollgate connect");
}
await offerTenants().catch(complain);
addEventListener("hashchange", fromAddress);
poll(look);
setInterval(tick, 250);
await fromAddress();
