// The open tenant beside the list: its buckets, charts and actions.

import { LiveChart } from "./chart.js";
import { byId, confirmed, el, handling, notice, setMeter, setText } from "./dom.js";
import { History } from "./history.js";
import { Storm } from "./storm.js";
import { BUCKET_STATES, LINE_OVERRIDES, count, duration, number } from "./words.js";

const level = new LiveChart(byId("level-chart"), {
  title: "Tokens",
  unit: "tokens",
  series: [
    { key: "level", label: "Level", kind: "level", area: true },
    { key: "capacity", label: "Capacity", kind: "capacity" },
    { key: "rate", label: "Fill rate/min", kind: "rate" },
  ],
});
const rates = new LiveChart(byId("rate-chart"), {
  title: "Connections per second",
  unit: "connections per second",
  series: [
    { key: "admittedRate", label: "Admitted", kind: "admitted", area: true },
    { key: "refusedRate", label: "Refused", kind: "refused", area: true },
  ],
});

/** The history of tenants' buckets, by tenant and action. */
const levels = new Map();
let tenant;
let action = "connect";
let storm;

/** Adds a tenant's report to the history. */
function note(report) {
  for (const bucket of report.buckets) {
    const key = `${report.tenantId}/${bucket.action}`;
    if (!levels.has(key)) {
      levels.set(key, new History());
    }
    levels.get(key).add(Date.now(), {
      level: bucket.level, capacity: bucket.capacity, rate: bucket.ratePerMinute,
    });
  }
}

/** Shows a tenant's report of the time `at`, and the history of its connections. */
export function showTenant(report, history, at) {
  if (tenant?.tenantId !== report.tenantId) {
    action = "connect";
    byId("tier").value = report.tier;
    byId("line").value = lineOverride(report);
  }
  const before = tenant;
  tenant = report;
  note(report);
  setText(byId("detail-title"), report.tenantId);
  byId("detail-badges").replaceChildren(
    el("span", { class: "badge accent" }, report.tier), " ",
    el("span", { class: `badge ${STATUS[report.status]?.[1] ?? ""}` }, STATUS[report.status]?.[0] ?? report.status));
  if (before?.tenantId === report.tenantId && before.tier !== report.tier) {
    byId("tier").value = report.tier;
  }
  if (before?.tenantId === report.tenantId && lineOverride(before) !== lineOverride(report)) {
    byId("line").value = lineOverride(report);
  }
  setText(byId("open"), `${number(report.connections)} of ${number(report.limits.tenantConnections)}`);
  setText(byId("isolation"), report.isolation === "SILO" ? "own" : "shared");
  setText(byId("modes"), Object.entries(report.modes ?? {}).map(([limit, mode]) => `${limit}: ${MODES[mode]}`).join(", ") || "all enforced");
  showLine(report);
  showBuckets(report.buckets, at);
  rates.show(history?.samples() ?? []);
  const gone = report.status === "OFFBOARDING";
  setText(byId("suspend"), report.status === "SUSPENDED" ? "Resume" : "Suspend");
  for (const id of ["suspend", "offboard", "tier", "change-tier", "line", "change-line"]) {
    byId(id).disabled = gone;
  }
  byId("as-client").href = `./#${new URLSearchParams({ tenant: report.tenantId })}`;
  showStorm();
}

/** The override of the line as the select's value: "true", "false", or "" for none. */
const lineOverride = ({ overrides }) => String(overrides.line ?? "");

/** Shows the line of connections: how many wait, and how long a new one would. */
function showLine({ line: isOn, buckets }) {
  const line = buckets.find((bucket) => bucket.action === "connect")?.line;
  setText(byId("in-line"), isOn ? number(line?.length ?? 0) : "off");
  setText(byId("line-wait"), isOn ? duration(line?.waitSeconds ?? 0) : "–");
  byId("clear-line").disabled = buckets.every((bucket) => (bucket.line?.length ?? 0) === 0);
}

const MODES = { OBSERVE: "only observed", OFF: "off" };

export const STATUS = {
  ACTIVE: ["Active", "good"],
  SUSPENDED: ["Suspended", "warn"],
  OFFBOARDING: ["Being removed", "warn"],
};

