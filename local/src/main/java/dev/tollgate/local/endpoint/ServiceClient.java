package dev.tollgate.local.endpoint;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Map;

/** Calls AWS APIs for the parts of the cloud that are customers of AWS themselves. */
public final class ServiceClient {
  private static final HttpClient CLIENT =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final URI endpoint;
  private final AccessKey key;

  /** A client with the credentials of a principal. */
  public ServiceClient(URI endpoint, AccessKey key) {
    this.endpoint = endpoint;
    this.key = key;
  }

  /**
   * An answer of an API.
   *
   * @param errorCode the error's name without name space; empty if there is none
   */
  public record Answer(int status, String errorCode, ObjectNode body) {
    /** Whether the call succeeded. */
    public boolean succeeded() {
      return status == 200;
    }
  }

  /**
   * Sends a request as it is and waits for its answer.
   *
   * @param service the name in the credential scope, such as {@code sqs}
   * @param target path and query
   * @throws java.net.http.HttpTimeoutException if the answer takes too long
   * @throws IOException if the endpoint is closed
   */
  public HttpResponse<String> send(
      String service,
      String method,
      String target,
      Map<String, String> headers,
      String body,
      Duration timeout)
      throws IOException {
    HttpRequest.Builder request =
        signed(service, endpoint.resolve(target))
            .method(method, BodyPublishers.ofString(body))
            .timeout(timeout);
    headers.forEach(request::header);
    return send(request.build());
  }

  /**
   * Calls an operation and waits for its answer.
   *
   * @param service the name in the credential scope, such as {@code sqs}
   * @param target name space and operation, such as {@code AmazonSQS.SendMessage}
   * @throws UncheckedIOException if the endpoint is closed
   */
  public Answer call(String service, String target, JsonNode body) {
    HttpRequest request =
        signed(service, endpoint)
            .header("X-Amz-Target", target)
            .header("Content-Type", "application/x-amz-json-1.0")
            .POST(BodyPublishers.ofString(body.toString()))
            .build();
    try {
      HttpResponse<String> response = send(request);
      ObjectNode answer = Json.readObject(response.body());
      String type = answer.path("__type").asText();
      return new Answer(response.statusCode(), type.substring(type.lastIndexOf('#') + 1), answer);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private HttpRequest.Builder signed(String service, URI uri) {
    return HttpRequest.newBuilder(uri)
        .header(
            "Authorization",
            "AWS4-HMAC-SHA256 Credential=%s/20260101/us-east-1/%s/aws4_request, SignedHeaders=host, Signature=0"
                .formatted(key.accessKeyId(), service))
        .header("X-Amz-Security-Token", key.sessionToken());
  }

  private static HttpResponse<String> send(HttpRequest request) throws IOException {
    try {
      return CLIENT.send(request, BodyHandlers.ofString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
