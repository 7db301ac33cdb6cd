import assert from "node:assert/strict";
import { test } from "node:test";
import { arrived, chipCounts, recent, rowOf, rowsOf, select, sentence, stateOf, why } from "../pages/fleet.js";
import { series } from "../pages/history-steps.js";
import { History } from "../pages/history.js";
import { points, windowOf } from "../pages/layout.js";

const LIMITS = { tenantPerMinute: 40, sessionPerMinute: 5, connectionsPerSession: 2, tenantConnections: 100 };
const tenant = (tenantId, more = {}) => ({ tenantId, tier: "gold", status: "ACTIVE", version: 1, overrides: {}, limits: LIMITS, ...more });
const ranked = (tenantId, more = {}) => ({ tenantId, admitted: 0, refused: 0, refusedFor: {}, wouldRefuse: 0, wouldRefuseFor: {}, peakConnections: 0, tokens: [], ...more });

/** Ten seconds of activity with these totals at its end. */
function history({ connections = 0, admitted = 0, refused = 0, level = 40, line, state = "ACTIVE" } = {}) {
  const bucket = { action: "connect", level, capacity: 40, ratePerMinute: 40, state, ...(line && { line }) };
  const of = new History();
  of.add(0, { connections, admitted: 0, refused: 0, buckets: [bucket] });
  of.add(10_000, { connections, admitted, refused, buckets: [bucket] });
  return of;
}

test("rows join the list, the rankings and the activity", () => {
  const [acme, idle] = rowsOf({
    tenants: [tenant("acme"), tenant("idle")],
    refused: [ranked("acme", { refused: 31, refusedFor: { SESSION_RATE: 1, TENANT_RATE: 30 }, peakConnections: 9 })],
    histories: new Map([["acme", history({ connections: 12, refused: 120 })]]),
  });
  assert.equal(acme.refused, 31);
  assert.deepEqual(acme.reasons, ["TENANT_RATE", "SESSION_RATE"]);
  assert.equal(acme.open, 12);
  assert.equal(acme.live.refused, 12);
  assert.equal(acme.isActive, true);
  assert.equal(idle.isActive, false);
  assert.equal(idle.is.throttled, false);
});

test("chips count the whole fleet", () => {
  const rows = rowsOf({
    tenants: [
      tenant("a"), tenant("b", { status: "SUSPENDED" }), tenant("c", { overrides: { tenantPerMinute: 9 } }),
      tenant("d", { modes: { tenantPerMinute: "OBSERVE" } }), tenant("e", { modes: { tenantPerMinute: "OFF" } }), tenant("f"),
    ],
    refused: [ranked("a", { refused: 1 })],
    connections: [ranked("f", { peakConnections: 80 })],
    pending: [tenant("c")],
  });
  assert.deepEqual(chipCounts(rows), { throttled: 1, near: 1, observed: 1, suspended: 1, pending: 1, overrides: 1 });
});

test("a tenant is near a limit from 80 percent of its connections or of its rate on", () => {
  const near = (more) => rowOf(tenant("a"), ranked("a", more)).is.near;
  assert.equal(near({ peakConnections: 79 }), false);
  assert.equal(near({ peakConnections: 80 }), true);
  assert.equal(near({ tokens: [{ action: "connect", minted: 0, taken: 159 }] }), false);
  assert.equal(near({ tokens: [{ action: "connect", minted: 0, taken: 160 }] }), true);
  assert.equal(near({ tokens: [{ action: "message", minted: 0, taken: 160 }] }), false);
});

test("a search finds any part of the id, in any case", () => {
  const rows = rowsOf({ tenants: [tenant("acme"), tenant("globex"), tenant("big-acme-2")] });
  assert.deepEqual(select(rows, { find: " CM" }).map(({ id }) => id), ["acme", "big-acme-2"]);
  assert.deepEqual(select(rows, { find: "zz" }), []);
});

test("chips and tiers narrow the list together, and an unknown chip does not", () => {
  const rows = rowsOf({ tenants: [tenant("a", { status: "SUSPENDED" }), tenant("b", { status: "SUSPENDED", tier: "bronze" }), tenant("c")] });
  assert.deepEqual(select(rows, { chip: "suspended", tier: "gold" }).map(({ id }) => id), ["a"]);
  assert.equal(select(rows, { chip: "constructor" }).length, 3);
});

