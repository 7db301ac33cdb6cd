/** A message that was not processed, or whose answer is not known. `code` tells which; see the README. */
export class TollgateError extends Error {
  name = "TollgateError";

  constructor(code, message, id, retryAfterSeconds, unknown = false) {
    super(message);
    this.code = code;
    this.id = id;
    this.retryAfterSeconds = retryAfterSeconds;
    this.unknown = unknown;
  }
}
