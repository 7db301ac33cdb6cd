import assert from "node:assert/strict";
import { test } from "node:test";
import { Sources } from "../pages/sources.js";
import { Store } from "../pages/store.js";

const NOW = Date.UTC(2026, 2, 12, 14, 5, 7);

/** Sources with a control plane that answers from a list, and the paths it was asked for. */
function sourcesOf(...bodies) {
  const asked = [];
  const sources = new Sources(async (path) => {
    asked.push(decodeURIComponent(path));
    return { body: bodies.shift(), headers: new Headers() };
  }, () => NOW);
  return { asked, sources };
}

test("empty pages of the audit are skipped", async () => {
  const { asked, sources } = sourcesOf({ entries: [], next: "a" }, { entries: [], next: "b" }, { entries: ["x"], next: "c" });
  const page = await sources.audit({ tenantId: "acme", range: "1h" }).load();
  assert.deepEqual(page.entries, ["x"]);
  assert.deepEqual(asked, ["", "&cursor=a", "&cursor=b"].map((cursor) => `audit?tenantId=acme&from=2026-03-12T13:06:00Z&limit=50${cursor}`));
});

test("a page of the audit with a cursor keeps its times and is rarely asked for again", async () => {
  const { asked, sources } = sourcesOf({ entries: ["x"] });
  const task = sources.audit({ from: "2026-03-01T00:00:00Z", to: "2026-03-02T00:00:00Z", cursor: "c" });
  await task.load();
  assert.deepEqual(asked, ["audit?from=2026-03-01T00:00:00Z&to=2026-03-02T00:00:00Z&cursor=c&limit=50"]);
  assert.equal(task.everyMs, 300_000);
});

test("the changes of a tenant's tier need the tier, which is asked for if it is not known", async () => {
  const known = sourcesOf({ entries: [] });
  await known.sources.changesOfItsTier("acme", "1h", () => "gold").load();
  assert.deepEqual(known.asked, ["audit?tier=gold&from=2026-03-12T13:06:00Z&limit=100"]);
  const unknown = sourcesOf({ tier: "silver" }, { entries: [] });
  await unknown.sources.changesOfItsTier("acme", "1h", () => undefined).load();
  assert.deepEqual(unknown.asked, ["tenants/acme", "audit?tier=silver&from=2026-03-12T13:06:00Z&limit=100"]);
});

test("a history has all its minutes, also those that the API leaves out", async () => {
  const { asked, sources } = sourcesOf({ from: "2026-03-12T13:51:00Z", to: "2026-03-12T14:06:00Z", stepSeconds: 60, steps: [] });
  assert.equal((await sources.history("acme", "15m").load()).steps.length, 15);
  assert.deepEqual(asked, ["tenants/acme/history?from=2026-03-12T13:51:00Z&to=2026-03-12T14:06:00Z&step=1m"]);
});

test("long spans have hours and days", async () => {
  const { asked, sources } = sourcesOf({ from: "2026-02-09T14:06:00Z", to: "2026-03-12T14:06:00Z", stepSeconds: 14_400, steps: [] });
  await sources.history("acme", "31d").load();
  assert.match(asked[0], /from=2026-02-09T14:06:00Z&to=2026-03-12T14:06:00Z&step=4h$/);
});

test("after a change, an answer that no view needs now is loaded again by the next", async () => {
  const loads = [];
  const store = new Store({ onchange: () => {}, now: () => 0, after: () => undefined, cancel: () => {} });
  const task = (key) => ({ key, everyMs: 60_000, load: async () => loads.push(key) });
  store.need([task("tenants")]);
  store.need([task("tenant")]);
  await new Promise(setImmediate);
  store.need([task("tenants")]);
  assert.deepEqual(loads, ["tenants", "tenant"]);
  store.need([task("tenant")]);
  store.refresh();
  store.need([task("tenants")]);
  await new Promise(setImmediate);
  assert.deepEqual(loads.slice(-1), ["tenants"]);
  assert.equal(loads.filter((key) => key === "tenants").length, 2);
});

test("after the deployment's clock has jumped, spans follow it, also while nobody is active", async () => {
  const { asked, sources } = sourcesOf({ to: "2026-04-20T09:31:00Z", tenants: [] }, { from: "2026-04-20T08:31:00Z", to: "2026-04-20T09:31:00Z", stepSeconds: 60, steps: [] });
  await sources.refused().load();
  await sources.fleet("1h").load();
  assert.equal(asked[1], "fleet?from=2026-04-20T08:31:00Z&to=2026-04-20T09:31:00Z&step=1m");
});

test("a clock that agrees with the deployment's to the minute is not changed", async () => {
  const { sources } = sourcesOf({ to: "2026-03-12T14:06:00Z", tenants: [] });
  await sources.refused().load();
  assert.equal(sources.now, NOW);
});

test("a failure of a poll that used the clock before a jump goes once the clock is known", async () => {
  let jumped = false;
  const sources = new Sources(async (path) => {
    if (path.startsWith("fleet/tenants")) {
      return { body: { to: jumped ? "2026-04-20T09:31:00Z" : "2026-03-12T14:06:00Z", tenants: [] } };
    }
    const from = new URLSearchParams(path.split("?")[1]).get("from");
    if (jumped && from < "2026-03-20") {
      throw new Error("step: 1m (expected: a multiple of 1h)");
    }
    return { body: { from, to: from, stepSeconds: 60, steps: [] } };
  }, () => NOW);
  const timers = [];
  const store = new Store({ onchange: () => {}, now: () => 0, after: (run) => timers.push(run), cancel: () => {} });
  const polled = async () => { store.refresh(); await new Promise(setImmediate); };
  store.need([sources.fleet("1h"), sources.refused()]);
  await new Promise(setImmediate);
  assert.deepEqual(store.failures, []);
  jumped = true;
  await polled();
  assert.equal(store.failures.length, 1);
  await polled();
  assert.deepEqual(store.failures, []);
});