test("the most refused come first, then those with the most connections, then by id", () => {
  const rows = rowsOf({
    tenants: ["d", "c", "b", "a"].map((id) => tenant(id)),
    refused: [ranked("d", { refused: 2 }), ranked("b", { refused: 3 })],
    connections: [ranked("c", { peakConnections: 7 })],
  });
  assert.deepEqual(select(rows).map(({ id }) => id), ["b", "d", "c", "a"]);
  assert.deepEqual(select(rows, { sort: "tenant" }).map(({ id }) => id), ["a", "b", "c", "d"]);
  assert.deepEqual(select(rows, { sort: "open" }).map(({ id }) => id), ["c", "a", "b", "d"]);
});

test("rows with a rank keep their order while their connections change", () => {
  const order = (open) => select(rowsOf({
    tenants: [tenant("a"), tenant("b")],
    connections: [ranked("a", { peakConnections: 5 }), ranked("b", { peakConnections: 4 })],
    histories: new Map([["a", history({ connections: open })]]),
  })).map(({ id }) => id);
  assert.deepEqual(order(0), order(9));
});

test("a chart ends with the last minute that is over and has arrived", () => {
  const step = (minute, admitted) => ({ at: `2026-03-12T14:0${minute}:00Z`, admitted, refused: 0, wouldRefuse: 0 });
  const ends = (to, counts, stepSeconds = 60) => arrived({ to: `2026-03-12T14:0${to}Z`, stepSeconds, steps: counts.map((n, i) => step(i, n)) }).steps.length;
  assert.equal(ends("4:30", [5, 5, 5, 5, 2]), 4, "the fifth minute is not over");
  assert.equal(ends("4:30", [5, 5, 0, 0, 0]), 2, "the counts of the others may come");
  assert.equal(ends("4:30", [5, 0, 0, 0, 0]), 2, "those of the second have come");
  assert.equal(ends("5:00", [5, 5, 5, 5, 5]), 5);
  assert.equal(ends("4:30", [5, 5, 5, 5, 2], 3600), 5);
});

test("why: each reason with its limit, the most frequent first", () => {
  const row = (refusedFor, more) => rowOf(tenant("a", more), ranked("a", { refused: 9, refusedFor }));
  assert.equal(why(row({ TENANT_RATE: 9 })), "Over 40 connections a minute");
  assert.equal(why(row({ TENANT_CONNECTIONS: 1, SESSION_RATE: 8 })), "A session over 5 connections a minute; at its limit of 100 open connections");
  assert.equal(why(row({ SESSION_CONNECTIONS: 9 })), "A session at its limit of 2 open connections");
  assert.equal(why(row({ NEW_REASON: 9 })), "NEW_REASON");
  assert.equal(why(row({ TENANT_RATE: 9 }, { limits: { tenantPerMinute: 1 } })), "Over 1 connection a minute");
  assert.equal(why(row({ TENANT_RATE: 9 }, { limits: {} })), "Over its limit of connections a minute");
});

test("before the ranking has a reason, the activity tells it, or nothing does", () => {
  const row = (activity) => rowOf(tenant("a"), undefined, history({ refused: 20, ...activity }));
  assert.equal(why(row({ level: 0 })), "Over 40 connections a minute");
  assert.equal(why(row({ connections: 100, level: 0 })), "At its limit of 100 open connections");
  assert.equal(why(row({})), "Reason follows within two minutes");
  assert.equal(why(rowOf(tenant("a"))), "");
});

test("a state in one sentence", () => {
  const rank = ranked("a", { refused: 31, refusedFor: { TENANT_RATE: 31 } });
  assert.equal(
    sentence(rowOf(tenant("a"), rank, history({ refused: 120, level: 0, line: { length: 31, waitSeconds: 46 } }))).replaceAll("\u00a0", " "),
    "Refusing 12 a second: over 40 connections a minute. 31 wait in line, the last for 46 s.");
  assert.equal(sentence(rowOf(tenant("a"), rank, history())), "31 refusals in the last 5 minutes, none now: over 40 connections a minute.");
  assert.equal(sentence(rowOf(tenant("a"), rank)), "31 refusals in the last 5 minutes: over 40 connections a minute.");
  assert.equal(sentence(rowOf(tenant("a"), ranked("a", { peakConnections: 93 }))), "Near its limits: 93 of 100 connections are open.");
  assert.equal(sentence(rowOf(tenant("a"), undefined, history({ connections: 1 }))), "Nothing is refused. 1 connection is open.");
  assert.equal(sentence(rowOf(tenant("a"))), "Idle.");
  assert.equal(sentence(rowOf(tenant("a", { status: "SUSPENDED" }))), "Suspended: all connections are refused until it is resumed.");
});

