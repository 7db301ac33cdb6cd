package dev.tollgate.core.connect;

import static dev.tollgate.core.testing.Samples.withSpare;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What the rows tell a session about its next connection. */
final class AdmissionFactsTest {
  private static final Instant START = AdmissionFixture.START;

  private final AdmissionFixture ports = new AdmissionFixture();
  private final Tenant acme = ports.onboard("acme", "gold", Map.of(Limit.TENANT_PER_MINUTE, 3L));

  private AdmissionFacts facts(SessionId session) {
    return ports.facts().read(acme.id(), session);
  }

  private static AdmissionFacts with(AdmissionFacts facts, Optional<Bucket> bucket) {
    return new AdmissionFacts(facts.tenant(), facts.session(), facts.connections(), bucket);
  }

  private Bucket row() {
    return ports.buckets().find(AdmissionFixture.connects(acme)).orElseThrow();
  }

  /** Admits three sessions, and then refuses one, which waits in line. */
  private SessionId refused() {
    SessionId session = ports.open(acme);
    ports.claims().spendUpTo(row().id(), Optional.of(row()), 3);
    assertThat(ports.admission().decide(acme.id(), session))
        .isInstanceOf(AdmissionDecision.Refused.class);
    return session;
  }

  @Test
  void bucket_that_was_never_filled_has_its_first_token_after_a_minute() {
    AdmissionFacts none = with(facts(ports.open(acme)), Optional.empty());
    AdmissionFacts opened = with(none, Optional.of(Bucket.opened(row().id(), row().spec(), START)));

    assertThat(none.retryAt(START)).contains(START.plusSeconds(60));
    assertThat(opened.retryAt(START)).contains(START.plusSeconds(60));
  }

  @Test
  void bucket_with_tokens_lets_nobody_wait() {
    AdmissionFacts facts = facts(ports.open(acme));

    assertThat(facts.retryAt(START)).isEmpty();
    assertThat(facts.ahead(START)).isEmpty();
  }

  @Test
  void bucket_that_is_known_to_be_empty_admits_at_its_next_token() {
    EmptyHint hint = new EmptyHint(START, START.plusSeconds(10), 0);
    AdmissionFacts facts = with(facts(ports.open(acme)), Optional.of(row().with(hint)));

    assertThat(facts.retryAt(START)).contains(row().with(hint).at(START).nextToken());
    assertThat(facts.ahead(START)).isEmpty();
  }

  @Test
  void session_in_line_waits_for_its_slot_and_a_new_one_is_last() {
    SessionId first = refused();
    SessionId second = refused();
    SessionId next = ports.open(acme);

    assertThat(facts(first).retryAt(START)).contains(START.plusSeconds(21));
    assertThat(facts(second).retryAt(START)).contains(START.plusSeconds(41));
    assertThat(facts(next).retryAt(START)).contains(START.plusSeconds(61));
    assertThat(facts(first).ahead(START)).contains(0L);
    assertThat(facts(second).ahead(START)).contains(1L);
    assertThat(facts(next).ahead(START)).contains(2L);
  }

  @Test
  void place_of_an_earlier_line_does_not_count() {
    AdmissionFacts facts = facts(refused());
    Place old = new Place(facts.session().orElseThrow().place().orElseThrow().epoch() - 1, 1);
    AdmissionFacts late =
        new AdmissionFacts(
            facts.tenant(),
            facts.session().map(read -> read.with(Optional.of(old), true)),
            facts.connections(),
            facts.bucket());

    assertThat(late.ahead(START)).contains(1L);
  }

  @Test
  void session_whose_slot_has_come_need_not_wait() {
    SessionId session = refused();

    assertThat(facts(session).retryAt(START.plusSeconds(21))).isEmpty();
    assertThat(facts(session).ahead(START.plusSeconds(21))).isEmpty();
  }

  @Test
  void spare_token_lets_nobody_wait_in_line_unless_the_bucket_is_known_to_be_empty() {
    AdmissionFacts facts = facts(refused());
    Line line = row().line().orElseThrow();
    Line spare = withSpare(line, 1);
    EmptyHint hint = new EmptyHint(START, START.plusSeconds(1), 0);
    Bucket full = Bucket.opened(row().id(), row().spec(), START).inspected(3, START).with(spare);

    assertThat(with(facts, Optional.of(full)).retryAt(START)).isEmpty();
    assertThat(with(facts, Optional.of(full.with(hint))).retryAt(START))
        .contains(START.plusSeconds(1));
    assertThat(with(facts, Optional.of(full)).ahead(START)).isEmpty();
  }
}
