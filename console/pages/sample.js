// The sample client: one session of one tenant, its sockets, and the reasons of refusals. Each socket is kept open by
// Tollgate's client for browsers, which waits, reconnects and sends again.

import { call, config } from "./api.js";
import { confirmed } from "./confirm.js";
import { byId, el, handling, notice, setText, showError } from "./dom.js";
import { messageError, placeInLine, refusal } from "./refusal-texts.js";
import { Sessions } from "./sessions.js";
import { connect as connectClient } from "./tollgate.js";
import { count, duration, number, time } from "./words.js";

/** With more tenants than this, the page offers a text field instead of a select. */
const MAX_TENANTS = 100;
const MAX_LOG_ENTRIES = 300;
const POLL_MS = 2000;
const TENANT_ID = /^[a-z0-9][a-z0-9-]{0,35}$/;
const SESSION_ID = /^[0-9a-f]{32}$/;
/** Where this window keeps the id of the session that it created, so that a reload needs no confirmation. */
const OWN = "tollgate-session";

const settings = await config();
let sessions = new Sessions(settings.sessionUrl);
/** `{tenantId, sessionId}`, or undefined. */
let session;
/** The last answer of the session API. */
let known;
/** The desired number of sockets, and a client for each that is open or under way. */
let desired = 0;
let clients = [];
/** Why a socket waits: `{client, title, text, ahead, seconds, total}`; without `seconds` the time is not known. */
let waiting;
let messages = 0;

/** Sets the value of a meter. */
function setMeter(meter, value, max) {
  meter.max = Math.max(max, 1);
  meter.value = Math.min(value, max);
}

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
  sessionStorage.setItem(OWN, created.sessionId);
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
  const joins = sessionId === sessionStorage.getItem(OWN) || await confirmed(
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

/** Reads the session. */
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
      expired();
      return;
    }
    showError(failed);
  }
  show();
}

function expired() {
  leave();
  log("session", "Session", "Expired.");
  notice("info", "The session has expired. Create a new session.");
}

// Sockets

function connect(n) {
  desired = n;
  clients.splice(n).forEach((client) => client.close());
  openMissing();
}

function disconnect() {
  desired = 0;
  waiting = undefined;
  clients.splice(0).forEach((client) => client.close());
}

const openClients = () => clients.filter((client) => client.state === "open");

/** Opens the missing sockets, one after another: a session has one place in line. */
function openMissing() {
  if (session && clients.length < desired && openClients().length === clients.length) {
    clients.push(open(clients.length + 1));
  }
  show();
}

function open(number) {
  const client = connectClient({
    ...session,
    sessionUrl: settings.sessionUrl,
    webSocketUrl: settings.webSocketUrl,
    token: sessions.token,
    // Other windows may share the session.
    newSession: false,
  });
  client.number = number;
  client.addEventListener("state", ({ detail }) => changed(client, detail));
  client.addEventListener("waiting", ({ detail }) => waits(client, detail));
  client.addEventListener("message", ({ detail }) =>
    log("received", "Received", shown(detail.message), { key: `message ${detail.id}`, socket: client }));
  client.addEventListener("reply", ({ detail }) =>
    log("reply", "Reply", shown(detail.message), { key: `reply ${detail.id}`, socket: client }));
  client.addEventListener("refused", ({ detail }) =>
    log("refused", detail.code === "THROTTLED" ? "Throttled" : "Error",
      messageError(detail) + (detail.final ? "" : " It is sent again by itself.")));
  return client;
}

function changed(client, { state, previous, reason, detail }) {
  if (waiting?.client === client && state !== "connecting") {
    waiting = undefined;
  }
  const of = `Socket ${client.number} of ${desired}`;
  if (state === "open") {
    log("open", "Connected", `${of} is open.`);
    openMissing();
    look();
  } else if (state === "reconnecting" && previous === "open") {
    log("session", "Closed", `${of} is closed. It reconnects by itself.`);
  } else if (state === "reconnecting") {
    waiting = { client, title: "Connection failed", text: "The server gave no reason. It may be busy. This page tries again by itself." };
    log("refused", "Refused", waiting.text);
  } else if (state === "closed") {
    ended(client, reason, detail);
  }
  show();
}

function ended(client, reason, detail) {
  if (reason === "closed") {
    log("session", "Closed", `Socket ${client.number} is closed.`);
    return;
  }
  clients = clients.filter((other) => other !== client);
  desired = Math.min(desired, clients.length);
  if (reason === "session-ended" && session?.sessionId === client.sessionId) {
    expired();
  } else {
    log("refused", "Closed", `Socket ${client.number} is closed: ${detail ?? reason}.`);
    look();
  }
}

function waits(client, detail) {
  const isNew = waiting?.client !== client || waiting.title !== "Refused";
  const { ahead, retryAfterSeconds: seconds } = detail;
  const text = refusal(detail, client.limits);
  waiting = { client, title: "Refused", text, ahead, seconds, total: isNew ? seconds : waiting.total };
  if (isNew) {
    log("refused", "Refused", text + (seconds === undefined ? "" : ` Next attempt in ${duration(seconds)}.`));
    look();
  }
  show();
}

// Messages

function send(action) {
  const [client] = openClients();
  messages++;
  const text = byId("message").value.replaceAll("{{n}}", messages);
  log("sent", action === "SiloSQS" ? "Sent silo" : "Sent pooled", text);
  // A message that fails is told by the event `refused`, too; only one that was never sent is not.
  client.send(text, { action }).then(
    () => log("accepted", "Accepted", "Queued."),
    (failed) => ["TOO_BIG", "QUEUE_FULL"].includes(failed.code) && log("refused", "Error", failed.message));
}

const shown = (message) => (typeof message === "string" ? message : JSON.stringify(message));

const BADGES = { open: "good", reply: "good", accepted: "good", received: "accent", refused: "bad" };

/** Adds an entry. A message that several sockets of this window receive is one entry with their numbers. */
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
  const open = openClients().length;
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
    text = waiting.text;
    if (waiting.seconds !== undefined) {
      text += ` Next attempt in ${duration(waiting.seconds)}.`;
    } else if (waiting.title === "Refused") {
      text += " This page retries when another connection closes.";
    }
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
  byId("place").hidden = waiting?.ahead === undefined;
  setText(byId("place"), waiting?.ahead === undefined ? "" : placeInLine(waiting.ahead, waiting.seconds));
  byId("wait-bar").hidden = waiting?.seconds === undefined;
  if (waiting?.seconds !== undefined) {
    byId("wait-bar").value = 1 - waiting.seconds / Math.max(1, waiting.total);
  }
}

const handlingAndShow = (action) => handling(async (event) => {
  try {
    await action(event);
  } finally {
    show();
  }
});

/** Runs `look` at each poll while the page is visible, and at once when it becomes visible. */
function poll() {
  let timer;
  let running = false;
  const turn = async () => {
    clearTimeout(timer);
    if (document.hidden || running) {
      return;
    }
    running = true;
    try {
      await look();
    } finally {
      running = false;
      clearTimeout(timer);
      timer = setTimeout(turn, POLL_MS);
    }
  };
  document.addEventListener("visibilitychange", turn);
  turn();
}

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
poll();
await fromAddress();
