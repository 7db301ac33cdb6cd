// The tenant that is open beside the list: its buckets, its charts, and what can be done with it.

import { LiveChart } from "./chart.js";
import { byId, confirmed, doing, el, fill, notice, say } from "./dom.js";
import { History } from "./history.js";
import { Storm } from "./storm.js";
import { BUCKET_STATES, count, duration, number } from "./words.js";

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
    { key: "admittedRate", label: "Let in", kind: "admitted", area: true },
    { key: "refusedRate", label: "Refused", kind: "refused", area: true },
  ],
});

/** What has been seen of tenants' buckets, by tenant and action. */
const levels = new Map();
let tenant;
let action = "connect";
let storm;

/** Notes what the control plane said of a tenant. */
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

/** Shows a report of the control plane as of `at`, and what the list knows of its connections. */
export function showTenant(report, history, at) {
  if (tenant?.tenantId !== report.tenantId) {
    action = "connect";
    byId("tier").value = report.tier;
  }
  const before = tenant;
  tenant = report;
  note(report);
  say(byId("detail-title"), report.tenantId);
  byId("detail-badges").replaceChildren(
    el("span", { class: "badge accent" }, report.tier), " ",
    el("span", { class: `badge ${STATUS[report.status]?.[1] ?? ""}` }, STATUS[report.status]?.[0] ?? report.status));
  if (before?.tenantId === report.tenantId && before.tier !== report.tier) {
    byId("tier").value = report.tier;
  }
  say(byId("open"), `${number(report.connections)} of ${number(report.limits.tenantConnections)}`);
  say(byId("isolation"), report.isolation === "SILO" ? "yes" : "no, shared");
  showBuckets(report.buckets, at);
  rates.show(history?.samples() ?? []);
  const gone = report.status === "OFFBOARDING";
  say(byId("suspend"), report.status === "SUSPENDED" ? "Resume" : "Suspend");
  for (const id of ["suspend", "offboard", "tier", "change-tier"]) {
    byId(id).disabled = gone;
  }
  byId("as-client").href = `./#${new URLSearchParams({ tenant: report.tenantId })}`;
  showStorm();
}

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
    fill(row.querySelector("meter"), bucket.level, bucket.capacity);
    say(row.querySelector(".count"), `${number(bucket.level)} of ${number(bucket.capacity)}`);
    const wait = (Date.parse(bucket.nextTokenAt) - at) / 1000;
    say(row.querySelector(".more"),
      `${BUCKET_STATES[bucket.state] ?? bucket.state}, ${number(bucket.ratePerMinute)} a minute`
      + (bucket.level === 0 && wait > 0 ? `, next token within ${duration(wait)}` : ""));
  });
  const chosen = buckets.find((bucket) => bucket.action === action);
  say(byId("fill-rate"), chosen ? `${number(chosen.ratePerMinute)}/min` : "–");
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

/** Fills in the tiers that there are. */
export function offerTiers(names) {
  for (const id of ["tier", "new-tier", "tier-filter"]) {
    const select = byId(id);
    const chosen = select.value;
    const first = id === "tier-filter" ? [el("option", { value: "" }, "All")] : [];
    select.replaceChildren(...first, ...names.map((name) => el("option", { value: name }, name)));
    select.value = [...select.options].some((option) => option.value === chosen) ? chosen : select.options[0]?.value;
  }
}

/** Who could be the neighbour of a storm. */
export function offerNeighbours(ids) {
  const select = byId("neighbour");
  const chosen = select.value;
  const others = ids.filter((id) => id !== tenant?.tenantId);
  if (select.options.length > 0 && [...select.options].slice(0, -1).map((option) => option.value).join() === others.join()) {
    return;
  }
  select.replaceChildren(
    ...others.map((id) => el("option", { value: id }, id)), el("option", { value: "" }, "none"));
  select.value = others.includes(chosen) ? chosen : others[0] ?? "";
}

