// The limits of a tenant and of a tier: what their forms show and send. No requests, no elements.

import { LIMITS, count, dateTime, duration, number } from "./words.js";

/** The modes of limits. */
export const MODES = { ENFORCE: "Enforced", OBSERVE: "Only observed", OFF: "Off" };
const ANY = ["ENFORCE", "OBSERVE", "OFF"];
const MODES_OF = {
  tenantPerMinute: ANY,
  sessionPerMinute: ANY,
  connectionsPerSession: ANY,
  tenantConnections: ANY,
  messagesPerMinute: ANY,
  sessionsPerSubject: ["ENFORCE", "OFF"],
};
/** The largest values that the API accepts. */
const LARGEST = {
  tenantPerMinute: 30_000,
  sessionPerMinute: 60_000,
  connectionsPerSession: 1_000,
  tenantConnections: 1_000_000,
  sessionTTL: 86_400,
  messagesPerMinute: 60_000,
  sessionLifetime: 2_592_000,
  sessionsPerSubject: 100,
};
/** The spans of recorded minutes to choose from, for a preview. */
export const REPLAYS = { __proto__: null, "1h": "hour", "24h": "24 hours", "7d": "7 days", "31d": "31 days" };
export const REPLAY = "24h";

export const NAMES = Object.keys(LIMITS);
/** The modes that a limit can have. The times of sessions have none. */
export const modesOf = (limit) => MODES_OF[limit] ?? [];
export const largest = (limit) => LARGEST[limit];

/** The fields without those that are undefined. */
const without = (fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
const isSame = (a, b) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
const sorted = (value) => value && typeof value === "object"
  ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]))
  : value;

/** The fields of a form: the texts of values, and modes; "" for none. They begin as the given ones. */
const fieldsOf = (values, modes = {}) => ({
  values: Object.fromEntries(NAMES.map((name) => [name, values[name] === undefined ? "" : String(values[name])])),
  modes: Object.fromEntries(NAMES.filter((name) => modesOf(name).length > 0).map((name) => [name, modes[name] ?? ""])),
});

/** What an operator edits of a tenant: `{version, tier, values, modes}`. */
export const tenantDraft = ({ version, tier, overrides }) => ({ version, tier, ...fieldsOf(overrides, overrides.modes) });

/** What an operator edits of a tier: `{version, values, modes}`. */
export const tierDraft = ({ version, limits, modes }) => ({ version, ...fieldsOf(limits, modes) });

const numbersOf = (values) => without(Object.fromEntries(NAMES.map((name) => [name, values[name] === "" ? undefined : Number(values[name])])));
const modesIn = (modes) => without(Object.fromEntries(Object.entries(modes).map(([name, mode]) => [name, mode || undefined])));

/** The body that changes a tenant as drafted. Overrides are replaced as a whole, so the line's is kept. */
export function tenantBody(draft, { tier, overrides }) {
  const modes = modesIn(draft.modes);
  return without({
    tier: draft.tier === tier ? undefined : draft.tier,
    overrides: without({
      ...numbersOf(draft.values),
      line: overrides.line,
      modes: Object.keys(modes).length > 0 ? modes : undefined,
    }),
  });
}

/** The definition of a tier as drafted. Modes that are enforced are left out, as in answers. */
export function tierBody(draft, tier) {
  const { version, rollout, retreatedAt, modes, ...kept } = tier;
  const drafted = Object.fromEntries(Object.entries(modesIn(draft.modes)).filter(([, mode]) => mode !== "ENFORCE"));
  return { ...kept, limits: numbersOf(draft.values), ...(Object.keys(drafted).length > 0 ? { modes: drafted } : {}) };
}

/** Whether a draft differs from the tenant. */
export const changesTenant = (draft, tenant) =>
  draft.tier !== tenant.tier || !isSame(tenantBody(draft, tenant).overrides, tenant.overrides);

/** Whether a draft differs from the tier. */
export const changesTier = (draft, tier) => {
  const body = tierBody(draft, tier);
  return !isSame(body.limits, tier.limits) || !isSame(body.modes ?? {}, tier.modes ?? {});
};

