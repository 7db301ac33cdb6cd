package dev.tollgate.local.lambda;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.rest.ApiException;
import dev.tollgate.local.rest.RestApi;
import io.undertow.server.HttpServerExchange;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Lambda's API: invocations, and the operations of other parts.
 *
 * @see <a href="https://docs.aws.amazon.com/lambda/latest/api/API_Operations.html">Lambda API
 *     Reference</a>
 */
public final class LambdaApi extends RestApi {
  private static final Pattern PATH = Pattern.compile("/2015-03-31/[a-z-]+/([^/]+)(?:/.*)?");

  private final InvokeApi invocations;

  /**
   * An API.
   *
   * @param operations operations by name
   */
  public LambdaApi(InvokeApi invocations, Map<String, Operation> operations) {
    super(operations);
    this.invocations = invocations;
  }

  @Override
  public void handleRequest(HttpServerExchange exchange) throws Exception {
    if (Call.of(exchange).operation().equals("Invoke")) {
      invocations.handleRequest(exchange);
    } else {
      super.handleRequest(exchange);
    }
  }

  @Override
  protected Target target(HttpServerExchange exchange) {
    Matcher path = PATH.matcher(exchange.getRequestURI());
    return new Target(Call.of(exchange).operation(), path.matches() ? path.group(1) : "");
  }

  @Override
  protected ApiException unreadable() {
    return invalidContent();
  }

  @Override
  protected ObjectNode error(ApiException refused) {
    return Json.object()
        .put("Type", refused.status() < 500 ? "User" : "Service")
        .put("Message", refused.text());
  }

  /** A value that does not fit what exists. */
  public static ApiException invalid(String message) {
    return new ApiException(400, "InvalidParameterValueException", message);
  }

  /** A resource that exists already. */
  public static ApiException conflict(String message) {
    return new ApiException(409, "ResourceConflictException", message);
  }

  static ApiException stale() {
    return new ApiException(
        412,
        "PreconditionFailedException",
        "The Revision Id provided does not match the latest Revision Id. "
            + "Call the GetFunction/GetAlias API to retrieve the latest Revision Id");
  }

  static ApiException invalidContent() {
    return new ApiException(
        400, "InvalidRequestContentException", "Could not parse request body into json");
  }
}
