package dev.tollgate.cli.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** An HTTP API of a deployment. */
public final class Api implements Sender {
  /** Longer than the 30 seconds after which API Gateway itself answers with a timeout. */
  private static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(35);

  private final HttpClient client;
  private final URI base;
  private final Optional<RequestSigner> signer;
  private final Map<String, String> always;

  public Api(HttpClient client, URI base, Optional<RequestSigner> signer) {
    this(client, base, signer, Map.of());
  }

  private Api(
      HttpClient client, URI base, Optional<RequestSigner> signer, Map<String, String> always) {
    this.client = client;
    this.base = base;
    this.signer = signer;
    this.always = always;
  }

  /** An API whose requests carry a JSON Web Token instead of a signature. */
  public static Api withToken(HttpClient client, URI base, String token) {
    return new Api(client, base, Optional.empty(), Map.of("Authorization", "Bearer " + token));
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
            .timeout(RESPONSE_TIMEOUT)
            .header("Accept", "application/json, application/problem+json")
            .method(
                method,
                body.isPresent()
                    ? HttpRequest.BodyPublishers.ofByteArray(content)
                    : HttpRequest.BodyPublishers.noBody());
    if (body.isPresent()) {
      request.header("Content-Type", "application/json");
    }
    headers.forEach(request::header);
    always.forEach(request::header);
    signer.ifPresent(
        it -> it.sign(method, uri, content).forEach((name, value) -> request.header(name, value)));
    try {
      var response = client.send(request.build(), BodyHandlers.ofString());
      return new Response(response.statusCode(), response.headers(), response.body());
    } catch (ConnectException e) {
      throw Failure.unreachable(uri, e);
    } catch (IOException e) {
      throw Failure.of("No response from " + uri + ": " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failure.of("interrupted", e);
    }
  }
}
