// Entries of the audit, in words.

const WHAT = {
  TenantOnboarded: "onboarded",
  TenantChanged: "changed",
  TenantReconciled: "applied",
  DriftRepaired: "drift repaired",
  TenantOffboarded: "offboarded",
  TenantRemoved: "removed",
  SessionEnded: "session ended",
  DeadLettersRedriven: "redrive of dead letters requested",
  TierCreated: "created",
  TierChanged: "changed",
  TierRemoved: "removed",
  RetreatBegun: "stopped enforcing its limits",
  LimitsScheduled: "limits scheduled",
  WindowOpened: "window opened",
  WindowClosed: "window closed",
  ScheduleCancelled: "schedule cancelled",
  TenantThrottled: "throttled",
  TenantRecovered: "recovered",
  LimitNear: "near a limit",
  AdmitAllTurnedOn: "all limits lifted",
  AdmitAllTurnedOff: "limits enforced again",
};

/** What happened: "changed". */
export const whatOf = ({ what }) => WHAT[what] ?? what;

/** The last part of an ARN, or the name as it is: "alice", "root". */
export const authorOf = ({ by }) => by.slice(Math.max(by.lastIndexOf("/"), by.startsWith("arn:") ? by.lastIndexOf(":") : -1) + 1);

/** The subject as `{kind, name}`; the kind is tenant, tier or deployment. */
export function subjectOf({ subject }) {
  const [kind, name = ""] = subject.split("/", 2);
  return { kind, name };
}

/** What happened by itself has figures, not changes. */
const FIGURES = new Set(["TenantThrottled", "TenantRecovered", "LimitNear"]);
const MODE = "modes.";

/**
 * The changed fields: "tier silver → gold, limits.tenantPerMinute 60 → 600"; of what happened by itself its figures: "refused
 * 24". Modes that change in the same way are one: "modes of 5 limits – → OBSERVE".
 */
export function fieldsOf({ what, from, to }) {
  if (FIGURES.has(what)) {
    return Object.entries(to).map(([field, value]) => `${field.replace(/^near\./, "")} ${value}`).join(", ");
  }
  const change = (field) => `${from[field] ?? "–"} → ${to[field] ?? "–"}`;
  const fields = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  const modes = fields.filter((field) => field.startsWith(MODE));
  const isOne = modes.length > 1 && new Set(modes.map(change)).size === 1;
  return [
    ...(isOne ? [`modes of ${modes.length} limits ${change(modes[0])}`] : []),
    ...fields.filter((field) => !(isOne && modes.includes(field))).map((field) => `${field} ${change(field)}`),
  ].join(", ");
}

/** A whole tenant or tier came or went: its fields are not changes. */
const WHOLE = new Set(["TenantOnboarded", "TenantRemoved", "TierCreated", "TierRemoved"]);

/** The changed fields in few words; of a whole tenant its tier and overrides: "tier gold, overrides.line false". */
export function briefFieldsOf(entry) {
  if (!WHOLE.has(entry.what)) {
    return fieldsOf(entry);
  }
  return Object.entries({ ...entry.from, ...entry.to })
    .filter(([field]) => field === "tier" || field.startsWith("overrides."))
    .sort(([a], [b]) => b.startsWith("tier") - a.startsWith("tier"))
    .map(([field, value]) => `${field} ${value}`)
    .join(", ");
}
