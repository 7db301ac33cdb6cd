package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.WriteResult;
import dev.tollgate.core.testing.limiter.TollgateQuota;
import dev.tollgate.lawbook.Law;
import dev.tollgate.lawbook.LawBook;
import dev.tollgate.lawbook.LawViolation;
import dev.tollgate.lawbook.Quota;
import dev.tollgate.lawbook.QuotaLaws;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Checks buckets that a calendar fills against the law book. */
final class CalendarLawsTest {
  private static final int HISTORIES = 125;

  @ParameterizedTest
  @EnumSource(
      value = FillMode.class,
      names = {"PRODUCER", "SHARED"})
  void calendar_buckets_without_faults_keep_every_law(FillMode mode) {
    LawBook.Report report = LawBook.ofQuota(TollgateQuota.inMemory(mode, 0)).hold(HISTORIES / 2);
    System.out.println(mode + ": " + report);
    QuotaLaws.ALL.forEach(
        law -> assertThat(report.judged(law)).as(law.name()).isEqualTo((int) report.histories()));
  }

  @ParameterizedTest
  @EnumSource(
      value = FillMode.class,
      names = {"PRODUCER", "SHARED"})
  void calendar_buckets_with_faults_at_the_ports_keep_every_law(FillMode mode) {
    LawBook.Report report = LawBook.ofQuota(TollgateQuota.inMemory(mode, 100)).hold(HISTORIES / 2);
    assertThat(report.judged(QuotaLaws.NEVER_MORE)).isEqualTo((int) report.histories());
  }

  @Test
  void claims_that_accept_tokens_of_the_last_period_break_the_law() {
    assertBroken(
        QuotaLaws.NEVER_MORE,
        TollgateQuota.inMemory(
            FillMode.PRODUCER,
            0,
            rows -> changed(rows, CalendarLawsTest::carryingOver),
            UnaryOperator.identity()));
  }

  @Test
  void fills_that_ignore_each_other_break_the_law() {
    assertBroken(
        QuotaLaws.NEVER_MORE,
        TollgateQuota.inMemory(
            FillMode.PRODUCER, 100, UnaryOperator.identity(), CalendarLawsTest::withoutConflicts));
  }

  @Test
  void fills_that_count_in_another_time_zone_break_the_law() {
    assertBroken(
        QuotaLaws.AVAILABLE,
        TollgateQuota.inMemory(
            FillMode.PRODUCER,
            0,
            rows -> changed(rows, CalendarLawsTest::anHourLater),
            rows -> changed(rows, CalendarLawsTest::anHourLater)));
  }

  private static void assertBroken(Law<Quota.Maker> law, Quota.Maker faulty) {
    assertThatThrownBy(() -> LawBook.ofQuota(faulty).only(List.of(law)).hold(HISTORIES))
        .isInstanceOfSatisfying(
            LawViolation.class, broken -> assertThat(broken.law()).isEqualTo(law));
  }

  private static Buckets changed(Buckets rows, UnaryOperator<Bucket> change) {
    return intercepted(
        rows, "find", found -> ((Optional<?>) found).map(Bucket.class::cast).map(change));
  }

  /** Rows that report each conflict as a successful write. */
  private static Buckets withoutConflicts(Buckets rows) {
    return intercepted(rows, "replace", written -> WriteResult.DONE);
  }

  private static Buckets intercepted(Buckets rows, String method, UnaryOperator<Object> change) {
    return (Buckets)
        Proxy.newProxyInstance(
            Buckets.class.getClassLoader(),
            new Class<?>[] {Buckets.class},
            (proxy, called, arguments) -> {
              try {
                Object result = called.invoke(rows, arguments);
                return called.getName().equals(method) ? change.apply(result) : result;
              } catch (InvocationTargetException failed) {
                throw failed.getCause();
              }
            });
  }

  private static Bucket carryingOver(Bucket row) {
    Calendar calendar = (Calendar) row.spec().refill();
    return with(
        row, new Calendar(calendar.every(), calendar.day(), calendar.at(), calendar.zone(), true));
  }

  private static Bucket anHourLater(Bucket row) {
    Calendar calendar = (Calendar) row.spec().refill();
    return with(
        row,
        new Calendar(
            calendar.every(), calendar.day(), calendar.at().plusHours(1), calendar.zone(), false));
  }

  private static Bucket with(Bucket row, Calendar calendar) {
    return new Bucket(
        row.id(),
        new BucketSpec(calendar, row.spec().capacity(), row.spec().fillPolicy()),
        row.ledger(),
        row.level(),
        row.minted(),
        row.mintedInFull(),
        row.emptyHint(),
        row.fillState(),
        Optional.empty(),
        row.version(),
        row.hintVersion());
  }
}
