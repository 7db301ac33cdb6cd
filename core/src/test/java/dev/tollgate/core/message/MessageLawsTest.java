package dev.tollgate.core.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.lawbook.Law;
import dev.tollgate.lawbook.LawBook;
import dev.tollgate.lawbook.LawViolation;
import dev.tollgate.lawbook.Processor;
import dev.tollgate.lawbook.ProcessorLaws;
import dev.tollgate.lawbook.Setting;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks the processing of messages behind a FIFO queue against the law book. */
final class MessageLawsTest {
  private static final int HISTORIES = 300;

  /** The content of the queue's deduplication id. */
  private enum DeduplicationId {
    /** The request id, as in the stack. */
    REQUEST,
    /** The client's name of the message. */
    NAME
  }

  private static Processor.Maker maker(DeduplicationId deduplicationId, boolean isLogged) {
    return setting -> new FifoProcessor(setting, deduplicationId, isLogged);
  }

  @Test
  void repeated_message_is_processed_once_despite_faults() {
    LawBook.Report report =
        LawBook.ofProcessor(maker(DeduplicationId.REQUEST, true)).hold(HISTORIES / 2);

    assertThat(report.judged()).hasSize(2);
  }

  static List<Arguments> planted() {
    return List.of(
        Arguments.of(
            "drops repeated messages", ProcessorLaws.NEVER_LOST, maker(DeduplicationId.NAME, true)),
        Arguments.of(
            "does not log processed messages",
            ProcessorLaws.NEVER_TWICE,
            maker(DeduplicationId.REQUEST, false)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("planted")
  void planted_fault_breaks_a_law(String fault, Law<Processor.Maker> law, Processor.Maker maker) {
    assertThatThrownBy(() -> LawBook.ofProcessor(maker).hold(HISTORIES))
        .as(fault)
        .isInstanceOfSatisfying(
            LawViolation.class,
            violation -> {
              System.out.println(violation.getMessage());
              assertThat(violation.law()).isSameAs(law);
              assertThat(violation.shortest().steps()).hasSizeLessThanOrEqualTo(4);
            });
  }

  /** A session with a FIFO queue; with faults, every third delivery fails. */
  private static final class FifoProcessor implements Processor {
    private static final Duration VISIBILITY = Duration.ofSeconds(30);

    /** Amazon SQS: "a message ... within the 5-minute deduplication interval". */
    private static final Duration DEDUPLICATION = Duration.ofMinutes(5);

    private final Setting setting;
    private final DeduplicationId deduplicationId;
    private final boolean isLogged;
    private final Random random;
    private final ProcessingFixture fixture;
    private final Tenant tenant;
    private final SessionId session;
    private final List<IncomingMessage> queue = new ArrayList<>();
    private final Map<String, Instant> accepted = new HashMap<>();
    private final List<String> processed = new ArrayList<>();
    private Instant visibleAt = Instant.MIN;
    private int requests;
    private String socket = "socket";

    FifoProcessor(Setting setting, DeduplicationId deduplicationId, boolean isLogged) {
      this.setting = setting;
      this.deduplicationId = deduplicationId;
      this.isLogged = isLogged;
      random = new Random(setting.seed());
      fixture = new ProcessingFixture(new AdmissionFixture(setting.clock()));
      tenant = fixture.ports().onboard("acme", "gold", Map.of(Limit.MESSAGES_PER_MINUTE, 6L));
      session = fixture.session(tenant, socket);
      fixture.application(
          (message, json) -> {
            if (fails()) {
              throw new IllegalStateException("planted");
            }
            processed.add(message.id());
            return List.of();
          });
    }

    private boolean fails() {
      return setting.mayInjectFaults() && random.nextInt(3) == 0;
    }

    @Override
    public Answer send(String name) {
      if (fixture.sockets().closed().contains(socket)) {
        socket = "socket" + requests;
        fixture.join(tenant, session, socket);
      }
      String request = "r" + requests++;
      Instant now = setting.clock().instant();
      accepted.values().removeIf(at -> !now.isBefore(at.plus(DEDUPLICATION)));
      if (accepted.putIfAbsent(deduplicationId == DeduplicationId.NAME ? name : request, now)
          == null) {
        queue.add(ProcessingFixture.named(tenant, session, socket, request, name));
      }
      int answersBefore = fixture.sockets().postedTo(socket).size();
      deliver();
      List<String> frames = fixture.sockets().postedTo(socket);
      return frames.subList(answersBefore, frames.size()).stream()
          .filter(frame -> frame.startsWith("throttled " + name + " "))
          .findFirst()
          .<Answer>map(frame -> new Throttled(retryAfter(frame)))
          .orElseGet(() -> processed.contains(name) ? new Processed() : new NoAnswer());
    }

    private static Duration retryAfter(String frame) {
      return Duration.ofSeconds(Long.parseLong(frame.substring(frame.lastIndexOf(' ') + 1)) + 1);
    }

    /**
     * Processes visible messages, ten at a time; a failed message blocks the later ones of its
     * session.
     */
    private void deliver() {
      Instant now = setting.clock().instant();
      while (!queue.isEmpty() && !now.isBefore(visibleAt)) {
        List<IncomingMessage> batch = List.copyOf(queue.subList(0, Math.min(10, queue.size())));
        drawFault();
        List<MessageOutcome> outcomes = fixture.outcomes(batch);
        stopFaults();
        for (int i = 0; i < batch.size(); i++) {
          if (outcomes.get(i).isDone()) {
            queue.remove(batch.get(i));
          } else {
            visibleAt = now.plus(VISIBILITY);
          }
        }
      }
    }

    private void drawFault() {
      if (!isLogged) {
        fixture.log().outage().begin();
        fixture.ports().sessions().outage().begin("extend");
      }
      if (fails()) {
        fixture.facts().outage().begin();
      }
      if (fails()) {
        fixture.sockets().outage().begin();
      }
    }

    private void stopFaults() {
      fixture.facts().outage().end();
      fixture.sockets().outage().end();
    }

    @Override
    public long processed(String name) {
      return Collections.frequency(processed, name);
    }

    @Override
    public Optional<Instant> nextTimer() {
      return queue.isEmpty() ? Optional.empty() : Optional.of(visibleAt);
    }

    @Override
    public void passedTo(Instant now) {
      deliver();
    }
  }
}
