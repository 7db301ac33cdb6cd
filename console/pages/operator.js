// The operator page: the list of tenants, page by page, and their current activity.

import { Sessions, call, config } from "./api.js";
import { spark } from "./chart.js";
import { byId, el, handling, notice, poll, setMeter, setText, showError, svg } from "./dom.js";
import { History } from "./history.js";
import { completeSignIn, forget, signIn, signOut, token } from "./sign-in.js";
import { STATUS, offerNeighbours, offerTiers, showTenant, wire } from "./tenant.js";
import { LIMITS, LINE_OVERRIDES, count, number } from "./words.js";

/** `GET /activity` accepts 25 tenants: a page of the list, and the open tenant. */
const PAGE = 24;
const TENANT_ID = /^[a-z0-9][a-z0-9-]{0,35}$/;
/** The list is refreshed less often than the activity, because it rarely changes. */
const LIST_EVERY_MS = 10_000;

const settings = await config();
/** The cursors of the pages up to the current one; the first page has none. */
let cursors = [undefined];
let next;
let listings = 0;
let listedAt = -Infinity;
let tenants = [];
/** The activity of each tenant, by id. */
const histories = new Map();
/** The deployment's clock minus this browser's clock, in ms. */
let ahead = 0;
/** The header of the last answer while all limits are lifted, and that for which the banner was set. */
let announced = null;
let shown = null;

// Calls

async function control(path, options) {
  try {
    const answer = await call(path, { ...options, token: token() });
    announced = answer.headers.get("tollgate-admit-all");
    return answer;
  } catch (failed) {
    if (failed.status === 401) {
      forget();
      askToSignIn();
      failed.shown = true;
    }
    throw failed;
  }
}

function askToSignIn() {
  byId("sign-in-panel").hidden = false;
  byId("workplace").hidden = true;
  byId("onboard").hidden = true;
  byId("sign-out").hidden = true;
  if (!settings.signIn) {
    byId("sign-in").disabled = true;
    notice("bad", "The control plane requires a sign-in, but this deployment has no user pool to sign in to.");
  }
}

let failing = false;

/** Runs `look`; its error stays on the page until `look` succeeds again. */
async function polling(look) {
  try {
    await look();
    if (failing) {
      byId("notices").replaceChildren();
      failing = false;
    }
  } catch (failed) {
    showError(failed);
    failing = true;
  }
}

// The list

async function list() {
  const query = new URLSearchParams({ limit: PAGE });
  const filters = { prefix: byId("prefix").value.trim(), tier: byId("tier-filter").value, pending: byId("pending").checked };
  Object.entries(filters).filter(([, value]) => value).forEach(([name, value]) => query.set(name, value));
  const asked = ++listings;
  let cursor = cursors.at(-1);
  let body;
  // A page may be empty although further pages follow.
  do {
    if (cursor) {
      query.set("cursor", cursor);
    }
    ({ body } = await control(`tenants?${query}`));
    cursor = body.next;
  } while (body.tenants.length === 0 && cursor);
  if (asked !== listings) {
    return; // A newer request was sent meanwhile.
  }
  tenants = body.tenants.sort((a, b) => a.tenantId.localeCompare(b.tenantId));
  next = body.next;
  listedAt = performance.now();
  showList();
}

async function turnTo(change) {
  change();
  await list();
  await activity();
}

async function tiers() {
  const { body } = await control("tiers");
  offerTiers(body.tiers.map(({ tier }) => tier));
}

async function activity() {
  const ids = new Set([...tenants.map(({ tenantId }) => tenantId), opened()].filter(Boolean));
  if (ids.size === 0) {
    return;
  }
  const answer = (await control(`activity?tenantIds=${[...ids].join()}`)).body;
  const t = Date.now();
  ahead = Date.parse(answer.at) - t;
  for (const { tenantId, connections, admitted, refused, buckets } of answer.tenants) {
    if (!histories.has(tenantId)) {
      histories.set(tenantId, new History());
    }
    histories.get(tenantId).add(t, { connections, admitted, refused, buckets });
  }
  showActivity();
}

/** Shows at the top until when and why all limits are lifted. */
async function showLifted() {
  if (announced === shown) {
    return;
  }
  const seen = announced;
  const { body } = seen === null ? { body: {} } : await control("admit-all");
  setText(byId("lifted"), body.on ? `All limits are lifted until ${body.until}: ${body.reason}` : "");
  byId("lifted").hidden = !body.on;
  shown = seen;
}

// The open tenant

function opened() {
  const id = new URLSearchParams(location.hash.slice(1)).get("tenant");
  return id !== null && TENANT_ID.test(id) ? id : undefined;
}

