// A page of the audit, for a tenant or for the whole deployment.

import { html } from "./lit-html.js";
import { entryList, rangeButtons } from "./templates.js";
import { LONG_RANGES } from "./sources.js";
import { number } from "./words.js";

const RANGE = "7d";
const RANGES = { __proto__: null, ...Object.fromEntries(["1h", "24h", "7d", "31d", "400d"].map((key) => [key, LONG_RANGES[key]])) };

const isTime = (text) => !Number.isNaN(Date.parse(text));

/** The parameters of a route's page: a range that moves on, or fixed times once one has paged or named them. */
function wantedOf({ query: { range, from, to, cursor } }, subject) {
  const times = isTime(from) ? { from, ...(isTime(to) ? { to } : {}) } : { range: RANGES[range] ? range : RANGE };
  return { ...subject, ...times, ...(cursor ? { cursor } : {}) };
}

/** The task that loads the page. `subject` is `{}`, `{tenantId}` or `{tier}`. */
export const auditTask = (route, sources, subject) => sources.audit(wantedOf(route, subject));

/** An instant as the value of a field, in the browser's time zone, to the minute. */
const local = (instant) => {
  const date = new Date(instant);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

export function auditPage(route, { store, router }, subject) {
  const { query } = route;
  const wanted = wantedOf(route, subject);
  const answer = store.value(`audit/${new URLSearchParams(wanted)}`);
  const go = (change) => router.change({ cursor: "", ...change }, { replace: false });
  const field = (name, label) => html`
    <div>
      <label for=${`audit-${name}`}>${label}</label>
      <input type="datetime-local" id=${`audit-${name}`} .value=${wanted[name] ? local(wanted[name]) : ""}
        @change=${({ target }) => target.value ? go({ range: "", [name]: new Date(target.value).toISOString() }) : go({ [name]: "" })}>
    </div>`;
  return html`
    <div class="row audit-times">
      ${rangeButtons(RANGES, wanted.range ?? "", (range) => go({ range, from: "", to: "" }))}
      ${field("from", "From")}
      ${wanted.from ? field("to", "To") : ""}
    </div>
    ${answer === undefined ? html`<p class="empty">Loading …</p>`
      : answer.entries.length === 0 ? html`<p class="empty" id="no-entries">${answer.next ? "No changes in the part that was searched." : "No changes in this time."}</p>`
        : entryList(answer.entries, { withSubject: !subject.tenantId && !subject.tier })}
    <div class="row pages">
      ${query.cursor ? html`<button type="button" id="newest" @click=${() => go({ from: "", to: "" })}>Newest</button>` : ""}
      ${answer?.next ? html`<button type="button" id="older" @click=${() => go({ from: answer.from, to: answer.to, cursor: answer.next })}>Older</button>` : ""}
      ${answer ? html`<span class="muted small">${number(answer.entries.length)} ${query.cursor ? "on this page" : "shown"}</span>` : ""}
    </div>`;
}
