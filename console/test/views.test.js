import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { textOf } from "./browser.js";

const { auditPage, auditTask } = await import("../pages/audit-page.js");
const { call } = await import("../pages/api.js");
const { select } = await import("../pages/fleet.js");
const { span } = await import("../pages/sources.js");
const { overview } = await import("../pages/overview.js");
const { Store } = await import("../pages/store.js");
const { edited, editOf, previewEdit, replayOf } = await import("../pages/preview.js");
const { history } = await import("../pages/tenant-history.js");
const { tenant } = await import("../pages/tenant.js");
const { tier } = await import("../pages/tiers.js");

const FOUND = { outcome: "CHANGED", tenants: [], totals: { tenants: 1, changed: 1 } };
const ROUTE = { view: "tenant", id: "acme", query: {} };

/** An application whose polled task of a key failed with a 404. */
async function failed(key) {
  const store = new Store({ onchange: () => {} });
  const went = [];
  store.need([{ key, everyMs: 60_000, load: async () => { throw Object.assign(new Error("Not found."), { status: 404 }); } }]);
  await new Promise(setImmediate);
  store.need([]);
  store.pause();
  store.need([{ key, everyMs: 60_000 }]);
  return { went, app: { store, router: { go: (route) => went.push(route.view) } } };
}

test("a preview of a draft that was changed meanwhile allows no Save", async () => {
  const edits = new Map();
  const edit = editOf(edits, "acme", { version: 7 }, ({ version }) => ({ version }));
  const sent = [];
  const app = { draw() {}, control: (path, options) => new Promise((resolve) => sent.push({ path, options, finish: () => resolve({ body: FOUND }) })) };
  const first = previewEdit(edit, "tenants/acme", { method: "PATCH", body: { tier: "gold" } }, ROUTE, app);
  edited(edit, () => {});
  sent[0].finish();
  await first;
  assert.equal(edit.seen, undefined);
  assert.equal(edit.progress, undefined);
  const second = previewEdit(edit, "tenants/acme", { method: "PATCH", body: { tier: "free" } }, ROUTE, app);
  sent[1].finish();
  await second;
  assert.equal(edit.seen.found.outcome, "CHANGED");
  assert.deepEqual([sent[1].path, sent[1].options], ["tenants/acme?dryRun=true&replay=24h", { method: "PATCH", body: { tier: "free" }, version: 7 }]);
});

test("a view leaves a tenant or a tier only if that itself does not exist", async () => {
  for (const [view, route, key, other] of [[tenant, { ...ROUTE, tab: "dead" }, "tenant/acme", "dead-letters/acme"], [tier, { view: "tier", id: "gold", query: {} }, "tier/gold", "tenant/acme"]]) {
    const gone = await failed(key);
    view.show(route, gone.app);
    assert.equal(gone.went.length, 1, key);
    const there = await failed(other);
    view.show(route, there.app);
    assert.equal(there.went.length, 0, other);
  }
});

test("names of properties that all objects have are no ranges, orders or tabs", () => {
  const name = "constructor";
  assert.equal(span(name, 0).toString(), span("1h", 0).toString());
  assert.equal(replayOf({ query: { replay: name } }), "24h");
  const rows = [{ id: "a", refused: 1, is: {} }, { id: "b", refused: 2, is: {} }];
  assert.deepEqual(select(rows, { sort: name }).map(({ id }) => id), ["b", "a"]);
  const asked = [];
  const sources = new Proxy({}, { get: (_, source) => (...some) => asked.push([source, ...some]) });
  history.tasks({ ...ROUTE, query: { range: name } }, { sources, store: {} });
  assert.deepEqual(asked[0], ["history", "acme", "1h"]);
  overview.tasks({ query: { range: name } }, { sources });
  assert.ok(!asked.flat().includes(name));
  const report = { tenantId: "acme", tier: "gold", status: "ACTIVE", connections: 0, limits: {}, overrides: {}, buckets: [] };
  const app = { store: { failure() {}, value: (key) => (key === "tenant/acme" ? report : undefined) }, sources: { histories: new Map() }, settings: {} };
  assert.match(textOf(tenant.show({ ...ROUTE, tab: name }, app)), /aria-label="Now"/);
});

test("a tenant's page has its open window, or the next one", () => {
  const report = { tenantId: "acme", tier: "gold", status: "ACTIVE", connections: 0, limits: {}, overrides: {}, buckets: [] };
  const shown = (windows) => {
    const app = {
      store: { failure() {}, value: (key) => (key === "tenant/acme" ? { ...report, ...windows } : undefined) },
      sources: { histories: new Map() },
      settings: {},
    };
    return textOf(tenant.show(ROUTE, app)).match(/Scheduled limits.*?<dd[^>]*>(.*?)<\/dd>/s)?.[1];
  };
  const window = (factor, open) => ({ factor, from: "2026-11-27T18:00", to: "2026-11-28T02:00", zone: "UTC", open });
  assert.equal(shown({}), undefined);
  assert.equal(shown({ tierSchedules: { "20261127T1800Z": window(2, false) } }), "× 2 from 2026-11-27T18:00 (UTC)");
  assert.equal(
    shown({ schedules: { "20261129T1800Z": window(3, false) }, tierSchedules: { "20261127T1800Z": window(2, true) } }),
    "× 2 until 2026-11-28T02:00 (UTC)",
  );
  assert.equal(
    shown({ schedules: { "20261127T1800Z": window(3, true) }, tierSchedules: { "20261127T1700Z": window(2, true) } }),
    "× 3 until 2026-11-28T02:00 (UTC)",
  );
});

test("the audit ignores times that are none", () => {
  const wanted = (query) => auditTask({ query }, { audit: (parameters) => parameters }, {});
  assert.deepEqual(wanted({ from: "junk" }), { range: "7d" });
  assert.deepEqual(wanted({ range: "constructor" }), { range: "7d" });
  assert.deepEqual(wanted({ from: "2026-01-01T00:00:00Z", to: "junk" }), { from: "2026-01-01T00:00:00Z" });
  const app = { store: { value: () => undefined }, router: {} };
  for (const query of [{ from: "junk" }, { from: "2026-01-01T00:00:00Z", to: "junk" }, { range: "constructor" }]) {
    assert.match(textOf(auditPage({ query }, app, {})), /Loading/);
  }
});

test("a request without an end fails after 35 seconds", async (t) => {
  const ended = new AbortController();
  const asked = [];
  t.mock.method(AbortSignal, "timeout", (ms) => { asked.push(ms); return ended.signal; });
  t.mock.method(globalThis, "fetch", (url, { signal }) => new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))));
  const answer = call("tenants");
  ended.abort();
  await assert.rejects(Promise.race([answer, new Promise((resolve) => setImmediate(resolve))]), { status: 0 });
  assert.deepEqual(asked, [35_000]);
});

test("the first requests end, too, and a page in the background makes none", async () => {
  const script = await readFile(new URL("../pages/first-requests.js", import.meta.url), "utf8");
  for (const hidden of [false, true]) {
    const asked = [];
    runInNewContext(script, {
      location: { hash: "", search: "" }, sessionStorage: { getItem: () => null },
      document: { hidden, head: { append() {} }, createElement: () => ({}) },
      AbortSignal: { timeout: (ms) => ms },
      fetch: async (path, { signal }) => { asked.push(signal); },
    });
    assert.deepEqual(asked, hidden ? [] : [35_000, 35_000]);
  }
});