async function openTenant() {
  const id = opened();
  byId("operator").toggleAttribute("data-open", Boolean(id));
  byId("detail").hidden = !id;
  markRow();
  if (!id) {
    return;
  }
  try {
    const { body } = await control(`tenants/${encodeURIComponent(id)}`);
    if (id === opened()) {
      showTenant(body, histories.get(id), Date.now() + ahead);
      offerNeighbours(tenants.filter(({ status }) => status === "ACTIVE").map(({ tenantId }) => tenantId));
    }
  } catch (failed) {
    if (failed.status !== 404) {
      throw failed;
    }
    location.hash = "";
    notice("info", `Tenant ${id} no longer exists.`);
    listedAt = -Infinity;
  }
}

function markRow() {
  for (const row of byId("rows").children) {
    if (row.dataset.id === opened()) {
      row.setAttribute("aria-current", "true");
    } else {
      row.removeAttribute("aria-current");
    }
  }
}

// Rendering

function showList() {
  const rows = byId("rows");
  const ids = tenants.map(({ tenantId }) => tenantId);
  if ([...rows.children].map((row) => row.dataset.id).join() !== ids.join()) {
    const old = new Map([...rows.children].map((row) => [row.dataset.id, row]));
    rows.replaceChildren(...ids.map((id) => old.get(id) ?? tenantRow(id)));
  }
  const filtered = byId("prefix").value || byId("tier-filter").value || byId("pending").checked;
  byId("empty").hidden = ids.length > 0;
  setText(byId("empty"), filtered
    ? "No matching tenants. Clear the filters."
    : cursors.length > 1 ? "No tenants on this page. Go to the previous page." : "No tenants yet. Onboard a tenant to begin.");
  byId("previous").disabled = cursors.length === 1;
  byId("next").disabled = !next;
  setText(byId("page"), `Page ${cursors.length}: ${count(ids.length, "tenant")}`);
  setText(byId("sum-tenants"), number(ids.length));
  showActivity();
  markRow();
}

const tenantRow = (id) => el(
  "tr",
  { "data-id": id },
  el("td", {}, el("a", { href: `#${new URLSearchParams({ tenant: id })}` }, id), el("span", { class: "tier" })),
  el("td", { class: "status" }),
  el("td", { class: "number wide open-sockets" }, "–"),
  el("td", { class: "level" }, el("span", { class: "tokens small" }, "–"), el("meter", { "aria-label": `Tokens of ${id}` }), el("span", { class: "waiting muted small" })),
  el("td", { class: "number wide admitted-rate" }, "–"),
  el("td", { class: "number wide refused-rate" }, "–"),
  el("td", { class: "wide trend" }, svg("svg", { class: "spark", "aria-hidden": "true" })));

/** The most important state of a tenant, and the style of its badge. */
function status(tenant, history) {
  const buckets = history?.last?.buckets ?? [];
  const unfinished = buckets.find(({ state }) => state === "PROVISIONING" || state === "REMOVING");
  if (tenant.status === "ACTIVE" && history?.throttled) {
    return ["Throttled", "bad"];
  }
  if (unfinished || (byId("pending").checked && tenant.status === "ACTIVE")) {
    return [unfinished?.state === "REMOVING" ? "Being removed" : "Pending", "warn"];
  }
  if (tenant.status === "ACTIVE" && buckets.some(({ action, state }) => action === "connect" && state === "HIBERNATING")) {
    return ["Hibernating", "accent"];
  }
  return STATUS[tenant.status] ?? [tenant.status, ""];
}

function showActivity() {
  const sums = { connections: 0, admitted: 0, refused: 0, throttled: 0, waiting: 0, hibernating: 0 };
  tenants.forEach((tenant, i) => {
    const row = byId("rows").children[i];
    const history = histories.get(tenant.tenantId);
    const last = history?.last;
    const { admitted, refused } = history?.latestRates ?? {};
    const bucket = last?.buckets.find(({ action }) => action === "connect");
    const [word, kind] = status(tenant, history);
    setText(row.querySelector(".tier"), tenant.tier);
    const badge = row.querySelector(".status .badge");
    if (badge?.textContent !== word) {
      row.querySelector(".status").replaceChildren(el("span", { class: `badge ${kind}` }, word));
    }
    if (!last) {
      return;
    }
    setText(row.querySelector(".open-sockets"), number(last.connections));
    setText(row.querySelector(".admitted-rate"), number(admitted));
    setText(row.querySelector(".refused-rate"), number(refused));
    row.querySelector(".refused-rate").classList.toggle("refusing", refused > 0);
    if (bucket) {
      const waiting = bucket.line?.length ?? 0;
      setText(row.querySelector(".tokens"), `${number(bucket.level)} of ${number(bucket.capacity)}`);
      setText(row.querySelector(".waiting"), waiting > 0 ? `${number(waiting)} in line` : "");
      sums.waiting += waiting;
      setMeter(row.querySelector("meter"), bucket.level, bucket.capacity);
    }
    spark(row.querySelector(".spark"), history.samples(), [
      { key: "admittedRate", kind: "admitted" },
      { key: "refusedRate", kind: "refused" },
    ]);
    sums.connections += last.connections;
    sums.admitted += admitted;
    sums.refused += refused;
    sums.throttled += history.throttled ? 1 : 0;
    sums.hibernating += last.buckets.some(({ state }) => state === "HIBERNATING") ? 1 : 0;
  });
  const known = tenants.some(({ tenantId }) => histories.has(tenantId));
  Object.entries(sums).forEach(([name, value]) => setText(byId(`sum-${name}`), known ? number(value) : "–"));
  byId("tile-refused").classList.toggle("bad", sums.refused > 0);
}