test("a state in a word: now beats the last minutes, and suspended beats both", () => {
  const rank = ranked("a", { refused: 31 });
  assert.equal(stateOf(rowOf(tenant("a"), rank))[0], "Throttled");
  assert.equal(stateOf(rowOf(tenant("a"), rank, history()))[0], "Was throttled");
  assert.equal(stateOf(rowOf(tenant("a"), undefined, history({ refused: 1 })))[0], "Throttled");
  assert.equal(stateOf(rowOf(tenant("a", { status: "SUSPENDED" }), rank))[0], "Suspended");
  assert.equal(stateOf(rowOf(tenant("a"), undefined, history({ state: "HIBERNATING" })))[0], "Sleeping");
  assert.equal(stateOf(rowOf(tenant("a"), undefined, undefined, true))[0], "Pending");
  assert.equal(stateOf(rowOf(tenant("a")))[0], "Active");
});

const step = (at, more) => ({ at, admitted: 0, refused: 0, refusedFor: {}, wouldRefuse: 0, wouldRefuseFor: {}, peakConnections: 0, tokens: [], ...more });

test("sums of the last five minutes, and the peak of connections", () => {
  const steps = Array.from({ length: 10 }, (_, i) => step("2026-03-12T14:00:00Z", { admitted: i, refused: 1, peakConnections: 10 - i }));
  assert.deepEqual(recent({ steps, stepSeconds: 60 }), { admitted: 35, refused: 5, wouldRefuse: 0, open: 5 });
  assert.deepEqual(recent({ steps, stepSeconds: 300 }), { admitted: 9, refused: 1, wouldRefuse: 0, open: 1 });
  assert.deepEqual(recent(undefined), { admitted: 0, refused: 0, wouldRefuse: 0, open: 0 });
});

test("lines of a chart: rates a minute, one for each reason", () => {
  const { times, lines } = series({ stepSeconds: 300, steps: [
    step("2026-03-12T14:00:00Z", { admitted: 50, refused: 5, refusedFor: { TENANT_RATE: 5 } }),
    step("2026-03-12T14:05:00Z", { refused: 15, refusedFor: { SESSION_RATE: 10, TENANT_RATE: 5 }, wouldRefuse: 5 }),
  ] });
  assert.deepEqual(times, [1773324000, 1773324300]);
  assert.deepEqual(lines, [
    { name: "Admitted", kind: "admitted", values: [10, 0] },
    { name: "Would be refused", kind: "would", values: [0, 1] },
    { name: "Refused: tenant’s rate", kind: "refused r0", values: [1, 1] },
    { name: "Refused: session’s rate", kind: "refused r1", values: [0, 2] },
  ]);
  assert.deepEqual(series({ steps: [] }).lines.map(({ name }) => name), ["Admitted", "Refused"]);
});

test("a window of rows: those on the screen and a few around", () => {
  const rows = { total: 5_000, height: 40, screen: 800 };
  assert.deepEqual(windowOf({ ...rows, top: 200 }), { first: 0, end: 21, shownFirst: 0, shownEnd: 15 });
  assert.deepEqual(windowOf({ ...rows, top: -4_000 }), { first: 94, end: 126, shownFirst: 100, shownEnd: 120 });
  assert.deepEqual(windowOf({ ...rows, top: -300_000 }), { first: 4_994, end: 5_000, shownFirst: 5_000, shownEnd: 5_000 });
  assert.deepEqual(windowOf({ ...rows, total: 0, top: 200 }), { first: 0, end: 0, shownFirst: 0, shownEnd: 0 });
});

test("points of a small line: at their times, the largest at the top", () => {
  assert.equal(points([0, 10], 10, 100), "0.0,28.0 100.0,3.0");
  assert.equal(points([0, 10, 0], 10, 100, [0, 1, 4]), "0.0,28.0 25.0,3.0 100.0,28.0");
});
