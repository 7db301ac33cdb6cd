package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.acceptance.Deployment;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.local.testing.SlowReader;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Clients that send as fast as possible or never read: the responses they get, and the effect on
 * other clients.
 */
final class FloodIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();

  /** A flood stops after this many frames if its socket stays open. */
  private static final int MAX_FRAMES = 1_500;

  /**
   * The limit for frames of one socket that reach the pool's queue before the socket is closed. It
   * is below a hundredth of the first 120,000 messages, among which SQS looks for message groups
   * (Amazon SQS Developer Guide, "FIFO queue quotas"). Some 300 frames reach it here.
   */
  private static final int MAX_QUEUED = 120_000 / 100;

  private static final int ROUND_TRIPS = 30;

  /**
   * The processes of the processor: one for the flood, one for its neighbour, and one that starts
   * while the others end.
   */
  private static final int PROCESSES = 3;

  private static Handshake connected(String tenant, String tier) {
    assertThat(DEPLOYMENT.onboard(tenant, tier, "{}").status()).isEqualTo(201);
    Handshake handshake = DEPLOYMENT.connect(tenant, DEPLOYMENT.open(tenant));
    assertThat(handshake.status()).isEqualTo(101);
    return handshake;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "bad   | {\"action\":\"PooledSQS\"}",
        "same  | {\"action\":\"PooledSQS\",\"id\":\"same\",\"message\":1}",
      })
  @Tag("nightly")
  void a_socket_that_floods_with_refused_frames_is_closed_soon(String name, String frame)
      throws Exception {
    flood(name, frame);
  }

  @Tag("nightly")
  @Test
  void a_socket_that_floods_is_closed_soon_and_does_not_affect_other_tenants() throws Exception {
    flood("valid", "{\"action\":\"PooledSQS\",\"message\":1}");
  }

  private static void flood(String name, String frame) throws Exception {
    Handshake neighbour = connected("neighbour-" + name, "silver");
    long[] quiet = roundTrips(neighbour, "quiet");
    Handshake flooding = connected("flooding-" + name, "bronze");
    DEPLOYMENT.cloud().requests().clear();
    CompletableFuture<Integer> flood = CompletableFuture.supplyAsync(() -> flood(flooding, frame));

    long[] during = roundTrips(neighbour, "during");
    int sent = flood.join();

    assertThat(flooding.closed().join()).isEqualTo(1000);
    DEPLOYMENT.cloud().settle();
    long accepted =
        DEPLOYMENT
                .cloud()
                .requests()
                .count(
                    request ->
                        request.operation().equals("SendMessageBatch")
                            && request.resource().equals(Optional.of("tollgate_pool.fifo")))
            - ROUND_TRIPS;
    System.out.printf(
        "a flood of %s frames: %,d sent, %,d accepted, %,d answered by the processor; "
            + "a neighbour's round trip: quiet %s, beside the flood %s%n",
        name,
        sent,
        accepted,
        flooding.frames().of("error").size() + flooding.frames().of("reply").size(),
        summary(quiet),
        summary(during));
    assertThat(accepted).isPositive().isLessThan(MAX_QUEUED);
    assertThat(flooding.frames().of("error").size() + flooding.frames().of("reply").size())
        .as("a token for each processed message, and sixty refusals per process")
        .isLessThanOrEqualTo(60 + 60 * PROCESSES);
    assertThat(neighbour.frames().of("reply")).hasSize(2 * ROUND_TRIPS);
    assertThat(neighbour.frames().of("error")).isEmpty();
    JsonNode limits = DEPLOYMENT.control("GET", "/tenants/flooding-" + name).body();
    assertThat(limits.get("connections").asInt())
        .as("the closed socket is no longer counted")
        .isZero();
    DEPLOYMENT.close(neighbour);
  }

  /** Sends a frame until the socket is closed, and returns the number of frames. */
  private static int flood(Handshake from, String frame) {
    int sent = 0;
    try {
      while (sent < MAX_FRAMES && !from.closed().isDone()) {
        from.socket().sendText(frame, true).join();
        sent++;
      }
    } catch (CompletionException closed) {
      return sent;
    }
    return sent;
  }

  /**
   * Sends messages, each after the reply to the one before it. Returns the sorted round-trip times.
   */
  private static long[] roundTrips(Handshake client, String name) throws InterruptedException {
    int before = client.frames().of("reply").size();
    long[] nanos = new long[ROUND_TRIPS];
    for (int i = 0; i < ROUND_TRIPS; i++) {
      long begun = System.nanoTime();
      client.send("{\"action\":\"PooledSQS\",\"id\":\"%s-%d\",\"message\":1}".formatted(name, i));
      client.frames().await("reply", before + i + 1);
      nanos[i] = System.nanoTime() - begun;
    }
    return Arrays.stream(nanos).sorted().toArray();
  }

  private static String summary(long[] nanos) {
    return "%.1f ms (longest %.1f)"
        .formatted(nanos[nanos.length / 2] / 1e6, nanos[nanos.length - 1] / 1e6);
  }

  @Tag("nightly")
  @Test
  void a_client_that_never_reads_is_closed_and_delays_only_its_own_session() throws Exception {
    Handshake neighbour = connected("reading", "silver");
    long[] quiet = roundTrips(neighbour, "quiet");
    assertThat(DEPLOYMENT.onboard("unread", "silver", "{}").status()).isEqualTo(201);
    String session = DEPLOYMENT.open("unread");
    Handshake sender = DEPLOYMENT.connect("unread", session);
    SlowReader reader =
        SlowReader.connect(
            URI.create(
                DEPLOYMENT.cloud().outputs().get("WebSocketURL")
                    + Deployment.query("unread", session)));
    try {
      String large = "\"" + "x".repeat(100_000) + "\"";
      CompletableFuture<Integer> filling =
          CompletableFuture.supplyAsync(
              () -> {
                int sent = 0;
                while (connections("unread") == 2 && sent < 400) {
                  sender.send(
                      "{\"action\":\"PooledSQS\",\"id\":\"l-%d\",\"message\":%s}"
                          .formatted(sent, large));
                  sent++;
                  await(sender, sent);
                }
                return sent;
              });

      List<Long> during = new ArrayList<>();
      int rounds = 0;
      while (!filling.isDone() && rounds < 3) {
        for (long nanos : roundTrips(neighbour, "during-" + rounds)) {
          during.add(nanos);
        }
        rounds++;
      }
      int sent = filling.join();
      long[] beside = during.stream().mapToLong(nanos -> nanos).sorted().toArray();

      System.out.printf(
          "beside a client that does not read (%d messages of 100 KB until it was closed): a "
              + "neighbour's round trip: quiet %s, %d during the attack %s%n",
          sent, summary(quiet), beside.length, summary(beside));
      assertThat(connections("unread"))
          .as("the socket of the client that never reads is closed")
          .isEqualTo(1);
      assertThat(sender.frames().of("reply")).hasSize(sent);
      assertThat(neighbour.frames().of("error")).isEmpty();
    } finally {
      reader.close();
    }
    DEPLOYMENT.close(sender);
    DEPLOYMENT.close(neighbour);
  }

  private static void await(Handshake sender, int replies) {
    try {
      sender.frames().await("reply", replies);
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  private static int connections(String tenant) {
    return DEPLOYMENT.control("GET", "/tenants/" + tenant).body().get("connections").asInt();
  }
}
