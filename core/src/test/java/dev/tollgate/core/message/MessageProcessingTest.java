package dev.tollgate.core.message;

import static dev.tollgate.core.message.MessageOutcome.BAD_FRAME;
import static dev.tollgate.core.message.MessageOutcome.CUT_OFF;
import static dev.tollgate.core.message.MessageOutcome.DROPPED;
import static dev.tollgate.core.message.MessageOutcome.DUPLICATE;
import static dev.tollgate.core.message.MessageOutcome.FAILED;
import static dev.tollgate.core.message.MessageOutcome.PROCESSED;
import static dev.tollgate.core.message.MessageOutcome.PROCESSED_WITHOUT_TOKEN;
import static dev.tollgate.core.message.MessageOutcome.SUSPENDED;
import static dev.tollgate.core.message.MessageOutcome.THROTTLED;
import static dev.tollgate.core.message.MessageOutcome.UNDECIDED;
import static dev.tollgate.core.message.ProcessingFixture.message;
import static dev.tollgate.core.message.ProcessingFixture.redriven;
import static dev.tollgate.core.message.ProcessingFixture.unreadable;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.TokenQueue.Search;
import dev.tollgate.core.enforcement.AdmitAll;
import dev.tollgate.core.message.MessageProcessing.Result;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.core.testing.memory.RecordingSockets.Frame;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class MessageProcessingTest {
  private final ProcessingFixture fixture = new ProcessingFixture();
  private final AdmissionFixture ports = fixture.ports();
  private final Tenant acme =
      ports.onboard(
          "acme", "gold", Map.of(Limit.MESSAGES_PER_MINUTE, 20L, Limit.SESSION_TTL, 3_600L));
  private final SessionId session = fixture.session(acme, "a", "b", "c");

  private IncomingMessage from(String connectionId, String id) {
    return message(acme, session, connectionId, id);
  }

  private List<Result> results(IncomingMessage... batch) {
    return fixture.results(List.of(batch));
  }

  private void failOn(String id) {
    fixture.application(
        (message, json) -> {
          if (message.id().equals(id)) {
            throw new IllegalStateException("the application rejects " + id);
          }
          return List.of(json);
        });
  }

  private void spend(int tokens) {
    BucketId bucket = ProcessingFixture.messages(acme);
    while (tokens > 0) {
      int some = Math.min(tokens, 10);
      ports
          .queue()
          .settle(
              bucket, ports.queue().reserve(bucket, some, Duration.ofSeconds(30), Search.SHORT));
      tokens -= some;
    }
  }

  // Recipients.

  @Test
  void message_goes_to_the_other_sockets_and_its_replies_to_all() {
    fixture.application((message, json) -> List.of("1", "2"));

    assertThat(fixture.process(from("a", "m1"))).containsExactly(PROCESSED);

    assertThat(fixture.sockets().postedTo("a")).containsExactly("reply m1 1", "reply m1 2");
    assertThat(fixture.sockets().postedTo("b"))
        .containsExactly("message m1 \"m1\"", "reply m1 1", "reply m1 2")
        .isEqualTo(fixture.sockets().postedTo("c"));
  }

  @Test
  void application_gets_tenant_session_and_content_of_a_message() {
    IncomingMessage sent =
        new IncomingMessage(
            acme.id(),
            session,
            "a",
            "m1",
            Optional.empty(),
            false,
            new IncomingMessage.Message("{ \"n\": 1.0 }"));

    fixture.process(sent);

    assertThat(fixture.handled()).containsExactly(sent);
    assertThat(fixture.sockets().postedTo("a")).containsExactly("reply m1 { \"n\": 1.0 }");
  }

  private void setStatus(TenantStatus status) {
    Tenant current = ports.tenants().find(acme.id()).orElseThrow();
    ports.tenants().replace(current.changed(Tier.DEFAULTS.get(2), current.overrides(), status));
  }

  @ParameterizedTest
  @EnumSource(names = "ACTIVE", mode = EnumSource.Mode.EXCLUDE)
  void messages_of_an_inactive_tenant_are_refused_without_cost(TenantStatus status) {
    long tokens = fixture.tokens(acme);
    setStatus(status);

    assertThat(fixture.process(named("q1", "m1"), from("a", "m2")))
        .containsExactly(SUSPENDED, SUSPENDED);

    assertThat(fixture.handledIds()).isEmpty();
    assertThat(fixture.sockets().postedTo("a")).containsExactly("suspended m1", "suspended m2");
    assertThat(fixture.tokens(acme)).isEqualTo(tokens);
  }

  @ParameterizedTest
  @EnumSource(names = "ACTIVE", mode = EnumSource.Mode.EXCLUDE)
  void redriven_messages_of_an_inactive_tenant_fail_and_get_no_frame(TenantStatus status) {
    setStatus(status);

    assertThat(fixture.process(redriven(named("q1", "m1")), redriven(from("a", "m2"))))
        .containsExactly(FAILED, FAILED);

    assertThat(fixture.handledIds()).isEmpty();
    assertThat(fixture.sockets().posted()).isEmpty();
  }

  @Test
  void redriven_messages_need_no_tokens_and_live_ones_keep_theirs() {
    spend(19);

    assertThat(
            fixture.process(
                redriven(from("a", "m1")),
                redriven(from("a", "m2")),
                from("a", "m3"),
                from("a", "m4")))
        .containsExactly(PROCESSED, PROCESSED, PROCESSED, THROTTLED);

    assertThat(fixture.tokens(acme)).isZero();
  }

  @Test
  void redriven_messages_are_processed_although_their_socket_was_cut_off() {
    spend(20);
    for (int i = 0; i < 7; i++) {
      fixture.outcomes(flood("a", 10));
    }

    assertThat(fixture.process(from("a", "m1"), redriven(from("a", "m2"))))
        .containsExactly(CUT_OFF, PROCESSED);
  }

  @Test
  void failed_and_invalid_redriven_messages_cut_no_socket_off() {
    failOn("m1");
    for (int i = 0; i < 70; i++) {
      assertThat(
              fixture.process(
                  redriven(unreadable(acme, session, "a", "m0")), redriven(from("a", "m1"))))
          .containsExactly(BAD_FRAME, FAILED);
    }

    assertThat(fixture.process(from("a", "m2"))).containsExactly(PROCESSED);
    assertThat(fixture.counted()).doesNotContain("close");
  }

  @Test
  void message_refused_during_suspension_can_be_sent_again() {
    setStatus(TenantStatus.SUSPENDED);
    fixture.process(named("q1", "m1"));
    setStatus(TenantStatus.ACTIVE);

    assertThat(fixture.process(named("q2", "m1"))).containsExactly(PROCESSED);
  }

  @Test
  void messages_of_a_session_are_handled_and_answered_in_order() {
    List<String> ids = IntStream.range(0, 10).mapToObj(i -> "m" + i).toList();

    fixture.outcomes(ids.stream().map(id -> from("a", id)).toList());

    assertThat(fixture.handledIds()).isEqualTo(ids);
    assertThat(fixture.sockets().postedTo("a"))
        .isEqualTo(ids.stream().map(id -> "reply " + id + " \"" + id + "\"").toList());
  }

  @Test
  void closed_socket_is_removed_once_and_gets_no_more_frames() {
    ports.clock().advance(Duration.ofSeconds(31));
    fixture.sockets().lose("b");

    assertThat(fixture.process(from("a", "m1"), from("a", "m2"))).containsOnly(PROCESSED);

    assertThat(ports.sessions().find(acme.id(), session).orElseThrow().connections())
        .isEqualTo(Set.of("a", "c"));
    assertThat(ports.sessions().count(acme.id())).isEqualTo(2);
    assertThat(fixture.counted()).containsOnlyOnce("leave", "countDown");
    assertThat(fixture.sockets().postedTo("c")).hasSize(4);
  }

  @Test
  void closed_socket_stays_while_it_may_be_connecting_unless_it_is_the_sender() {
    ports.clock().advance(Duration.ofSeconds(30));
    fixture.sockets().lose("a");
    fixture.sockets().lose("b");

    assertThat(fixture.process(from("a", "m1"), from("a", "m2"))).containsOnly(PROCESSED);

    assertThat(ports.sessions().find(acme.id(), session).orElseThrow().connections())
        .isEqualTo(Set.of("b", "c"));
    assertThat(ports.sessions().count(acme.id())).isEqualTo(2);
  }

  @Test
  void failed_removal_of_a_closed_socket_stops_nothing() {
    ports.clock().advance(Duration.ofSeconds(31));
    fixture.sockets().lose("b");
    ports.sessions().outage().begin("leave");

    assertThat(fixture.process(from("a", "m1"))).containsExactly(PROCESSED);
  }

  @Test
  void message_of_a_deleted_session_is_processed_without_frames() {
    ports.sessions().deleteRow(acme.id(), session);

    assertThat(fixture.process(from("a", "m1"))).containsExactly(PROCESSED);

    assertThat(fixture.handledIds()).containsExactly("m1");
    assertThat(fixture.sockets().posted()).isEmpty();
    assertThat(ports.sessions().find(acme.id(), session)).isEmpty();
  }

  @Test
  void message_of_an_expired_session_is_processed_and_does_not_revive_it() {
    ports.clock().advance(Duration.ofHours(1));

    assertThat(fixture.process(from("a", "m1"))).containsExactly(PROCESSED);

    assertThat(fixture.sockets().posted()).isEmpty();
    assertThat(end()).isEqualTo(AdmissionFixture.START.plusSeconds(3_600));
    assertThat(fixture.counted()).doesNotContain("extend");
  }

  @Test
  void malformed_message_costs_a_token_and_is_answered() {
    assertThat(fixture.process(unreadable(acme, session, "a", "m1"), from("a", "m2")))
        .containsExactly(BAD_FRAME, PROCESSED);

    assertThat(fixture.sockets().postedTo("a"))
        .containsExactly("badFrame m1 flaw", "reply m2 \"m2\"");
    assertThat(fixture.handledIds()).containsExactly("m2");
    assertThat(fixture.tokens(acme)).isEqualTo(18);
  }

  @Test
  void closed_sender_of_several_refused_frames_is_removed_once() {
    spend(20);
    fixture.sockets().lose("a");
    fixture.counted().clear();

    assertThat(fixture.outcomes(flood("a", 10))).containsOnly(THROTTLED);

    assertThat(fixture.counted()).containsOnlyOnce("leave");
    assertThat(fixture.attempts()).containsExactly("a");
  }

  // Unknown and inactive senders.

  @Test
  void messages_of_unknown_tenants_are_dropped() {
    IncomingMessage unknown =
        new IncomingMessage(
            new TenantId("nobody"),
            session,
            "a",
            "m1",
            Optional.empty(),
            false,
            new IncomingMessage.Message("1"));

    assertThat(fixture.process(unknown, from("a", "m2"))).containsExactly(DROPPED, PROCESSED);

    assertThat(fixture.handledIds()).containsExactly("m2");
  }

  @Test
  void messages_of_a_just_removed_tenant_are_dropped() {
    fixture.reads(
        (tenant, of, messages) ->
            new MessageFacts(Optional.empty(), Map.of(), Optional.empty(), Set.of()));

    assertThat(fixture.process(from("a", "m1"))).containsExactly(DROPPED);

    assertThat(fixture.handled()).isEmpty();
    assertThat(fixture.tokens(acme)).isEqualTo(20);
  }

  @Test
  void failed_read_of_one_tenant_fails_only_its_messages() {
    Tenant other = ports.onboard("other", "gold", Map.of());
    SessionId others = fixture.session(other, "o");
    fixture.facts().outage().begin("read acme");

    assertThat(
            fixture.process(
                from("a", "m1"),
                message(other, others, "o", "m2"),
                unreadable(acme, session, "a", "m3")))
        .containsExactly(FAILED, PROCESSED, FAILED);

    assertThat(fixture.handledIds()).containsExactly("m2");
    assertThat(fixture.tokens(acme)).isEqualTo(20);
  }

  @Test
  void failed_read_of_known_tenants_fails_the_batch() {
    ports.facts().outage().begin("tenantExists");

    assertThat(fixture.process(from("a", "m1"))).containsExactly(FAILED);
  }

  // Failures that stop a session's messages.

  @Test
  void failed_message_and_its_successors_are_redelivered_and_other_sessions_continue() {
    SessionId another = fixture.session(acme, "x");
    failOn("m2");

    assertThat(
            fixture.process(
                from("a", "m1"),
                from("b", "m2"),
                message(acme, another, "x", "m3"),
                from("a", "m4"),
                unreadable(acme, session, "a", "m5"),
                message(acme, another, "x", "m6")))
        .containsExactly(PROCESSED, FAILED, PROCESSED, FAILED, FAILED, PROCESSED);

    assertThat(fixture.handledIds()).containsExactly("m1", "m2", "m3", "m6");
    assertThat(fixture.sockets().postedTo("a"))
        .as("no frame for the failed m2")
        .containsExactly("reply m1 \"m1\"");
  }

  @Test
  void tokens_of_redelivered_messages_are_put_back() {
    failOn("m2");

    fixture.process(from("a", "m1"), from("a", "m2"), from("a", "m3"));

    assertThat(fixture.tokens(acme)).isEqualTo(19);
  }

  @Test
  void failed_return_of_tokens_loses_only_the_tokens() {
    failOn("m1");
    ports.queue().outage().begin("put");

    assertThat(fixture.process(from("a", "m1"))).containsExactly(FAILED);

    assertThat(fixture.tokens(acme)).isEqualTo(19);
  }

  @Test
  void only_the_failed_message_has_a_cause() {
    failOn("m1");

    List<Result> results = results(from("a", "m1"), from("a", "m2"));

    assertThat(results.get(0).cause().orElseThrow()).hasMessageContaining("rejects m1");
    assertThat(results.get(1)).isEqualTo(new Result(FAILED, Optional.empty(), 0));
  }

  @Test
  void application_error_fails_the_message_like_an_exception() {
    fixture.application(
        (message, json) -> {
          throw new NoClassDefFoundError("gone");
        });

    assertThat(results(from("a", "m1")).get(0).cause().orElseThrow())
        .isInstanceOf(NoClassDefFoundError.class);
  }

  @Test
  void invalid_reply_among_several_sends_none() {
    fixture.application((message, json) -> List.of("1", ""));

    assertThat(fixture.process(from("a", "m1"))).containsExactly(FAILED);

    assertThat(fixture.sockets().postedTo("a")).isEmpty();
  }

  // Repeated messages.

  private IncomingMessage named(String queueId, String clientId) {
    return ProcessingFixture.named(acme, session, "a", queueId, clientId);
  }

  @Test
  void repeated_message_costs_a_token_and_is_not_handled() {
    assertThat(fixture.process(named("q1", "m1"))).containsExactly(PROCESSED);
    List<Frame> posted = fixture.sockets().posted();
    ports.clock().advance(Duration.ofMinutes(5));
    ports.fill().fill(ProcessingFixture.messages(acme));

    assertThat(fixture.process(named("q2", "m1"), named("q3", "m2")))
        .containsExactly(DUPLICATE, PROCESSED);

    assertThat(fixture.handledIds()).containsExactly("m1", "m2");
    assertThat(fixture.sockets().postedTo("a"))
        .containsExactly("reply m1 \"m1\"", "reply m2 \"m2\"");
    assertThat(posted).hasSize(5);
    assertThat(fixture.tokens(acme)).isEqualTo(18);
  }

  @Test
  void name_can_be_reused_after_ten_minutes_and_by_another_session_at_once() {
    SessionId another = fixture.session(acme, "x");
    fixture.process(named("q1", "m1"));
    assertThat(fixture.process(ProcessingFixture.named(acme, another, "x", "q2", "m1")))
        .containsExactly(PROCESSED);

    ports.clock().advance(Duration.ofMinutes(10));
    assertThat(fixture.process(named("q3", "m1"))).containsExactly(PROCESSED);
  }

  private void lift() {
    Instant now = ports.clock().instant();
    ports.admitAll().turnOn(new AdmitAll(now, now.plusSeconds(3_600), "a test", "me"));
  }

  @Test
  void messages_need_no_token_while_limits_are_lifted() {
    spend(20);
    lift();

    assertThat(fixture.process(named("q1", "m1"))).containsExactly(PROCESSED_WITHOUT_TOKEN);
    fixture.counted().clear();
    assertThat(fixture.process(named("q2", "m2"))).containsExactly(PROCESSED_WITHOUT_TOKEN);
    assertThat(fixture.counted()).doesNotContain("reserve", "settle", "put");
    assertThat(fixture.handledIds()).containsExactly("m1", "m2");
  }

  @Test
  void messages_are_processed_while_limits_are_lifted_and_the_queue_fails() {
    ports.refuseWhenUndecided(acme);
    ports.queue().outage().begin();
    lift();

    assertThat(fixture.process(named("q1", "m1"))).containsExactly(PROCESSED_WITHOUT_TOKEN);
  }

  @Test
  void throttled_message_sent_again_at_retryAt_is_processed_once() {
    spend(20);
    assertThat(fixture.process(named("q1", "m1"))).containsExactly(THROTTLED);
    ports.clock().set(AdmissionFixture.START.plusSeconds(60));
    ports.fill().fill(ProcessingFixture.messages(acme));

    assertThat(fixture.process(named("q2", "m1"))).containsExactly(PROCESSED);
    assertThat(fixture.process(named("q3", "m1"))).containsExactly(DUPLICATE);

    assertThat(fixture.handledIds()).containsExactly("m1");
  }

  /** Sixty messages, in batches of ten, of one session each. */
  private List<List<IncomingMessage>> sixty(Tenant tenant) {
    return IntStream.range(0, 6)
        .mapToObj(
            batch -> {
              SessionId of = fixture.session(tenant, "s" + batch);
              return IntStream.range(0, 10)
                  .mapToObj(i -> message(tenant, of, "s" + batch, "m" + (10 * batch + i)))
                  .toList();
            })
        .toList();
  }

  private Duration told(IncomingMessage message) {
    return fixture.sockets().postedTo(message.connectionId()).stream()
        .filter(frame -> frame.startsWith("throttled " + message.id() + " "))
        .map(frame -> Duration.ofSeconds(Long.parseLong(frame.split(" ", -1)[2])))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void messages_refused_at_once_are_told_slots_at_the_rate_and_processed_at_their_first_return() {
    Tenant initech =
        ports.onboard(
            "initech", "gold", Map.of(Limit.MESSAGES_PER_MINUTE, 60L, Limit.SESSION_TTL, 3_600L));
    BucketId bucket = ProcessingFixture.messages(initech);
    while (fixture.claims().spendUpTo(bucket, ports.buckets().find(bucket), 20).tokens() > 0) {
      ports.clock().advance(Duration.ofMillis(1));
    }
    List<IncomingMessage> messages = new ArrayList<>();
    for (List<IncomingMessage> batch : sixty(initech)) {
      assertThat(fixture.outcomes(batch)).containsOnly(THROTTLED);
      messages.addAll(batch);
    }
    List<Duration> told = messages.stream().map(this::told).toList();

    assertThat(told).isSorted().doesNotHaveDuplicates();
    assertThat(told.get(59)).isLessThanOrEqualTo(Duration.ofSeconds(63));
    Instant refusedAt = ports.clock().instant();
    for (int i = 0; i < 60; i++) {
      Instant back = refusedAt.plus(told.get(i)).plusSeconds(1);
      while (ports.clock().instant().isBefore(back)) {
        ports.clock().advance(Duration.ofSeconds(1));
        ports.fill().fill(bucket);
      }
      assertThat(fixture.process(messages.get(i))).as("message %d", i).containsExactly(PROCESSED);
    }
  }

  @Test
  void messages_are_told_the_next_tokens_if_no_slots_can_be_taken() {
    spend(20);
    fixture.process(from("a", "m1"));
    ports.buckets().outage().begin("takePlaces", "changeLine");

    assertThat(fixture.process(from("b", "m2"), from("c", "m3"))).containsOnly(THROTTLED);

    assertThat(fixture.sockets().postedTo("b")).containsExactly("throttled m2 4");
    assertThat(fixture.sockets().postedTo("c")).containsExactly("throttled m3 7");
  }

  @Test
  void copies_in_one_batch_cost_a_token_each_and_are_processed_once() {
    assertThat(fixture.process(named("q1", "m1"), named("q2", "m1"), named("q3", "m1")))
        .containsExactly(PROCESSED, DUPLICATE, DUPLICATE);

    assertThat(fixture.handledIds()).containsExactly("m1");
    assertThat(fixture.tokens(acme)).isEqualTo(17);
  }

  @Test
  void throttled_copies_in_one_batch_get_the_same_answer() {
    spend(20);

    assertThat(fixture.process(named("q1", "m1"), named("q2", "m1"), named("q3", "m2")))
        .containsOnly(THROTTLED);

    assertThat(fixture.sockets().postedTo("a"))
        .containsExactly("throttled m1 4", "throttled m1 4", "throttled m2 7");
  }

  @Test
  void failed_message_is_handled_again_after_redelivery() {
    failOn("m1");
    assertThat(fixture.process(named("q1", "m1"), named("q2", "m1")))
        .containsExactly(FAILED, FAILED);
    assertThat(fixture.tokens(acme)).isEqualTo(20);
    fixture.application((message, json) -> List.of());

    assertThat(fixture.process(named("q1", "m1"), named("q2", "m1")))
        .containsExactly(PROCESSED, DUPLICATE);

    assertThat(fixture.handledIds()).containsExactly("m1", "m1");
    assertThat(fixture.tokens(acme)).isEqualTo(18);
  }

  @Test
  void malformed_copy_is_answered_and_well_formed_copy_is_processed() {
    IncomingMessage unreadable =
        new IncomingMessage(
            acme.id(),
            session,
            "a",
            "q1",
            Optional.of("m1"),
            false,
            new IncomingMessage.Unreadable("flaw"));

    assertThat(fixture.process(unreadable, named("q2", "m1")))
        .containsExactly(BAD_FRAME, PROCESSED);
  }

  @Test
  void failed_write_of_the_message_log_is_reported_and_the_message_is_done() {
    fixture.log().outage().begin();

    List<Result> results = results(named("q1", "m1"), named("q2", "m2"), named("q3", "m1"));

    assertThat(results)
        .extracting(Result::outcome)
        .containsExactly(PROCESSED, PROCESSED, DUPLICATE);
    assertThat(results.get(0).cause().orElseThrow()).isInstanceOf(Unavailable.class);
    assertThat(results.get(0).undelivered()).isZero();
    assertThat(fixture.sockets().postedTo("a")).hasSize(2);
  }

  @Test
  void message_recorded_in_its_session_is_known_for_ten_minutes() {
    for (int i = 0; i < 5; i++) {
      ports.clock().advance(Duration.ofMinutes(7));
      ports.fill().fill(ProcessingFixture.messages(acme));
      fixture.counted().clear();
      assertThat(fixture.process(named("q" + i, "m" + i))).containsExactly(PROCESSED);
      assertThat(fixture.counted()).containsOnlyOnce("extend").doesNotContain("add");
      assertThat(fixture.process(named("r" + i, "m" + i))).containsExactly(DUPLICATE);
    }
    assertThat(ports.sessions().find(acme.id(), session).orElseThrow().processed())
        .containsOnlyKeys("m3", "m4");
    assertThat(fixture.process(named("s", "m3"), named("t", "m2")))
        .containsExactly(DUPLICATE, PROCESSED);
  }

  @Test
  void message_is_logged_if_its_session_cannot_be_extended() {
    ports.clock().advance(Duration.ofMinutes(30));
    ports.sessions().outage().begin("extend");

    assertThat(fixture.process(named("q1", "m1"))).containsExactly(PROCESSED);
    assertThat(fixture.process(named("q2", "m1"))).containsExactly(DUPLICATE);
  }

  @Test
  void message_without_a_client_name_is_not_logged() {
    fixture.process(from("a", "m1"));

    assertThat(fixture.counted()).doesNotContain("add");
  }

  // FrameDelivery is best effort.

  @Test
  void unreachable_socket_misses_its_frames_and_stops_nothing() {
    fixture.sockets().outage().begin("post to b");

    List<Result> results = results(from("a", "m1"), from("a", "m2"));

    assertThat(results).extracting(Result::outcome).containsOnly(PROCESSED);
    assertThat(results).extracting(Result::undelivered).containsOnly(2);
    assertThat(results.get(0).cause().orElseThrow()).isInstanceOf(Unavailable.class);
    assertThat(fixture.handledIds()).containsExactly("m1", "m2");
    assertThat(fixture.sockets().postedTo("a"))
        .containsExactly("reply m1 \"m1\"", "reply m2 \"m2\"");
    assertThat(fixture.sockets().postedTo("c")).hasSize(4);
    assertThat(fixture.tokens(acme)).isEqualTo(18);
    assertThat(ports.sessions().count(acme.id())).isEqualTo(3);
  }

  @Test
  void undeliverable_refusal_counts_as_done() {
    spend(19);
    fixture.sockets().outage().begin("post");

    List<Result> results = results(unreadable(acme, session, "a", "m1"), from("a", "m2"));

    assertThat(results).extracting(Result::outcome).containsExactly(BAD_FRAME, THROTTLED);
    assertThat(results).extracting(Result::undelivered).containsOnly(1);
  }

  @Test
  void socket_that_fails_fast_gets_the_next_frame() {
    fixture.sockets().outage().begin("post to b");

    fixture.process(from("a", "m1"), from("a", "m2"));

    assertThat(Collections.frequency(fixture.attempts(), "b")).isEqualTo(4);
  }

  @Test
  void socket_that_fails_slowly_gets_no_more_frames_of_the_batch() {
    fixture.sockets().outage().begin("post to b");
    fixture.delay("b", Duration.ofSeconds(1));

    List<Result> results = results(from("a", "m1"), from("a", "m2"));

    assertThat(results).extracting(Result::undelivered).containsOnly(2);
    assertThat(fixture.sockets().closed()).isEmpty();
    assertThat(Collections.frequency(fixture.attempts(), "b")).isEqualTo(1);
    assertThat(fixture.sockets().postedTo("c")).hasSize(4);
  }

  @Test
  void socket_of_usual_speed_gets_all_frames() {
    fixture.delay("b", Duration.ofMillis(100));

    List<IncomingMessage> ten = IntStream.range(0, 10).mapToObj(i -> from("a", "m" + i)).toList();
    assertThat(fixture.outcomes(ten)).containsOnly(PROCESSED);

    assertThat(fixture.sockets().postedTo("b")).hasSize(20);
  }

  @Test
  void sockets_get_all_frames_while_api_gateway_is_slow_for_all_of_them() {
    List.of("a", "b", "c").forEach(socket -> fixture.delay(socket, Duration.ofMillis(300)));

    fixture.process(from("a", "m1"), from("a", "m2"), from("a", "m3"));

    assertThat(fixture.sockets().postedTo("a")).hasSize(3);
    assertThat(fixture.sockets().postedTo("b")).hasSize(6);
    assertThat(fixture.sockets().postedTo("c")).hasSize(6);
  }

  /** In a process that has posted quickly before, just now or long ago. */
  @ParameterizedTest
  @ValueSource(longs = {0, 3_000})
  void sockets_get_all_frames_if_api_gateway_becomes_slow(long secondsBetween) {
    for (int i = 0; i < 7; i++) {
      fixture.process(from("a", "quick" + i));
    }
    ports.clock().advance(Duration.ofSeconds(secondsBetween));
    List.of("a", "b", "c").forEach(socket -> fixture.delay(socket, Duration.ofMillis(300)));

    assertThat(results(from("a", "m1"), from("a", "m2"), from("a", "m3")))
        .extracting(Result::undelivered)
        .containsOnly(0);
  }

  @Test
  void busy_socket_gets_all_frames_while_others_are_slow_too() {
    Tenant other =
        ports.onboard(
            "other", "gold", Map.of(Limit.MESSAGES_PER_MINUTE, 600L, Limit.SESSION_TTL, 3_600L));
    SessionId busy = fixture.session(other, "busy");
    List.of("a", "b", "c", "busy").forEach(each -> fixture.delay(each, Duration.ofMillis(400)));
    fixture.process(from("a", "m1"));

    for (int batch = 0; batch < 6; batch++) {
      String name = "batch" + batch + "-";
      assertThat(
              fixture.results(
                  IntStream.range(0, 10)
                      .mapToObj(i -> message(other, busy, "busy", name + i))
                      .toList()))
          .extracting(Result::undelivered)
          .containsOnly(0);
    }
  }

  @Test
  void posts_that_fail_slowly_tell_that_api_gateway_is_slow() {
    fixture.delay("a", Duration.ofMillis(400));
    List.of("b", "c").forEach(socket -> fixture.delay(socket, Duration.ofMillis(200)));
    fixture.sockets().outage().begin("post to b");
    fixture.sockets().outage().begin("post to c");

    fixture.process(from("a", "m1"), from("a", "m2"), from("a", "m3"), from("a", "m4"));

    assertThat(fixture.sockets().postedTo("a")).hasSize(4);
  }

  @Test
  void slightly_slow_socket_is_given_no_more_time_than_a_hanging_one() {
    fixture.delay("b", Duration.ofMillis(500));

    for (int batch = 1; batch <= 2; batch++) {
      fixture.process(from("a", "m" + batch), from("a", "n" + batch), from("a", "o" + batch));
      assertThat(fixture.sockets().postedTo("b")).hasSize(3 * batch);
    }

    assertThat(fixture.sockets().closed()).as("socket that reads").isEmpty();
    assertThat(fixture.sockets().postedTo("c")).hasSize(12);
  }

  @Test
  void frames_take_at_most_half_of_the_batchs_time_and_every_message_is_done() {
    List.of("a", "b", "c").forEach(socket -> fixture.delay(socket, Duration.ofMillis(100)));

    List<Result> results =
        fixture.results(IntStream.range(0, 12).mapToObj(i -> from("a", "m" + i)).toList());

    assertThat(results).extracting(Result::outcome).containsOnly(PROCESSED);
    assertThat(results)
        .extracting(Result::undelivered)
        .containsExactly(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5);
    assertThat(fixture.handledIds()).hasSize(12);
    assertThat(fixture.tokens(acme)).isEqualTo(8);
  }

  private void doNotTake(String socket, Duration time) {
    fixture.sockets().outage().begin("post to " + socket);
    fixture.delay(socket, time);
  }

  @Test
  void socket_slow_in_two_batches_is_closed_and_costs_no_more_time() {
    doNotTake("b", Duration.ofSeconds(3));
    fixture.process(from("a", "m1"), from("a", "m2"));
    assertThat(fixture.sockets().closed()).isEmpty();
    ports.clock().advance(Duration.ofSeconds(10));

    List<Result> results = results(from("a", "m3"), from("a", "m4"));

    assertThat(fixture.sockets().closed()).containsExactly("b");
    assertThat(Collections.frequency(fixture.attempts(), "b")).isEqualTo(2);
    assertThat(results).extracting(Result::outcome).containsOnly(PROCESSED);
    assertThat(fixture.sockets().postedTo("c")).hasSize(8);
  }

  @Test
  void socket_closed_as_slow_has_its_messages_dropped() {
    doNotTake("b", Duration.ofSeconds(3));
    fixture.process(from("a", "m1"));
    fixture.process(from("a", "m2"));
    assertThat(fixture.sockets().closed()).containsExactly("b");

    assertThat(fixture.process(from("b", "m3"))).containsExactly(CUT_OFF);
  }

  @Test
  void socket_that_needs_over_a_second_per_frame_is_closed_in_the_second_batch() {
    fixture.delay("b", Duration.ofMillis(1_300));
    fixture.process(from("a", "m1"));
    assertThat(fixture.sockets().closed()).isEmpty();

    fixture.process(from("a", "m2"));

    assertThat(fixture.sockets().closed()).containsExactly("b");
  }

  @Test
  void slow_api_gateway_closes_no_socket() {
    List<String> all = List.of("a", "b", "c");
    all.forEach(socket -> doNotTake(socket, Duration.ofMillis(1_100)));
    for (int batch = 0; batch < 5; batch++) {
      fixture.process(from("a", "m" + batch));
      ports.clock().advance(Duration.ofSeconds(2));
    }
    assertThat(fixture.sockets().closed()).isEmpty();

    fixture.sockets().outage().end();
    all.forEach(socket -> fixture.delay(socket, Duration.ZERO));
    doNotTake("b", Duration.ofMillis(1_100));
    fixture.process(from("a", "n1"));
    fixture.process(from("a", "n2"));

    assertThat(fixture.sockets().closed()).as("the other sockets recovered").containsOnly("b");
  }

  @Test
  void socket_that_recovered_after_being_slow_once_is_not_closed() {
    doNotTake("b", Duration.ofSeconds(3));
    fixture.process(from("a", "m1"));
    fixture.sockets().outage().end();
    fixture.delay("b", Duration.ZERO);
    fixture.process(from("a", "m2"));
    doNotTake("b", Duration.ofSeconds(3));
    fixture.process(from("a", "m3"));

    assertThat(fixture.sockets().closed()).isEmpty();
  }

  @Test
  void socket_that_was_slow_long_ago_is_not_closed() {
    doNotTake("b", Duration.ofSeconds(3));
    fixture.process(from("a", "m1"));
    ports.clock().advance(Duration.ofMinutes(5));
    fixture.process(from("a", "m2"));

    assertThat(fixture.sockets().closed()).isEmpty();
  }

  @Test
  void slow_socket_that_cannot_be_closed_stops_nothing() {
    doNotTake("b", Duration.ofSeconds(3));
    fixture.sockets().outage().begin("close");

    fixture.process(from("a", "m1"));
    assertThat(fixture.process(from("a", "m2"), from("a", "m3"))).containsOnly(PROCESSED);
  }

  /** All other sockets get their frames before an unresponsive socket answers. */
  @Test
  void socket_that_does_not_read_delays_only_its_session_for_a_second() throws Exception {
    SessionId another = fixture.session(acme, "x");
    Tenant other = ports.onboard("other", "gold", Map.of());
    SessionId others = fixture.session(other, "o");
    CountDownLatch end = new CountDownLatch(1);
    fixture.hang("b", end);
    ExecutorService executor = Executors.newCachedThreadPool();
    try {
      List<IncomingMessage> batch = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        batch.add(from("a", "a" + i));
        batch.add(message(acme, another, "x", "x" + i));
        batch.add(message(other, others, "o", "o" + i));
      }

      List<Result> results = fixture.processing(executor).process(batch, Duration.ofSeconds(60));

      assertThat(results).extracting(Result::outcome).containsOnly(PROCESSED);
      assertThat(fixture.sockets().postedTo("a")).hasSize(5);
      assertThat(fixture.sockets().postedTo("c")).hasSize(10);
      assertThat(fixture.sockets().postedTo("x")).hasSize(5);
      assertThat(fixture.sockets().postedTo("o")).hasSize(5);
      assertThat(fixture.sockets().postedTo("b")).as("blocked socket").isEmpty();
      assertThat(Collections.frequency(fixture.attempts(), "b")).isEqualTo(1);
      assertThat(results.stream().mapToInt(Result::undelivered).sum()).isEqualTo(10);
    } finally {
      end.countDown();
      executor.shutdown();
    }
    assertThat(executor.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void unresponsive_socket_delays_neither_messages_nor_the_batch() {
    CountDownLatch end = new CountDownLatch(1);
    fixture.hang("b", end);
    ForkJoinPool executor = new ForkJoinPool(8);

    List<Result> results =
        fixture
            .processing(executor)
            .process(List.of(from("a", "m1"), from("a", "m2")), Duration.ofSeconds(2));

    assertThat(results).extracting(Result::outcome).containsOnly(PROCESSED);
    assertThat(fixture.handledIds()).containsExactly("m1", "m2");
    end.countDown();
    assertThat(executor.awaitQuiescence(10, TimeUnit.SECONDS)).isTrue();
    executor.shutdown();
  }

  // Tokens.

  @Test
  void first_messages_of_a_batch_get_the_tokens_and_the_others_are_throttled() {
    spend(18);
    SessionId another = fixture.session(acme, "x");

    assertThat(
            fixture.process(
                from("a", "m1"),
                message(acme, another, "x", "m2"),
                from("b", "m3"),
                message(acme, another, "x", "m4")))
        .containsExactly(PROCESSED, PROCESSED, THROTTLED, THROTTLED);

    assertThat(fixture.handledIds()).containsExactly("m1", "m2");
    assertThat(fixture.sockets().postedTo("b")).contains("throttled m3 4");
    assertThat(fixture.sockets().postedTo("a")).noneMatch(frame -> frame.contains("m3"));
    assertThat(fixture.sockets().postedTo("x")).contains("throttled m4 7");
  }

  @Test
  void lone_sender_at_retryAt_is_processed() {
    spend(20);
    fixture.process(from("a", "m1"));
    ports.clock().set(AdmissionFixture.START.plusSeconds(60));
    ports.fill().fill(ProcessingFixture.messages(acme));
    ports.clock().set(AdmissionFixture.START.plusSeconds(61));

    assertThat(fixture.process(from("a", "m1"))).containsExactly(PROCESSED);
  }

  @Test
  void refusal_to_a_closed_sender_removes_the_sender() {
    spend(20);
    fixture.sockets().lose("a");

    assertThat(fixture.process(from("a", "m1"))).containsExactly(THROTTLED);

    assertThat(ports.sessions().count(acme.id())).isEqualTo(2);
  }

  @Test
  void failing_bucket_admits_without_tokens_if_the_tier_states_so() {
    ports.queue().outage().begin();

    assertThat(fixture.process(from("a", "m1"))).containsExactly(PROCESSED_WITHOUT_TOKEN);
  }

  @Test
  void messages_are_redelivered_if_there_are_no_credentials_whatever_the_tier_states() {
    ports.queue().outage().beginWithoutCredentials();

    assertThat(fixture.process(from("a", "m1"))).containsOnly(UNDECIDED);
  }

  @Test
  void failing_bucket_has_messages_redelivered_if_the_tier_refuses() {
    ports.refuseWhenUndecided(acme);
    ports.queue().outage().begin();

    assertThat(fixture.process(from("a", "m1"), from("a", "m2"))).containsOnly(UNDECIDED);

    assertThat(fixture.handled()).isEmpty();
    assertThat(fixture.sockets().posted()).isEmpty();
  }

  @Test
  void unspendable_tokens_do_not_count_as_spent() {
    ports.refuseWhenUndecided(acme);
    ports.queue().outage().begin("settle");

    assertThat(fixture.process(from("a", "m1"))).containsOnly(THROTTLED);
  }

  @Test
  void missing_bucket_refuses_for_a_minute() {
    ports.buckets().remove(ProcessingFixture.messages(acme));

    assertThat(fixture.process(from("a", "m1"))).containsExactly(THROTTLED);

    assertThat(fixture.sockets().postedTo("a")).containsExactly("throttled m1 60");
  }

  // Refused frames, and sockets that send too many of them.

  @Test
  void malformed_message_is_throttled_like_a_message() {
    spend(20);

    assertThat(fixture.process(unreadable(acme, session, "a", "m1"), from("a", "m2")))
        .containsExactly(THROTTLED, THROTTLED);

    assertThat(fixture.sockets().postedTo("a")).containsExactly("throttled m1 4", "throttled m2 7");
  }

  @Test
  void all_frames_get_tokens_in_their_order() {
    assertThat(fixture.process(named("q1", "m1"))).containsExactly(PROCESSED);
    spend(16);

    assertThat(
            fixture.process(
                unreadable(acme, session, "b", "m2"),
                named("q3", "m1"),
                named("q4", "m3"),
                named("q5", "m3"),
                from("b", "m4")))
        .containsExactly(BAD_FRAME, DUPLICATE, PROCESSED, DUPLICATE, THROTTLED);
    assertThat(fixture.tokens(acme)).isZero();
  }

  @Test
  void throttled_copy_of_a_processed_message_is_not_answered() {
    spend(19);

    assertThat(fixture.process(named("q1", "m1"), named("q2", "m1")))
        .containsExactly(PROCESSED, DUPLICATE);
    assertThat(fixture.process(named("q3", "m1"))).containsExactly(DUPLICATE);

    assertThat(fixture.sockets().postedTo("a")).containsExactly("reply m1 \"m1\"");
  }

  private List<IncomingMessage> flood(String socket, int frames) {
    return IntStream.range(0, frames).mapToObj(i -> from(socket, socket + i)).toList();
  }

  @Test
  void sixty_refusals_are_answered_and_the_next_one_closes_the_socket() {
    spend(20);
    assertThat(fixture.outcomes(flood("a", 59))).containsOnly(THROTTLED);

    assertThat(fixture.process(from("b", "m1"), from("a", "m2"), from("a", "m3"), from("a", "m4")))
        .containsExactly(THROTTLED, CUT_OFF, CUT_OFF, CUT_OFF);

    assertThat(fixture.sockets().closed()).containsExactly("a");
    assertThat(fixture.sockets().postedTo("a")).hasSize(59);
    assertThat(fixture.sockets().postedTo("b")).hasSize(1);
  }

  @Test
  void reconnected_socket_keeps_its_sessions_refusal_allowance() {
    SessionId another = fixture.session(acme, "x");
    spend(20);
    int answered = 0;
    for (int i = 0; i < 30; i++) {
      fixture.outcomes(flood("r" + i, 21));
      answered += fixture.sockets().postedTo("r" + i).size();
    }
    assertThat(answered).isEqualTo(60);
    assertThat(fixture.sockets().closed()).hasSize(28).doesNotContain("r0", "r1");

    assertThat(fixture.process(message(acme, another, "x", "m1"))).containsExactly(THROTTLED);
  }

  @Test
  void sessions_of_two_tenants_with_the_same_id_have_separate_allowances() {
    Tenant other = ports.onboard("other", "gold", Map.of());
    ports
        .tenants()
        .replace(other.changed(Tier.DEFAULTS.get(2), other.overrides(), TenantStatus.SUSPENDED));
    spend(20);
    fixture.outcomes(flood("a", 60));

    assertThat(fixture.process(message(other, session, "x", "m1"))).containsExactly(SUSPENDED);
  }

  /** Another session takes each token as it appears. */
  @Test
  void session_with_one_refused_frame_a_second_is_not_closed() {
    SessionId slowSession = fixture.session(acme, "noisy");
    spend(20);
    int refused = 0;
    for (int second = 0; second < 600; second++) {
      if (second % 60 == 0) {
        ports.fill().fill(ProcessingFixture.messages(acme));
        spend(20);
      }
      fixture.process(message(acme, slowSession, "noisy", "n" + second));
      refused += Collections.frequency(fixture.process(from("a", "m" + second)), THROTTLED);
      ports.clock().advance(Duration.ofSeconds(1));
    }

    assertThat(refused).isGreaterThan(500);
    assertThat(fixture.sockets().closed()).isEmpty();
  }

  @Test
  void frames_after_the_close_of_their_socket_cost_no_tokens() {
    for (int i = 0; i < 6; i++) {
      fixture.outcomes(bad("a", i * 10, 10));
      putBack(10);
    }
    long before = fixture.tokens(acme);
    List<IncomingMessage> last = new ArrayList<>(bad("a", 60, 1));
    last.addAll(flood("a", 9));

    assertThat(fixture.outcomes(last)).containsOnly(CUT_OFF);

    assertThat(fixture.tokens(acme)).isEqualTo(before);
  }

  @Test
  void message_that_keeps_failing_closes_its_socket_in_the_end() {
    failOn("poison");
    for (int i = 0; i < 60; i++) {
      assertThat(fixture.process(from("a", "poison"))).containsExactly(FAILED);
    }
    assertThat(fixture.sockets().closed()).isEmpty();

    assertThat(fixture.process(from("a", "poison"))).containsExactly(FAILED);

    assertThat(fixture.sockets().closed()).containsExactly("a");
    assertThat(fixture.process(from("a", "poison"))).containsExactly(CUT_OFF);
    assertThat(fixture.handledIds()).hasSize(61);
  }

  @Test
  void slow_socket_with_too_many_refused_frames_is_closed() {
    spend(20);
    fixture.delay("a", Duration.ofMillis(1_050));

    // The delay gives back one refused frame.
    fixture.outcomes(flood("a", 62));

    assertThat(fixture.attempts()).as("one attempt at the slow socket").containsExactly("a");
    assertThat(fixture.sockets().closed()).containsExactly("a");
    assertThat(fixture.process(from("a", "m1"))).containsExactly(CUT_OFF);
  }

  @Test
  void socket_with_too_many_refused_frames_is_closed_although_no_time_is_left_for_frames() {
    spend(20);
    fixture.outcomes(flood("a", 60));
    fixture.delay("b", Duration.ofSeconds(5));
    putBack(1);

    List<IncomingMessage> last = new ArrayList<>(List.of(from("a", "m1")));
    // The delay gives back five refused frames.
    last.addAll(flood("a", 6));
    assertThat(fixture.outcomes(last))
        .containsExactly(PROCESSED, THROTTLED, THROTTLED, THROTTLED, THROTTLED, THROTTLED, CUT_OFF);

    assertThat(fixture.sockets().closed()).containsExactly("a");
  }

  @Test
  void queued_messages_of_a_closed_socket_are_dropped_without_tokens_or_requests() {
    spend(20);
    fixture.outcomes(flood("a", 61));
    ports.clock().advance(Duration.ofMinutes(1));
    ports.fill().fill(ProcessingFixture.messages(acme));
    fixture.counted().clear();
    fixture.facts().outage().begin();
    ports.facts().outage().begin();

    assertThat(fixture.outcomes(flood("a", 10))).containsOnly(CUT_OFF);

    assertThat(fixture.counted()).isEmpty();
    assertThat(fixture.tokens(acme)).isEqualTo(20);
    assertThat(fixture.handled()).isEmpty();
  }

  @Test
  void dropped_message_is_processed_when_another_socket_sends_it() {
    spend(20);
    fixture.outcomes(flood("a", 60));
    assertThat(fixture.process(named("q1", "m1"))).containsExactly(CUT_OFF);
    ports.clock().advance(Duration.ofMinutes(1));
    ports.fill().fill(ProcessingFixture.messages(acme));

    assertThat(fixture.process(ProcessingFixture.named(acme, session, "b", "q2", "m1")))
        .containsExactly(PROCESSED);
  }

  @Test
  void only_duplicates_without_a_token_count_towards_closing_the_socket() {
    fixture.process(named("q", "m1"));
    for (int i = 0; i < 19; i++) {
      assertThat(fixture.process(named("q" + i, "m1"))).containsExactly(DUPLICATE);
    }
    assertThat(fixture.tokens(acme)).isZero();
    for (int i = 0; i < 60; i++) {
      assertThat(fixture.process(named("r" + i, "m1"))).containsExactly(DUPLICATE);
    }
    assertThat(fixture.sockets().closed()).isEmpty();

    assertThat(fixture.process(named("s", "m1"))).containsExactly(CUT_OFF);

    assertThat(fixture.sockets().closed()).containsExactly("a");
  }

  @Test
  void session_with_spaced_bursts_of_sixty_refusals_is_not_closed() {
    spend(20);
    for (int minute = 0; minute < 60; minute++) {
      fixture.outcomes(flood(minute % 2 == 0 ? "a" : "b", 60));
      ports.clock().advance(Duration.ofMinutes(1));
    }

    assertThat(fixture.sockets().closed()).isEmpty();
  }

  @Test
  void malformed_frames_count_although_they_cost_tokens_and_a_copy_by_another_socket_is_handled() {
    for (int i = 0; i < 3; i++) {
      assertThat(fixture.outcomes(bad("a", i * 20, 20))).containsOnly(BAD_FRAME);
      putBack(i < 2 ? 20 : 4);
    }

    assertThat(
            fixture.process(
                from("a", "m1"),
                unreadable(acme, session, "a", "m2"),
                named("q3", "m3"),
                ProcessingFixture.named(acme, session, "b", "q4", "m3")))
        .containsExactly(PROCESSED, CUT_OFF, CUT_OFF, PROCESSED);

    assertThat(fixture.handledIds()).containsExactly("m1", "m3");
  }

  private List<IncomingMessage> bad(String socket, int first, int frames) {
    return IntStream.range(first, first + frames)
        .mapToObj(i -> unreadable(acme, session, socket, "u" + i))
        .toList();
  }

  private void putBack(int tokens) {
    while (tokens > 0) {
      int some = Math.min(tokens, 10);
      fixture.claims().held().putBack(ProcessingFixture.messages(acme), some);
      tokens -= some;
    }
  }

  @Test
  void refusals_of_a_suspended_tenant_close_its_sockets() {
    setStatus(TenantStatus.SUSPENDED);

    assertThat(fixture.outcomes(flood("a", 70))).containsOnly(SUSPENDED, CUT_OFF);

    assertThat(fixture.sockets().postedTo("a")).hasSize(60);
    assertThat(fixture.sockets().closed()).containsExactly("a");
  }

  @Test
  void failed_close_is_retried_at_a_refused_frame_of_the_next_batch() {
    spend(20);
    fixture.outcomes(flood("a", 60));
    fixture.sockets().outage().begin("close");
    fixture.counted().clear();
    assertThat(fixture.process(from("a", "m1"), from("a", "m2"))).containsOnly(CUT_OFF);
    assertThat(fixture.counted()).containsOnlyOnce("close");
    fixture.sockets().outage().end();

    assertThat(fixture.process(from("a", "m3"))).containsOnly(CUT_OFF);

    assertThat(fixture.sockets().closed()).containsExactly("a");
    assertThat(fixture.sockets().postedTo("a")).hasSize(60);
  }

  @Test
  void already_closed_flooding_socket_is_removed() {
    spend(20);
    fixture.outcomes(flood("a", 60));
    fixture.sockets().lose("a");

    assertThat(fixture.process(from("a", "m1"))).containsExactly(CUT_OFF);

    assertThat(ports.sessions().count(acme.id())).isEqualTo(2);
  }

  // The session's end.

  private Instant end() {
    return ports.sessions().find(acme.id(), session).orElseThrow().endsAt();
  }

  @Test
  void message_extends_its_session_if_the_last_sign_of_life_is_over_a_minute_old() {
    Instant before = end();
    ports.clock().advance(Duration.ofMinutes(1));
    fixture.process(from("a", "m1"));
    assertThat(end()).isEqualTo(before);

    ports.clock().advance(Duration.ofSeconds(1));
    fixture.process(from("a", "m2"));
    assertThat(end()).isEqualTo(before.plusSeconds(61));
    assertThat(ports.sessions().find(acme.id(), session).orElseThrow().lastSignOfLife("a"))
        .isEqualTo(ports.clock().instant());

    ports.clock().advance(Duration.ofMinutes(1));
    fixture.process(from("a", "m3"));
    assertThat(end()).isEqualTo(before.plusSeconds(61));
  }

  @Test
  void refused_and_malformed_messages_do_not_extend_a_session() {
    Instant before = end();
    ports.clock().advance(Duration.ofMinutes(30));
    ports.fill().fill(ProcessingFixture.messages(acme));
    spend(20);

    fixture.process(from("a", "m1"), unreadable(acme, session, "a", "m2"));

    assertThat(end()).isEqualTo(before);
  }

  @Test
  void failed_extension_of_a_session_stops_nothing() {
    ports.clock().advance(Duration.ofMinutes(30));
    ports.sessions().outage().begin("extend");

    assertThat(fixture.process(from("a", "m1"))).containsExactly(PROCESSED);
  }

  // Cost.

  @Test
  void ten_messages_cost_at_most_two_token_requests_and_one_write_per_session() {
    ports.clock().advance(Duration.ofMinutes(30));
    SessionId another = fixture.session(acme, "x");
    fixture.counted().clear();

    fixture.outcomes(
        IntStream.range(0, 10)
            .mapToObj(
                i -> message(acme, i % 2 == 0 ? session : another, i % 2 == 0 ? "a" : "x", "m" + i))
            .toList());

    assertThat(fixture.counted()).containsExactlyInAnyOrder("reserve", "settle", "extend");
  }

  @Test
  void named_messages_cost_one_write_per_session_whether_or_not_it_is_extended() {
    SessionId another = fixture.session(acme, "x");
    fixture.counted().clear();
    fixture.outcomes(
        IntStream.range(0, 10)
            .mapToObj(
                i ->
                    ProcessingFixture.named(
                        acme, i % 2 == 0 ? session : another, "a", "q", "m" + i))
            .toList());
    assertThat(fixture.counted()).containsExactlyInAnyOrder("reserve", "settle", "add", "add");

    ports.clock().advance(Duration.ofMinutes(30));
    ports.fill().fill(ProcessingFixture.messages(acme));
    fixture.counted().clear();
    fixture.outcomes(IntStream.range(0, 10).mapToObj(i -> named("q", "n" + i)).toList());
    assertThat(fixture.counted()).containsExactlyInAnyOrder("reserve", "settle", "extend");
    assertThat(end()).isEqualTo(ports.clock().instant().plusSeconds(3_600));
  }

  @Test
  void copy_costs_a_token_and_no_write() {
    fixture.process(named("q1", "m1"));
    fixture.counted().clear();

    fixture.process(named("q2", "m1"));

    assertThat(fixture.counted()).containsExactly("reserve", "settle");
  }

  @Test
  void refusals_under_an_empty_hint_cost_one_write() {
    spend(20);
    fixture.process(from("a", "m1"));
    fixture.counted().clear();

    assertThat(fixture.process(from("a", "m2"), from("b", "m3"))).containsOnly(THROTTLED);

    assertThat(fixture.counted()).containsExactly("takePlaces");
  }

  @Test
  void message_that_finds_the_bucket_empty_costs_two_writes() {
    ports.clock().advance(Duration.ofMinutes(30));
    ports.fill().fill(ProcessingFixture.messages(acme));
    spend(20);
    fixture.counted().clear();

    fixture.process(from("a", "m1"));

    assertThat(fixture.counted())
        .containsExactly("reserve", "countTokens", "rememberEmpty", "changeLine");
  }

  // Concurrency and deadlines.

  @Test
  void message_that_takes_too_long_fails_only_itself_and_its_successors() {
    SessionId another = fixture.session(acme, "x");
    CountDownLatch end = new CountDownLatch(1);
    fixture.application(
        (message, json) -> {
          if (message.id().equals("m1")) {
            end.await();
          }
          return List.of("1");
        });
    ForkJoinPool executor = new ForkJoinPool(8);
    assertThat(
            fixture
                .processing(executor)
                .process(
                    List.of(from("a", "m1"), message(acme, another, "x", "m2"), from("a", "m3")),
                    Duration.ofMillis(500)))
        .extracting(Result::outcome)
        .containsExactly(FAILED, PROCESSED, FAILED);
    end.countDown();
    assertThat(executor.awaitQuiescence(10, TimeUnit.SECONDS)).isTrue();
    executor.shutdown();
    assertThat(fixture.handledIds()).containsExactlyInAnyOrder("m1", "m2");
    assertThat(fixture.sockets().postedTo("a")).isEmpty();
    assertThat(fixture.tokens(acme)).isEqualTo(19);
  }

  @Test
  void batch_starts_nothing_after_its_deadline() {
    CountDownLatch end = new CountDownLatch(1);
    fixture.reads(
        (tenant, of, messages) -> {
          awaitQuietly(end);
          return fixture.facts().read(tenant, of, messages);
        });
    ForkJoinPool executor = new ForkJoinPool(8);
    assertThat(fixture.processing(executor).process(List.of(from("a", "m1")), Duration.ZERO))
        .extracting(Result::outcome)
        .containsExactly(FAILED);
    end.countDown();
    assertThat(executor.awaitQuiescence(10, TimeUnit.SECONDS)).isTrue();
    executor.shutdown();
    assertThat(fixture.handled()).isEmpty();
    assertThat(fixture.sockets().posted()).isEmpty();
    assertThat(fixture.tokens(acme)).isEqualTo(20);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void session_of_many_sockets_is_served_by_all_threads_without_omission() {
    String[] many = IntStream.range(0, 100).mapToObj(i -> "s" + i).toArray(String[]::new);
    SessionId largeSession = fixture.session(acme, many);
    ExecutorService executor = Executors.newCachedThreadPool();
    try {
      assertThat(
              fixture
                  .processing(executor)
                  .process(
                      List.of(
                          message(acme, largeSession, "s0", "m1"),
                          message(acme, largeSession, "s1", "m2")),
                      Duration.ofSeconds(10)))
          .extracting(Result::outcome)
          .containsOnly(PROCESSED);
    } finally {
      executor.shutdownNow();
    }
    assertThat(fixture.sockets().posted())
        .extracting(Frame::connectionId)
        .contains(many)
        .hasSize(398);
    assertThat(fixture.sockets().postedTo("s7"))
        .containsExactly(
            "message m1 \"m1\"", "reply m1 \"m1\"", "message m2 \"m2\"", "reply m2 \"m2\"");
  }
}
