// Templates that several views use.

import { html } from "./lit-html.js";
import { authorOf, fieldsOf, subjectOf, whatOf } from "./changes.js";
import { format } from "./router.js";
import { count, dateTime } from "./words.js";

/** Longer texts of changed fields are hidden at first. */
const LONG = 240;

/** A link to a runbook, which the console serves at its path in the repository: `docs/runbooks/refusals.md`. */
export const runbookLink = (runbook) => /^docs\/runbooks\/[a-z-]+\.md$/.test(runbook)
  ? html`<a href=${runbook}>Runbook</a>`
  : html`<span class="muted">Runbook:</span> <code>${runbook}</code>`;

/** Buttons for spans of time: `ranges` are `{key: {words}}`. */
export const rangeButtons = (ranges, current, onpick) => html`
  <div class="ranges" role="group" aria-label="Range of time">
    ${Object.entries(ranges).map(([key, { words }]) => html`
      <button type="button" class="quiet" aria-pressed=${key === current} aria-label="The last ${words}" @click=${() => onpick(key)}>${key}</button>`)}
  </div>`;

/** Whose change an entry of the audit is, as a link. */
export function subjectLink(entry) {
  const { kind, name } = subjectOf(entry);
  return kind === "tenant"
    ? html`<a href=${format({ view: "tenant", id: name })}>${name}</a>`
    : kind === "tier" ? html`<a href=${format({ view: "tier", id: name })}>tier ${name}</a>` : "Deployment";
}

/** The changed fields; many of them, such as all of a new tenant, on request. */
const fields = (text) => text.length > LONG
  ? html`<details class="fields"><summary>${count(text.split(", ").length, "value")}</summary>${text}</details>`
  : text ? html`<span class="fields">${text}</span>` : "";

/** A list of entries of the audit, each with its subject or without. */
export const entryList = (entries, { withSubject = true } = {}) => html`
  <ol class="changes entries">${entries.map((entry) => html`
    <li>
      <time datetime=${entry.at} title=${entry.at}>${dateTime(entry.at)}</time>
      <span>
        ${withSubject ? subjectLink(entry) : ""} <b>${whatOf(entry)}</b> <span class="muted">by ${authorOf(entry)}</span>
        ${fields(fieldsOf(entry))}
      </span>
    </li>`)}</ol>`;
