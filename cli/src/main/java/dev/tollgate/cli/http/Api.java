package dev.tollgate.cli.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** An HTTP API of a deployment. */
public final class Api implements Sender {
  /** Longer than the 30 seconds after which API Gateway itself answers with a timeout. */
  private static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(35);

  /** As much as API Gateway passes on in one response. */
  private static final int MAX_BODY_BYTES = 10 * 1024 * 1024;

  private static final Pattern NOT_IN_A_TOKEN = Pattern.compile("[^\\x21-\\x7e]");

  private final HttpClient client;
  private final URI base;
  private final Optional<RequestSigner> signer;
  private final Map<String, String> always;
  private final Duration limit;
  private final Consumer<Response> observer;

  public Api(HttpClient client, URI base, Optional<RequestSigner> signer) {
    this(client, base, signer, Map.of(), RESPONSE_TIMEOUT, response -> {});
  }

  private Api(
      HttpClient client,
      URI base,
      Optional<RequestSigner> signer,
      Map<String, String> always,
      Duration limit,
      Consumer<Response> observer) {
    this.client = client;
    this.base = base;
    this.signer = signer;
    this.always = always;
    this.limit = limit;
    this.observer = observer;
  }

  /**
   * An API whose requests carry a JSON Web Token instead of a signature.
   *
   * @throws Failure if a header cannot carry the token. The failure does not repeat it
   */
  public static Api withToken(HttpClient client, URI base, String token) {
    return new Api(
        client,
        base,
        Optional.empty(),
        Map.of("Authorization", "Bearer " + checked(token)),
        RESPONSE_TIMEOUT,
        response -> {});
  }

  private static String checked(String token) {
    Matcher unusable = NOT_IN_A_TOKEN.matcher(token);
    if (token.isEmpty() || unusable.find()) {
      throw Failure.usage(
          "The token "
              + (token.isEmpty()
                  ? "is empty"
                  : "has U+%04X as character %d"
                      .formatted(token.codePointAt(unusable.start()), unusable.start() + 1))
              + " (expected: one line of visible ASCII characters)");
    }
    return token;
  }

  /** The same API, whose responses must be complete after another time. */
  Api within(Duration other) {
    return new Api(client, base, signer, always, other, observer);
  }

  /** The same API, whose responses another object sees before the caller. */
  public Api observedBy(Consumer<Response> other) {
    return new Api(client, base, signer, always, limit, other);
  }

  /** The URL of the API. */
  public URI uri() {
    return base;
  }

  /** The headers of a request without a body: a token or a signature. */
  public Map<String, String> headers(String method, URI uri) {
    Map<String, String> headers = new LinkedHashMap<>(always);
    signer.ifPresent(it -> headers.putAll(it.sign(method, uri, new byte[0])));
    return headers;
  }

  public static HttpClient client() {
    return HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .connectTimeout(Duration.ofSeconds(10))
        .build();
  }

  /** Encodes a path segment or query value. */
  public static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  public static String query(Map<String, String> parameters) {
    return parameters.entrySet().stream()
        .map(parameter -> parameter.getKey() + "=" + encode(parameter.getValue()))
        .collect(Collectors.joining("&"));
  }

  /** The end of a URL: {@code ?} and a query, or nothing if there are no parameters. */
  public static String suffix(Map<String, String> parameters) {
    return parameters.isEmpty() ? "" : "?" + query(parameters);
  }

  public Response send(String method, String path, JsonNode body) {
    return send(method, path, Optional.of(body));
  }

  /**
   * Sends one request.
   *
   * @param path the encoded path below the API's URL, with the query if there is one
   * @throws Failure if there is no response
   */
  public Response send(String method, String path, Optional<JsonNode> body) {
    return send(method, path, body, Map.of());
  }

  @Override
  public Response send(
      String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
    URI uri = URI.create(base.toString().replaceFirst("/+$", "") + path);
    byte[] content = body.map(Json::write).orElse("").getBytes(StandardCharsets.UTF_8);
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri)
            .header("Accept", "application/json, application/problem+json")
            .method(
                method,
                body.isPresent()
                    ? HttpRequest.BodyPublishers.ofByteArray(content)
                    : HttpRequest.BodyPublishers.noBody());
    if (body.isPresent()) {
      request.header("Content-Type", "application/json");
    }
    headers.forEach(request::setHeader);
    always.forEach(request::header);
    signer.ifPresent(it -> it.sign(method, uri, content, headers).forEach(request::setHeader));
    Response response = await(uri, client.sendAsync(request.build(), Api::body));
    observer.accept(response);
    return response;
  }

  private static BodySubscriber<String> body(ResponseInfo info) {
    return new BoundedBody<>(BodyHandlers.ofString().apply(info), MAX_BODY_BYTES);
  }

  /** Waits for the last byte of a response: the client's own time limit ends with the headers. */
  private Response await(URI uri, CompletableFuture<HttpResponse<String>> exchange) {
    try {
      HttpResponse<String> response = exchange.get(limit.toMillis(), TimeUnit.MILLISECONDS);
      return new Response(response.statusCode(), response.headers(), response.body());
    } catch (TimeoutException e) {
      throw Failure.of(
          "No complete response from " + uri + " within " + limit.toSeconds() + " s", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof ConnectException unreachable) {
        throw Failure.unreachable(uri, unreachable);
      }
      if (e.getCause() instanceof IOException broken) {
        throw Failure.of("No response from " + uri + ": " + broken.getMessage(), broken);
      }
      throw new IllegalStateException("no response from " + uri, e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failure.of("interrupted", e);
    } finally {
      exchange.cancel(true);
    }
  }
}