function showBuckets(buckets, at = NaN) {
  const list = byId("buckets");
  const actions = buckets.map((bucket) => bucket.action);
  if ([...list.children].map((row) => row.dataset.action).join() !== actions.join()) {
    list.replaceChildren(...actions.map(bucketRow));
  }
  if (!actions.includes(action)) {
    action = actions[0];
  }
  buckets.forEach((bucket, i) => {
    const row = list.children[i];
    row.querySelector("input").checked = bucket.action === action;
    setMeter(row.querySelector("meter"), bucket.level, bucket.capacity);
    setText(row.querySelector(".count"), `${number(bucket.level)} of ${number(bucket.capacity)}`);
    const wait = (Date.parse(bucket.nextTokenAt) - at) / 1000;
    setText(row.querySelector(".more"),
      `${BUCKET_STATES[bucket.state] ?? bucket.state}, ${number(bucket.ratePerMinute)} a minute`
      + (bucket.level === 0 && wait > 0 ? `, next token within ${duration(wait)}` : ""));
  });
  const chosen = buckets.find((bucket) => bucket.action === action);
  setText(byId("fill-rate"), chosen ? `${number(chosen.ratePerMinute)}/min` : "–");
  level.show(levels.get(`${tenant.tenantId}/${action}`)?.samples() ?? [], `Tokens in bucket “${action}”`);
}

const bucketRow = (name) => el(
  "label",
  { class: "bucket", "data-action": name },
  el("input", {
    type: "radio",
    name: "bucket",
    value: name,
    onchange: () => {
      action = name;
      showBuckets(tenant.buckets);
    },
  }),
  el("b", {}, name),
  el("meter", { "aria-label": `Tokens in bucket ${name}` }),
  el("span", { class: "count" }),
  el("span", { class: "more" }));

/** Fills the select with the tiers. */
export function offerTiers(names) {
  offer(byId("tier"), names.map((name) => [name, name]));
}

/** Fills the select with the possible neighbours of a storm. */
export function offerNeighbours(ids) {
  const others = ids.filter((id) => id !== tenant?.tenantId);
  offer(byId("neighbour"), [...others.map((id) => [id, id]), ["", "none"]]);
}

/** Replaces the options of a select, if they differ: while somebody chooses, the same options stay. */
function offer(select, options) {
  const before = [...select.options].map(({ value }) => value);
  const values = options.map(([value]) => value);
  if (JSON.stringify(before) === JSON.stringify(values)) {
    return;
  }
  const chosen = select.value;
  select.replaceChildren(...options.map(([value, text]) => el("option", { value }, text)));
  select.value = before.length > 0 && values.includes(chosen) ? chosen : values[0];
}

