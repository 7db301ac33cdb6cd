// Whether the deployment works: alarms, drift and its repair, and the switch that lifts all limits.

import { html } from "./lit-html.js";
import { confirmed } from "./confirm.js";
import { handling, notice } from "./dom.js";
import { runbookLink } from "./templates.js";
import { format } from "./router.js";
import { count, dateTime, number, time } from "./words.js";

const STATES = { ALARM: ["Raised", "bad"], OK: ["OK", "good"], INSUFFICIENT_DATA: ["No data", ""] };
const ORDER = ["ALARM", "INSUFFICIENT_DATA", "OK"];
/** Nothing in the deployment repairs these. */
const NOT_REPAIRED = ["TOO_LOW", "OVER_ADMITTED", "UNCHECKED"];
const KINDS = {
  MISSING: "missing",
  DIFFERS: "differs",
  ORPHANED: "orphaned",
  UNSETTLED: "not applied",
  TOO_LOW: "too low",
  OVER_ADMITTED: "over-admitted",
  UNCHECKED: "not checked",
};

/** The last walk over all resources: `{isRepair, findings, checked, resources, at, isRunning, stopped}`. */
let walk;

/** Follows the pages of a check or a repair to their end, or until it is stopped. */
async function run(isRepair, { control, draw, store }) {
  const mine = { isRepair, findings: [], checked: 0, resources: "tenants", isRunning: true, stopped: false };
  walk = mine;
  draw();
  try {
    let cursor;
    do {
      const after = cursor ? `?cursor=${cursor}` : "";
      const { body } = await (isRepair ? control(`repairs${after}`, { method: "POST" }) : control(`drift${after}`));
      mine.findings.push(...body.findings);
      mine.checked += body.checked;
      mine.resources = body.resources;
      cursor = body.next;
      draw();
    } while (cursor && !mine.stopped);
    mine.at = new Date();
  } finally {
    mine.isRunning = false;
    draw();
  }
  if (isRepair) {
    store.refresh();
  }
}

async function repair(app) {
  const left = walk.findings.filter(({ kind }) => !NOT_REPAIRED.includes(kind));
  const orphans = left.filter(({ kind }) => kind === "ORPHANED").length;
  if (await confirmed(
    "Repair all drift?",
    `This checks everything again. Of the ${count(left.length, "finding")}, ${count(orphans, "queue or schedule", "queues and schedules")} that belong to nothing are deleted; the tenants of the others are applied again.`,
    "Repair")) {
    await run(true, app);
  }
}

const alarmRow = ({ name, state, since, meaning, reason, runbook }) => html`
  <tr data-alarm=${name} class=${state === "ALARM" ? "raised" : ""}>
    <td><span class="badge ${STATES[state]?.[1] ?? ""}">${STATES[state]?.[0] ?? state}</span></td>
    <th scope="row">${name}</th>
    <td data-label="Since"><time datetime=${since} title=${since}>${dateTime(since)}</time></td>
    <td class="reason">${meaning ? html`${meaning} ` : ""}<span class="muted">${reason}</span></td>
    <td class="runbook">${runbook ? runbookLink(runbook) : ""}</td>
  </tr>`;

function alarms({ query }, { store, router }) {
  const found = store.value("alarms")?.alarms;
  if (found === undefined) {
    return html`<p class="empty">Loading …</p>`;
  }
  if (found.length === 0) {
    return html`<p class="empty">No alarms are deployed. Deploy with the option <code>alarmTopic</code>.</p>`;
  }
  const sorted = [...found].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || (a.name < b.name ? -1 : 1));
  const raised = found.filter(({ state }) => state === "ALARM").length;
  const silent = found.filter(({ state }) => state === "INSUFFICIENT_DATA").length;
  const isAll = query.alarms === "all";
  const listed = isAll ? sorted : sorted.filter(({ state }) => state === "ALARM");
  return html`
    <div class="between">
      <p id="alarm-count" role="status">${raised === 0 ? "No alarm is raised" : `${count(raised, "alarm is", "alarms are")} raised`}, of ${number(found.length)}${silent > 0 ? `; ${count(silent, "has", "have")} no data yet` : ""}.</p>
      <button type="button" id="all-alarms" aria-pressed=${String(isAll)} @click=${() => router.change({ alarms: isAll ? "" : "all" }, { replace: false })}>Show all</button>
    </div>
    ${listed.length === 0 ? "" : html`
      <table class="alarm-list" aria-label="Alarms">
        <thead><tr><th scope="col">State</th><th scope="col">Alarm</th><th scope="col">Since</th><th scope="col">Reason</th><th scope="col">What to do</th></tr></thead>
        <tbody>${listed.map((alarm) => alarmRow(alarm))}</tbody>
      </table>`}`;
}

