package dev.tollgate.local.services;

import io.undertow.server.HttpServerExchange;
import io.undertow.util.AttachmentKey;
import java.time.Instant;
import java.util.Optional;

/**
 * One call of an AWS API, as the front door understood it. Every handler behind the front door
 * finds it attached to the exchange.
 *
 * @param service the service in the credential scope, such as {@code dynamodb}
 * @param operation the operation, such as {@code UpdateItem}
 * @param resource the name of the table, queue, function, schedule or role concerned
 */
public record Call(
    String service,
    String operation,
    Principal principal,
    String accessKeyId,
    Instant at,
    Optional<String> resource,
    String body) {
  static final AttachmentKey<Call> KEY = AttachmentKey.create(Call.class);

  /** The call that an exchange carries. */
  public static Call of(HttpServerExchange exchange) {
    return exchange.getAttachment(KEY);
  }
}
