package dev.tollgate.bench.attacks;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.bench.Clients;
import dev.tollgate.bench.Measurement;
import dev.tollgate.bench.Row;
import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.Times;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.client.Session;
import dev.tollgate.bench.client.Socket;
import dev.tollgate.bench.client.Tenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/** Suspends a tenant with 2,000 sessions, twenty of which have a socket. */
final class Suspension implements Measurement {
  private static final int SESSIONS = 2_000;
  private static final int SOCKETS = 20;
  private static final int CREATORS = 8;
  private static final Duration EVERY = Duration.ofMillis(100);
  private static final Duration LONGEST = Duration.ofMinutes(3);
  private static final String TIER =
      """
      {"isolation": "POOL", "hibernateAfterMinutes": 0,
       "limits": {"tenantPerMinute": 6000, "sessionPerMinute": 600, "connectionsPerSession": 10,
                  "tenantConnections": 1000, "sessionTTL": 3600, "messagesPerMinute": 6000}}""";

  @Override
  public Duration timeout() {
    return Duration.ofMinutes(10);
  }

  @Override
  public List<Row> measure(Deployment deployment, Stopwatch stopwatch) throws InterruptedException {
    Tenant tenant = deployment.tenant("suspend", deployment.tier("suspend", TIER));
    List<Session> sessions;
    try (Clients creators = new Clients(CREATORS)) {
      sessions =
          creators.run(
              IntStream.range(0, SESSIONS)
                  .mapToObj(i -> (Callable<Session>) tenant::newSession)
                  .toList());
    }
    List<Socket> sockets = new ArrayList<>();
    try {
      // From the middle, because the oldest sessions may be ended first.
      for (Session session : sessions.subList(SESSIONS / 2, SESSIONS / 2 + SOCKETS)) {
        sockets.add(Neighbour.open(session));
      }
      if (Neighbour.roundTrip(sockets.get(0), "before", stopwatch).compareTo(LONGEST) >= 0) {
        throw new IllegalStateException("reply: none (expected: one, before the suspension)");
      }
      return List.of(
          new Row(
              "a tenant with 2,000 sessions is suspended",
              "with 120,000 sessions, messages were handled until 66 s after the suspension",
              suspend(tenant, sockets, stopwatch),
              "messages are refused at once; sessions with sockets end first"));
    } finally {
      sockets.forEach(Socket::abort);
    }
  }

  private static String suspend(Tenant tenant, List<Socket> sockets, Stopwatch stopwatch)
      throws InterruptedException {
    Duration start = stopwatch.elapsed();
    // The sockets keep sending while the request is in progress.
    CompletableFuture<Duration> call =
        CompletableFuture.supplyAsync(
            () -> {
              tenant.suspend();
              return stopwatch.elapsed().minus(start);
            });
    Socket talker = sockets.get(0);
    Optional<Duration> lastReply = Optional.empty();
    Optional<Duration> firstRefusal = Optional.empty();
    Optional<Duration> talkerClosed = Optional.empty();
    int sent = 0;
    while (sockets.stream().anyMatch(Socket::isOpen)
        && stopwatch.elapsed().minus(start).compareTo(LONGEST) < 0) {
      Duration now = stopwatch.elapsed();
      if (talker.isOpen()) {
        try {
          talker.sendText(
              "{\"action\":\"PooledSQS\",\"id\":\"a-%d\",\"message\":1}".formatted(sent));
          sent++;
        } catch (IllegalStateException closed) {
          // The loop detects it.
        }
      }
      Optional<JsonNode> frame = talker.receive(EVERY);
      while (frame.isPresent()) {
        Duration at = stopwatch.elapsed().minus(start);
        if (frame.get().path("type").asText().equals("reply")) {
          lastReply = Optional.of(at);
        } else if (frame.get().path("type").asText().equals("error") && firstRefusal.isEmpty()) {
          firstRefusal = Optional.of(at);
        }
        frame = talker.receive(Duration.ZERO);
      }
      if (!talker.isOpen() && talkerClosed.isEmpty()) {
        talkerClosed = Optional.of(stopwatch.elapsed().minus(start));
      }
      stopwatch.sleepUntil(now.plus(EVERY));
    }
    final Duration ended = stopwatch.elapsed().minus(start);
    long open = sockets.stream().filter(Socket::isOpen).count();
    return "the call took %s s; last reply %s, first refusal %s, the talking socket closed %s; %s"
        .formatted(
            Times.seconds(call.join()),
            lastReply.map(at -> "after " + Times.seconds(at) + " s").orElse("none"),
            firstRefusal.map(at -> "after " + Times.seconds(at) + " s").orElse("none"),
            talkerClosed.map(at -> "after " + Times.seconds(at) + " s").orElse("never"),
            open == 0
                ? "all sockets closed after " + Times.seconds(ended) + " s"
                : open + " sockets open after " + LONGEST.toSeconds() + " s");
  }
}
