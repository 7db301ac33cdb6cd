import assert from "node:assert/strict";
import { test } from "node:test";
import { changesOf, connectionSeries, rankedOf, usageOf } from "../pages/history-steps.js";
import { filled } from "../pages/sources.js";

const step = (at, more) => ({ at, admitted: 0, refused: 0, refusedFor: {}, wouldRefuse: 0, wouldRefuseFor: {}, peakConnections: 0, tokens: [], ...more });
const HISTORY = {
  from: "2026-03-12T14:00:30Z", to: "2026-03-12T14:04:00Z", stepSeconds: 60,
  steps: [
    step("2026-03-12T14:01:00Z", { admitted: 60, refused: 31, refusedFor: { TENANT_RATE: 30, SESSION_RATE: 1 }, peakConnections: 118, tokens: [{ action: "connect", minted: 60, taken: 60 }] }),
    step("2026-03-12T14:03:00Z", { admitted: 9, refused: 2, refusedFor: { TENANT_RATE: 2 }, peakConnections: 7, tokens: [{ action: "connect", minted: 9, taken: 9 }, { action: "message", minted: 0, taken: 12 }] }),
  ],
};

test("steps in which nothing happened are filled in, at multiples of a step", () => {
  const { steps } = filled(HISTORY);
  assert.deepEqual(steps.map(({ at }) => Date.parse(at)), [0, 1, 2, 3].map((minute) => Date.UTC(2026, 2, 12, 14, minute)));
  assert.deepEqual(steps.map(({ admitted }) => admitted), [0, 60, 0, 9]);
});

test("a history without steps has those in which nothing happened", () => {
  assert.equal(filled({ ...HISTORY, steps: [] }).steps.length, 4);
});

test("a tenant's minutes add up as in a ranking", () => {
  assert.deepEqual(rankedOf("acme", HISTORY), {
    tenantId: "acme", admitted: 69, refused: 33, refusedFor: { TENANT_RATE: 32, SESSION_RATE: 1 }, wouldRefuse: 0, peakConnections: 118,
    tokens: [{ action: "connect", taken: 69 }, { action: "message", taken: 12 }],
  });
});

test("of few minutes, the largest is the 99.9th percentile", () => {
  assert.deepEqual(usageOf(HISTORY), {
    tenantPerMinute: { p999: 60, most: 60 }, tenantConnections: { p999: 118, most: 118 }, messagesPerMinute: { p999: 12, most: 12 },
  });
  assert.deepEqual(usageOf({ ...HISTORY, steps: [] }).tenantPerMinute, { p999: 0, most: 0 });
});

test("of a day, the largest minute is above the 99.9th percentile, and minutes without steps count", () => {
  const day = { from: "2026-03-11T14:00:00Z", to: "2026-03-12T14:00:00Z", stepSeconds: 60 };
  const busy = (...admitted) => usageOf({ ...day, steps: admitted.map((n) => step("2026-03-12T13:00:00Z", { admitted: n })) }).tenantPerMinute;
  assert.deepEqual(busy(500), { p999: 0, most: 500 });
  assert.deepEqual(busy(70, 500, 60), { p999: 70, most: 500 });
});

test("open connections are drawn below their limit", () => {
  const { times, lines } = connectionSeries(HISTORY, 100);
  assert.equal(times[1], Date.UTC(2026, 2, 12, 14, 3) / 1000);
  assert.deepEqual(lines.map(({ values }) => values), [[118, 7], [100, 100]]);
});

test("changes of a tenant and its tier are joined, newest first, without those that nobody made", () => {
  const entry = (at, what) => ({ at, what });
  assert.deepEqual(changesOf(
    { entries: [entry("2026-03-12T14:03:00Z", "TenantThrottled"), entry("2026-03-12T14:01:00Z", "TenantChanged")] },
    undefined,
    { entries: [entry("2026-03-12T14:02:00Z", "TierChanged")] },
  ).map(({ what }) => what), ["TierChanged", "TenantChanged"]);
});
