package dev.tollgate.local.endpoint;

import io.undertow.server.HttpServerExchange;
import io.undertow.util.AttachmentKey;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * One call of an AWS API. The endpoint attaches it to the exchange, where every handler finds it.
 *
 * @param service the service in the credential scope, such as {@code dynamodb}
 * @param operation the operation, such as {@code UpdateItem}
 * @param resource the name of the table, queue, function, schedule or role concerned
 * @param path decoded
 * @param query the first value of each parameter
 */
public record Call(
    String service,
    String operation,
    Principal principal,
    String accessKeyId,
    Instant at,
    Optional<String> resource,
    String method,
    String path,
    Map<String, String> query,
    String body) {
  private static final AttachmentKey<Call> CALL = AttachmentKey.create(Call.class);
  private static final AttachmentKey<UnaryOperator<String>> ANSWER =
      AttachmentKey.create(UnaryOperator.class);

  /** The call that an exchange carries. */
  public static Call of(HttpServerExchange exchange) {
    return exchange.getAttachment(CALL);
  }

  /** Attaches the call to an exchange, in place of the one that is there. */
  public void attachTo(HttpServerExchange exchange) {
    exchange.putAttachment(CALL, this);
  }

  /** Has the body of an engine's successful answer changed before it is sent. */
  public static void changeAnswer(HttpServerExchange exchange, UnaryOperator<String> change) {
    exchange.putAttachment(ANSWER, change);
  }

  /** The body to send for an engine's successful answer. */
  public static String changedAnswer(HttpServerExchange exchange, String body) {
    UnaryOperator<String> change = exchange.getAttachment(ANSWER);
    return change == null ? body : change.apply(body);
  }

  /** The same call with another body. */
  public Call withBody(String other) {
    return new Call(
        service, operation, principal, accessKeyId, at, resource, method, path, query, other);
  }

  /** A parameter of the query. */
  public Optional<String> query(String parameter) {
    return Optional.ofNullable(query.get(parameter));
  }

  /** The parameters of a body that is a form; none of another body. */
  public Map<String, String> form() {
    return QueryProtocol.parameters(body);
  }
}
