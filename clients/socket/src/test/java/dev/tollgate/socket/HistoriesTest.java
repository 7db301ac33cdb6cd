package dev.tollgate.socket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.socket.Transport.Connection;
import dev.tollgate.socket.Transport.Events;
import dev.tollgate.socket.Transport.Exchange;
import dev.tollgate.socket.Transport.Handshake;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.ThrowingConsumer;

/**
 * Random histories of a socket: drops, lost answers, refusals, lines, sessions that end, clocks
 * that differ. A failure shows its seed; {@code -Dsocket.seed=N} repeats it.
 */
class HistoriesTest {
  private static final int TIMES = Integer.getInteger("tests.times", 1);
  private static final Duration SKEW = Duration.ofMinutes(5);

  /** The end of one history. */
  private record History(
      ScriptedServer server,
      TollgateSocket socket,
      Map<String, SendResult> results,
      Set<String> failed,
      List<String> order) {}

  private static void forSeeds(int count, ThrowingConsumer<Long> check) {
    Long only = Long.getLong("socket.seed");
    for (long seed = only == null ? 0 : only; seed < (only == null ? count : only + 1); seed++) {
      try {
        check.accept(seed);
      } catch (Throwable failure) {
        throw new AssertionError("-Dsocket.seed=" + seed, failure);
      }
    }
  }

  /** Half an hour with faults, and ten minutes without. */
  private static History stormy(long seed, Duration skew, UnaryOperator<Transport> client) {
    Random random = new Random(seed);
    ManualScheduler time = new ManualScheduler(Instant.parse("2026-03-01T10:00:00Z"));
    ScriptedServer server = new ScriptedServer(time, seed, skew);
    server.interval = Duration.ofMillis(500 + random.nextInt(3_000));
    server.faults = random.nextInt(4) * 0.1;
    server.throttled = random.nextInt(3) * 0.2;
    server.replies = random.nextBoolean();
    server.latency = Duration.ofMillis(1 + random.nextInt(400));
    return live(server, time, random, client, 30, 10);
  }

  private static History live(
      ScriptedServer server,
      ManualScheduler time,
      Random random,
      UnaryOperator<Transport> client,
      int minutes,
      int calm) {
    Set<String> failed = new HashSet<>();
    TollgateSocket socket =
        TollgateSocket.builder(ScriptedServer.SESSIONS, "acme")
            .scheduler(time)
            .clock(time)
            .random(new Random(random.nextLong()))
            .transport(client.apply(server))
            .listener(
                new SocketListener() {
                  @Override
                  public void messageFailed(SendResult result) {
                    failed.add(result.id());
                  }
                })
            .open();
    Map<String, SendResult> results = new LinkedHashMap<>();
    List<String> order = new ArrayList<>();
    for (int second = 0; second < minutes * 60; second++) {
      time.advance(Duration.ofMillis(random.nextInt(2_000)));
      // About once in a history, more than the window holds.
      int burst = random.nextInt(10) > 0 ? 0 : random.nextInt(6 * minutes) > 0 ? 1 : 50;
      for (int i = 0; i < burst; i++) {
        String message = String.valueOf(order.size());
        order.add(message);
        CompletionStage<SendResult> stage =
            random.nextBoolean() ? socket.send(message) : socket.request(message);
        var unused = stage.thenAccept(result -> results.put(message, result));
      }
      if (random.nextInt(200) == 0) {
        server.crowd(random.nextInt(30));
      }
    }
    server.faults = 0;
    server.throttled = 0;
    time.advance(Duration.ofMinutes(calm));
    return new History(server, socket, results, failed, order);
  }