const lineOptions = () =>
  Object.entries(LINE_OVERRIDES).map(([value, label]) => el("option", { value }, label));

// Onboarding

function openOnboarding() {
  byId("onboard-error").hidden = true;
  byId("onboard-form").reset();
  byId("onboard-dialog").showModal();
}

async function onboard() {
  const tenantId = byId("new-id").value;
  const tier = byId("new-tier").value;
  const overrides = Object.fromEntries([...byId("overrides").querySelectorAll("input, select")]
    .filter((field) => field.value !== "")
    .map((field) => [field.name, JSON.parse(field.value)]));
  try {
    await control("tenants", { method: "POST", body: { tenantId, tier, overrides } });
  } catch (failed) {
    // Shown in the dialog, which covers the page.
    setText(byId("onboard-error"), failed.message);
    byId("onboard-error").hidden = false;
    return;
  }
  byId("onboard-dialog").close();
  notice("good", `${tenantId} is onboarded. Its buckets are ready within a minute.`);
  location.hash = new URLSearchParams({ tenant: tenantId });
  await list();
}

// Wiring

function search() {
  if (byId("prefix").validity.valid) {
    return polling(() => turnTo(() => { cursors = [undefined]; }));
  }
  notice("info", "Enter the beginning of a tenant id: lower-case letters, digits and hyphens.");
  return undefined;
}

let typing;
byId("prefix").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(search, 250);
});
byId("tier-filter").addEventListener("change", search);
byId("pending").addEventListener("change", search);
byId("tools").addEventListener("submit", handling(search));
byId("next").addEventListener("click", handling(() => turnTo(() => cursors.push(next))));
byId("previous").addEventListener("click", handling(() => turnTo(() => cursors.pop())));
byId("onboard").addEventListener("click", openOnboarding);
byId("onboard-cancel").addEventListener("click", () => byId("onboard-dialog").close());
byId("onboard-form").addEventListener("submit", handling(onboard));
byId("sign-in").addEventListener("click", handling(() => signIn(settings.signIn)));
byId("sign-out").addEventListener("click", () => signOut(settings.signIn));
addEventListener("hashchange", async ({ oldURL }) => {
  await polling(openTenant);
  if (opened()) {
    byId("detail").focus();
  } else {
    // Return the focus to the tenant's row in the list.
    const left = new URLSearchParams(new URL(oldURL).hash.slice(1)).get("tenant");
    [...byId("rows").children].find((row) => row.dataset.id === left)?.querySelector("a").focus();
  }
});
byId("overrides").append(...Object.entries(LIMITS).map(([name, label]) => el(
  "div", {},
  el("label", { for: name }, label),
  el("input", { id: name, name, type: "number", min: 1, placeholder: "tier’s value" }))));
byId("overrides").append(el(
  "div", {},
  el("label", { for: "new-line" }, "Line"),
  el("select", { id: "new-line", name: "line" }, ...lineOptions())));
byId("line").append(...lineOptions());
wire({
  control,
  changed: (gone) => {
    if (gone) {
      location.hash = "";
    }
    return polling(async () => {
      await list();
      await openTenant();
    });
  },
  sessions: new Sessions(settings.sessionUrl),
  webSocketUrl: settings.webSocketUrl,
  sessionAccess: settings.sessionAccess,
});

try {
  await completeSignIn(settings.signIn);
} catch (failed) {
  notice("bad", failed.message);
}
byId("sign-out").hidden = !(token() && settings.signIn);
poll(() => polling(async () => {
  if (!byId("sign-in-panel").hidden) {
    return;
  }
  if (performance.now() - listedAt > LIST_EVERY_MS) {
    await list();
    await tiers();
  }
  await activity();
  await openTenant();
  await showLifted();
}));