const findingItem = ({ kind, resource, name, tenantId, detail, pending, repaired, reason }) => html`
  <li>
    <span class="badge ${repaired ? "good" : pending ? "accent" : "warn"}">${repaired ? "repaired" : KINDS[kind] ?? kind ?? "found"}</span>
    <span><b>${resource} ${name}</b>${tenantId && tenantId !== name ? html` of <a href=${format({ view: "tenant", id: tenantId })}>${tenantId}</a>` : ""}: ${detail}${pending ? " It is removed without your help, usually within a minute." : ""}${reason ? html` <span class="problem">Not repaired: ${reason}</span>` : ""}</span>
  </li>`;

function driftState() {
  if (!walk) {
    return "Not checked yet. A check reads all tenants, queues, schedules and quotas, and changes nothing.";
  }
  const { isRepair, isRunning, findings, checked, resources, at, stopped } = walk;
  const found = `${count(findings.length, "finding")}${isRepair ? `, ${number(findings.filter(({ repaired }) => repaired).length)} repaired` : ""}`;
  return isRunning
    ? `${isRepair ? "Repairing" : "Checking"} ${resources}: ${count(checked, "resource")} checked, ${found} …`
    : `${found} in ${count(checked, "resource")}${at ? `, at ${time(at)}` : ""}${stopped ? "; stopped before the end" : ""}.`;
}

function drift(app) {
  const isRunning = walk?.isRunning === true;
  const isRepairable = !isRunning && walk && !walk.isRepair && walk.findings.some(({ kind }) => !NOT_REPAIRED.includes(kind));
  return html`
    <div class="between">
      <p id="drift-state" role="status">${driftState()}</p>
      <div class="row">
        <button type="button" id="stop-walk" ?hidden=${!isRunning} @click=${() => { walk.stopped = true; }}>Stop</button>
        <button type="button" id="check-drift" ?disabled=${isRunning} @click=${handling(() => run(false, app))}>Check for drift</button>
        <button type="button" id="repair" class="primary" ?hidden=${!isRepairable} @click=${handling(() => repair(app))}>Repair …</button>
      </div>
    </div>
    ${walk?.findings.length > 0 ? html`<ul class="findings" id="findings">${walk.findings.map(findingItem)}</ul>` : ""}`;
}

async function lift(event, { control, store }) {
  const fields = new FormData(event.target);
  const reason = fields.get("reason").trim();
  const minutes = Number(fields.get("minutes"));
  if (!await confirmed("Lift all limits of all tenants?", `Nothing is refused for ${count(minutes, "minute")}, except suspended tenants and unknown sessions.`, "Lift all limits")) {
    return;
  }
  await control("admit-all", { method: "PUT", body: { reason, minutes } });
  notice("good", "All limits are lifted, within five seconds.");
  store.refresh();
}

async function enforce({ control, store }) {
  await control("admit-all", { method: "DELETE" });
  notice("good", "All limits are enforced again, within five seconds.");
  store.refresh();
}

function admitAll(app) {
  const lifted = app.store.value("admit-all");
  if (lifted === undefined) {
    return html`<p class="empty">Loading …</p>`;
  }
  return lifted.on
    ? html`
      <p class="problem" id="admit-all-state">All limits are lifted until ${dateTime(lifted.until)}: ${lifted.reason}</p>
      <p class="muted small">Turned on ${dateTime(lifted.since)} by ${lifted.by}.</p>
      <div class="row"><button type="button" id="enforce" class="primary" @click=${handling(() => enforce(app))}>Enforce all limits again</button></div>`
    : html`
      <p id="admit-all-state">Limits are enforced.</p>
      <form class="row" id="lift-form" @submit=${handling((event) => lift(event, app))}>
        <div class="grow"><label for="lift-reason">Reason</label><input id="lift-reason" name="reason" required maxlength="200" pattern=".*\\S.*" autocomplete="off" placeholder="SQS fails in us-east-1"></div>
        <div class="minutes"><label for="lift-minutes">Minutes</label><input id="lift-minutes" name="minutes" type="number" required min="1" max="1440" value="60"></div>
        <button class="danger" id="lift">Lift all limits …</button>
      </form>`;
}

export const health = {
  title: () => "Health",
  tasks: (route, { sources }) => [sources.alarms(), sources.admitAll()],
  show: (route, app) => html`
    <div class="intro"><h1>Health</h1></div>
    <div class="stack">
      <section class="card" aria-labelledby="alarms-title"><h2 id="alarms-title">Alarms</h2>${alarms(route, app)}</section>
      <section class="card" aria-labelledby="drift-title"><h2 id="drift-title">Drift</h2>${drift(app)}</section>
      <section class="card" aria-labelledby="admit-all-title"><h2 id="admit-all-title">Admit all</h2>${admitAll(app)}</section>
    </div>`,
};