/** The rows of a tenant's limits: `{name, label, ofTier, override, effective, modes, mode, effectiveMode, used}`. */
export function tenantRows(draft, tier, used = {}) {
  return NAMES.map((name) => {
    const override = draft.values[name];
    const ofTier = tier?.limits?.[name];
    const tierMode = tier?.modes?.[name] ?? "ENFORCE";
    return {
      name,
      label: LIMITS[name],
      ofTier,
      tierMode,
      override,
      effective: override === "" ? ofTier : Number(override),
      modes: modesOf(name),
      mode: draft.modes[name],
      effectiveMode: draft.modes[name] || tierMode,
      used: used[name],
    };
  });
}

const UNITS = { messagesPerMinute: ["message", "messages"] };
const range = (least, most) => (least === most ? number(most) : `${number(least)} to ${number(most)}`);

/** What a limit of a replay would have refused, in a sentence. */
export function replayText({ limit, now, new: value, least, most, minutes, longestSeconds, first, last }) {
  const [, many] = UNITS[limit] ?? ["connection", "connections"];
  const when = minutes > 1
    ? `in up to ${number(minutes)} minutes between ${dateTime(first)} and ${dateTime(last)}, up to ${duration(longestSeconds)} without a break`
    : `in the minute of ${dateTime(first)}`;
  return `${LIMITS[limit]}: ${number(value)} instead of ${number(now)} would have refused ${range(least, most)} ${many}, ${when}.`;
}

/** What the pages of a preview say together. */
export function addPreview(total, { outcome, tenants, totals, replay, changes }) {
  const leftOut = { ...total?.leftOut };
  Object.entries(replay?.leftOut ?? {}).forEach(([limit, n]) => { leftOut[limit] = (leftOut[limit] ?? 0) + n; });
  const notKnown = (total?.notKnown ?? 0) + (replay?.notKnown?.messagesPerMinute ?? 0);
  const plus = (key, of = key) => (total?.[key] ?? 0) + totals[of];
  return {
    outcome: total?.outcome ?? outcome,
    changes: total?.changes ?? changes ?? tenants[0]?.changes ?? {},
    checked: plus("checked", "tenants"),
    changed: plus("changed"),
    consequences: [...(total?.consequences ?? []), ...tenants.flatMap(({ tenantId, consequences }) => consequences.map(({ detail }) => ({ tenantId, detail })))],
    refused: [...(total?.refused ?? []), ...(replay?.limits ?? [])].sort((a, b) => b.most - a.most),
    leftOut,
    notKnown,
  };
}

/** The changed values of a preview: "limits.tenantPerMinute 60 → 30". Overrides and buckets follow from the others. */
export function summaryOf({ overrides, buckets, ...changes }) {
  return changedFields(Object.keys(changes).length > 0 ? changes : { ...(overrides && { overrides }), ...(buckets && { buckets }) });
}

function changedFields(changes, path = "") {
  return Object.entries(changes).flatMap(([name, change]) => {
    const at = path ? `${path}.${name}` : name;
    return "from" in change && typeof change.from !== "object" || "to" in change && typeof change.to !== "object"
      ? [`${at} ${change.from ?? "–"} → ${change.to ?? "–"}`]
      : changedFields(change, at);
  });
}

/** What a replay found, in a sentence. */
export const replaySummary = ({ refused }, words) => refused.length === 0
  ? `In the last ${words}, these limits would have refused nothing.`
  : `In the last ${words}, ${count(new Set(refused.map(({ tenantId }) => tenantId)).size, "tenant")} would have been refused:`;

/** What fills a bucket: a rate, or a calendar. */
export const refillOf = ({ ratePerMinute, refill }) => (refill
  ? `filled ${refill.every === "WEEK" ? `each ${refill.day.toLowerCase()}` : "daily"} at ${refill.at} (${refill.zone})`
  : `${number(ratePerMinute)} a minute`);
