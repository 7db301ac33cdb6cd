package dev.tollgate.cli.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.terminal.Shell;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class InventoryTest {
  private final AtomicLong nanos = new AtomicLong();
  private final CountDownLatch hanging = new CountDownLatch(1);
  private final CountDownLatch answers = new CountDownLatch(1);

  /** Creates no tiers, and does not say that any are removed. */
  private static final class Refusing implements Deployment {
    @Override
    public Response control(
        String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
      return new Response(
          method.equals("GET") ? 200 : 503, HttpHeaders.of(Map.of(), (name, value) -> true), "");
    }

    @Override
    public Response sessions(String method, String tenantId, Optional<String> sessionId) {
      throw new AssertionError("no session is expected");
    }

    @Override
    public CompletableFuture<Handshake> handshake(
        Map<String, String> parameters, Listener listener) {
      throw new AssertionError("no handshake is expected");
    }
  }

  /** Creates tiers, removes everything, and does not answer POST. */
  private final class Hanging implements Deployment {
    @Override
    public Response control(
        String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
      if (method.equals("POST")) {
        hanging.countDown();
        try {
          answers.await();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
      return new Response(
          method.equals("DELETE") ? 404 : 201, HttpHeaders.of(Map.of(), (name, value) -> true), "");
    }

    @Override
    public Response sessions(String method, String tenantId, Optional<String> sessionId) {
      throw new AssertionError("no session is expected");
    }

    @Override
    public CompletableFuture<Handshake> handshake(
        Map<String, String> parameters, Listener listener) {
      throw new AssertionError("no handshake is expected");
    }
  }

  @Test
  @Timeout(20)
  void a_removal_does_not_wait_for_a_request_that_hangs_and_does_not_believe_that_it_failed()
      throws InterruptedException {
    Shell shell = QuietShell.at(nanos);
    Deployment deployment = new Hanging();
    Inventory inventory = new Inventory(deployment, shell, "verify-x");
    inventory.createTiers();
    CompletableFuture<Response> onboarding =
        CompletableFuture.supplyAsync(
            () ->
                inventory.onboard(
                    deployment, "verify-x-race", Inventory.Tier.POOL, Map.of(), Map.of()));
    hanging.await();

    assertThat(inventory.remove(Duration.ofSeconds(10)))
        .isEqualTo(
            List.of(
                "tenant verify-x-race",
                "tier verify-x-pool",
                "tier verify-x-silo",
                "tier verify-x-slow"));
    answers.countDown();
    onboarding.join();
    assertThat(inventory.remove(Duration.ofSeconds(10))).isEmpty();
  }

  @Test
  @Timeout(20)
  void a_terminated_run_gives_up_after_half_a_minute_what_the_server_does_not_remove() {
    Verification run =
        new Verification(new Refusing(), QuietShell.at(nanos), Bounds.REAL, "verify-x");

    assertThatThrownBy(() -> run.run(List.of(), 1, result -> {})).isInstanceOf(Failure.class);
    long start = nanos.get();

    assertThat(run.removeAll()).isEqualTo(List.of("tier verify-x-pool"));
    assertThat(Duration.ofNanos(nanos.get() - start)).isLessThan(Duration.ofMinutes(1));
  }
}
