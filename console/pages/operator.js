// The operator's page: the list of tenants, part by part, and what they do now.

import { Sessions, call, config } from "./api.js";
import { spark } from "./chart.js";
import { byId, complain, doing, el, fill, notice, poll, say, svg } from "./dom.js";
import { History } from "./history.js";
import { completeSignIn, forget, signIn, signOut, token } from "./sign-in.js";
import { STATUS, offerNeighbours, offerTiers, showTenant, wire } from "./tenant.js";
import { LIMITS, count, number } from "./words.js";

/** `GET /activity` takes 25 at once: a page of the list, and the tenant that is open. */
const PAGE = 24;
const TENANT_ID = /^[a-z0-9][a-z0-9-]{0,35}$/;
/** The list itself changes seldom. */
const LIST_EVERY_MS = 10_000;

const settings = await config();
/** The cursors of the pages up to this one; the first has none. */
let cursors = [undefined];
let next;
let listings = 0;
let listedAt = -Infinity;
let tenants = [];
/** What each tenant did, by its id. */
const histories = new Map();
/** How far the deployment's clock is ahead of this one, in ms. */
let ahead = 0;

// Calls

async function control(path, options) {
  try {
    return await call(path, { ...options, token: token() });
  } catch (failed) {
    if (failed.status === 401) {
      forget();
      askToSignIn();
      failed.told = true;
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
    notice("bad", "The control plane asks for a sign-in, and this deployment has none.");
  }
}

let troubled = false;

/** Errors of looking are told until looking works again. */
async function looking(look) {
  try {
    await look();
    if (troubled) {
      byId("notices").replaceChildren();
      troubled = false;
    }
  } catch (failed) {
    complain(failed);
    troubled = true;
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
  // A part may have nobody in it though others follow.
  do {
    if (cursor) {
      query.set("cursor", cursor);
    }
    ({ body } = await control(`tenants?${query}`));
    cursor = body.next;
  } while (body.tenants.length === 0 && cursor);
  if (asked !== listings) {
    return; // Something else has been asked for since.
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
    notice("info", `There is no tenant ${id} any more.`);
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

// What is shown

function showList() {
  const rows = byId("rows");
  const ids = tenants.map(({ tenantId }) => tenantId);
  if ([...rows.children].map((row) => row.dataset.id).join() !== ids.join()) {
    const old = new Map([...rows.children].map((row) => [row.dataset.id, row]));
    rows.replaceChildren(...ids.map((id) => old.get(id) ?? tenantRow(id)));
  }
  const filtered = byId("prefix").value || byId("tier-filter").value || byId("pending").checked;
  byId("empty").hidden = ids.length > 0;
  say(byId("empty"), filtered
    ? "No tenant is like that. Change what you look for."
    : cursors.length > 1 ? "Nothing on this page. Go back." : "No tenants yet: onboard one.");
  byId("previous").disabled = cursors.length === 1;
  byId("next").disabled = !next;
  say(byId("page"), `Page ${cursors.length}: ${count(ids.length, "tenant")}`);
  say(byId("sum-tenants"), number(ids.length));
  showActivity();
  markRow();
}

const tenantRow = (id) => el(
  "tr",
  { "data-id": id },
  el("td", {}, el("a", { href: `#${new URLSearchParams({ tenant: id })}` }, id), el("span", { class: "tier" })),
  el("td", { class: "status" }),
  el("td", { class: "number wide open-sockets" }, "–"),
  el("td", { class: "level" }, el("span", { class: "tokens small" }, "–"), el("meter", { "aria-label": `Tokens of ${id}` })),
  el("td", { class: "number wide let-in" }, "–"),
  el("td", { class: "number wide refused-rate" }, "–"),
  el("td", { class: "wide trend" }, svg("svg", { class: "spark", "aria-hidden": "true" })));

/** What one most wants to know of a tenant, and how bad it is. */
function status(tenant, history) {
  const buckets = history?.last?.buckets ?? [];
  const unfinished = buckets.find(({ state }) => state === "PROVISIONING" || state === "REMOVING");
  if (tenant.status === "ACTIVE" && history?.throttled) {
    return ["Throttled", "bad"];
  }
  if (unfinished || (byId("pending").checked && tenant.status === "ACTIVE")) {
    return [unfinished?.state === "REMOVING" ? "Being removed" : "Not finished", "warn"];
  }
  if (tenant.status === "ACTIVE" && buckets.some(({ action, state }) => action === "connect" && state === "HIBERNATING")) {
    return ["Hibernating", "accent"];
  }
  return STATUS[tenant.status] ?? [tenant.status, ""];
}

function showActivity() {
  const sums = { connections: 0, admitted: 0, refused: 0, throttled: 0, hibernating: 0 };
  tenants.forEach((tenant, i) => {
    const row = byId("rows").children[i];
    const history = histories.get(tenant.tenantId);
    const last = history?.last;
    const { admitted, refused } = history?.latestRates ?? {};
    const bucket = last?.buckets.find(({ action }) => action === "connect");
    const [word, kind] = status(tenant, history);
    say(row.querySelector(".tier"), tenant.tier);
    const badge = row.querySelector(".status .badge");
    if (badge?.textContent !== word) {
      row.querySelector(".status").replaceChildren(el("span", { class: `badge ${kind}` }, word));
    }
    if (!last) {
      return;
    }
    say(row.querySelector(".open-sockets"), number(last.connections));
    say(row.querySelector(".let-in"), number(admitted));
    say(row.querySelector(".refused-rate"), number(refused));
    row.querySelector(".refused-rate").classList.toggle("refusing", refused > 0);
    if (bucket) {
      say(row.querySelector(".tokens"), `${number(bucket.level)} of ${number(bucket.capacity)}`);
      fill(row.querySelector("meter"), bucket.level, bucket.capacity);
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
  const told = tenants.some(({ tenantId }) => histories.has(tenantId));
  Object.entries(sums).forEach(([name, value]) => say(byId(`sum-${name}`), told ? number(value) : "–"));
  byId("tile-refused").classList.toggle("bad", sums.refused > 0);
}

// Onboarding

function openOnboarding() {
  byId("onboard-error").hidden = true;
  byId("onboard-form").reset();
  byId("onboard-dialog").showModal();
}

async function onboard() {
  const tenantId = byId("new-id").value;
  const tier = byId("new-tier").value;
  const overrides = Object.fromEntries([...byId("overrides").querySelectorAll("input")]
    .filter((input) => input.value !== "")
    .map((input) => [input.name, input.valueAsNumber]));
  try {
    await control("tenants", { method: "POST", body: { tenantId, tier, overrides } });
  } catch (failed) {
    // In front of the page, or nobody would see it.
    say(byId("onboard-error"), failed.message);
    byId("onboard-error").hidden = false;
    return;
  }
  byId("onboard-dialog").close();
  notice("good", `${tenantId} is onboarded. Its buckets are there, or will be within a minute.`);
  location.hash = new URLSearchParams({ tenant: tenantId });
  await list();
}

// Wiring

function search() {
  if (byId("prefix").validity.valid) {
    return looking(() => turnTo(() => { cursors = [undefined]; }));
  }
  notice("info", "Ids have small letters, digits and hyphens.");
  return undefined;
}

let typing;
byId("prefix").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(search, 250);
});
byId("tier-filter").addEventListener("change", search);
byId("pending").addEventListener("change", search);
byId("tools").addEventListener("submit", doing(search));
byId("next").addEventListener("click", doing(() => turnTo(() => cursors.push(next))));
byId("previous").addEventListener("click", doing(() => turnTo(() => cursors.pop())));
byId("onboard").addEventListener("click", openOnboarding);
byId("onboard-cancel").addEventListener("click", () => byId("onboard-dialog").close());
byId("onboard-form").addEventListener("submit", doing(onboard));
byId("sign-in").addEventListener("click", doing(() => signIn(settings.signIn)));
byId("sign-out").addEventListener("click", () => signOut(settings.signIn));
addEventListener("hashchange", async ({ oldURL }) => {
  await looking(openTenant);
  if (opened()) {
    byId("detail").focus();
  } else {
    // Back to where one was in the list.
    const left = new URLSearchParams(new URL(oldURL).hash.slice(1)).get("tenant");
    [...byId("rows").children].find((row) => row.dataset.id === left)?.querySelector("a").focus();
  }
});
byId("overrides").append(...Object.entries(LIMITS).map(([name, label]) => el(
  "div", {},
  el("label", { for: name }, label),
  el("input", { id: name, name, type: "number", min: 1, placeholder: "the tier’s" }))));
wire({
  control,
  changed: (gone) => {
    if (gone) {
      location.hash = "";
    }
    return looking(async () => {
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
poll(() => looking(async () => {
  if (!byId("sign-in-panel").hidden) {
    return;
  }
  if (performance.now() - listedAt > LIST_EVERY_MS) {
    await list();
    await tiers();
  }
  await activity();
  await openTenant();
}));
