package dev.tollgate.aws.tracing;

import static dev.tollgate.core.JsonText.quoted;

import java.util.OptionalInt;

/** An AWS request as a subsegment. Thread-safe. */
final class RequestSubsegment {
  private final String service;
  private final String operation;
  private final String id;
  private final String start;

  /** Its end, status and flags; until it ends, that it is in progress. */
  private volatile String rest = ",\"in_progress\":true";

  /** A request that begins now. */
  RequestSubsegment(String service, String operation, String id, String start) {
    this.service = service;
    this.operation = operation;
    this.id = id;
    this.start = start;
  }

  /**
   * Ends the request.
   *
   * @param status the HTTP status of the response; empty without one
   * @param throttled whether AWS refused it because of its rate, which not each service reports as
   *     429
   */
  void end(String end, OptionalInt status, boolean throttled) {
    String flags =
        throttled
            ? Flags.THROTTLED
            : status.isPresent() ? Flags.ofStatus(status.getAsInt()) : Flags.FAULT;
    String http =
        status.isPresent() ? ",\"http\":{\"response\":{\"status\":" + status.getAsInt() + "}}" : "";
    rest = ",\"end_time\":" + end + flags + http;
  }

  String json() {
    return "{\"name\":"
        + quoted(service)
        + ",\"id\":\""
        + id
        + "\",\"start_time\":"
        + start
        + rest
        + ",\"namespace\":\"aws\",\"aws\":{\"operation\":"
        + quoted(operation)
        + "}}";
  }
}
