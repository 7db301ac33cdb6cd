// What the sample client says about refused connections and messages.

import { count, duration, number } from "./words.js";

/** A place in line: 12, 24 → "12 ahead of you, about 24 s". */
export function placeInLine(ahead, seconds) {
  const left = `about\u00a0${duration(seconds)}`;
  return ahead === 0 ? `You are next, in ${left}` : `${number(ahead)} ahead of you, ${left}`;
}

/** Explains a refused connection: the session API's `reason` and the limits in force. */
export function refusal(admission, limits) {
  switch (admission.reason) {
    case "TENANT_RATE":
      return `The tenant has no tokens left: its limit is ${count(limits.tenantPerMinute, "new connection")} per minute.`;
    case "SESSION_RATE":
      return `This session has no tokens left: its limit is ${count(limits.sessionPerMinute, "new connection")} per minute.`;
    case "TENANT_CONNECTIONS":
      return `The tenant has reached its limit of ${count(limits.tenantConnections, "open connection")}. One must close first.`;
    case "SESSION_CONNECTIONS":
      return `This session has reached its limit of ${count(limits.connectionsPerSession, "open connection")}. One must close first.`;
    case "SUSPENDED":
      return "The tenant is suspended. New connections are refused until an operator resumes it.";
    default:
      return admission.detail ?? "Refused.";
  }
}

/** Explains a message that was not processed: the `code` of an error frame. */
export function messageError(frame) {
  switch (frame.code) {
    case "THROTTLED":
      return `Throttled: the tenant has exceeded its limit of messages per minute. Retry in ${duration(frame.retryAfterSeconds ?? 60)}.`;
    case "NOT_SILO":
      return "Not processed: this tenant has no queue of its own. Send pooled, or choose a tenant in tier gold.";
    case "UNAVAILABLE":
      return "Not processed: the queue is temporarily unavailable. Send the message again.";
    case "UNANSWERED":
      return "No answer came in time. The message may have been processed.";
    default:
      return frame.detail ?? frame.message ?? "Not processed.";
  }
}
