package dev.tollgate.core.message;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;

/** Writes the frames that are sent to sockets. */
public interface Frames {
  /**
   * The most bytes that API Gateway sends as one message.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-execution-service-websocket-limits-table.html">Quotas
   *     for configuring and running a WebSocket API</a>
   */
  int MAX_BYTES = 128 * 1024;

  /** A message that another socket of the session sent. */
  String message(String id, String json);

  /**
   * A reply of the application.
   *
   * @throws InvalidValue if the reply is not JSON, or too long for a frame
   */
  String reply(String id, String json);

  /** A message was refused because the bucket is empty. */
  String throttled(String id, Duration retryAfter);

  /** A message was refused because its tenant is not active. */
  String suspended(String id);

  /** A frame was not a valid message. */
  String badFrame(String id, String flaw);
}
