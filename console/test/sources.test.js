import assert from "node:assert/strict";
import { test } from "node:test";
import { History } from "../pages/history.js";
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

test("spans follow the deployment's clock, which answers tell", async () => {
  const { asked, sources } = sourcesOf({ from: "2026-04-20T08:31:00Z", to: "2026-04-20T09:31:00Z", stepSeconds: 60, steps: [] });
  assert.equal(sources.setTime("Mon, 20 Apr 2026 09:30:12 GMT"), true);
  assert.equal(sources.setTime("Mon, 20 Apr 2026 09:30:13 GMT"), false);
  assert.equal(sources.setTime(null), false);
  assert.equal(sources.now, Date.UTC(2026, 3, 20, 9, 30, 13));
  await sources.fleet("1h").load();
  assert.equal(asked[0], "fleet?from=2026-04-20T08:31:00Z&to=2026-04-20T09:31:00Z&step=1m");
});

/** Sources with three pages of tenants, of which the last fails with a status while `it.failing` is one. */
function threePages() {
  const it = { asked: [], failing: undefined };
  it.task = new Sources(async (path) => {
    const page = Number(/cursor=(\d)/.exec(path)?.[1] ?? 0);
    it.asked.push(page);
    if (page === 2 && it.failing) {
      throw Object.assign(new Error("no"), { status: it.failing });
    }
    return { body: { tenants: [{ tenantId: `t${page}` }], ...(page < 2 && { next: String(page + 1) }) } };
  }).tenants();
  return it;
}

test("a list that failed goes on at its page", async () => {
  const it = threePages();
  it.failing = 429;
  await assert.rejects(it.task.load(() => {}, false));
  await assert.rejects(it.task.load(() => {}, true));
  it.failing = undefined;
  assert.deepEqual((await it.task.load(() => {}, true)).tenants.map(({ tenantId }) => tenantId), ["t0", "t1", "t2"]);
  assert.deepEqual(it.asked, [0, 1, 2, 2, 2]);
});

test("a list begins again after a refresh, and after a cursor that is not accepted", async () => {
  const it = threePages();
  for (const [failing, goesOn] of [[429, false], [400, false], [undefined, true]]) {
    it.failing = failing;
    await it.task.load(() => {}, goesOn).catch(() => {});
  }
  assert.deepEqual(it.asked, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
});

test("the activity of no tenants is no answer", async () => {
  const { asked, sources } = sourcesOf();
  assert.equal(await sources.activity(() => []).load(), undefined);
  assert.deepEqual(asked, []);
});

test("after the browser's clock has gone back, rates and times begin again", () => {
  const history = new History();
  for (const [t, refused] of [[10_000, 0], [12_000, 50], [14_000, 90], [5_000, 90], [7_000, 90]]) {
    history.add(t, { admitted: 0, refused });
  }
  assert.deepEqual(history.samples().map(({ t }) => t), [5_000, 7_000]);
  assert.equal(history.latestRates.refused, 0);
  assert.equal(history.throttled, false);
});

test("an activity of the future is dropped after the browser's clock has gone back", async () => {
  let now = NOW;
  const sources = new Sources(async (path) => ({ body: { tenants: [{ tenantId: path.split("=")[1], buckets: [] }] } }), () => now);
  await sources.activity(() => ["acme"]).load();
  now -= 3_600_000;
  await sources.activity(() => ["globex"]).load();
  assert.deepEqual([...sources.histories.keys()], ["globex"]);
});
