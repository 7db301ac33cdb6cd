// Steps of a history, as the API lists them. No requests, no elements.

const NOTHING = { admitted: 0, refused: 0, refusedFor: {}, wouldRefuse: 0, wouldRefuseFor: {}, peakConnections: 0, tokens: [] };
/** Entries of the audit that no operator made: they are no reason for what a chart shows. */
const NO_CHANGES = ["TenantThrottled", "TenantRecovered", "LimitNear", "TenantReconciled"];

/** A history with all its steps: the API leaves out those in which nothing happened. */
export function filled(history) {
  const { from, to, stepSeconds, steps } = history;
  const known = new Map(steps.map((step) => [Date.parse(step.at), step]));
  const ms = stepSeconds * 1000;
  const all = [];
  for (let t = Math.floor(Date.parse(from) / ms) * ms; t < Date.parse(to); t += ms) {
    all.push(known.get(t) ?? { ...NOTHING, at: new Date(t).toISOString() });
  }
  return { ...history, steps: all };
}

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

/** The most that a tenant used of its limits in any of the minutes of a history, by limit. */
export const mostUsed = ({ steps }) => ({
  tenantPerMinute: most(steps, (step) => step.admitted),
  tenantConnections: most(steps, (step) => step.peakConnections),
  messagesPerMinute: most(steps, (step) => takenOf(step, "message")),
});

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
