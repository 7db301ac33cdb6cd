// Entries of the audit, in words.

const WHAT = {
  TenantOnboarded: "onboarded",
  TenantChanged: "changed",
  TenantReconciled: "applied",
  DriftRepaired: "drift repaired",
  TenantOffboarded: "offboarded",
  TenantRemoved: "removed",
  TierCreated: "created",
  TierChanged: "changed",
  TierRemoved: "removed",
  RetreatBegun: "stopped to enforce its limits",
  TenantThrottled: "throttled",
  TenantRecovered: "recovered",
  LimitNear: "near a limit",
  AdmitAllTurnedOn: "all limits lifted",
  AdmitAllTurnedOff: "limits enforced again",
};

/** What happened: "changed". */
export const whatOf = ({ what }) => WHAT[what] ?? what;

/** The last part of an ARN, or the name as it is: "alice". */
export const authorOf = ({ by }) => by.slice(by.lastIndexOf("/") + 1);

/** The subject as `{kind, name}`; the kind is tenant, tier or deployment. */
export function subjectOf({ subject }) {
  const [kind, name = ""] = subject.split("/", 2);
  return { kind, name };
}

/** The changed fields: "tier silver → gold, limits.tenantPerMinute 60 → 600". */
export function fieldsOf({ from, to }) {
  return [...new Set([...Object.keys(from), ...Object.keys(to)])]
    .map((field) => `${field} ${from[field] ?? "–"} → ${to[field] ?? "–"}`)
    .join(", ");
}
