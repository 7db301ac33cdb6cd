package dev.tollgate.lawbook;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Random;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks that each planted fault of a quota breaks exactly the expected laws. */
final class QuotaFaultsTest {
  private static final int HISTORIES = 300;
  private static final List<String> ZONES =
      List.of("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe");

  /** The reference: counts the tokens of the present period. */
  private static class CountingQuota implements Quota {
    final Setting setting;
    Terms terms;
    Instant period;
    long taken;

    CountingQuota(Setting setting, Terms terms) {
      this.setting = setting;
      this.terms = terms;
      this.period = start();
    }

    Instant start() {
      return terms.start(setting.now());
    }

    void begin() {
      taken = 0;
    }

    void turn() {
      if (!start().equals(period)) {
        period = start();
        begin();
      }
    }

    @Override
    public Claim claim() {
      turn();
      if (taken >= terms.capacity()) {
        return Claim.refused(Duration.between(setting.now(), terms.next(setting.now())));
      }
      taken++;
      return Claim.admitted();
    }

    @Override
    public void retune(long capacity) {
      turn();
      terms = terms.with(capacity);
    }
  }

  private static Quota.Maker maker(BiFunction<Setting, Quota.Terms, Quota> made) {
    return new Quota.Maker() {
      @Override
      public Quota make(Setting setting, Quota.Terms terms) {
        return made.apply(setting, terms);
      }

      @Override
      public Quota.Terms terms(Random random) {
        return new Quota.Terms(
            1 + random.nextInt(20),
            random.nextInt(3) == 0 ? 7 : 1,
            LocalTime.of(random.nextInt(4), random.nextInt(60)),
            ZoneId.of(ZONES.get(random.nextInt(ZONES.size()))),
            Duration.ofMinutes(1));
      }
    };
  }

  @Test
  void counting_quota_keeps_every_law() {
    LawBook.Report report = LawBook.ofQuota(maker(CountingQuota::new)).hold(HISTORIES);
    QuotaLaws.ALL.forEach(law -> assertThat(report.judged(law)).isEqualTo(HISTORIES));
  }

  static List<Arguments> planted() {
    return List.of(
        Arguments.of(
            "carries tokens over",
            maker(
                (setting, terms) ->
                    new CountingQuota(setting, terms) {
                      @Override
                      void begin() {
                        taken = Math.min(0, taken - this.terms.capacity());
                      }
                    }),
            List.of(QuotaLaws.NEVER_MORE, QuotaLaws.RETRY)),
        Arguments.of(
            "a change of the capacity begins a period",
            maker(
                (setting, terms) ->
                    new CountingQuota(setting, terms) {
                      @Override
                      public void retune(long capacity) {
                        super.retune(capacity);
                        taken = 0;
                      }
                    }),
            List.of(QuotaLaws.NEVER_MORE)),
        Arguments.of(
            "a change of the capacity counts from the next period on",
            maker(
                (setting, terms) ->
                    new CountingQuota(setting, terms) {
                      private Terms present = terms;

                      @Override
                      void begin() {
                        super.begin();
                        present = this.terms;
                      }

                      @Override
                      public Claim claim() {
                        turn();
                        Terms later = this.terms;
                        this.terms = present;
                        Claim claim = super.claim();
                        this.terms = later;
                        return claim;
                      }
                    }),
            List.of(QuotaLaws.NEVER_MORE)),
        Arguments.of(
            "ignores changes of the clocks",
            maker(
                (setting, terms) ->
                    new CountingQuota(
                        setting,
                        new Quota.Terms(
                            terms.capacity(),
                            terms.days(),
                            terms.at(),
                            offset(terms.zone()),
                            terms.lateness()))),
            List.of(QuotaLaws.NEVER_MORE, QuotaLaws.AVAILABLE, QuotaLaws.RETRY)),
        Arguments.of(
            "has its tokens two minutes late",
            maker(
                (setting, terms) ->
                    new CountingQuota(setting, terms) {
                      @Override
                      Instant start() {
                        return this.terms.start(setting.now().minus(Duration.ofMinutes(2)));
                      }
                    }),
            List.of(QuotaLaws.NEVER_MORE, QuotaLaws.AVAILABLE, QuotaLaws.RETRY)),
        Arguments.of(
            "tells the end of the day although the period is a week",
            maker(
                (setting, terms) ->
                    new CountingQuota(setting, terms) {
                      @Override
                      public Claim claim() {
                        Claim claim = super.claim();
                        return claim instanceof Claim.Refused
                            ? Claim.refused(Duration.ofHours(24))
                            : claim;
                      }
                    }),
            List.of(QuotaLaws.RETRY)),
        Arguments.of(
            "has a token less than its capacity",
            maker(
                (setting, terms) ->
                    new CountingQuota(setting, terms) {
                      @Override
                      void begin() {
                        taken = 1;
                      }
                    }),
            List.of(QuotaLaws.AVAILABLE, QuotaLaws.RETRY)));
  }

  private static ZoneOffset offset(ZoneId zone) {
    return zone.getRules().getOffset(Setting.START);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("planted")
  void planted_fault_breaks_these_laws(
      String name, Quota.Maker faulty, List<Law<Quota.Maker>> expected) {
    assertThat(LawBook.ofQuota(faulty).broken(HISTORIES)).isEqualTo(expected);
  }
}