/** Wires the actions. `control` calls the control plane; `changed` is called after each change. */
export function wire({ control, changed, sessions, webSocketUrl, sessionAccess }) {
  const at = () => `tenants/${tenant.tenantId}`;
  byId("line").append(...Object.entries(LINE_OVERRIDES).map(([value, label]) => el("option", { value }, label)));

  byId("tier-form").addEventListener("submit", handling(async () => {
    const { tenantId } = tenant;
    const tier = byId("tier").value;
    const preview = (await control(`${at()}?dryRun=true`, { method: "PATCH", body: { tier } })).body;
    const consequences = preview.tenants.flatMap((one) => one.consequences).map((one) => one.detail);
    if (consequences.length > 0
        && !await confirmed(`Move ${tenantId} to ${tier}?`, `${consequences.join("; ")}.`, "Change tier")) {
      return;
    }
    await control(`tenants/${tenantId}`, { method: "PATCH", body: { tier } });
    notice("good", `${tenantId} is now in tier ${tier}. The next fill, within a minute, changes its level and fill rate.`);
    changed();
  }));

  byId("line-form").addEventListener("submit", handling(async () => {
    const { tenantId, version } = tenant;
    const { line: before, ...overrides } = tenant.overrides;
    const chosen = byId("line").value;
    if (chosen !== "") {
      overrides.line = JSON.parse(chosen);
    }
    const { body } = await control(`tenants/${tenantId}`, { method: "PATCH", body: { overrides }, version });
    notice("good", body.line
      ? `The line of ${tenantId} is on. Refused connections get a place.`
      : `The line of ${tenantId} is off. Refused connections compete for the next token.`);
    changed();
  }));

  byId("clear-line").addEventListener("click", handling(async () => {
    const { tenantId, buckets } = tenant;
    const waiting = buckets.reduce((sum, bucket) => sum + (bucket.line?.length ?? 0), 0);
    if (!await confirmed(
      `Clear the line of ${tenantId}?`,
      `${count(waiting, "client loses its place", "clients lose their places")}. Each comes back when it was told, and is admitted or gets a new place.`,
      "Clear line")) {
      return;
    }
    await control(`tenants/${tenantId}/line`, { method: "DELETE" });
    notice("good", `The line of ${tenantId} is cleared.`);
    changed();
  }));

  byId("suspend").addEventListener("click", handling(async () => {
    const { tenantId, status, connections } = tenant;
    const resume = status === "SUSPENDED";
    if (!resume && !await confirmed(
      `Suspend ${tenantId}?`,
      `This ends its sessions, closes ${count(connections, "open socket")}, and refuses new connections until you resume it.`,
      "Suspend")) {
      return;
    }
    await control(`tenants/${tenantId}`, { method: "PATCH", body: { status: resume ? "ACTIVE" : "SUSPENDED" } });
    notice("good", resume ? `${tenantId} is active again.` : `${tenantId} is suspended.`);
    changed();
  }));

  byId("offboard").addEventListener("click", handling(async () => {
    const { tenantId, connections } = tenant;
    if (!await confirmed(
      `Offboard ${tenantId}?`,
      `This removes its queues, schedules, sessions and rows, and closes ${count(connections, "open socket")}. This cannot be undone.`,
      "Offboard",
      tenantId)) {
      return;
    }
    const { status } = await control(`tenants/${tenantId}`, { method: "DELETE" });
    notice("good", status === 204 ? `${tenantId} is removed.` : `${tenantId} is being removed. This takes a few minutes.`);
    changed(status === 204);
  }));

  byId("storm-form").addEventListener("submit", handling(async () => {
    if (storm) {
      storm.stop();
      return;
    }
    storm = new Storm({
      sessions,
      webSocketUrl,
      tenantId: tenant.tenantId,
      neighbourId: byId("neighbour").value || undefined,
      attempts: byId("attempts").valueAsNumber,
      onchange: showStorm,
    });
    try {
      await storm.run();
    } finally {
      showStorm();
      storm = undefined;
      setText(byId("storm"), "Start storm");
    }
  }));
  if (sessionAccess !== "open") {
    byId("storm").disabled = true;
    setText(byId("storm-sentence"), "A storm needs open session access, which this deployment restricts.");
  }
}

function showStorm() {
  if (!storm) {
    return;
  }
  const { counts, neighbour, neighbourId } = storm;
  setText(byId("storm"), "Stop storm");
  setText(byId("storm-admitted"), number(counts.admitted));
  setText(byId("storm-refused"), number(counts.refused));
  setText(byId("storm-other"), number(counts.other));
  const probes = neighbour.admitted + neighbour.refused + neighbour.other;
  setText(byId("storm-neighbour"), neighbourId ? `${neighbour.admitted} of ${probes}` : "–");
  byId("storm-bar").value = storm.attempted / storm.attempts;
  setText(byId("storm-sentence"), stormSentence(probes));
}

function stormSentence(probes) {
  const { tenantId, neighbourId, neighbour, counts, phase } = storm;
  const neighbourResult = !neighbourId || probes === 0
    ? ""
    : neighbour.admitted === probes
      ? ` ${neighbourId} was admitted each time.`
      : ` ${neighbourId} was admitted ${neighbour.admitted} of ${probes} times.`;
  switch (phase) {
    case "opening":
      return `Opening sockets of ${tenantId} …${neighbourResult}`;
    case "holding":
      return `All sockets were attempted. The admitted ones stay open for a moment.${neighbourResult}`;
    default:
      return `The storm on ${tenantId} ${phase === "stopped" ? "was stopped" : "has ended"}: ${number(counts.admitted)} admitted, ${number(counts.refused)} refused, all closed.${neighbourResult}`;
  }
}
