package dev.tollgate.e2e.acceptance;

import dev.tollgate.http.testing.Exchange;
import dev.tollgate.http.testing.HttpContract;
import dev.tollgate.http.testing.SocketContract;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The published contracts, which every request and response of the end-to-end tests must match. A
 * mismatch fails the test that sent the request.
 */
public final class Contracts {
  private static final Path DOCS = Path.of("../docs");

  public static final HttpContract CONTROL_PLANE =
      HttpContract.of(DOCS.resolve("openapi/control-plane.yaml"));
  public static final HttpContract SESSIONS = HttpContract.of(DOCS.resolve("openapi/session.yaml"));
  public static final SocketContract SOCKETS = SocketContract.of(DOCS.resolve("asyncapi.yaml"));

  private Contracts() {}

  /**
   * Checks an exchange against the contract of its API, if its API has one.
   *
   * @param outputs the outputs of the stack, which have the URLs of the APIs
   */
  public static void check(
      Map<String, String> outputs,
      HttpRequest request,
      String body,
      HttpResponse<String> response) {
    String url = request.uri().toString();
    String control = outputs.getOrDefault("ControlPlaneURL", "");
    String sessions = outputs.getOrDefault("SessionURL", "").replaceFirst("/session$", "");
    if (url.startsWith(control + "/")) {
      CONTROL_PLANE.check(exchange(url.substring(control.length()), request, body, response));
    } else if (url.startsWith(sessions + "/")) {
      SESSIONS.check(exchange(url.substring(sessions.length()), request, body, response));
    }
  }

  private static Exchange exchange(
      String target, HttpRequest request, String body, HttpResponse<String> response) {
    return new Exchange(
        request.method(),
        URI.create(target),
        joined(request.headers().map()),
        body,
        response.statusCode(),
        joined(response.headers().map()),
        response.body());
  }

  private static Map<String, String> joined(Map<String, List<String>> headers) {
    Map<String, String> joined = new TreeMap<>();
    headers.forEach((name, values) -> joined.put(name, String.join(", ", values)));
    return joined;
  }
}
