import assert from "node:assert/strict";
import { test } from "node:test";
import { addPreview, changesTenant, changesTier, modesOf, refillOf, replaySummary, replayText, summaryOf, tenantBody, tenantDraft, tenantRows, tierBody, tierDraft } from "../pages/limits.js";

const LIMITS = { tenantPerMinute: 120, sessionPerMinute: 10, connectionsPerSession: 5, tenantConnections: 100, sessionTTL: 300, messagesPerMinute: 600, sessionLifetime: 86400, sessionsPerSubject: 5 };
const TIER = { tier: "silver", isolation: "POOL", limits: LIMITS, buckets: { "send-email": { ratePerMinute: 0.5 } }, fillMode: "PRODUCER", hibernateAfterMinutes: 15, onUnavailable: "ADMIT", line: true, modes: { messagesPerMinute: "OFF" }, version: 4 };
const TENANT = { tenantId: "acme", tier: "silver", version: 7, overrides: { tenantPerMinute: 40, line: false, modes: { tenantConnections: "OBSERVE" } } };

test("an unchanged draft sends the same overrides", () => {
  const draft = tenantDraft(TENANT);
  assert.equal(draft.version, 7);
  assert.equal(changesTenant(draft, TENANT), false);
  assert.deepEqual(tenantBody(draft, TENANT), { overrides: TENANT.overrides });
});

test("an override that is cleared is gone, and the line's stays", () => {
  const draft = tenantDraft(TENANT);
  draft.values.tenantPerMinute = "";
  draft.modes.tenantConnections = "";
  assert.equal(changesTenant(draft, TENANT), true);
  assert.deepEqual(tenantBody(draft, TENANT), { overrides: { line: false } });
});

test("a draft with another tier sends it", () => {
  const draft = { ...tenantDraft(TENANT), tier: "gold" };
  assert.equal(changesTenant(draft, TENANT), true);
  assert.equal(tenantBody(draft, TENANT).tier, "gold");
});

test("values are sent as numbers", () => {
  const draft = tenantDraft(TENANT);
  draft.values.tenantConnections = "7";
  assert.deepEqual(tenantBody(draft, TENANT).overrides, { tenantPerMinute: 40, tenantConnections: 7, line: false, modes: { tenantConnections: "OBSERVE" } });
});

test("rows tell the tier's value, the override, and what is in force", () => {
  const rows = Object.fromEntries(tenantRows(tenantDraft(TENANT), TIER, { tenantConnections: 12 }).map((row) => [row.name, row]));
  assert.deepEqual([rows.tenantPerMinute.ofTier, rows.tenantPerMinute.override, rows.tenantPerMinute.effective], [120, "40", 40]);
  assert.deepEqual([rows.tenantConnections.override, rows.tenantConnections.effective, rows.tenantConnections.used], ["", 100, 12]);
  assert.deepEqual([rows.tenantConnections.mode, rows.tenantConnections.effectiveMode], ["OBSERVE", "OBSERVE"]);
  assert.deepEqual([rows.messagesPerMinute.mode, rows.messagesPerMinute.effectiveMode], ["", "OFF"]);
  assert.deepEqual(modesOf("sessionTTL"), []);
  assert.deepEqual(modesOf("sessionsPerSubject"), ["ENFORCE", "OFF"]);
});

test("rows without a tier have no values of it", () => {
  const [row] = tenantRows(tenantDraft({ ...TENANT, overrides: {} }), undefined);
  assert.equal(row.effective, undefined);
});

test("a tier's body keeps the other settings, without version and roll-out", () => {
  const report = { ...TIER, rollout: { version: 4 }, retreatedAt: "2026-03-12T09:15:00Z" };
  const draft = tierDraft(report);
  assert.equal(changesTier(draft, report), false);
  draft.values.tenantConnections = "5";
  draft.modes.messagesPerMinute = "ENFORCE";
  assert.equal(changesTier(draft, report), true);
  const { version, modes, rollout, retreatedAt, ...kept } = TIER;
  assert.deepEqual(tierBody(draft, report), { ...kept, limits: { ...LIMITS, tenantConnections: 5 } });
});

test("a mode that is enforced explicitly is no change of a tier", () => {
  const { modes, ...enforced } = TIER;
  const draft = tierDraft(enforced);
  draft.modes.tenantPerMinute = "ENFORCE";
  assert.equal(changesTier(draft, enforced), false);
});

const LIMIT = { tenantId: "acme", limit: "tenantConnections", now: 1000, new: 500, least: 112, most: 340, minutes: 9, longestSeconds: 420, first: "2026-03-09T08:01:00Z", last: "2026-03-11T08:04:00Z" };

test("a replay says how many would have been refused, and when", () => {
  const text = replayText(LIMIT);
  assert.match(text, /^Open connections, tenant: 500 instead of 1,000 would have refused 112 to 340 connections, in up to 9 minutes between .*, up to 7\u00a0min\u00a00\u00a0s without a break\.$/);
  assert.match(replayText({ ...LIMIT, limit: "messagesPerMinute", least: 3, most: 3, minutes: 1 }), /refused 3 messages, in the minute of /);
});

test("the pages of a preview add up", () => {
  const page = (tenantId, most, next) => ({
    outcome: "CHANGED",
    changes: { limits: { tenantConnections: { from: 1000, to: 500 } } },
    tenants: [{ tenantId, consequences: [{ detail: `${tenantId} is hurt.` }] }],
    totals: { tenants: 2, changed: 1, overLimit: 1, trimmed: 0, disconnected: 0, removed: 0 },
    replay: { limits: [{ ...LIMIT, tenantId, most }], leftOut: { tenantConnections: 1 }, notKnown: { messagesPerMinute: 1 } },
    next,
  });
  const total = addPreview(addPreview(undefined, page("a", 5, "x")), page("b", 9));
  assert.deepEqual([total.checked, total.changed], [4, 2]);
  assert.deepEqual(total.refused.map(({ tenantId }) => tenantId), ["b", "a"]);
  assert.deepEqual(total.leftOut, { tenantConnections: 2 });
  assert.equal(total.notKnown, 2);
  assert.deepEqual(total.consequences, [{ tenantId: "a", detail: "a is hurt." }, { tenantId: "b", detail: "b is hurt." }]);
  assert.equal(replaySummary(total, "7 days"), "In the last 7 days, 2 tenants would have been refused:");
  assert.equal(replaySummary({ refused: [] }, "hour"), "In the last hour, these limits would have refused nothing.");
});

test("a summary names limits and modes, and what follows from them only if nothing else changes", () => {
  const limits = { limits: { tenantPerMinute: { from: 40, to: 20 } }, overrides: { tenantPerMinute: { from: 40, to: 20 } }, buckets: { connect: { capacity: { from: 40, to: 20 } } } };
  assert.deepEqual(summaryOf(limits), ["limits.tenantPerMinute 40 → 20"]);
  assert.deepEqual(summaryOf({ overrides: { line: { to: false } } }), ["overrides.line – → false"]);
});

test("a bucket names its rate or its calendar", () => {
  const day = { every: "DAY", at: "00:00", zone: "Europe/Berlin" };
  assert.equal(refillOf({ ratePerMinute: 0.5 }), "0.5 a minute");
  assert.equal(refillOf({ refill: day }), "filled daily at 00:00 (Europe/Berlin)");
  assert.equal(refillOf({ refill: { ...day, every: "WEEK", day: "MONDAY" } }), "filled each monday at 00:00 (Europe/Berlin)");
});
