import assert from "node:assert/strict";
import { test } from "node:test";
import { authorOf, briefFieldsOf, fieldsOf, subjectOf, whatOf } from "../pages/changes.js";
import { apply, preview } from "../pages/batch.js";
import { Sources, span } from "../pages/sources.js";

const SUSPEND = { status: "SUSPENDED" };

test("a preview of each tenant, one after another, goes on after a failure", async () => {
  const asked = [];
  const control = async (path, options) => {
    asked.push([path, options.method]);
    if (path.includes("/b?")) {
      throw new Error("No tenant b.");
    }
    return { body: { outcome: path.includes("/c?") ? "UNCHANGED" : "CHANGED", version: 7, tenants: [{ consequences: [{ detail: "2 connections are closed" }] }] } };
  };
  const progress = [];
  const seen = await preview(control, ["a", "b", "c"], SUSPEND, { onprogress: (done) => progress.push(done) });
  assert.deepEqual(asked[0], ["tenants/a?dryRun=true", "PATCH"]);
  assert.deepEqual(seen, {
    changes: [{ id: "a", version: 7, details: ["2 connections are closed"] }],
    unchanged: ["c"],
    failures: [{ id: "b", message: "No tenant b." }],
  });
  assert.deepEqual(progress, [1, 2, 3]);
});

test("a change applies only to the previewed version", async () => {
  const sent = [];
  const control = async (path, options) => {
    sent.push({ path, ...options });
    if (path === "tenants/b") {
      throw new Error("Changed since.");
    }
  };
  const result = await apply(control, [{ id: "a", version: 7 }, { id: "b", version: 8 }], SUSPEND);
  assert.deepEqual(sent[0], { path: "tenants/a", method: "PATCH", body: SUSPEND, version: 7 });
  assert.deepEqual(result, { done: ["a"], failures: [{ id: "b", message: "Changed since." }] });
});

test("nothing more is changed once it was stopped", async () => {
  let changed = 0;
  const result = await apply(async () => { changed++; }, [{ id: "a" }, { id: "b" }, { id: "c" }], SUSPEND, { stopped: () => changed === 2 });
  assert.deepEqual(result.done, ["a", "b"]);
});

test("a change in words", () => {
  const entry = {
    subject: "tenant/acme", what: "TenantChanged", by: "arn:aws:sts::123456789012:assumed-role/operators/alice",
    from: { tier: "silver" }, to: { tier: "gold", "overrides.line": "true" },
  };
  assert.deepEqual(subjectOf(entry), { kind: "tenant", name: "acme" });
  assert.deepEqual(subjectOf({ subject: "deployment" }), { kind: "deployment", name: "" });
  assert.equal(whatOf(entry), "changed");
  assert.equal(whatOf({ what: "NewKind" }), "NewKind");
  assert.equal(authorOf(entry), "alice");
  assert.equal(authorOf({ by: "tollgate:sweep" }), "tollgate:sweep");
  assert.equal(authorOf({ by: "arn:aws:iam::123456789012:root" }), "root");
  assert.equal(fieldsOf(entry), "tier silver → gold, overrides.line – → true");
  assert.equal(briefFieldsOf(entry), fieldsOf(entry));
  assert.equal(fieldsOf({ what: "LimitNear", from: {}, to: { "near.tenantPerMinute": "55" } }), "tenantPerMinute 55");
  const modes = (value) => ({ "modes.tenantPerMinute": value, "modes.messagesPerMinute": value });
  assert.equal(fieldsOf({ what: "RetreatBegun", from: {}, to: modes("OBSERVE") }), "modes of 2 limits – → OBSERVE");
  assert.equal(fieldsOf({ what: "TierChanged", from: { ...modes("OBSERVE"), "modes.messagesPerMinute": "OFF" }, to: {} }),
    "modes.tenantPerMinute OBSERVE → –, modes.messagesPerMinute OFF → –");
  const onboarded = { what: "TenantOnboarded", from: {}, to: { "limits.sessionTTL": "300", "overrides.line": "false", status: "ACTIVE", tier: "gold" } };
  assert.equal(briefFieldsOf(onboarded), "tier gold, overrides.line false");
  assert.equal(briefFieldsOf({ what: "TierRemoved", from: { isolation: "POOL" }, to: {} }), "");
});

test("a span ends with the current minute, and its step suits its length", () => {
  const now = Date.parse("2026-03-12T14:05:11.500Z");
  assert.equal(decodeURIComponent(span("1h", now)), "from=2026-03-12T13:06:00Z&to=2026-03-12T14:06:00Z&step=1m");
  assert.equal(span("7d", now).get("step"), "1h");
  assert.equal(span("nonsense", now).toString(), span("1h", now).toString());
});

test("all tenants: page by page, in order, published each time on the first load only", async () => {
  const pages = { "tenants?limit=100": ["b", "a"], "tenants?limit=100&cursor=x%26": ["0"] };
  const sources = new Sources(async (path) => ({ body: { tenants: pages[path].map((tenantId) => ({ tenantId })), ...(!path.includes("cursor") && { next: "x&" }) } }));
  const published = [];
  const publish = ({ tenants, complete }) => published.push([tenants.map(({ tenantId }) => tenantId).join(""), complete]);
  const { tenants } = await sources.tenants().load(publish);
  assert.deepEqual(tenants.map(({ tenantId }) => tenantId), ["0", "a", "b"]);
  assert.deepEqual(published, [["ab", false], ["0ab", true]]);
  await sources.tenants().load(publish);
  assert.equal(published.length, 2);
});

test("a source that the deployment does not have is asked for once", async () => {
  let asked = 0;
  const sources = new Sources(async () => { asked++; throw Object.assign(new Error("Not found."), { status: 404 }); });
  assert.deepEqual(await sources.alarms().load(), { alarms: [] });
  assert.deepEqual(await sources.alarms().load(), { alarms: [] });
  assert.equal(asked, 1);
});

test("the activity is asked for in requests of 25 ids", async () => {
  const asked = [];
  const sources = new Sources(async (path) => {
    asked.push(path.split("=")[1].split(",").length);
    return { body: { at: "2026-03-12T14:05:11Z", tenants: [] } };
  });
  await sources.activity(() => [...Array(60).keys(), 1, 2].map((i) => `t${i}`)).load();
  assert.deepEqual(asked, [25, 25, 10]);
  await sources.activity(() => []).load();
  assert.equal(asked.length, 3);
});
