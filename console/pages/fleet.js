// What the page says about the fleet: joins the list of tenants, the rankings and the activity. No requests, no elements.

import { count, duration, number } from "./words.js";

/** From this share of a limit on, a tenant is near it. */
const NEAR_PERCENT = 80;
/** The minutes of the rankings. */
export const MINUTES = 5;

/** Why connections are refused, by the reasons of the API. `{n}` is the limit, the second text the name of the limit. */
const REASONS = {
  TENANT_RATE: ["over {n} connections a minute", "tenantPerMinute"],
  SESSION_RATE: ["a session over {n} connections a minute", "sessionPerMinute"],
  TENANT_CONNECTIONS: ["at its limit of {n} open connections", "tenantConnections"],
  SESSION_CONNECTIONS: ["a session at its limit of {n} open connections", "connectionsPerSession"],
  SUSPENDED: ["suspended"],
  UNDECIDED: ["a service of AWS did not answer"],
  LEASE_ENDED: ["handshakes took too long"],
};
/** A reason with the tenant's limit, if it is known: "over 40 connections a minute". */
export function reasonText(reason, limits) {
  const [text, limit] = REASONS[reason] ?? [reason];
  const value = limits?.[limit];
  if (value === undefined) {
    return text.replace("over {n}", "over its limit of").replace("{n} ", "");
  }
  return (value === 1 ? text.replace("connections", "connection") : text).replace("{n}", number(value));
}

/** The reasons of refusals, the most frequent first: `{TENANT_RATE: 9}` → `[["TENANT_RATE", 9]]`. */
export const byFrequency = (counts = {}) => Object.entries(counts).sort(([, a], [, b]) => b - a);

/** What the last seconds say about a tenant; undefined if it was not asked for. */
export function liveOf(history) {
  const last = history?.last;
  if (!last) {
    return undefined;
  }
  const bucket = last.buckets.find(({ action }) => action === "connect");
  const rates = history.latestRates;
  return {
    connections: last.connections,
    admitted: rates.admitted ?? 0,
    refused: rates.refused ?? 0,
    throttled: history.throttled,
    level: bucket?.level,
    capacity: bucket?.capacity,
    waiting: bucket?.line?.length ?? 0,
    waitSeconds: bucket?.line?.waitSeconds ?? 0,
    sleeping: bucket?.state === "HIBERNATING",
  };
}

/** The reason that the activity shows by itself. The rankings name reasons up to two minutes later. */
function apparentReason({ tenant, live }) {
  if (live?.connections >= tenant.limits.tenantConnections) {
    return "TENANT_CONNECTIONS";
  }
  return live && (live.level === 0 || live.waiting > 0) ? "TENANT_RATE" : undefined;
}

function isNear({ tenantPerMinute, tenantConnections }, ranked, live) {
  const open = Math.max(ranked?.peakConnections ?? 0, live?.connections ?? 0);
  const taken = ranked?.tokens.find(({ action }) => action === "connect")?.taken ?? 0;
  return open * 100 >= tenantConnections * NEAR_PERCENT || taken * 100 >= tenantPerMinute * MINUTES * NEAR_PERCENT;
}

/**
 * A row for each tenant. `refused` and `connections` are rankings, `pending` the list of tenants with pending
 * changes, and `histories` the activity of those that were asked for.
 */
export function rowsOf({ tenants, refused = [], connections = [], pending = [], histories = new Map() }) {
  const ranks = new Map([...connections, ...refused].map((ranked) => [ranked.tenantId, ranked]));
  const unsettled = new Set(pending.map(({ tenantId }) => tenantId));
  return tenants.map((tenant) => {
    const id = tenant.tenantId;
    const isIdle = !ranks.has(id) && !histories.has(id) && !unsettled.has(id);
    return isIdle ? idleRowOf(tenant) : rowOf(tenant, ranks.get(id), histories.get(id), unsettled.has(id));
  });
}

/** The rows of tenants of which nothing is known but their settings: most of them, and always the same. */
const idleRows = new WeakMap();

function idleRowOf(tenant) {
  if (!idleRows.has(tenant)) {
    idleRows.set(tenant, rowOf(tenant));
  }
  return idleRows.get(tenant);
}

/** The row of one tenant. */
export function rowOf(tenant, ranked, history, isPending = false) {
  const live = liveOf(history);
  const row = { id: tenant.tenantId, tenant, live, refused: ranked?.refused ?? 0, open: live?.connections ?? ranked?.peakConnections ?? 0 };
  // Rows keep their order for as long as the rankings do.
  row.peak = ranked?.peakConnections ?? row.open;
  row.reasons = byFrequency(ranked?.refused > 0 ? ranked.refusedFor : {}).map(([reason]) => reason);
  if (row.reasons.length === 0 && live?.throttled) {
    row.reasons = [apparentReason(row)].filter(Boolean);
  }
  row.isActive = Boolean(ranked || live?.connections > 0 || live?.throttled || live?.admitted > 0 || live?.waiting > 0);
  row.is = {
    throttled: row.refused > 0 || live?.throttled === true,
    near: tenant.status === "ACTIVE" && isNear(tenant.limits, ranked, live),
    observed: Object.values(tenant.modes ?? {}).includes("OBSERVE"),
    suspended: tenant.status === "SUSPENDED",
    pending: isPending || tenant.status === "OFFBOARDING",
    overrides: Object.keys(tenant.overrides).length > 0,
  };
  return row;
}