  private static void assertLaws(History history) {
    ScriptedServer server = history.server();
    assertThat(server.early).as("handshakes before the slot that was told").isZero();
    assertThat(history.socket().state()).isEqualTo(new SocketState.Open());
    assertThat(history.results().keySet())
        .as("every message has a result")
        .containsAll(history.order());
    Set<String> once = new HashSet<>(server.processed);
    assertThat(server.processed).as("processed once").hasSize(once.size());
    history
        .results()
        .forEach(
            (message, result) -> {
              if (history.failed().contains(result.id())) {
                return;
              }
              if (result instanceof SendResult.Accepted || result instanceof SendResult.Replied) {
                assertThat(once.contains(message))
                    .as("%s is %s, of %s", message, result, around(server.trace, result.id()))
                    .isTrue();
              } else if (result instanceof SendResult.NotSent
                  || result instanceof SendResult.Throttled) {
                assertThat(once).as("%s", result).doesNotContain(message);
              }
            });
    List<Instant> traffic = server.traffic;
    for (int i = 30; i < traffic.size(); i++) {
      assertThat(Duration.between(traffic.get(i - 30), traffic.get(i)))
          .as("the time of 30 requests")
          .isGreaterThan(Duration.ofSeconds(5));
    }
  }

  /** What happened while a message was sent. */
  private static String around(List<String> trace, String id) {
    List<Integer> lines =
        IntStream.range(0, trace.size()).filter(i -> trace.get(i).contains(id)).boxed().toList();
    int from = Math.max(0, lines.get(0) - 5);
    int to = Math.min(trace.size(), lines.get(lines.size() - 1) + 15);
    return String.join("\n", trace.subList(from, to));
  }

  @Test
  void socket_keeps_the_laws_in_random_histories() {
    forSeeds(
        150 * TIMES, seed -> assertLaws(stormy(seed, Duration.ZERO, UnaryOperator.identity())));
  }

  @Test
  void clocks_that_differ_change_nothing() {
    forSeeds(
        20 * TIMES,
        seed -> {
          List<String> exact = stormy(seed, Duration.ZERO, UnaryOperator.identity()).server().trace;
          for (Duration skew : List.of(SKEW, SKEW.negated())) {
            assertThat(stormy(seed, skew, UnaryOperator.identity()).server().trace)
                .isEqualTo(exact);
          }
        });
  }

  @Test
  void refusals_that_come_late_lose_no_message() {
    forSeeds(
        20 * TIMES,
        seed -> {
          Random random = new Random(seed);
          ManualScheduler time = new ManualScheduler(Instant.parse("2026-03-01T10:00:00Z"));
          ScriptedServer server = new ScriptedServer(time, seed, Duration.ZERO);
          server.backlog = Duration.ofSeconds(30);
          server.throttled = 0.3;
          History history = live(server, time, random, UnaryOperator.identity(), 5, 10);
          assertLaws(history);
          assertThat(history.failed()).isEmpty();
          assertThat(server.trace).anyMatch(event -> event.contains("THROTTLED"));
        });
  }

  /** A day without faults, of which drops are a part. */
  private static History calm(long seed, UnaryOperator<Transport> client) {
    Random random = new Random(seed);
    ManualScheduler time = new ManualScheduler(Instant.parse("2026-03-01T10:00:00Z"));
    ScriptedServer server = new ScriptedServer(time, seed, Duration.ZERO);
    for (int minute = 0; minute < 240; minute += 40) {
      int code = random.nextBoolean() ? 1001 : 1006;
      time.after(Duration.ofMinutes(minute), () -> server.drop(code));
    }
    // While messages are under way.
    for (int drop = 0; drop < 10; drop++) {
      time.after(Duration.ofMillis(random.nextInt(60_000)), () -> server.drop(1006));
    }
    return live(server, time, random, client, 1, 600);
  }

  private static void assertCalm(History history) {
    assertThat(history.server().created).as("sessions").isOne();
    List<String> processed = new ArrayList<>(history.server().processed);
    List<String> sorted = new ArrayList<>(processed);
    sorted.sort(Collections.reverseOrder((a, b) -> Integer.compare(number(b), number(a))));
    assertThat(processed).as("in order").isEqualTo(sorted).hasSameSizeAs(history.order());
  }

