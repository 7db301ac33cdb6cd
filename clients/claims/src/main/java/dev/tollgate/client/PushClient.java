package dev.tollgate.client;

import static dev.tollgate.core.JsonText.quoted;

import dev.tollgate.aws.config.SdkClients;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.auth.aws.signer.AwsV4HttpSigner;
import software.amazon.awssdk.protocols.jsoncore.JsonNode;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;

/**
 * Sends messages of a backend to open sockets, by signed requests to the control plane of one
 * deployment. Thread-safe; one per process is enough.
 *
 * <pre>{@code
 * PushClient pushes = PushClient.fromEnvironment();
 * pushes.toSession("acme", sessionId, PushMessage.of("{\"shipped\":true}").withId("order-4711"));
 * }</pre>
 *
 * <p>Every method that sends waits for the answer, up to 30 seconds, and sends one request. It
 * throws {@link IllegalArgumentException} if the tenant's id is malformed, {@link PushFailed} if
 * the push is refused or not answered, and the SDK's {@code SdkClientException} if there are no
 * credentials.
 */
public final class PushClient {
  private static final String URL = "CONTROL_PLANE_URL";
  private static final Pattern AWS_HOST =
      Pattern.compile("[^.]+\\.execute-api\\.([a-z0-9-]+)\\.amazonaws\\.com(\\.cn)?");

  /** Longer than API Gateway waits for the control plane. */
  private static final Duration ANSWER = Duration.ofSeconds(31);

