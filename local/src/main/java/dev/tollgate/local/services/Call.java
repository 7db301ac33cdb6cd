package dev.tollgate.local.services;

import io.undertow.server.HttpServerExchange;
import io.undertow.util.AttachmentKey;
import java.time.Instant;
import java.util.Map;
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
    Target target,
    String body) {
  /**
   * Where a request went.
   *
   * @param path decoded
   * @param query the first value of each parameter
   */
  public record Target(String method, String path, Map<String, String> query) {}

  static final AttachmentKey<Call> KEY = AttachmentKey.create(Call.class);

  /** The same call with another body. */
  Call withBody(String other) {
    return new Call(service, operation, principal, accessKeyId, at, resource, target, other);
  }

  /** The HTTP method. */
  public String method() {
    return target.method();
  }

  /** The path, decoded. */
  public String path() {
    return target.path();
  }

  /** A parameter of the query. */
  public Optional<String> query(String parameter) {
    return Optional.ofNullable(target.query().get(parameter));
  }

  /** The parameters of a body that is a form; none of one that is not. */
  public Map<String, String> form() {
    return Form.parse(body);
  }

  /** The call that an exchange carries. */
  public static Call of(HttpServerExchange exchange) {
    return exchange.getAttachment(KEY);
  }
}
