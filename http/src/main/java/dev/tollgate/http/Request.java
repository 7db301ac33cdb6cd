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
 * A request as an API Gateway HTTP API passes it to a function, payload format 2.0: header names
 * are in lower case, parameters are decoded.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html">AWS
 *     Lambda proxy integrations for HTTP APIs</a>
 */
public final class Request {
  private static final int MAX_BYTES = 64 * 1024;
  private static final String JSON = "application/json";

  private final APIGatewayV2HTTPEvent event;
  private final Context context;

  Request(APIGatewayV2HTTPEvent event, Context context) {
    this.event = event;
    this.context = context;
  }

  /** The time that the function may still run. */
  public Duration remaining() {
    return Duration.ofMillis(context.getRemainingTimeInMillis());
  }

  /** Writes a line to the function's log. */
  public void log(String line) {
    context.getLogger().log(LogText.lines(line) + "\n");
  }

  /** A path parameter; the empty text if the route has no such parameter. */
  public String path(String name) {
    return parameter(event.getPathParameters(), name).orElse("");
  }

  /** A query parameter; repeated parameters are joined by commas. */
  public Optional<String> query(String name) {
    return parameter(event.getQueryStringParameters(), name);
  }

  /** A header by its name in lower case; repeated headers are joined by commas. */
  public Optional<String> header(String name) {
    return parameter(event.getHeaders(), name);
  }

  /**
   * A claim of the JSON Web Token that API Gateway verified for this request.
   *
   * @return empty if the token has no such claim, or the request came without a token
   */
  public Optional<String> claim(String name) {
    return Optional.ofNullable(event.getRequestContext())
        .map(APIGatewayV2HTTPEvent.RequestContext::getAuthorizer)
        .map(APIGatewayV2HTTPEvent.RequestContext.Authorizer::getJwt)
        .flatMap(jwt -> parameter(jwt.getClaims(), name));
  }

  /**
   * The id that API Gateway gave the request, which its access log and the header {@code
   * apigw-requestid} have; {@code unknown} without one.
   */
  public String id() {
    return Optional.ofNullable(event.getRequestContext())
        .map(APIGatewayV2HTTPEvent.RequestContext::getRequestId)
        .orElse("unknown");
  }

  /**
   * Who sent the request: the ARN of the IAM principal that signed it, or else the user that the
   * verified JSON Web Token names, as {@code user:NAME}. {@code unknown} if API Gateway checked
   * neither.
   */
  public String caller() {
    return Optional.ofNullable(event.getRequestContext())
        .map(APIGatewayV2HTTPEvent.RequestContext::getAuthorizer)
        .map(APIGatewayV2HTTPEvent.RequestContext.Authorizer::getIam)
        .map(APIGatewayV2HTTPEvent.RequestContext.IAM::getUserArn)
        .or(() -> claim("username").or(() -> claim("sub")).map("user:"::concat))
        .orElse("unknown");
  }

  /**
   * The fields of the JSON object in the body.
   *
   * @throws InvalidValue if the body is not a JSON object
   */
  public JsonFields body() {
    return JsonFields.of(text(MAX_BYTES));
  }

  /**
   * The fields of the JSON object in the body, one of which is any JSON. That field is then a text:
   * the source text of its value, byte for byte.
   *
   * @param maxBytes the most bytes of the body
   * @throws InvalidValue if the body is not a JSON object
   */
  public JsonFields body(String verbatim, int maxBytes) {
    return JsonFields.of(text(maxBytes), verbatim);
  }

  private String text(int maxBytes) {
    checkMediaType();
    byte[] bytes = content();
    if (bytes.length > maxBytes) {
      throw new UnreadableBody(
          Problem.of(
              "content-too-large",
              413,
              "The body is too large",
              "body: " + bytes.length + " bytes (expected: at most " + maxBytes + ")"));
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException malformed) {
      throw new InvalidValue("body", "bytes that are not UTF-8", "JSON (RFC 8259)");
    }
  }

  /**
   * Refuses a POST that a page of another site can send without a CORS preflight, such as a form.
   * Such a request declares a media type other than JSON, even if it has no body.
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
      throw new UnreadableBody(
          Problem.of(
              "unsupported-media-type",
              415,
              "The body's media type is not supported",
              "content-type: " + sent + " (expected: " + JSON + ")"));
    }
  }

  /**
   * The bytes of the body.
   *
   * @throws InvalidValue if the event declares base64 and the body is not
   */
  public byte[] content() {
    String body = Optional.ofNullable(event.getBody()).orElse("");
    if (!event.getIsBase64Encoded()) {
      return body.getBytes(StandardCharsets.UTF_8);
    }
    try {
      return Base64.getDecoder().decode(body);
    } catch (IllegalArgumentException malformed) {
      throw new InvalidValue("body", body, "base64, as isBase64Encoded declares");
    }
  }

  private static Optional<String> parameter(@Nullable Map<String, String> parameters, String name) {
    return parameters == null ? Optional.empty() : Optional.ofNullable(parameters.get(name));
  }

  /** A body that cannot be read. */
  static final class UnreadableBody extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Problem problem;

    UnreadableBody(Problem problem) {
      super(problem.detail());
      this.problem = problem;
    }

    Problem problem() {
      return problem;
    }
  }
}
