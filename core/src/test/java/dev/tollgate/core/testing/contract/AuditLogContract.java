package dev.tollgate.core.testing.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.audit.AuditEntry;
import dev.tollgate.core.audit.AuditLog;
import dev.tollgate.core.audit.AuditSpan;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.audit.ChangeType;
import dev.tollgate.core.audit.Subject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** The contract of {@link AuditLog}. */
public abstract class AuditLogContract {
  private static final Instant NOON = Instant.parse("2026-03-12T12:00:00Z");
  private static final Subject ACME = Subject.tenant(new TenantId("acme"));
  private static final Subject ACME_2 = Subject.tenant(new TenantId("acme-2"));

  /** The log under test, which is empty. */
  protected abstract AuditLog log();

  private static AuditEntry entry(int number, Subject subject, Instant at) {
    return AuditEntry.of(
        "%05d-x".formatted(number),
        at,
        subject,
        ChangeType.TENANT_CHANGED,
        new Author("arn:aws:iam::1:user/ü", "request-" + number),
        Map.of("tier", "silver", "limits.sessionTTL", "60", "same", "1"),
        Map.of("tier", "gold", "same", "1", "empty", ""));
  }

  private AuditEntry append(int number, Subject subject, Instant at) {
    AuditEntry entry = entry(number, subject, at);
    log().append(entry);
    return entry;
  }

  private static AuditSpan days(int before, int after) {
    return new AuditSpan(NOON.minus(Duration.ofDays(before)), NOON.plus(Duration.ofDays(after)));
  }

  private static List<AuditEntry> pages(Function<Optional<String>, Page<AuditEntry>> read) {
    List<AuditEntry> all = new ArrayList<>();
    Optional<String> cursor = Optional.empty();
    do {
      Page<AuditEntry> page = read.apply(cursor);
      assertThat(page.unreadable()).isEmpty();
      all.addAll(page.items());
      cursor = page.next();
    } while (cursor.isPresent());
    return all;
  }

  @Test
  void an_entry_is_read_as_it_was_written_with_changed_fields_alone() {
    AuditEntry entry = append(1, ACME, NOON.plusMillis(7));

    assertThat(log().of(ACME, days(1, 1), Optional.empty(), 10).items()).containsExactly(entry);
    assertThat(log().all(days(1, 1), Optional.empty(), 10).items()).containsExactly(entry);
    assertThat(entry.from()).isEqualTo(Map.of("tier", "silver", "limits.sessionTTL", "60"));
    assertThat(entry.to()).isEqualTo(Map.of("tier", "gold", "empty", ""));
  }

  @Test
  void an_entry_that_is_stored_stays_as_it_is() {
    AuditEntry first = append(1, ACME, NOON);
    AuditEntry forged =
        AuditEntry.of(
            first.id(), NOON, ACME, ChangeType.TENANT_REMOVED, Author.UNKNOWN, Map.of(), Map.of());

    log().append(first);
    log().append(forged);

    assertThat(log().of(ACME, days(1, 1), Optional.empty(), 10).items()).containsExactly(first);
  }

  @Test
  void the_newest_is_first_and_those_of_an_instant_follow_their_ids() {
    AuditEntry first = append(1, ACME, NOON);
    AuditEntry third = append(3, ACME, NOON);
    AuditEntry second = append(2, ACME, NOON);
    AuditEntry last = append(0, ACME, NOON.plusSeconds(1));

    assertThat(log().of(ACME, days(1, 1), Optional.empty(), 10).items())
        .containsExactly(last, third, second, first);
  }

  @Test
  void a_subject_has_its_own_entries_alone() {
    AuditEntry own = append(1, ACME, NOON);
    append(2, ACME_2, NOON);
    append(3, Subject.DEPLOYMENT, NOON);

    assertThat(log().of(ACME, days(1, 1), Optional.empty(), 10).items()).containsExactly(own);
  }

  @Test
  void the_begin_of_the_time_is_included_and_its_end_is_not() {
    append(1, ACME, NOON.minusMillis(1));
    AuditEntry first = append(2, ACME, NOON);
    AuditEntry last = append(3, ACME, NOON.plusMillis(999));
    append(4, ACME, NOON.plusSeconds(1));
    AuditSpan second = new AuditSpan(NOON, NOON.plusSeconds(1));

    assertThat(log().of(ACME, second, Optional.empty(), 10).items()).containsExactly(last, first);
    assertThat(log().all(second, Optional.empty(), 10).items()).containsExactly(last, first);
  }

  @Test
  void pages_have_all_entries_once() {
    List<AuditEntry> newestFirst = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      // Several a day, and weeks without any.
      Instant at = NOON.plus(Duration.ofDays(i < 10 ? 0 : 90)).plus(Duration.ofHours(i % 10 / 3));
      newestFirst.add(0, append(i, i % 2 == 0 ? ACME : ACME_2, at));
    }
    List<AuditEntry> ofAcme =
        newestFirst.stream().filter(entry -> entry.subject().equals(ACME)).toList();

    for (int max : new int[] {1, 3, 10, 20, 100}) {
      assertThat(pages(cursor -> log().all(days(100, 100), cursor, max))).isEqualTo(newestFirst);
      assertThat(pages(cursor -> log().of(ACME, days(100, 100), cursor, max))).isEqualTo(ofAcme);
    }
  }

  @Test
  void a_cursor_of_something_else_is_refused() {
    append(1, ACME, NOON);

    assertThatThrownBy(() -> log().of(ACME, days(1, 1), Optional.of("acme"), 10))
        .isInstanceOf(InvalidValue.class);
    assertThatThrownBy(() -> log().all(days(1, 1), Optional.of("acme"), 10))
        .isInstanceOf(InvalidValue.class);
  }
}
