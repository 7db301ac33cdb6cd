// Text for the pages: numbers, times, and names.

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });
const short = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

export const time = (date = new Date()) => clock.format(date);
/** An instant of the API as a day and a time in the browser's time zone. */
export const dateTime = (instant) => day.format(new Date(instant));
export const number = (value) => short.format(value);
export const count = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

/** "3 dead letters", or "At least 3 dead letters" if not all messages were looked at. */
export const deadLetterCount = ({ count: n, complete }) => `${complete ? "" : "At least "}${count(n, "dead letter")}`;

/** What became of a redrive. */
export const redriveResult = ({ moved, complete }) => `${count(moved, "message")} moved back.${complete ? "" : " There may be more: move again."}`;

/** 75 → "1 min 15 s". */
export function duration(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  const minutes = Math.floor(whole / 60);
  return (minutes === 0 ? `${whole} s` : `${minutes} min ${whole % 60} s`).replaceAll(" ", "\u00a0");
}

/** Short descriptions of bucket states. */
export const BUCKET_STATES = {
  PROVISIONING: "being set up",
  ACTIVE: "filling",
  CHANGING: "changing its fill mode",
  HIBERNATING: "hibernating",
  SUSPENDED: "suspended",
  REMOVING: "being removed",
};

/** The values of a tenant's override of the line. */
export const LINE_OVERRIDES = { "": "Tier’s value", true: "On", false: "Off" };

export const LIMITS = {
  tenantPerMinute: "New connections per minute, tenant",
  sessionPerMinute: "New connections per minute, each session",
  connectionsPerSession: "Open connections, each session",
  tenantConnections: "Open connections, tenant",
  sessionTTL: "Seconds until an idle session expires",
  messagesPerMinute: "Messages per minute",
  sessionLifetime: "Seconds until any session expires",
  sessionsPerSubject: "Open sessions, each token subject",
};