  private static int number(String message) {
    return Integer.parseInt(message);
  }

  @Test
  void session_lives_for_ten_hours_and_messages_stay_in_order() {
    forSeeds(20 * TIMES, seed -> assertCalm(calm(seed, UnaryOperator.identity())));
  }

  // Planted faults: a client with one of these breaks a law.

  private static void assertFound(ThrowingConsumer<Long> laws) {
    assertThatThrownBy(() -> forSeeds(40, laws)).hasMessageStartingWith("-Dsocket.seed=");
  }

  @Test
  void client_that_names_copies_differently_is_found() {
    int[] copies = {0};
    assertFound(
        seed ->
            assertLaws(
                stormy(
                    seed,
                    Duration.ZERO,
                    server ->
                        altered(
                            server,
                            frame -> frame.replaceFirst("\"id\":\"", "\"id\":\"" + ++copies[0])))));
  }

  @Test
  void client_that_comes_too_early_is_found() {
    assertFound(
        seed ->
            assertLaws(
                stormy(
                    seed,
                    Duration.ZERO,
                    server ->
                        new Altered(server) {
                          @Override
                          Exchange answer(Exchange exchange) {
                            return exchange instanceof Exchange.Answer answer
                                ? new Exchange.Answer(
                                    answer.status(),
                                    answer.retryAfter(),
                                    answer
                                        .body()
                                        .replaceFirst(
                                            "\"retryAfterSeconds\":\\d+",
                                            "\"retryAfterSeconds\":1"))
                                : exchange;
                          }
                        })));
  }

  @Test
  void client_that_does_not_renew_is_found() {
    assertFound(
        seed ->
            assertCalm(
                calm(
                    seed,
                    server ->
                        new Altered(server) {
                          @Override
                          Exchange answer(Exchange exchange) {
                            return exchange instanceof Exchange.Answer answer
                                ? new Exchange.Answer(
                                    answer.status(),
                                    answer.retryAfter(),
                                    answer
                                        .body()
                                        .replace("\"sessionTTL\":200", "\"sessionTTL\":900"))
                                : exchange;
                          }
                        })));
  }

  @Test
  void client_that_loses_frames_is_found() {
    int[] frames = {0};
    assertFound(
        seed ->
            assertLaws(
                stormy(
                    seed,
                    Duration.ZERO,
                    server ->
                        altered(
                            server,
                            frame ->
                                ++frames[0] % 5 == 0
                                    ? frame.replaceFirst("\"message\":.*}", "\"message\":0}")
                                    : frame))));
  }

  private static Transport altered(Transport server, UnaryOperator<String> sent) {
    return new Altered(server) {
      @Override
      String frame(String frame) {
        return sent.apply(frame);
      }
    };
  }

  /** A network that makes a client look different to the server, or the server to the client. */
  private abstract static class Altered implements Transport {
    private final Transport server;

    Altered(Transport server) {
      this.server = server;
    }

    String frame(String frame) {
      return frame;
    }

    Exchange answer(Exchange exchange) {
      return exchange;
    }

    @Override
    public CompletionStage<Exchange> call(String method, URI uri, Map<String, String> headers) {
      return server.call(method, uri, headers).thenApply(this::answer);
    }

    @Override
    public CompletionStage<Handshake> open(URI uri, Events events) {
      // Ids of answers are those of the server; the client does not know the altered ones.
      return server
          .open(uri, events)
          .thenApply(
              end ->
                  end instanceof Handshake.Admitted it
                      ? new Handshake.Admitted(altered(it.connection()))
                      : end);
    }

    private Connection altered(Connection real) {
      return new Connection() {
        @Override
        public void start() {
          real.start();
        }

        @Override
        public CompletionStage<Boolean> send(String text) {
          return real.send(frame(text));
        }

        @Override
        public CompletionStage<Boolean> close() {
          return real.close();
        }

        @Override
        public void abort() {
          real.abort();
        }
      };
    }
  }
}
