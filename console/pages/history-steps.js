// What the steps of a history add up to. No requests, no elements.

import { byFrequency } from "./fleet.js";

/** The reasons of refusals in legends. */
const REASON_NAMES = {
  TENANT_RATE: "Tenant’s rate",
  SESSION_RATE: "Session’s rate",
  TENANT_CONNECTIONS: "Tenant’s connections",
  SESSION_CONNECTIONS: "Session’s connections",
  SUSPENDED: "Suspended",
  UNDECIDED: "Service did not answer",
  LEASE_ENDED: "Handshake too slow",
};
/** Entries of the audit that no operator made: they are no reason for what a chart shows. */
const NO_CHANGES = ["TenantThrottled", "TenantRecovered", "LimitNear", "TenantReconciled"];

const sum = (steps, key) => steps.reduce((total, step) => total + step[key], 0);
const most = (steps, of) => steps.reduce((found, step) => Math.max(found, of(step)), 0);
const takenOf = (step, action) => step.tokens.find((bucket) => bucket.action === action)?.taken ?? 0;

/** The sums of a tenant's history, as `GET /fleet/tenants` has them for the tenants that it ranks. */
export function rankedOf(tenantId, { steps }) {
  const refusedFor = {};
  const taken = {};
  for (const step of steps) {
    Object.entries(step.refusedFor).forEach(([reason, n]) => { refusedFor[reason] = (refusedFor[reason] ?? 0) + n; });
    step.tokens.forEach((bucket) => { taken[bucket.action] = (taken[bucket.action] ?? 0) + bucket.taken; });
  }
  return {
    tenantId,
    admitted: sum(steps, "admitted"),
    refused: sum(steps, "refused"),
    refusedFor,
    wouldRefuse: sum(steps, "wouldRefuse"),
    peakConnections: most(steps, (step) => step.peakConnections),
    tokens: Object.entries(taken).map(([action, n]) => ({ action, taken: n })),
  };
}

/** `{p999, most}` of values: what 99.9 % of `count` values do not exceed, and the largest. Those that are missing are 0. */
function usage(values, count) {
  const sorted = [...values].sort((a, b) => a - b);
  const zeros = Math.max(0, count - sorted.length);
  const rank = Math.ceil((zeros + sorted.length) * 999 / 1000);
  return { p999: rank > zeros ? sorted[rank - zeros - 1] : 0, most: sorted.at(-1) ?? 0 };
}

/** What a tenant used of its limits in the steps of a history, by limit, as `tollgate usage` reports it: `{p999, most}`. */
export function usageOf({ from, to, stepSeconds, steps }) {
  const count = Math.round((Date.parse(to) - Date.parse(from)) / 1000 / stepSeconds);
  const of = (used) => usage(steps.map(used), count);
  return {
    tenantPerMinute: of((step) => step.admitted),
    tenantConnections: of((step) => step.peakConnections),
    messagesPerMinute: of((step) => takenOf(step, "message")),
  };
}

/** Series for a chart, per minute: `{times, lines: [{name, kind, values}]}`, one line for each reason of refusals. */
export function series({ steps = [], stepSeconds = 60 } = {}) {
  const perMinute = (value) => value * 60 / stepSeconds;
  const line = (name, kind, of) => ({ name, kind, values: steps.map((step) => perMinute(of(step) ?? 0)) });
  const totals = {};
  steps.forEach(({ refusedFor }) => Object.entries(refusedFor).forEach(([reason, n]) => { totals[reason] = (totals[reason] ?? 0) + n; }));
  const reasons = byFrequency(totals).map(([reason], i) => line(`Refused: ${(REASON_NAMES[reason] ?? reason).toLowerCase()}`, `refused r${Math.min(i, 3)}`, ({ refusedFor }) => refusedFor[reason]));
  return {
    times: steps.map(({ at }) => Date.parse(at) / 1000),
    lines: [
      line("Admitted", "admitted", ({ admitted }) => admitted),
      ...(steps.some(({ wouldRefuse }) => wouldRefuse > 0) ? [line("Would be refused", "would", ({ wouldRefuse }) => wouldRefuse)] : []),
      ...(reasons.length > 0 ? reasons : [line("Refused", "refused r0", () => 0)]),
    ],
  };
}

/** Lines of a chart of open connections: the peak of each step, and the limit. */
export const connectionSeries = ({ steps }, limit) => ({
  times: steps.map(({ at }) => Date.parse(at) / 1000),
  lines: [
    { name: "Most open", kind: "level", values: steps.map(({ peakConnections }) => peakConnections) },
    ...(limit === undefined ? [] : [{ name: "Limit", kind: "capacity", values: steps.map(() => limit) }]),
  ],
});

/** The changes that operators made, newest first, of several lists of the audit. */
export const changesOf = (...lists) => lists
  .flatMap((list) => list?.entries ?? [])
  .filter(({ what }) => !NO_CHANGES.includes(what))
  .sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
