import assert from "node:assert/strict";
import { test } from "node:test";
import { Router, format, parse } from "../pages/router.js";

test("an empty fragment is the overview", () => {
  assert.deepEqual(parse(""), { view: "overview", query: {} });
  assert.deepEqual(parse("#/"), { view: "overview", query: {} });
});

test("a fragment names a view and its parameters", () => {
  assert.deepEqual(parse("#/tenants?find=ac&chip=throttled&sort=open&tier=gold"), {
    view: "tenants", query: { find: "ac", chip: "throttled", sort: "open", tier: "gold" },
  });
  assert.deepEqual(parse("#/tenants/acme/history?range=6h"), { view: "tenant", id: "acme", tab: "history", query: { range: "6h" } });
  assert.deepEqual(parse("#/tenants/acme"), { view: "tenant", id: "acme", tab: "now", query: {} });
});

test("a bookmark of an earlier release opens its tenant", () => {
  assert.deepEqual(parse("#tenant=acme"), { view: "tenant", id: "acme", tab: "now", query: {} });
  assert.deepEqual(parse("#tenant=<b>"), { view: "overview", query: {} });
});

test("an id that no tenant can have opens the list", () => {
  assert.deepEqual(parse("#/tenants/%2e%2e/now"), { view: "tenants", query: {} });
});

test("format is the inverse of parse and leaves out empty parameters", () => {
  for (const hash of ["#/overview", "#/tenants?find=a%26b&sort=tier", "#/tenants/acme/now", "#/audit?tenant=acme"]) {
    assert.equal(format(parse(hash)), hash);
  }
  assert.equal(format({ view: "tenants", query: { find: "", chip: undefined, tier: "gold" } }), "#/tenants?tier=gold");
  assert.equal(format({ view: "tenant", id: "acme" }), "#/tenants/acme/now");
});

/** A browser's page with a history. */
function page(hash) {
  const listeners = [];
  const entries = [hash];
  const location = {
    get hash() { return entries.at(-1); },
    set hash(next) { entries.push(next); listeners.forEach((listener) => listener()); },
  };
  return {
    location,
    entries,
    history: { replaceState: (state, title, next) => entries.splice(-1, 1, next) },
    addEventListener: (type, listener) => listeners.push(listener),
    back() { entries.pop(); listeners.forEach((listener) => listener()); },
  };
}

test("typing replaces the browser's entry, and choices add one, to which back returns", () => {
  const browser = page("#/tenants");
  const seen = [];
  const router = new Router((route) => seen.push(route.query), browser);
  router.change({ find: "a" });
  router.change({ find: "ac" });
  assert.deepEqual(browser.entries, ["#/tenants?find=ac"]);
  router.change({ chip: "throttled" }, { replace: false });
  assert.deepEqual(router.route.query, { find: "ac", chip: "throttled" });
  browser.back();
  assert.deepEqual(seen.at(-1), { find: "ac" });
});

test("a fragment names a tier", () => {
  assert.deepEqual(parse("#/tiers/gold?replay=7d"), { view: "tier", id: "gold", query: { replay: "7d" } });
  assert.deepEqual(parse("#/tiers/Not a tier"), { view: "tiers", query: {} });
  assert.equal(format({ view: "tier", id: "gold", query: { replay: "7d" } }), "#/tiers/gold?replay=7d");
});

test("a change right after a choice keeps it, although the browser tells of the choice later", () => {
  const browser = page("#/tenants?find=ac&tier=gold");
  browser.addEventListener = () => {};
  const router = new Router(() => {}, browser);
  router.change({ tier: "" }, { replace: false });
  router.change({ find: "" });
  assert.equal(browser.location.hash, "#/tenants");
});
