package dev.tollgate.http;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.LogText;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A request as an HTTP API hands it on, payload format 2.0: header names in lower case, parameters
 * decoded.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html">AWS
 *     Lambda proxy integrations for HTTP APIs</a>
 */
public final class Request {
  private static final int MOST_BYTES = 64 * 1024;
  private static final String JSON = "application/json";

  private final APIGatewayV2HTTPEvent event;
  private final Context context;

  Request(APIGatewayV2HTTPEvent event, Context context) {
    this.event = event;
    this.context = context;
  }

  /** How long the function may still run. */
  public Duration remaining() {
    return Duration.ofMillis(context.getRemainingTimeInMillis());
  }

  /** Writes a line to the function's log. */
  public void log(String line) {
    context.getLogger().log(LogText.lines(line) + "\n");
  }

  /** A variable part of the path; empty text if the route has no such part. */
  public String path(String name) {
    return parameter(event.getPathParameters(), name).orElse("");
  }

  /** A query parameter; several of one name are joined by commas. */
  public Optional<String> query(String name) {
    return parameter(event.getQueryStringParameters(), name);
  }

  /** A header by its name in lower case; several of one name are joined by commas. */
  public Optional<String> header(String name) {
    return parameter(event.getHeaders(), name);
  }

  /**
   * A claim of the JSON Web Token that the request was let in with.
   *
   * @return empty if it has no such claim, or the route takes no token
   */
  public Optional<String> claim(String name) {
    return Optional.ofNullable(event.getRequestContext())
        .map(APIGatewayV2HTTPEvent.RequestContext::getAuthorizer)
        .map(APIGatewayV2HTTPEvent.RequestContext.Authorizer::getJwt)
        .flatMap(jwt -> parameter(jwt.getClaims(), name));
  }

  /**
   * The fields of the JSON object in the body.
   *
   * @throws InvalidValue if it is no JSON object
   */
  public JsonFields body() {
    checkMediaType();
    byte[] bytes = content();
    if (bytes.length > MOST_BYTES) {
      throw new Unreadable(
          Problem.of(
              "content-too-large",
              413,
              "The body is too large",
              "body: " + bytes.length + " bytes (expected: at most " + MOST_BYTES + ")"));
    }
    try {
      return JsonFields.of(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (CharacterCodingException malformed) {
      throw new InvalidValue("body", "bytes that are not UTF-8", "JSON (RFC 8259)");
    }
  }

  /**
   * Refuses a POST that another site's page may send without asking first (a form, or a script
   * without CORS): these have a media type, even without a body, and it is not JSON.
   */
  void requireJsonOfPost() {
    boolean declared = header("content-type").isPresent() || content().length > 0;
    if (String.valueOf(event.getRouteKey()).startsWith("POST ") && declared) {
      checkMediaType();
    }
  }

  private void checkMediaType() {
    String sent = parameter(event.getHeaders(), "content-type").orElse("none");
    String type = sent.toLowerCase(Locale.ROOT).replaceAll("\\s", "");
    if (!type.equals(JSON) && !type.equals(JSON + ";charset=utf-8")) {
      throw new Unreadable(
          Problem.of(
              "unsupported-media-type",
              415,
              "The body's media type is not supported",
              "content-type: " + sent + " (expected: " + JSON + ")"));
    }
  }

  /**
   * The body as it was sent.
   *
   * @throws InvalidValue if it cannot be told
   */
  public byte[] content() {
    String body = Optional.ofNullable(event.getBody()).orElse("");
    if (!event.getIsBase64Encoded()) {
      return body.getBytes(StandardCharsets.UTF_8);
    }
    try {
      return Base64.getDecoder().decode(body);
    } catch (IllegalArgumentException malformed) {
      throw new InvalidValue("body", body, "base64, as the event says");
    }
  }

  private static Optional<String> parameter(@Nullable Map<String, String> parameters, String name) {
    return parameters == null ? Optional.empty() : Optional.ofNullable(parameters.get(name));
  }

  /** A body that cannot be read. */
  static final class Unreadable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Problem problem;

    Unreadable(Problem problem) {
      super(problem.detail());
      this.problem = problem;
    }

    Problem problem() {
      return problem;
    }
  }
}
