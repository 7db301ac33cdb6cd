// What ends a tenant's connections: suspending and offboarding it.

import { html } from "./lit-html.js";
import { confirmed } from "./confirm.js";
import { handling, notice } from "./dom.js";
import { count } from "./words.js";

async function suspend({ tenantId, status, connections, version }, { control, store }) {
  const resume = status === "SUSPENDED";
  if (!resume && !await confirmed(
    `Suspend ${tenantId}?`,
    `This ends its sessions, closes ${count(connections, "open socket")}, and refuses new connections until you resume it.`,
    "Suspend")) {
    return;
  }
  await control(`tenants/${tenantId}`, { method: "PATCH", body: { status: resume ? "ACTIVE" : "SUSPENDED" }, version });
  notice("good", resume ? `${tenantId} is active again.` : `${tenantId} is suspended.`);
  store.refresh();
}

async function offboard({ tenantId, connections }, { control, store, router }) {
  if (!await confirmed(
    `Offboard ${tenantId}?`,
    `This removes its queues, schedules, sessions and rows, and closes ${count(connections, "open socket")}. This cannot be undone.`,
    "Offboard",
    tenantId)) {
    return;
  }
  const { status } = await control(`tenants/${tenantId}`, { method: "DELETE" });
  notice("good", status === 204 ? `${tenantId} is removed.` : `${tenantId} is being removed. This takes a few minutes.`);
  if (status === 204) {
    router.go({ view: "tenants" });
  } else {
    store.refresh();
  }
}

export const danger = {
  text: "Danger zone",
  show(tenant, route, app) {
    const { status, tenantId } = tenant;
    const isGone = status === "OFFBOARDING";
    const isSuspended = status === "SUSPENDED";
    return html`
      <section class="card danger-zone" aria-label="Danger zone">
        <div class="between">
          <div><h2>${isSuspended ? "Resume" : "Suspend"} ${tenantId}</h2><p class="muted">${isSuspended ? "Connections are admitted again, within its limits." : "Ends its sessions and refuses new connections until you resume it. Its tokens and queues are kept."}</p></div>
          <button type="button" id="suspend" class=${isSuspended ? "primary" : "danger"} ?disabled=${isGone} @click=${handling(() => suspend(tenant, app))}>${isSuspended ? "Resume" : "Suspend"}</button>
        </div>
        <div class="between">
          <div><h2>Offboard ${tenantId}</h2><p class="muted">Removes its queues, schedules, sessions and rows. Its audit and its history are kept. This cannot be undone.</p></div>
          <button type="button" id="offboard" class="danger" ?disabled=${isGone} @click=${handling(() => offboard(tenant, app))}>Offboard</button>
        </div>
      </section>`;
  },
};
