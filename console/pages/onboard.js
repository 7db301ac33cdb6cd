// The dialog that onboards a tenant.

import { byId, el, handling, notice, setText } from "./dom.js";
import { LIMITS, LINE_OVERRIDES } from "./words.js";

/** Wires the dialog, when it is first opened. */
function wire({ control, store, router }) {
  byId("overrides").append(...Object.entries(LIMITS).map(([name, label]) => el(
    "div", {},
    el("label", { for: name }, label),
    el("input", { id: name, name, type: "number", min: 1, placeholder: "tier’s value" }))));
  byId("overrides").append(el(
    "div", {},
    el("label", { for: "new-line" }, "Line"),
    el("select", { id: "new-line", name: "line" }, ...Object.entries(LINE_OVERRIDES).map(([value, label]) => el("option", { value }, label)))));
  byId("onboard-cancel").addEventListener("click", () => byId("onboard-dialog").close());
  byId("onboard-form").addEventListener("submit", handling(async () => {
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
    store.refresh("tenants");
    router.go({ view: "tenant", id: tenantId });
  }));
}

let isWired = false;

/** Opens the dialog with a choice of tiers. */
export function openOnboarding(tiers, app) {
  if (!isWired) {
    wire(app);
    isWired = true;
  }
  byId("onboard-error").hidden = true;
  byId("onboard-form").reset();
  byId("new-tier").replaceChildren(...tiers.map((tier) => el("option", { value: tier }, tier)));
  byId("onboard-dialog").showModal();
}
