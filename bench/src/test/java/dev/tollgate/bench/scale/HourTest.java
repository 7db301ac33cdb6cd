package dev.tollgate.bench.scale;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.bench.scale.Hour.Plan;
import dev.tollgate.core.bucket.FillMode;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The bars that 1,000 tenants are held to. Instances share credentials, see docs/scale.md. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HourTest {
  private static final Map<String, Double> PRICES = ListPrices.read(Path.of("../docs/prices.yaml"));

  private final Hour hour = live(1, 20);

  private static Hour live(long seed, int minutes) {
    return new Hour(Plan.of(1_000, FillMode.SHARED, minutes, seed).sharingCredentials(), PRICES)
        .live();
  }

  @Test
  void a_refused_client_is_admitted_at_its_first_return() {
    assertThat(hour.storms())
        .hasSize(2)
        .allSatisfy(
            storm -> {
              assertThat(storm.admitted()).isEqualTo(storm.clients());
              assertThat(storm.refusedOnce()).isGreaterThan(40);
              assertThat(storm.attemptsAfterRefusal()).isLessThanOrEqualTo(1.05);
            });
  }

  /** A token may come two seconds after that of an ideal bucket. */
  @Test
  void the_last_client_is_in_as_soon_as_an_ideal_bucket_allows() {
    assertThat(hour.storms())
        .allSatisfy(
            storm -> {
              assertThat(storm.keptOut()).isLessThanOrEqualTo(storm.clients() / 1_000);
              assertThat(storm.lastSeconds()).isLessThanOrEqualTo(1.05 * storm.idealSeconds() + 2);
            });
  }

  @Test
  void a_storm_costs_quiet_neighbours_little() {
    assertThat(hour.stormy().size()).isGreaterThan(200);
    assertThat(hour.calm().size()).isGreaterThan(1_000);
    assertThat(Report.ratio(hour)).isLessThanOrEqualTo(1.2);
  }

  @Test
  void the_figure_has_quotas_and_a_storm() {
    Hour without = new Hour(Plan.of(300, FillMode.SHARED, 12, 1), PRICES).live();
    Hour with = new Hour(Plan.of(300, FillMode.SHARED, 12, 1).sharingCredentials(), PRICES).live();

    String quotas = Drawing.svg(List.of(hour, with));
    String both = Drawing.svg(List.of(hour, with, without));

    assertThat(quotas).contains("<svg", "viewBox=\"0 0 860 400\"");
    assertThat(both)
        .contains("viewBox=\"0 0 860 800\"")
        .startsWith("<")
        .hasSizeGreaterThan(quotas.length());
  }

  @Test
  void the_same_seed_gives_the_same_hour() {
    Hour one = live(1, 4);
    Hour same = live(1, 4);

    assertThat(same.quietBill()).isNotEmpty().isEqualTo(one.quietBill());
    assertThat(same.calm().percentile(99)).isEqualTo(one.calm().percentile(99));
    assertThat(live(2, 4).calm().percentile(99)).isNotEqualTo(one.calm().percentile(99));
  }
}