/** Wires what can be done; `control` calls the control plane, `changed` is told of what was done. */
export function wire({ control, changed, sessions, webSocketUrl, sessionAccess }) {
  const at = () => `tenants/${tenant.tenantId}`;

  byId("tier-form").addEventListener("submit", doing(async () => {
    const { tenantId } = tenant;
    const tier = byId("tier").value;
    const preview = (await control(`${at()}?dryRun=true`, { method: "PATCH", body: { tier } })).body;
    const consequences = preview.tenants.flatMap((one) => one.consequences).map((one) => one.detail);
    if (consequences.length > 0
        && !await confirmed(`Move ${tenantId} to ${tier}?`, `${consequences.join("; ")}.`, "Change tier")) {
      return;
    }
    await control(`tenants/${tenantId}`, { method: "PATCH", body: { tier } });
    notice("good", `${tenantId} is ${tier} now. Its level and fill rate follow with the next fill, within a minute.`);
    changed();
  }));

  byId("suspend").addEventListener("click", doing(async () => {
    const { tenantId, status, connections } = tenant;
    const resume = status === "SUSPENDED";
    if (!resume && !await confirmed(
      `Suspend ${tenantId}?`,
      `Its sessions end, ${count(connections, "open socket")} of it will be closed, and nobody is let in until you resume it.`,
      "Suspend")) {
      return;
    }
    await control(`tenants/${tenantId}`, { method: "PATCH", body: { status: resume ? "ACTIVE" : "SUSPENDED" } });
    notice("good", resume ? `${tenantId} is served again.` : `${tenantId} is suspended.`);
    changed();
  }));

  byId("offboard").addEventListener("click", doing(async () => {
    const { tenantId, connections } = tenant;
    if (!await confirmed(
      `Offboard ${tenantId}?`,
      `Its queues, schedules, sessions and rows are removed, and ${count(connections, "open socket")} closed. There is no way back.`,
      "Offboard")) {
      return;
    }
    const { status } = await control(`tenants/${tenantId}`, { method: "DELETE" });
    notice("good", status === 204 ? `${tenantId} is gone.` : `${tenantId} is being removed; what is left goes within minutes.`);
    changed(status === 204);
  }));

  byId("storm-form").addEventListener("submit", doing(async () => {
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
      say(byId("storm"), "Start storm");
    }
  }));
  if (sessionAccess !== "open") {
    byId("storm").disabled = true;
    say(byId("storm-sentence"), "This deployment does not let everybody create sessions, so this page cannot raise a storm.");
  }
}

function showStorm() {
  if (!storm) {
    return;
  }
  const { counts, neighbour, neighbourId } = storm;
  say(byId("storm"), "Stop storm");
  say(byId("storm-admitted"), number(counts.admitted));
  say(byId("storm-refused"), number(counts.refused));
  say(byId("storm-other"), number(counts.other));
  const probes = neighbour.admitted + neighbour.refused + neighbour.other;
  say(byId("storm-neighbour"), neighbourId ? `${neighbour.admitted} of ${probes}` : "–");
  byId("storm-bar").value = storm.tried / storm.attempts;
  say(byId("storm-sentence"), stormSentence(probes));
}

function stormSentence(probes) {
  const { tenantId, neighbourId, neighbour, counts, phase } = storm;
  const undisturbed = !neighbourId || probes === 0
    ? ""
    : neighbour.admitted === probes
      ? ` ${neighbourId} was let in each time.`
      : ` ${neighbourId} was let in ${neighbour.admitted} of ${probes} times.`;
  switch (phase) {
    case "opening":
      return `A storm on ${tenantId} …${undisturbed}`;
    case "holding":
      return `All were tried; the sockets stay open for a moment.${undisturbed}`;
    default:
      return `The storm on ${tenantId} is over${phase === "stopped" ? ", stopped" : ""}: ${number(counts.admitted)} let in, ${number(counts.refused)} refused, all closed.${undisturbed}`;
  }
}