  private static final int SHOWN = 200;

  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(5))
          .build();
  private final AwsV4HttpSigner signer = AwsV4HttpSigner.create();
  private final String controlPlane;
  private final Region region;
  private final AwsCredentialsProvider credentials;
  private final Duration limit;

  /**
   * What became of a push to a session or a subject. An ended or unknown session has no sockets.
   *
   * @param id the push's id
   * @param sockets how many sockets took the frame
   * @param gone how many were closed, and are removed
   * @param failed how many may have got the frame or not
   */
  public record Delivery(String id, int sockets, int gone, int failed) {}

  /**
   * A client of the control plane at this URL.
   *
   * @param region the Region of the control plane
   * @param credentials those of a principal that may invoke the route; see {@code grantPush} of the
   *     construct. The caller closes them
   * @throws IllegalArgumentException if the URL is not one of http or https, or has a query or a
   *     fragment
   */
  public PushClient(URI controlPlane, Region region, AwsCredentialsProvider credentials) {
    this(controlPlane, region, credentials, ANSWER);
  }

  private PushClient(
      URI controlPlane, Region region, AwsCredentialsProvider credentials, Duration limit) {
    String url = controlPlane.toString();
    InvalidValue.unless(
        url.matches("https?://[^/?#]+(/[^?#]*)?"), URL, url, "https://<host>, without a query");
    this.controlPlane = url.replaceFirst("/$", "");
    this.region = region;
    this.credentials = credentials;
    this.limit = limit;
  }

  /**
   * A client with the configuration in environment variables: {@code CONTROL_PLANE_URL}, which
   * {@code grantPush} of the construct returns, and the SDK's variables of the Region and the
   * credentials.
   *
   * @throws IllegalStateException if {@code CONTROL_PLANE_URL} is not set
   */
  public static PushClient fromEnvironment() {
    return of(System.getenv());
  }

  static PushClient of(Map<String, String> environment) {
    return of(environment, ANSWER);
  }

  /** As {@link #fromEnvironment}, with the time that a whole answer may take. */
  static PushClient of(Map<String, String> environment, Duration limit) {
    String url = environment.getOrDefault(URL, "");
    if (url.isEmpty()) {
      throw new IllegalStateException(
          "Not set: "
              + URL
              + " (expected: the stack's output ControlPlaneURL, which grantPush returns)");
    }
    URI controlPlane = URI.create(url);
    Matcher host = AWS_HOST.matcher(Optional.ofNullable(controlPlane.getHost()).orElse(""));
    Region region =
        host.matches()
            ? Region.of(host.group(1))
            : Optional.ofNullable(environment.get("AWS_REGION"))
                .map(Region::of)
                .orElseGet(() -> new DefaultAwsRegionProviderChain().getRegion());
    return new PushClient(controlPlane, region, SdkClients.credentials(environment), limit);
  }

  /** The Region of the control plane. */
  Region region() {
    return region;
  }

  /** Sends to the open sockets of a session. */
  public Delivery toSession(String tenantId, String sessionId, PushMessage message) {
    return send(tenantId, "\"sessionId\":" + quoted(sessionId), message).delivery();
  }

  /**
   * Sends to the open sockets of all sessions that tokens with this subject created.
   *
   * @param subject the claim {@code sub}
   */
  public Delivery toSubject(String tenantId, String subject, PushMessage message) {
    return send(tenantId, "\"subject\":" + quoted(subject), message).delivery();
  }

  /**
   * Queues a message for the open sockets of all sessions of a tenant.
   *
   * @return the push's id
   */
  public String toTenant(String tenantId, PushMessage message) {
    return send(tenantId, "\"all\":true", message).member("id");
  }

  private record Answer(int status, String body) {
    Delivery delivery() {
      return new Delivery(member("id"), number("sockets"), number("gone"), number("failed"));
    }

    String member(String name) {
      return find(name).orElseThrow(() -> failed("an answer without " + name));
    }

    private int number(String name) {
      try {
        return Integer.parseInt(member(name));
      } catch (NumberFormatException malformed) {
        throw failed(name + " is not a number");
      }
    }

    /** The detail of a problem document, the message of API Gateway, or the text of others. */
    String problem() {
      return find("detail")
          .or(() -> find("message"))
          .orElseGet(() -> body.substring(0, Math.min(SHOWN, body.length())));
    }

    PushFailed failed(String detail) {
      return new PushFailed(status, status + ": " + detail);
    }

    private Optional<String> find(String name) {
      try {
        return JsonNode.parser().parse(body).field(name).map(JsonNode::text);
      } catch (RuntimeException notJson) {
        return Optional.empty();
      }
    }
  }

  private Answer send(String tenantId, String target, PushMessage message) {
    URI uri = URI.create(controlPlane + "/tenants/" + new TenantId(tenantId) + "/push");
    String id = message.id().map(own -> ",\"id\":" + quoted(own)).orElse("");
    HttpRequest request = signed(uri, "{" + target + id + ",\"message\":" + message.json() + "}");
    CompletableFuture<HttpResponse<String>> answering =
        http.sendAsync(request, BodyHandlers.ofString());
    try {
      // The timeout of a HttpRequest ends with the headers; a body that stops would wait for ever.
      HttpResponse<String> response = answering.get(limit.toMillis(), TimeUnit.MILLISECONDS);
      Answer answer = new Answer(response.statusCode(), response.body());
      if (answer.status() / 100 != 2) {
        throw answer.failed(answer.problem());
      }
      return answer;
    } catch (ExecutionException failure) {
      throw new PushFailed(failure.getCause() instanceof IOException cause ? cause : failure);
    } catch (TimeoutException late) {
      answering.cancel(true);
      throw new PushFailed(late);
    } catch (InterruptedException interruption) {
      answering.cancel(true);
      Thread.currentThread().interrupt();
      throw new PushFailed(interruption);
    }
  }

  private HttpRequest signed(URI uri, String body) {
    byte[] content = body.getBytes(StandardCharsets.UTF_8);
    SdkHttpRequest unsigned =
        SdkHttpRequest.builder()
            .method(SdkHttpMethod.POST)
            .uri(uri)
            .putHeader("Content-Type", "application/json")
            .build();
    Map<String, List<String>> headers =
        signer
            .sign(
                parameters ->
                    parameters
                        .identity(credentials.resolveCredentials())
                        .request(unsigned)
                        .payload(() -> new ByteArrayInputStream(content))
                        .putProperty(AwsV4HttpSigner.SERVICE_SIGNING_NAME, "execute-api")
                        .putProperty(AwsV4HttpSigner.REGION_NAME, region.id()))
            .request()
            .headers();
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri).POST(BodyPublishers.ofByteArray(content));
    headers.forEach(
        (name, values) -> {
          // java.net.http sets Host itself, with the same value, and allows nobody else to.
          if (!name.equalsIgnoreCase("Host")) {
            request.setHeader(name, values.get(0));
          }
        });
    return request.build();
  }
}
