package dev.tollgate.core.message;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.message.MessageProcessing.Result;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Under random failures and repeated messages, no message is lost, processed twice, or overtaken by
 * a later one of its session. Each frame that is not refused costs a token, except copies that
 * arrive when none is available. Frames of a socket that was closed for too many refusals are
 * dropped without an answer.
 */
final class MessagePropertiesTest {
  @Test
  void every_message_is_processed_or_answered_in_order_and_tokens_balance() {
    for (long seed = 1; seed <= 200; seed++) {
      new Run(seed).check();
    }
  }

  /** Batches of two tenants' messages, each redelivered until it is done. */
  private static final class Run {
    private static final int MESSAGES = 40;
    private static final int TOKENS = 10;

    private final long seed;
    private final Random random;
    private final ProcessingFixture fixture = new ProcessingFixture();
    private final List<Tenant> tenants;
    private final List<IncomingMessage> sent = new ArrayList<>();
    private final Map<String, MessageOutcome> ends = new HashMap<>();
    private final List<String> processed = new ArrayList<>();
    private final Set<String> vanished = new HashSet<>();
    private final Set<String> unanswered = new HashSet<>();

    Run(long seed) {
      this.seed = seed;
      random = new Random(seed);
      tenants =
          List.of("acme", "zeta").stream()
              .map(
                  id ->
                      fixture
                          .ports()
                          .onboard(id, "gold", Map.of(Limit.MESSAGES_PER_MINUTE, (long) TOKENS)))
              .toList();
      List<SessionId> sessions =
          IntStream.range(0, 4)
              .mapToObj(i -> fixture.session(tenants.get(i % 2), "s" + i + "a", "s" + i + "b"))
              .toList();
      for (int i = 0; i < MESSAGES; i++) {
        int session = random.nextInt(4);
        String from = "s" + session + (random.nextBoolean() ? "a" : "b");
        Tenant tenant = tenants.get(session % 2);
        sent.add(message(tenant, sessions.get(session), from, i));
      }
      fixture.application(
          (message, json) -> {
            if (random.nextInt(5) == 0) {
              throw new IllegalStateException("planted");
            }
            processed.add(message.id());
            return random.nextBoolean() ? List.of(json) : List.of();
          });
    }

    private IncomingMessage message(Tenant tenant, SessionId session, String from, int i) {
      return switch (random.nextInt(8)) {
        case 0 -> ProcessingFixture.unreadable(tenant, session, from, "m" + i);
        case 1, 2, 3 -> ProcessingFixture.message(tenant, session, from, "m" + i);
        default -> ProcessingFixture.named(tenant, session, from, "q" + i, "m" + i);
      };
    }

    /** A repeated message, to which the queue gives another id. */
    private IncomingMessage again(IncomingMessage one) {
      return new IncomingMessage(
          one.tenant(),
          one.session(),
          one.connectionId(),
          one.queueId() + "'",
          one.clientId(),
          one.redriven(),
          one.content());
    }

    void check() {
      List<IncomingMessage> queue = new ArrayList<>(sent);
      for (int round = 0; !queue.isEmpty(); round++) {
        assertThat(round).as("rounds of seed %d", seed).isLessThan(2_000);
        drawFault();
        List<IncomingMessage> batch = List.copyOf(queue.subList(0, Math.min(10, queue.size())));
        List<IncomingMessage> settled = settled(batch, fixture.results(batch));
        queue.removeAll(settled);
        settled.stream()
            .filter(each -> each.clientId().isPresent() && each.queueId().length() < 6)
            .filter(each -> random.nextInt(3) > 0)
            .map(this::again)
            .forEach(
                copy -> {
                  sent.add(copy);
                  queue.add(copy);
                });
      }
      fixture.sockets().outage().end();
      sent.forEach(this::assertAnswered);
      assertProcessedOnce();
      tenants.forEach(this::assertBalanced);
    }

    private void drawFault() {
      fixture.sockets().outage().end();
      fixture.facts().outage().end();
      switch (random.nextInt(6)) {
        case 0 -> fixture.sockets().outage().begin("post to s" + random.nextInt(4) + "a");
        case 1 -> fixture.facts().outage().begin("read " + tenants.get(random.nextInt(2)).id());
        case 2 -> {
          String socket = "s" + random.nextInt(4) + "b";
          fixture.sockets().lose(socket);
          vanished.add(socket);
        }
        default -> {}
      }
    }

    /** The messages of a batch that are done; a prefix of each session's messages. */
    private List<IncomingMessage> settled(List<IncomingMessage> batch, List<Result> results) {
      Set<SessionId> stopped = new LinkedHashSet<>();
      List<IncomingMessage> done = new ArrayList<>();
      for (int i = 0; i < batch.size(); i++) {
        IncomingMessage each = batch.get(i);
        MessageOutcome outcome = results.get(i).outcome();
        if (!outcome.isDone()) {
          stopped.add(each.session());
          continue;
        }
        assertThat(stopped).as("seed %d, %s", seed, each.id()).doesNotContain(each.session());
        assertThat(ends.put(each.queueId(), outcome)).isNull();
        if (results.get(i).undelivered() > 0) {
          unanswered.add(each.id());
        }
        done.add(each);
      }
      return done;
    }

    private void assertAnswered(IncomingMessage each) {
      MessageOutcome end = Objects.requireNonNull(ends.get(each.queueId()));
      List<String> answers = fixture.sockets().postedTo(each.connectionId());
      switch (end) {
        case PROCESSED -> assertThat(fixture.handledIds()).contains(each.id());
        case DUPLICATE -> assertThat(processed).as("seed %d", seed).contains(each.id());
        case THROTTLED, BAD_FRAME -> {
          if (!vanished.contains(each.connectionId()) && !unanswered.contains(each.id())) {
            assertThat(answers)
                .as("seed %d, %s is %s", seed, each.id(), end)
                .anyMatch(frame -> frame.matches("(throttled|badFrame) " + each.id() + " .*"));
          }
        }
        case CUT_OFF ->
            assertThat(fixture.counted()).as("seed %d, %s", seed, each.id()).contains("close");
        default -> throw new AssertionError("seed " + seed + ": " + each.id() + " is " + end);
      }
    }

    /**
     * Checks that the handler succeeded exactly once for each processed message, and for no other.
     */
    private void assertProcessedOnce() {
      assertThat(processed).as("seed %d", seed).doesNotHaveDuplicates();
      assertThat(
              sent.stream()
                  .filter(each -> ends.get(each.queueId()) == MessageOutcome.PROCESSED)
                  .map(IncomingMessage::id))
          .as("seed %d", seed)
          .containsExactlyInAnyOrderElementsOf(processed);
    }

    private void assertBalanced(Tenant tenant) {
      long spent = TOKENS - fixture.tokens(tenant);
      long charged =
          count(tenant, MessageOutcome.PROCESSED) + count(tenant, MessageOutcome.BAD_FRAME);
      assertThat(spent)
          .as("seed %d", seed)
          .isBetween(
              charged,
              charged
                  + count(tenant, MessageOutcome.DUPLICATE)
                  + count(tenant, MessageOutcome.CUT_OFF));
    }

    private long count(Tenant tenant, MessageOutcome outcome) {
      return sent.stream()
          .filter(each -> each.tenant().equals(tenant.id()))
          .filter(each -> ends.get(each.queueId()) == outcome)
          .count();
    }
  }
}