/** The chips that narrow the list, and how they are explained. */
export const CHIPS = {
  throttled: ["Throttled", "Refused in the last five minutes"],
  near: ["Near a limit", `At least ${NEAR_PERCENT} % of its connections or of its rate, among the 100 tenants with the most connections and the 100 most refused`],
  observed: ["Observed", "At least one limit is only observed"],
  suspended: ["Suspended", "All connections are refused"],
  pending: ["Pending", "A change is not applied completely"],
  overrides: ["Overrides", "At least one limit differs from its tier"],
};

/** How many rows each chip would leave. */
export function chipCounts(rows) {
  const counts = Object.fromEntries(Object.keys(CHIPS).map((name) => [name, 0]));
  for (const { is } of rows) {
    for (const name in counts) {
      counts[name] += is[name] ? 1 : 0;
    }
  }
  return counts;
}

const ascending = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const byId = (a, b) => ascending(a.id, b.id);
const bySeverity = (a, b) =>
  b.refused - a.refused || b.is.throttled - a.is.throttled || b.peak - a.peak || byId(a, b);

/** The orders of the list. */
export const SORTS = {
  __proto__: null,
  refused: bySeverity,
  tenant: byId,
  tier: (a, b) => ascending(a.tenant.tier, b.tenant.tier) || bySeverity(a, b),
  open: (a, b) => b.peak - a.peak || byId(a, b),
  admitted: (a, b) => (b.live?.admitted ?? 0) - (a.live?.admitted ?? 0) || bySeverity(a, b),
};

/** The rows that a query `{find, chip, tier, sort}` leaves, in its order. `find` may be any part of the id. */
export function select(rows, { find = "", chip, tier, sort } = {}) {
  const part = find.trim().toLowerCase();
  return rows
    .filter(({ id, tenant, is }) => id.includes(part) && (!tier || tenant.tier === tier) && (!CHIPS[chip] || is[chip]))
    .sort(SORTS[sort] ?? SORTS.refused);
}

/** The most important state of a tenant in a word, and the style of its badge. */
export function stateOf({ tenant, live, is }) {
  if (tenant.status === "OFFBOARDING") {
    return ["Being removed", "warn"];
  }
  if (is.suspended) {
    return ["Suspended", "warn"];
  }
  // Without activity, the last five minutes are all that is known.
  if (live ? live.throttled : is.throttled) {
    return ["Throttled", "bad"];
  }
  if (is.throttled) {
    return ["Was throttled", "warn"];
  }
  if (is.near) {
    return ["Near a limit", "warn"];
  }
  if (is.pending) {
    return ["Pending", "accent"];
  }
  return live?.sleeping ? ["Sleeping", ""] : ["Active", "good"];
}

/** Why a tenant is refused: "Over 40 connections a minute; a session over 5 connections a minute". Empty if it is not. */
export function why({ tenant, reasons, is }) {
  if (!is.throttled) {
    return "";
  }
  const text = reasons.map((reason) => reasonText(reason, tenant.limits)).join("; ");
  return text ? text[0].toUpperCase() + text.slice(1) : "Reason follows within two minutes";
}

/** A tenant's state in one sentence or two: "Refusing 12 a second: over 40 connections a minute. 31 wait in line, the last for 46 s." */
export function sentence(row) {
  const { tenant, live, refused, is, open } = row;
  if (tenant.status === "OFFBOARDING") {
    return "It is being removed.";
  }
  if (is.suspended) {
    return "Suspended: all connections are refused until it is resumed.";
  }
  const reason = why(row);
  const because = reason && `: ${reason[0].toLowerCase()}${reason.slice(1)}`;
  const waiting = live?.waiting > 0
    ? ` ${number(live.waiting)} ${live.waiting === 1 ? "waits" : "wait"} in line, the last for ${duration(live.waitSeconds)}.`
    : "";
  if (live?.throttled) {
    return `Refusing ${number(live.refused)} a second${because}.${waiting}`;
  }
  if (refused > 0) {
    return `${count(refused, "refusal")} in the last ${MINUTES} minutes${live ? ", none now" : ""}${because}.${waiting}`;
  }
  if (is.near) {
    return `Near its limits: ${number(open)} of ${number(tenant.limits.tenantConnections)} connections are open.${waiting}`;
  }
  return open > 0 || live?.admitted > 0 ? `Nothing is refused. ${count(open, "connection is", "connections are")} open.${waiting}` : `Idle.${waiting}`;
}

const LATE_MS = 3 * 60_000;

/**
 * An answer of `/fleet` without the minutes at its end that are not over, or whose counts have not arrived: a chart would
 * show them as a fall to zero.
 */
export function arrived(answer) {
  const to = Date.parse(answer.to);
  const isOver = ({ at }) => Date.parse(at) + answer.stepSeconds * 1000 <= to;
  const isEmpty = ({ admitted, refused, wouldRefuse }) => admitted + refused + wouldRefuse === 0;
  const steps = answer.steps.filter(isOver);
  while (steps.length > 0 && isEmpty(steps.at(-1)) && Date.parse(steps.at(-1).at) + LATE_MS > to) {
    steps.pop();
  }
  return answer.stepSeconds > 60 ? answer : { ...answer, steps };
}

/** The sums of `/fleet`'s last minutes, to compare with the rankings: `{admitted, refused, wouldRefuse, open}`. */
export function recent({ steps = [], stepSeconds = 60 } = {}, minutes = MINUTES) {
  const last = steps.slice(-Math.max(1, Math.round(minutes * 60 / stepSeconds)));
  const sum = (key) => last.reduce((total, step) => total + step[key], 0);
  return { admitted: sum("admitted"), refused: sum("refused"), wouldRefuse: sum("wouldRefuse"), open: Math.max(0, ...last.map((step) => step.peakConnections)) };
}
