package dev.tollgate.e2e.local;

import dev.tollgate.local.endpoint.RecordedRequests.Request;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures what attaching adds to a handshake of {@code examples/attach}, and prints a table. It is
 * not a test and runs only by its name. Times are those of this machine; requests are those of any.
 */
final class AttachMeasurement {
  private static final int WARM = 30;
  private static final int HANDSHAKES = 200;

  private final HttpClient http = HttpClient.newHttpClient();

  @Test
  void handshakes_without_and_with_tollgate(@TempDir Path plain, @TempDir Path attached)
      throws Exception {
    System.out.println("| chat | median | 99th percentile | AWS requests of a handshake |");
    System.out.println("| --- | --- | --- | --- |");
    try (LocalDeployment deployment = LocalDeployment.attached(AttachedChat.unchanged(plain))) {
      measure("as it was", deployment);
    }
    try (LocalDeployment deployment = LocalDeployment.attached(AttachedChat.synthesize(attached))) {
      deployment.control(
          "POST",
          "/tenants",
          "{\"tenantId\":\"acme\",\"tier\":\"gold\",\"overrides\":{\"tenantPerMinute\":1000}}");
      measure("attached", deployment);
    }
  }

  private void measure(String name, LocalDeployment deployment) throws Exception {
    for (int i = 0; i < WARM; i++) {
      handshake(deployment);
    }
    List<Long> nanos = new ArrayList<>();
    for (int i = 0; i < HANDSHAKES; i++) {
      nanos.add(handshake(deployment));
    }
    nanos.sort(null);
    List<Request> requests = deployment.requestsOf(() -> handshake(deployment));
    System.out.printf(
        "| %s | %.1f ms | %.1f ms | %s |%n",
        name,
        nanos.get(HANDSHAKES / 2) / 1e6,
        nanos.get(HANDSHAKES * 99 / 100) / 1e6,
        requests.stream()
            .collect(
                Collectors.groupingBy(
                    each -> each.principal().name() + " " + each.operation(),
                    TreeMap::new,
                    Collectors.counting())));
  }

  /** Opens and closes a socket; the nanoseconds until it was open. */
  private long handshake(LocalDeployment deployment) throws Exception {
    URI uri = URI.create(deployment.outputs().get("WebSocketURL") + "?workspace=acme&name=ann");
    long start = System.nanoTime();
    WebSocket socket =
        http.newWebSocketBuilder().buildAsync(uri, new WebSocket.Listener() {}).join();
    long end = System.nanoTime();
    socket.sendClose(WebSocket.NORMAL_CLOSURE, "").join();
    deployment.cloud().settle();
    return end - start;
  }
}
